"""Static shapes: what is known of a tensor's shape before the graph runs.

The plain form of a shape, which the engine and the shape rules use, is a tuple of `int | None`
(None: that dim is unknown), or None when even the rank is unknown; `Static` is its type. It is a
fast, hashable value and `TensorShape.sizes` holds it. `TensorShape` and `Dimension` are the
public, TensorFlow 1 faces of it: iterating a shape gives `Dimension` objects, made on demand.

Comparisons are three-valued, as in TensorFlow 1.15: comparing with an unknown dim gives None, so
two partly unknown shapes are equal only when they are one and the same (they share their tuple).
Unlike there, Dimension and TensorShape can be hashed.

Source: the behaviour of `tf.TensorShape` and `tf.Dimension` in TensorFlow 1.15.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, overload

from penstock.foundation.base import mismatch
from penstock.foundation.base.dimension import Dimension, dim_value

Static: TypeAlias = "tuple[int | None, ...] | None"
"""A shape as a plain value: dims, None for an unknown one; None for an unknown rank."""


class _Dims:
    """What iterating and indexing a shape gives; of the process.

    Attributes:
        plain: Integers and None, as in TensorFlow 2, or else Dimensions.
    """

    plain = False


_dims = _Dims()


def enable_v2_tensorshape() -> None:
    """Has the dims of shapes be integers, and None where they are unknown, as in TensorFlow 2."""
    _dims.plain = True


def disable_v2_tensorshape() -> None:
    """Has the dims of shapes be Dimensions, as they are in TensorFlow 1."""
    _dims.plain = False


class TensorShape:
    """What is known of the shape of a tensor.

    Args:
        dims: None for an unknown rank, a TensorShape, a TensorShapeProto, one size, or an iterable
            of sizes, each an integer, a Dimension or None.

    Raises:
        TypeError: `dims` cannot be a shape.
        ValueError: a size is negative or not a whole number.

    >>> TensorShape([None, 3]).merge_with([2, None]).as_list()
    [2, 3]
    """

    __slots__ = ("sizes",)

    sizes: Static

    def __init__(self, dims: Any) -> None:
        self.sizes = static_of(dims)

    @property
    def rank(self) -> int | None:
        """The number of dims, or None when it is unknown."""
        return None if self.sizes is None else len(self.sizes)

    @property
    def ndims(self) -> int | None:
        """The same as `rank`."""
        return None if self.sizes is None else len(self.sizes)

    @property
    def dims(self) -> list[Dimension] | None:
        """The dims as Dimension objects, or None when the rank is unknown."""
        return None if self.sizes is None else [Dimension(d) for d in self.sizes]

    def __repr__(self) -> str:
        shown: Any = self.dims
        if _dims.plain and self.sizes is not None:
            shown = list(self.sizes)
        return f"TensorShape({shown!r})"

    def __str__(self) -> str:
        return format_static(self.sizes)

    def __hash__(self) -> int:
        return hash(self.sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.sizes,)

    def __len__(self) -> int:
        if self.sizes is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self.sizes)

    def __bool__(self) -> bool:
        return self.sizes is not None

    def __iter__(self) -> Iterator[Any]:
        if self.sizes is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self.sizes if _dims.plain else [Dimension(d) for d in self.sizes])

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return from_static(self._slice(key))
        if self.sizes is None:
            return None if _dims.plain else Dimension(None)
        try:
            return self.sizes[key] if _dims.plain else Dimension(self.sizes[key])
        except IndexError:
            raise IndexError(
                f"index {key} is out of range for shape {self} of rank {len(self.sizes)}"
            ) from None

    def _slice(self, key: slice) -> Static:
        if self.sizes is not None:
            return self.sizes[key]
        if key.step is not None:
            raise ValueError("Cannot slice a shape of unknown rank with a step.")
        start, stop = operator.index(key.start or 0), key.stop
        if stop is None or start < 0 or operator.index(stop) < 0:
            return None
        return (None,) * max(0, operator.index(stop) - start)

    def __eq__(self, other: object) -> bool:
        try:
            dims = static_of(other)
        except (TypeError, ValueError):
            return NotImplemented
        return dims is self.sizes or (dims == self.sizes and dims is not None and None not in dims)

    def __ne__(self, other: object) -> bool:
        try:
            dims = static_of(other)
        except (TypeError, ValueError):
            return NotImplemented
        if dims is None or self.sizes is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == other

    def __concat__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __add__(self, other: Any) -> TensorShape:
        try:
            return self.concatenate(other)
        except TypeError:
            return NotImplemented

    def __radd__(self, other: Any) -> TensorShape:
        try:
            return TensorShape(other).concatenate(self)
        except TypeError:
            return NotImplemented

    def num_elements(self) -> int | None:
        """The number of elements, or None unless every dim is known."""
        return num_elements_static(self.sizes)

    def merge_with(self, other: Any) -> TensorShape:
        """The shape that holds what both know.

        Raises:
            ValueError: they are not compatible.
        """
        return from_static(merge_static(self.sizes, static_of(other)))

    def concatenate(self, other: Any) -> TensorShape:
        """The dims of this shape, then those of `other`; unknown if either rank is."""
        dims = static_of(other)
        if self.sizes is None or dims is None:
            return from_static(None)
        return from_static(self.sizes + dims)

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to be of the given rank.

        Raises:
            ValueError: it has another rank.
        """
        self.assert_has_rank(rank)
        return unknown_shape(rank) if self.sizes is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; raises ValueError if it has fewer dims than `rank`."""
        if self.sizes is not None and len(self.sizes) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; raises ValueError if it has more dims than `rank`."""
        if self.sizes is not None and len(self.sizes) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError if this shape is known to have another rank."""
        if self.sizes is not None and len(self.sizes) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError if both ranks are known and differ."""
        dims = static_of(other)
        if self.sizes is not None and dims is not None and len(self.sizes) != len(dims):
            raise ValueError(f"Shapes {self} and {format_static(dims)} must have the same rank")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some fully known shape is described by both.

        >>> TensorShape([None, 2]).is_compatible_with([3, None])
        True
        """
        return is_compatible_static(self.sizes, static_of(other))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError unless `is_compatible_with(other)`."""
        dims = static_of(other)
        if not is_compatible_static(self.sizes, dims):
            raise ValueError(f"Shapes {self} and {format_static(dims)} are incompatible")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The shape that keeps the dims on which both agree and forgets the others."""
        dims = static_of(other)
        if self.sizes is None or dims is None or len(self.sizes) != len(dims):
            return from_static(None)
        pairs = zip(self.sizes, dims, strict=True)
        return from_static(tuple(a if a == b else None for a, b in pairs))

    def is_fully_defined(self) -> bool:
        """Whether the rank and every dim are known."""
        return self.sizes is not None and None not in self.sizes

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless `is_fully_defined()`."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def as_list(self) -> list[int | None]:
        """The dims as integers, None for an unknown one.

        Raises:
            ValueError: the rank is unknown.
        """
        if self.sizes is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self.sizes)

    def as_proto(self) -> Any:
        """The TensorShapeProto of this shape, in which -1 is an unknown dim."""
        # Only graph export needs protobuf; this room must not pay for its import.
        from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

        if self.sizes is None:
            return TensorShapeProto(unknown_rank=True)
        sizes = (-1 if d is None else d for d in self.sizes)
        return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def static_of(shape: Any) -> Static:
    """The plain form of anything that `TensorShape(...)` takes.

    >>> static_of([2, Dimension(None)]), static_of(3), static_of(None)
    ((2, None), (3,), None)
    """
    if shape is None:
        return None
    if isinstance(shape, TensorShape):
        return shape.sizes
    if isinstance(shape, str | bytes):
        raise TypeError(
            "A string has ambiguous TensorShape, please wrap in a list or convert to an int: "
            f"{shape!r}"
        )
    if isinstance(shape, tuple | list):
        return tuple([d if d is None or type(d) is int and d >= 0 else dim_value(d) for d in shape])
    if hasattr(shape, "unknown_rank") and hasattr(shape, "dim"):  # TensorShapeProto
        if shape.unknown_rank:
            return None
        return tuple(None if d.size == -1 else dim_value(d.size) for d in shape.dim)
    try:
        sizes = iter(shape)
    except TypeError:
        return (dim_value(shape),)
    return tuple(dim_value(d) for d in sizes)


def from_static(dims: Static) -> TensorShape:
    """The TensorShape of a plain shape, which is taken as it is: the fast way to make one."""
    shape = TensorShape.__new__(TensorShape)
    shape.sizes = dims
    return shape


def as_shape(shape: Any) -> TensorShape:
    """`shape` if it is a TensorShape, else `TensorShape(shape)`."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The Dimension at an index, unknown if the rank is.

    Raises:
        IndexError: the rank is known and the index out of its range.
    """
    found = shape[index]
    return found if isinstance(found, Dimension) else Dimension(found)


_UNSET: Any = object()


def unknown_shape(rank: int | None = None, *, ndims: Any = _UNSET) -> TensorShape:
    """A shape of unknown dims, or of unknown rank.

    Args:
        rank: the number of dims, None when it is unknown.
        ndims: the older name of `rank`.

    >>> str(unknown_shape()), str(unknown_shape(2))
    ('<unknown>', '(?, ?)')
    """
    if ndims is not _UNSET:
        rank = ndims
    return from_static(None if rank is None else (None,) * rank)


def scalar() -> TensorShape:
    """The shape of a scalar."""
    return from_static(())


def vector(length: Any) -> TensorShape:
    """The shape of a vector."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape of a matrix."""
    return TensorShape([rows, cols])


