"""``tf.manip``: array manipulation; explicit re-exports, no logic."""

from penstock.library.ragged_tensors.dispatched import gather_nd as gather_nd, tile as tile
from penstock.ops.array.reshape import reshape as reshape
from penstock.ops.array.scatter import scatter_nd as scatter_nd
from penstock.ops.array.space import (
    batch_to_space_nd as batch_to_space_nd,
    space_to_batch_nd as space_to_batch_nd,
)
from penstock.ops.array.transpose import reverse as reverse, roll as roll
