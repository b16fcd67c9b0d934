"""[batch, beam, ...] as [batch * beam, ...] and back, tiling, and gathers within an example."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dimension, shapes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.recurrent.step import static_size
from penstock.ops.array import gather, join, nodes, ranges, reshape, shape, tile

_TILING = (
    "States must be tiled with tf.contrib.seq2seq.tile_batch, or made by zero_state with"
    " batch_size * beam_width examples."
)


def tile_batch(t: Any, multiplier: Any, name: str | None = None) -> Any:
    """Repeats each example, as a beam search needs of states and memories.

    Args:
      t: a tensor [batch, ...], or a nesting of such.
      multiplier: how often, an int or a scalar tensor.

    Returns:
      The nesting of tensors [batch * multiplier, ...]; copies of an example are side by side.

    Raises:
      ValueError: the rank of a tensor is unknown.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     sess.run(tf.contrib.seq2seq.tile_batch([[1], [2]], multiplier=2)).tolist()
    [[1], [1], [2], [2]]
    """
    flat = nest.flatten(t) if not isinstance(t, list) else [t]
    with scopes.name_scope(name, "tile_batch", [*flat, multiplier]):
        if isinstance(t, list):
            return _tiled(t, multiplier)
        return nest.map_structure(lambda one: _tiled(one, multiplier), t)


def _tiled(given: Any, multiplier: Any) -> Tensor:
    t = convert_to_tensor(given, name="t")
    known = t.get_shape()
    dims: Any = shape.shape(t)
    if known.ndims is None:
        raise ValueError("t must have statically known rank")
    tiling = [1] * (known.ndims + 1)
    tiling[1] = multiplier
    tiled = tile.tile(reshape.expand_dims(t, 1), tiling)
    made = reshape.reshape(tiled, join.concat(([nodes.element(dims, 0) * multiplier], dims[1:]), 0))
    times = static.constant_value(multiplier) if isinstance(multiplier, Tensor) else multiplier
    batch = dimension.dimension_value(known[0])
    if batch is None or times is None:
        made.set_shape([None, *known[1:].as_list()])
    else:
        made.set_shape([batch * int(times), *known[1:].as_list()])
    return made


class Beams:
    """Reshaping for one batch size and beam width.

    Args:
      batch_size: int32 scalar tensor.
      width: beams an example.
    """

    def __init__(self, batch_size: Any, width: int) -> None:
        self.batch_size, self.width = batch_size, width
        known = static.constant_value(batch_size)
        self.static_batch = None if known is None else int(known)

    def split(self, t: Any, size: Any) -> Tensor:
        """[batch * beam, size] as [batch, beam, size].

        Raises:
          ValueError: there are not that many rows, or they are of another size.
        """
        rows, batch = dimension.dimension_value(t.get_shape()[0]), self.static_batch
        if rows is not None and batch is not None and rows != batch * self.width:
            raise ValueError(
                f"{t.name} has {rows} rows; a batch of {batch} with {self.width} beams needs"
                f" {batch * self.width}. {_TILING}"
            )
        dims: Any = shape.shape(t)
        made = reshape.reshape(t, join.concat(([self.batch_size, self.width], dims[1:]), 0))
        expected = shapes.TensorShape([self.static_batch, self.width]).concatenate(
            static_size(size)
        )
        if not made.get_shape().is_compatible_with(expected):
            raise ValueError(
                f"A part of the state has shape {made.get_shape()} with its beams apart, where"
                f" {expected} is expected: what the cell's state_size says. {_TILING}"
            )
        made.set_shape(expected)
        return made

    def merge(self, t: Any, size: Any) -> Tensor:
        """[batch, beam, size] as [batch * beam, size]."""
        dims: Any = shape.shape(t)
        total = self.batch_size * self.width
        made = reshape.reshape(t, join.concat(([total], dims[2:]), 0))
        rows = None if self.static_batch is None else self.static_batch * self.width
        made.set_shape(shapes.TensorShape([rows]).concatenate(static_size(size)))
        return made

    def split_part(self, t: Any, size: Any) -> Any:
        """``split`` of a part of a state; scalars and arrays stay."""
        if isinstance(t, TensorArray):
            return t
        return self.split(t, size) if _rank(t) >= 1 else t

    def merge_part(self, t: Any, size: Any) -> Any:
        """``merge`` of a part of a state; scalars and arrays stay."""
        if isinstance(t, TensorArray):
            return t
        return self.merge(t, size) if _rank(t) >= 2 else t

    def pick(
        self, indices: Any, source: Any, count: Any, flat: Any, name: str | None = None
    ) -> Tensor:
        """Elements of each example.

        Args:
          indices: [batch, n], which.
          source: [batch, count, ...].
          count: how many elements an example has.
          flat: shape of ``source`` with the elements of all examples in one dim.

        Returns:
          [batch, n, ...].
        """
        with scopes.name_scope(name, "tensor_gather_helper"):
            first = reshape.expand_dims(ranges.range_(self.batch_size) * count, 1)
            rows = reshape.reshape(indices + first, [-1])
            found = gather.gather(reshape.reshape(source, flat), rows)
            dims: Any = shape.shape(source)
            made: Tensor = reshape.reshape(found, dims[: 1 + len(flat)], name="output")
            made.set_shape(
                shapes.TensorShape([self.static_batch]).concatenate(
                    source.get_shape()[1 : 1 + len(flat)]
                )
            )
            return made

    def pick_part(self, parents: Any, t: Any) -> Any:
        """The part of a state of each beam's parent; what is not per beam stays."""
        flat = [self.batch_size * self.width, -1]
        if isinstance(t, TensorArray) or _rank(t) < len(flat):
            return t
        return self.pick(parents, t, self.width, flat)


def _rank(t: Any) -> int:
    ndims = t.get_shape().ndims
    if ndims is None:
        raise ValueError(
            f"Expected tensor ({t}) to have known rank, but ndims == None. Use set_shape"
        )
    return int(ndims)