def format_static(dims: Static) -> str:
    """A plain shape as `str(TensorShape)` prints it.

    >>> format_static((2, None)), format_static((3,)), format_static(None)
    ('(2, ?)', '(3,)', '<unknown>')
    """
    if dims is None:
        return "<unknown>"
    unknown = "None" if _dims.plain else "?"
    words = [unknown if d is None else str(d) for d in dims]
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"


def num_elements_static(dims: Static) -> int | None:
    """The number of elements of a plain shape, or None unless every dim is known."""
    if dims is None:
        return None
    count = 1
    for dim in dims:
        if dim is None:
            return None
        count *= dim
    return count


def is_compatible_static(a: Static, b: Static) -> bool:
    """Whether some fully known shape is described by both plain shapes."""
    if a is None or b is None or a == b:
        return True
    if len(a) != len(b):
        return False
    return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))


def merge_static(a: Static, b: Static) -> Static:
    """The plain shape that holds what both know.

    Raises:
        ValueError: no shape is described by both.

    >>> merge_static((2, None), (None, 3)), merge_static(None, (1,))
    ((2, 3), (1,))
    """
    if b is None or a == b:
        return a
    if a is None:
        return b
    if not is_compatible_static(a, b):
        message = f"Shapes {format_static(a)} and {format_static(b)} are not compatible"
        raise mismatch.MismatchError(message, mismatch.difference(a, b))
    return tuple([y if x is None else x for x, y in zip(a, b, strict=True)])


