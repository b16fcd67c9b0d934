"""``tf.sets``: explicit re-exports, no logic."""

from penstock.ops.sets import set_difference, set_intersection, set_size, set_union
from penstock.ops.sets import set_difference as difference
from penstock.ops.sets import set_intersection as intersection
from penstock.ops.sets import set_size as size
from penstock.ops.sets import set_union as union

__all__ = [
    "difference",
    "intersection",
    "set_difference",
    "set_intersection",
    "set_size",
    "set_union",
    "size",
    "union",
]
