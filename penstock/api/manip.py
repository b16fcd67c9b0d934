"""``tf.manip``: array manipulation; explicit re-exports, no logic."""

from penstock.ops.reshape import reshape as reshape
from penstock.ops.scatter import scatter_nd as scatter_nd
from penstock.ops.space import (
    batch_to_space_nd as batch_to_space_nd,
    space_to_batch_nd as space_to_batch_nd,
)
from penstock.ops.transpose import reverse as reverse, roll as roll
from penstock.ragged_tensors.dispatched import gather_nd as gather_nd, tile as tile
