"""``tf.sets``: explicit re-exports, no logic."""

from penstock.ops.sparse.sets import (
    set_difference as _difference,
    set_difference as set_difference,
    set_intersection as _intersection,
    set_intersection as set_intersection,
    set_size as _size,
    set_size as set_size,
    set_union as _union,
    set_union as set_union,
)

difference = _difference
intersection = _intersection
size = _size
union = _union
