"""The part of a tensor that a variable's partition holds: a start and a length for each dim.

Source: the text form of TensorFlow's "shape and slice" arguments, its TensorSliceProto, and the
keys under which checkpoints keep slices.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.formats import coding
from penstock.foundation.formats.schema import TensorSliceProto

_FULL = -1
_EXTENT = re.compile(r"(\d+),(\d+)")


@dataclass(frozen=True)
class TensorSlice:
    """A block of a tensor.

    Args:
      starts: the first index of each dim.
      lengths: how many indices of each dim; -1 (with start 0) takes the whole dim.

    >>> piece = TensorSlice.parse("0,5:-")
    >>> piece.shape([10, 4]), str(piece), piece.index([10, 4])
    ((5, 4), '0,5:-', (slice(0, 5, None), slice(0, 4, None)))
    """

    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    @classmethod
    def full(cls, rank: int) -> TensorSlice:
        """The slice that takes all of a tensor of that rank."""
        return cls((0,) * rank, (_FULL,) * rank)

    @classmethod
    def parse(cls, text: str) -> TensorSlice:
        """The slice of a text like "0,5:-"; of "10 4 0,5:-", its last word.

        Raises:
          InvalidArgumentError: the text has another form.
        """
        word = text.split(" ")[-1]
        starts: list[int] = []
        lengths: list[int] = []
        for extent in word.split(":") if word else []:
            found = _EXTENT.fullmatch(extent)
            if found is None and extent != "-":
                raise errors.invalid(
                    f"{text!r} is not a slice: each dim, between ':', has the form 'start,length' "
                    f"or '-', not {extent!r}"
                )
            starts.append(int(found[1]) if found else 0)
            lengths.append(int(found[2]) if found else _FULL)
        return cls(tuple(starts), tuple(lengths))

    @classmethod
    def from_proto(cls, proto: Any) -> TensorSlice:
        """The slice of a TensorSliceProto.

        Raises:
          ValueError: a negative start or length.
        """
        starts = tuple(extent.start for extent in proto.extent)
        lengths = tuple(e.length if e.HasField("length") else _FULL for e in proto.extent)
        for start, length in zip(starts, lengths):
            if start < 0 or length < _FULL or (length == _FULL and start):
                raise ValueError(f"a slice starts at {start} and has the length {length}")
        return cls(starts, lengths)

    @property
    def proto(self) -> Any:
        """The TensorSliceProto."""
        proto = TensorSliceProto()
        for start, length in zip(self.starts, self.lengths):
            extent = proto.extent.add()
            if length != _FULL:
                extent.start, extent.length = start, length
        return proto

    def __str__(self) -> str:
        pairs = zip(self.starts, self.lengths)
        return ":".join("-" if length == _FULL else f"{start},{length}" for start, length in pairs)

    def key(self, name: str) -> bytes:
        """The key of a checkpoint's table under which this slice of a tensor stands."""
        parts = [
            coding.ordered_number(0),
            coding.ordered_string(name.encode()),
            coding.ordered_number(len(self.starts)),
        ]
        for pair in zip(self.starts, self.lengths):
            parts += map(coding.ordered_signed, pair)
        return b"".join(parts)

    def bounds(self, full_shape: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """(first, behind the last) index of each dim of a tensor of that shape.

        Raises:
          InvalidArgumentError: another rank, or not within the tensor.
        """
        if len(full_shape) != len(self.starts):
            raise self._misfit(full_shape)
        found = []
        for start, length, size in zip(self.starts, self.lengths, full_shape):
            end = size if length == _FULL else start + length
            if end > size:
                raise self._misfit(full_shape)
            found.append((start, end))
        return tuple(found)

    def _misfit(self, full_shape: Sequence[int]) -> errors.InvalidArgumentError:
        text = f"slice {str(self)!r} does not fit a tensor of shape {list(full_shape)}"
        return errors.invalid(text)

    def shape(self, full_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of this slice of a tensor of that shape.

        Raises:
          InvalidArgumentError: it does not fit.
        """
        return tuple(end - start for start, end in self.bounds(full_shape))

    def index(self, full_shape: Sequence[int]) -> tuple[slice, ...]:
        """What to index an array of that shape with.

        Raises:
          InvalidArgumentError: it does not fit.
        """
        return tuple(slice(start, end) for start, end in self.bounds(full_shape))

    def takes_all(self, full_shape: Sequence[int]) -> bool:
        """Whether it is the whole of a tensor of that shape."""
        return self.shape(full_shape) == tuple(full_shape)

    def intersect(self, other: TensorSlice, full_shape: Sequence[int]) -> TensorSlice | None:
        """What two slices of a tensor have in common; None for nothing.

        >>> str(TensorSlice.parse("0,5:-").intersect(TensorSlice.parse("3,9:1,2"), [12, 4]))
        '3,2:1,2'
        """
        starts = []
        lengths = []
        for (a, b), (c, d) in zip(self.bounds(full_shape), other.bounds(full_shape)):
            start, end = max(a, c), min(b, d)
            if start >= end:
                return None
            starts.append(start)
            lengths.append(end - start)
        return TensorSlice(tuple(starts), tuple(lengths))

    def within(self, outer: TensorSlice, full_shape: Sequence[int]) -> tuple[slice, ...]:
        """What to index an array that holds `outer` with to get this slice, which lies in it."""
        pairs = zip(self.bounds(full_shape), outer.bounds(full_shape))
        return tuple(slice(start - origin, end - origin) for (start, end), (origin, _) in pairs)


def parse_spec(spec: str) -> tuple[tuple[int, ...], TensorSlice]:
    """The full shape and the slice of a "shape and slice" text.

    Args:
      spec: the dims, then the slice, between spaces: "10 4 0,5:-".

    Raises:
      InvalidArgumentError: another form, or the slice does not fit the shape.

    >>> parse_spec("10 4 0,5:-")
    ((10, 4), TensorSlice(starts=(0, 0), lengths=(5, -1)))
    """
    *dims, text = spec.split(" ")
    if not dims or not all(dim.isdecimal() for dim in dims):
        raise errors.invalid(
            f"{spec!r}: need dims and a slice between spaces, such as '10 4 0,5:-'"
        )
    shape = tuple(map(int, dims))
    piece = TensorSlice.parse(text)
    piece.bounds(shape)
    return shape, piece


def volume(shape: Sequence[int]) -> int:
    """How many elements a shape has, in exact numbers."""
    return math.prod(shape)
