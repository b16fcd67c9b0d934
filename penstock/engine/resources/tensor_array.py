"""The run-time object behind a TensorArray: tensors by index, written once, that live in one step.

State: ``_values``, a list whose items are tensors (string arrays) or one of the marks below; or,
after an ``unstack`` that nobody has touched yet, ``_whole``, the tensor that holds all elements.
``_shape`` is the one shape of all elements once it is known.  Where elements may differ,
``_shapes`` remembers those of elements that are gone, since a gradient array needs them.
``_gradients`` holds an array's gradient arrays by their source, the ``tf.gradients`` call's name.

What is written is kept and not copied, and a read of an element gives out the same memory (see
``keeps`` and ``lends`` in ``opdef``).  Reads and writes of elements are the hot path of every
recurrent network: few tests decide that nothing special is the matter, since a mark has no dtype.

Facts about order, limits and errors are TensorFlow 1.15's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, errors, shapes
from penstock.foundation.base.mismatch import show

Dims = tuple[int | None, ...] | None


class _Mark:
    """Stands in a list of elements for one that is not there."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...] | None = None) -> None:
        self.dtype = None
        # Of an element of a gradient array that counts as zeros of this shape.
        self.shape = shape


_EMPTY = _Mark()
_READ = _Mark()  # cleared when it was read


