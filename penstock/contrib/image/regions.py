"""Connected components of images, and which boxes belong together."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import cast, concat, gather, where
from penstock.ops.array.ranges import range_
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape
from penstock.ops.array.unique import unique
from penstock.ops.math.comparison import equal


def connected_components(images: Any) -> Tensor:
    """Numbers of the connected components: neighbours in row or column with equal values.

    Args:
      images: [height, width] or [batch, height, width] of integers, floats, booleans or strings; 0,
        False and "" are background.

    Returns:
      int32 of that shape: 1, 2, ... in the order in which components come; 0 for background.

    Raises:
      TypeError: another rank.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     sess.run(tf.contrib.image.connected_components([[5, 0, 7], [5, 0, 5]])).tolist()
    [[1, 0, 2], [1, 0, 3]]
    """
    with name_scope(None, "connected_components"):
        given: Any = convert_to_tensor(images, name="images")
        rank = given.get_shape().ndims
        if rank not in (2, 3):
            raise TypeError(
                f"images should have rank 2 (HW) or 3 (NHW). Static shape is {given.get_shape()}"
            )
        places: Any = make("ImageConnectedComponents", given[None] if rank == 2 else given)
        flat = reshape(places, [-1])
        found, index = unique(flat)
        # The id 0 may come anywhere: where it does, those behind it move up by one.
        zero: Any = where(equal(found, 0))[:, 0]
        components: Any = shape(found)[0] - shape(zero)[0]
        ids = _ids(range_(0, components) + 1, zero)
        made = reshape(gather(ids, index), shape(places))
        done: Tensor = made[0] if rank == 2 else made
        return done


def _ids(ids: Any, zero: Any) -> Any:
    def without() -> Any:
        return ids

    def around() -> Any:
        at: Any = cast(zero[0], dtypes.int32)
        return concat([ids[:at], [0], ids[at:]], axis=0)

    return cond(equal(shape(zero)[0], 0), without, around)


def bipartite_match(
    distance_mat: Any, num_valid_rows: Any, top_k: int = -1, name: str = "bipartite_match"
) -> Any:
    """Pairs of rows and columns, the nearest first, each in one pair at most.

    Args:
      distance_mat: floats [rows, columns].
      num_valid_rows: float, one element: only so many rows take part; all if negative.
      top_k: how many pairs at most; all if not positive.
      name: name of the node.

    Returns:
      ``(row_to_col_match_indices, col_to_row_match_indices)``: int32 [rows] and [columns], -1 where
      there is no partner.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     pairs = tf.contrib.image.bipartite_match([[3., 1.], [2., 0.]], [2.])
    ...     [found.tolist() for found in sess.run(pairs)]
    [[0, 1], [0, 1]]
    """
    return make("BipartiteMatch", distance_mat, num_valid_rows, top_k=top_k, name=name)