def common_static(all_dims: Sequence[Static]) -> Static:
    """The plain shape that describes each of the shapes: unknown where two differ.

    >>> common_static([(2, 3), (2, 4)]), common_static([(2,), ()])
    ((2, None), None)
    """
    common: Static = all_dims[0]
    for dims in all_dims[1:]:
        if common is None or dims is None or len(common) != len(dims):
            return None
        common = tuple([x if x == y else None for x, y in zip(common, dims, strict=True)])
    return common


def broadcast_static(a: Static, b: Static) -> Static:
    """The plain shape of what NumPy's broadcasting makes of both.

    An unknown dim against one greater than 1 is that one, since only it can be; against 1, 0 or
    another unknown dim it stays unknown.

    Raises:
        ValueError: the shapes do not broadcast.

    >>> broadcast_static((2, None), (4,)), broadcast_static((5, 1), (None,))
    ((2, 4), (5, None))
    """
    if a is None or b is None:
        return None
    if a == b and None not in a:
        return a
    if len(a) < len(b):
        longer, shorter = b, a
    else:
        longer, shorter = a, b
    lead = len(longer) - len(shorter)
    out = list(longer[:lead])
    for x, y in zip(longer[lead:], shorter, strict=True):
        if x == y:
            out.append(x)
        elif x == 1:
            out.append(y)
        elif y == 1:
            out.append(x)
        elif x is None:
            out.append(y if y else None)
        elif y is None:
            out.append(x if x else None)
        else:
            raise mismatch.MismatchError(
                f"Incompatible shapes for broadcasting: {format_static(a)} and {format_static(b)}",
                f"Dimensions must be equal, but are {x} and {y}: Incompatible shapes:"
                f" {mismatch.show(a)} vs. {mismatch.show(b)}",
            )
    return tuple(out)