class TensorArray:
    """A list of tensors of one dtype.

    Args:
      name: for messages.
      dtype: torch type of the elements, ``object`` for strings.
      size: how many elements.
      element_shape: static dims of every element; None: any.
      dynamic_size: whether a write past the end makes the array larger.
      clear_after_read: whether an element can be read once only.
      identical_element_shapes: whether all elements have the shape of the first one written.
      sums: a gradient array: writes to one index are added.

    Raises:
      tf.errors.InvalidArgumentError: the size is negative.
    """

    __slots__ = (
        "name", "dynamic_size", "_dtype", "_kind", "_values", "_whole", "_dims", "_shape",
        "_shapes", "_identical", "_clears", "_kept_reads", "_sums", "_gradients", "_closed",
        "_split",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        dtype: Any,
        size: int,
        element_shape: Dims = None,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_element_shapes: bool = False,
        sums: bool = False,
    ) -> None:
        self.name = name or "TensorArray"
        if not isinstance(size, int):
            raise self._wrong(f"its size must be a scalar; found {size}")
        if size < 0:
            raise self._wrong(f"its size must be at least 0; found {size}")
        self.dynamic_size = dynamic_size
        self._dtype = dtype
        # What ``dtype`` of an element is: NumPy has a type of its own for strings.
        self._kind: Any = np.dtype(object) if dtype is object else dtype
        self._values: list[Any] = [_EMPTY] * size
        self._whole: Any = None
        self._dims = element_shape
        self._shape = element_shape if _is_full(element_shape) else None
        self._shapes: dict[int, tuple[int, ...]] = {}
        self._identical = identical_element_shapes
        self._clears = clear_after_read
        self._kept_reads: set[int] = set()
        self._sums = sums
        self._closed = False
        # How many elements a split has written; its gradient is of these alone.
        self._split: int | None = None
        self._gradients: dict[str, TensorArray] = {}

    # ---- one element -----------------------------------------------------------------------------

    def write(self, index: int, value: Any, flow: Any = None) -> Any:
        """Sets an element; returns ``flow``.

        Raises:
          tf.errors.InvalidArgumentError: the array is closed, the index is outside, the element was
            read or (in an array that does not add) written before, or dtype or shape do not fit.
        """
        values = self._values if self._whole is None else self._spread()
        shape = self._shape
        if (
            shape is not None
            and 0 <= index < len(values)
            and values[index] is _EMPTY
            and value.dtype is self._kind
            and value.shape == shape
        ):
            values[index] = value
        else:
            self._write_checked(index, value)
        return flow

    def read(self, index: int, dtype: Any) -> Any:
        """The element at ``index``; zeros where nothing was written and the shape is known.

        Args:
          index: from 0.
          dtype: its torch type, ``object`` for strings.

        Raises:
          tf.errors.InvalidArgumentError: the array is closed, the index is outside, the element was
            cleared by an earlier read, or it was not written and its shape is not known.
        """
        values = self._values if self._whole is None else self._spread()
        # What is cleared leaves its shape behind, where not all have one.
        if (self._shape is not None or not self._clears) and 0 <= index < len(values):
            value = values[index]
            if value.dtype is dtype:  # it is there
                if self._clears:
                    values[index] = _READ
                else:
                    self._kept_reads.add(index)
                return value
        return self._read_checked(index, dtype)

    def _write_checked(self, index: int, value: Any) -> None:
        self._check_open()
        size = len(self._values)
        if index < 0 or (index >= size and not self.dynamic_size):
            raise self._wrong(
                f"Tried to write to index {index} but array is not resizeable and size is: {size};"
                " it " + ("cannot grow at the front" if self.dynamic_size else "cannot grow")
            )
        if value.dtype is not self._kind:
            raise self._wrong(
                f"index {index}: TensorArray dtype is {_name(self._dtype)} but Op is trying to"
                f" write dtype {_name(value.dtype)}"
            )
        self._check_shape(index, tuple(value.shape))
        if index >= size:
            self._values.extend([_EMPTY] * (index + 1 - size))
        old = self._values[index]
        if old is _READ or index in self._kept_reads:
            raise self._wrong(
                f"Could not write to TensorArray index {index} because it has already been read"
            )
        if old is not _EMPTY:
            value = self._sum(index, old, value)
        self._values[index] = value

    def _sum(self, index: int, old: Any, value: Any) -> Any:
        if not self._sums:
            raise self._wrong(
                f"Could not write to TensorArray index {index} because it has already been written"
                " to; an element is written once"
            )
        if old.shape != value.shape:
            raise self._wrong(
                f"index {index}: shape {list(value.shape)} cannot be added to"
                f" shape {list(old.shape)}"
            )
        if isinstance(old, _Mark):
            return value
        if self._dtype is object:
            raise self._wrong("strings cannot be added")
        return old + value

    def _check_shape(self, index: int, found: tuple[int, ...]) -> None:
        """Checks the shape of an element, and takes note of it where all have one shape."""
        if not shapes.is_compatible_static(self._dims, found):
            raise self._wrong(
                f"Could not write to TensorArray index {index} because the value shape is"
                f" {show(found)} which is incompatible with the TensorArray's inferred element"
                f" shape: {shapes.format_static(self._dims)} (infer_shape=False allows others)"
            )
        if self._identical and self._shape is None:
            self._dims = self._shape = found

    def _read_checked(self, index: int, dtype: Any) -> Any:
        self._check_open()
        values = self._values
        if dtype is not self._dtype:
            raise self._wrong(
                f"TensorArray dtype is {_name(self._dtype)} but Op requested dtype {_name(dtype)}"
            )
        if self._sums and index >= len(values):
            # The array it belongs to may have grown: nothing came back to what is new there.
            values.extend([_EMPTY] * (index + 1 - len(values)))
        if not 0 <= index < len(values):
            raise self._wrong(f"Tried to read from index {index} but array size is: {len(values)}")
        value = values[index]
        if value is _READ:
            raise self._wrong(
                f"Could not read index {index} twice because it was cleared after a previous read"
                " (clear_after_read=False keeps elements)"
            )
        if isinstance(value, _Mark):
            value = self._zeros(index, value.shape)
        if self._clears:
            values[index] = _READ
            if self._shape is None:
                self._shapes[index] = tuple(value.shape)
        else:
            values[index] = value
            self._kept_reads.add(index)
        return value

    def _zeros(self, index: int, shape: tuple[int, ...] | None) -> torch.Tensor:
        dims: Any = self._shape if shape is None else shape
        if dims is None:
            raise self._wrong(
                f"Could not read from TensorArray index {index}: nothing was written there, and the"
                " shape of its"
                f" elements is not known ({shapes.format_static(self._dims)}); with a full"
                " element_shape it would be zeros"
            )
        if self._dtype is object:
            raise self._wrong(f"index {index}: no string was written there")
        return torch.zeros(dims, dtype=self._dtype)

    # ---- many elements ---------------------------------------------------------------------------

    def gather(self, indices: list[int], dtype: Any, element_shape: Dims = None) -> Any:
        """The elements at ``indices`` as one tensor, whose memory is the caller's.

        Args:
          indices: which.
          dtype: as of ``read``.
          element_shape: static dims that elements must have.

        Raises:
          tf.errors.InvalidArgumentError: as ``read``, or shapes that differ.
          tf.errors.UnimplementedError: no indices, and the shape is not known.
        """
        self._check_open()
        whole, count = self._whole, len(indices)
        if whole is None and count == 1 and dtype is not object:
            part = self.read(indices[0], dtype)
            if part.shape != element_shape:
                self._check_asked(element_shape, tuple(part.shape), indices[0])
            return torch.stack([part])
        if whole is not None and dtype is self._dtype and indices == list(range(len(whole))):
            self._check_asked(element_shape, tuple(whole.shape[1:]), 0)
            if self._clears:
                self._forget_whole()
            else:
                self._kept_reads.update(indices)
            return whole.clone() if isinstance(whole, torch.Tensor) else whole.copy()
        if not count:
            return self._nothing((0,), shapes.merge_static(self._dims, element_shape), dtype)
        parts = self._read_many(indices, dtype)
        first = tuple(parts[0].shape)
        if first != element_shape:
            self._check_asked(element_shape, first, indices[0])
        if self._shape is None and count > 1:
            for index, part in zip(indices, parts, strict=True):
                self._check_same(first, tuple(part.shape), indices[0], index, "")
        return torch.stack(parts) if dtype is not object else np.stack(parts)

    def concat(self, dtype: Any, element_shape_except0: Dims = None) -> tuple[Any, torch.Tensor]:
        """All elements end to end, and the length of each.

        Raises:
          As ``gather``; also tf.errors.InvalidArgumentError: an element is a scalar.
        """
        self._check_open()
        size = self.size()
        if self._sums and self._split is not None:
            size = self._split
        if not size:
            rest = self._dims[1:] if self._dims else None
            known = shapes.merge_static(rest, element_shape_except0)
            return self._nothing((0,), known, dtype), torch.zeros(0, dtype=torch.int64)
        parts = self._read_many(list(range(size)), dtype)
        for index, part in enumerate(parts):
            if not part.shape:
                raise self._wrong(f"index {index} is a scalar; stack() joins scalars, not concat()")
            found = tuple(part.shape[1:])
            self._check_asked(element_shape_except0, found, index)
            self._check_same(tuple(parts[0].shape[1:]), found, 0, index, " after the first dim")
        lengths = torch.tensor([part.shape[0] for part in parts])
        return torch.cat(parts) if dtype is not object else np.concatenate(parts), lengths

    def scatter(self, indices: list[int], value: Any, flow: Any = None) -> Any:
        """Writes the rows of ``value`` at ``indices``; returns ``flow``.

        Raises:
          As ``write``; also tf.errors.InvalidArgumentError: not one index a row.
        """
        self._check_open()
        if not value.shape:
            raise self._wrong("Input value for unpack must be at least a vector; found a scalar")
        if len(indices) != value.shape[0]:
            raise self._wrong(
                "Expected len(indices) == values.shape[0], but saw:"
                f" {len(indices)} vs. {value.shape[0]}"
            )
        needed = max(indices, default=-1) + 1
        if needed > self.size() and not self.dynamic_size:
            raise self._wrong(
                f"Max scatter index must be < array size ({needed - 1} vs. {self.size()}); it"
                " cannot grow"
            )
        if needed and indices == list(range(needed)) and self._takes_whole(value):
            return flow
        for index, row in zip(indices, _rows(value), strict=True):
            self.write(index, row)
        return flow

    def split(self, value: Any, lengths: list[int], flow: Any = None) -> Any:
        """Writes ``lengths[i]`` rows of ``value`` at index i; returns ``flow``.

        Raises:
          As ``write``; also tf.errors.InvalidArgumentError: lengths that do not sum up to the rows,
          or not one for each element.
        """
        self._check_open()
        if not value.shape:
            raise self._wrong("Expected value to be at least a vector, but received a scalar")
        if not isinstance(lengths, list) or any(not isinstance(n, int) or n < 0 for n in lengths):
            raise self._wrong(f"lengths must be a vector of numbers of rows; found {lengths}")
        if sum(lengths) != value.shape[0]:
            raise self._wrong(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is"
                f" {sum(lengths)} and value has {value.shape[0]} row(s)"
            )
        size = self.size()
        if len(lengths) != size and (not self.dynamic_size or len(lengths) < size):
            raise self._wrong(
                "TensorArray's size is not equal to the size of lengths"
                f" ({size} vs. {len(lengths)})"
                + ("" if self.dynamic_size else ", and it cannot grow")
            )
        end = 0
        for index, length in enumerate(lengths):
            self.write(index, value[end : end + length])
            end += length
        if not self._sums:
            self._split = len(lengths)
        return flow

    def _takes_whole(self, value: Any) -> bool:
        """Takes all rows without looking at each, where nothing is known of any element yet."""
        count = value.shape[0]
        if value.dtype is not self._kind or count < len(self._values):
            return False
        whole = self._whole
        if whole is None:
            if any(known is not _EMPTY for known in self._values):
                return False
            self._check_shape(0, tuple(value.shape[1:]))
            self._values = [_EMPTY] * count
            self._whole = value
            return True
        adds = self._sums and not self._kept_reads and self._dtype is not object
        if not adds or whole.shape != value.shape:
            return False
        self._whole = whole + value
        return True

    def _spread(self) -> list[Any]:
        """Begins to look at each element of what was unstacked."""
        self._values, self._whole = _rows(self._whole), None
        return self._values

    def _forget_whole(self) -> None:
        count, shape = len(self._whole), tuple(self._whole.shape[1:])
        self._values, self._whole = [_READ] * count, None
        if self._shape is None:
            self._shapes.update(dict.fromkeys(range(count), shape))

    def _read_many(self, indices: list[int], dtype: Any) -> list[Any]:
        values = self._values if self._whole is None else self._spread()
        if self._shape is not None and self._clears and indices == list(range(len(values))):
            if all(value.dtype is dtype for value in values):
                self._values = [_READ] * len(values)
                return values
        return [self.read(index, dtype) for index in indices]

    def _nothing(self, lead: tuple[int, ...], dims: Dims, dtype: Any) -> Any:
        if dims is None or None in dims:
            raise errors.UnimplementedError(
                None, None,
                f"{self._named()}: none of its elements are asked for, so their shape must be"
                f" known; found {shapes.format_static(dims)}",
            )  # fmt: skip
        full: Any = (*lead, *dims)
        return np.empty(full, object) if dtype is object else torch.empty(full, dtype=dtype)

    def _check_asked(self, wanted: Dims, found: tuple[int, ...], index: int) -> None:
        if not shapes.is_compatible_static(wanted, found):
            raise self._wrong(
                f"elements of shape {shapes.format_static(wanted)} are asked for; index {index}"
                f" has shape {list(found)}"
            )

    def _check_same(
        self, first: tuple[int, ...], found: tuple[int, ...], at: int, index: int, where: str
    ) -> None:
        if found != first:
            raise self._wrong(
                f"its elements have different shapes{where}: index {at} {list(first)},"
                f" index {index} {list(found)}"
            )

    # ---- the array -------------------------------------------------------------------------------

    def size(self) -> int:
        """How many elements it has now.

        Raises:
          tf.errors.InvalidArgumentError: it is closed.
        """
        self._check_open()
        return len(self._values)

    def close(self) -> None:
        """Frees the elements; nothing but closing again is allowed afterwards."""
        self._values, self._whole, self._closed = [], None, True

    def clone(self) -> TensorArray:
        """Itself: a program that copies what it reads reads the handle of a V1 array, no value."""
        return self

    def gradient(self, source: str, prepend: Sequence[int] = ()) -> TensorArray:
        """The gradient array of this one for ``source``, made at the first call.

        It has this array's size, which is fixed from then on, and counts as zeros of the shapes
        that this array's elements have.

        Args:
          source: which ``tf.gradients`` call.
          prepend: dims before those of an element.

        Raises:
          tf.errors.InvalidArgumentError: it is closed.
        """
        made = self._gradients.get(source)
        if made is None or self._closed:
            self._check_open()
            self.dynamic_size = False
            made = self._gradients[source] = self._new_gradient(source, tuple(prepend))
        return made

    def _new_gradient(self, source: str, prepend: tuple[int, ...]) -> TensorArray:
        dims = None if self._dims is None else (*prepend, *self._dims)
        made = TensorArray(
            f"{self.name}@{source}", self._dtype, len(self._values), dims,
            # Each of the values that were added in an element has the gradient of the sum.
            clear_after_read=not self._sums,
            identical_element_shapes=self._identical, sums=True,
        )  # fmt: skip
        made._split = self._split
        if made._shape is None:
            values = self._values if self._whole is None else self._spread()
            for index, value in enumerate(values):
                shape = self._shapes.get(index) if value is _READ else value.shape
                if shape is not None:
                    made._values[index] = _Mark((*prepend, *shape))
        return made

    def _check_open(self) -> None:
        if self._closed:
            raise self._wrong("it has been closed")

    def _named(self) -> str:
        return f"TensorArray {self.name!r}"

    def _wrong(self, what: str) -> errors.InvalidArgumentError:
        return errors.invalid(f"{self._named()}: {what}")

    def __repr__(self) -> str:
        return f"<{self._named()} of {len(self._values)} elements>"


def _name(dtype: Any) -> str:
    """A torch type, or ``object`` for strings, as TensorFlow's messages call it."""
    if dtype is object or dtype == np.dtype(object):
        return "string"
    return dtypes.message_name(str(dtype).removeprefix("torch."))


def _rows(value: Any) -> list[Any]:
    """The rows of a tensor, or of an array of strings (each an array too)."""
    if isinstance(value, torch.Tensor):
        return list(value.unbind(0))
    return [value[i, ...] for i in range(len(value))]


def _is_full(dims: Dims) -> bool:
    return dims is not None and None not in dims
