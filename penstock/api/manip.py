"""``tf.manip``: array manipulation; explicit re-exports, no logic."""

from penstock.ops.reshape import reshape
from penstock.ops.scatter import scatter_nd
from penstock.ops.space import batch_to_space_nd, space_to_batch_nd
from penstock.ops.transpose import reverse, roll
from penstock.ragged_tensors.dispatched import gather_nd, tile

__all__ = [
    "batch_to_space_nd",
    "gather_nd",
    "reshape",
    "reverse",
    "roll",
    "scatter_nd",
    "space_to_batch_nd",
    "tile",
]
