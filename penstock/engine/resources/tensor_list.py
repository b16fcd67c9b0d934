"""The run-time object behind a TensorList: a sequence of tensors that is itself a value.

TensorFlow 2 keeps what a loop gathers in these (a variant tensor that one node hands to the next),
where TensorFlow 1 has a TensorArray.  A list never changes: what writes to one makes another, which
shares the elements.

State: ``items``, with None where nothing was written; ``dtype`` of the elements (torch's,
``object`` for strings and for lists of lists); ``dims``, what is known of the shape of each;
``limit``, how many there may be, or -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors, shapes
from penstock.foundation.base.mismatch import show

Dims = tuple[int | None, ...] | None


def as_dims(shape: Any) -> Dims:
    """Static dims from a shape as nodes take it: a vector with -1, or the scalar -1."""
    if isinstance(shape, int):
        if shape != -1:
            raise _wrong(f"an element shape is a vector or the scalar -1; found the scalar {shape}")
        return None
    return tuple(None if size < 0 else int(size) for size in shape)


def _wrong(message: str) -> errors.InvalidArgumentError:
    return errors.invalid(f"TensorList: {message}")


class TensorList:
    """A sequence of tensors of one dtype; see the module's docstring.

    Args:
      dtype: of the elements.
      dims: what every element's shape must be compatible with.
      items: the elements; None for one that was not written.
      limit: how many ``push`` allows; -1 for any number.
    """

    __slots__ = ("dtype", "dims", "items", "limit")

    # What the tensor that holds a list looks like to those that ask.
    shape = ()
    ndim = 0

    def __init__(self, dtype: Any, dims: Dims, items: list[Any], limit: int = -1) -> None:
        self.dtype, self.dims, self.items, self.limit = dtype, dims, items, limit

    def like(self, items: list[Any]) -> TensorList:
        """A list of the same kind with other elements."""
        return TensorList(self.dtype, self.dims, items, self.limit)

    # ---- elements ----------------------------------------------------------------------------

    def get(self, index: int, dims: Dims, dtype: Any) -> Any:
        """The element at ``index``; zeros where none was written.

        Args:
          index: from 0.
          dims: what the caller knows of its shape.
          dtype: what the caller takes it for.

        Raises:
          tf.errors.InvalidArgumentError: the index is outside, a dtype differs, or the shape of an
            element that was not written is not known.
        """
        self.check_dtype(dtype)
        self.check_index(index)
        item = self.items[index]
        return self._zeros(dims) if item is None else item

    def set(self, index: int, item: Any, grow: bool = False) -> TensorList:
        """The list with another element at ``index``; ``grow``: which may be past the end."""
        self.check_item(item)
        items = list(self.items)
        if grow and index >= len(items):
            items.extend([None] * (index + 1 - len(items)))
        else:
            self.check_index(index)
        items[index] = item
        return self.like(items)

    def push(self, item: Any) -> TensorList:
        """The list with an element more.

        Raises:
          tf.errors.InvalidArgumentError: it is full, or the element does not fit.
        """
        if 0 <= self.limit <= len(self.items):
            raise _wrong(
                f"tried to push on a full list: it has {len(self.items)} element(s), and"
                f" max_num_elements is {self.limit}"
            )
        self.check_item(item)
        return self.like([*self.items, item])

    def pop(self, dims: Dims, dtype: Any) -> tuple[TensorList, Any]:
        """The list without its last element, and that."""
        self.check_dtype(dtype)
        if not self.items:
            raise _wrong("tried to pop from an empty list")
        item = self.items[-1]
        return self.like(self.items[:-1]), self._zeros(dims) if item is None else item

    def resized(self, size: int) -> TensorList:
        """The list with ``size`` elements; new ones are not written."""
        if size < 0:
            raise _wrong(f"resize takes a size of at least 0; found {size}")
        kept = self.items[:size]
        return self.like(kept + [None] * (size - len(kept)))

    # ---- all of them -------------------------------------------------------------------------

    def stack(self, dims: Dims, dtype: Any, indices: Sequence[int] | None = None) -> Any:
        """All elements, or those at ``indices``, stacked.

        Raises:
          tf.errors.InvalidArgumentError: their shapes differ, or there are none and their shape is
            not known.
        """
        self.check_dtype(dtype)
        for index in indices or ():
            self.check_index(index)
        chosen = self.items if indices is None else [self.items[i] for i in indices]
        known = self._merged(dims)
        for item in chosen:
            if item is not None:
                known = self._merge(known, tuple(item.shape))
        if known is None or None in known:
            what = "an empty list" if not chosen else "elements that were not written"
            raise _wrong(f"the shape of {what} is not known: it is {show(known)}")
        sizes = tuple(int(size or 0) for size in known)
        if not chosen:
            return _filled((0, *sizes), self.dtype)
        whole = [_filled(sizes, self.dtype) if item is None else item for item in chosen]
        return np.stack(whole) if self.dtype is object else torch.stack(whole)

    def concat(self, dims: Dims, dtype: Any, leading: Sequence[int] = ()) -> tuple[Any, Any]:
        """All elements one after another along their first dimension, and how long each is.

        Args:
          dims: what the caller knows of an element's shape; the first may be unknown.
          dtype: what the caller takes the elements for.
          leading: the first dimension of elements that were not written.
        """
        self.check_dtype(dtype)
        known = self._merged(dims)
        rest: Dims = None if known is None else known[1:]
        if known == ():
            raise _wrong("concat takes elements of rank 1 or more; the element shape is []")
        for item in self.items:
            if item is not None:
                if not item.shape:
                    raise _wrong("concat takes elements of rank 1 or more; found a scalar")
                rest = self._merge(rest, tuple(item.shape[1:]))
        if rest is None or None in rest:
            raise _wrong(f"concat needs all dims but the first; the element shape is {show(known)}")
        sizes = tuple(int(size or 0) for size in rest)
        whole = []
        for index, item in enumerate(self.items):
            if item is None:
                first = leading[index] if index < len(leading) else known[0] if known else None
                if first is None or first < 0:
                    raise _wrong(f"element {index} was not written, and its length is not known")
                item = _filled((int(first), *sizes), self.dtype)
            whole.append(item)
        lengths = torch.tensor([int(item.shape[0]) for item in whole], dtype=torch.int64)
        if not whole:
            return _filled((0, *sizes), self.dtype), lengths
        return (np.concatenate(whole) if self.dtype is object else torch.cat(whole)), lengths

    def zeros(self) -> TensorList:
        """A list of zeros shaped like the elements."""
        return self.like([None if item is None else zeros_like(item) for item in self.items])

    def added(self, other: TensorList) -> TensorList:
        """The sums of the elements of two lists of equal length."""
        if len(self.items) != len(other.items):
            raise _wrong(
                f"lists that are added have one length; found {len(self.items)} and"
                f" {len(other.items)}"
            )
        return self.like([add(a, b) for a, b in zip(self.items, other.items, strict=True)])

    # ---- checks ------------------------------------------------------------------------------

    def check_index(self, index: int) -> None:
        if not 0 <= index < len(self.items):
            raise _wrong(f"element {index} was asked for; the list has {len(self.items)}")

    def check_dtype(self, dtype: Any) -> None:
        if dtype is not self.dtype:
            raise _wrong(f"its elements are {self.dtype}; they were taken for {dtype}")

    def check_item(self, item: Any) -> None:
        if not isinstance(item, torch.Tensor | np.ndarray):
            return  # a list, or another value that no tensor holds
        self.check_dtype(object if isinstance(item, np.ndarray) else item.dtype)
        self._merge(self.dims, tuple(item.shape))

    def _merge(self, one: Dims, other: Dims) -> Dims:
        try:
            return shapes.merge_static(one, other)
        except ValueError:
            raise _wrong(
                f"an element of shape {show(other)} is not compatible with {show(one)}"
            ) from None

    def _merged(self, dims: Dims) -> Dims:
        return self._merge(self.dims, dims)

    def _zeros(self, dims: Dims) -> Any:
        known = self._merged(dims)
        if known is None or None in known:
            for item in self.items:
                if item is not None and not isinstance(item, TensorList):
                    known = self._merge(known, tuple(item.shape))
        if known is None or None in known:
            raise _wrong(
                f"tried to read an element that was not written; its shape, {show(known)}, is not"
                " known"
            )
        return _filled(tuple(int(size or 0) for size in known), self.dtype)


def _filled(sizes: tuple[int, ...], dtype: Any) -> Any:
    if dtype is object:
        return np.full(sizes, b"", object)
    return torch.zeros(sizes, dtype=dtype)


def zeros_like(value: Any) -> Any:
    """Zeros in the form of a value: a tensor, or a list."""
    if isinstance(value, TensorList):
        return value.zeros()
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    if isinstance(value, np.ndarray):
        return np.full(value.shape, b"", object)
    raise _wrong(f"a {type(value).__name__} has no zeros")


def add(one: Any, other: Any) -> Any:
    """The sum of two values of one form; None counts as zeros."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, TensorList) and isinstance(other, TensorList):
        return one.added(other)
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one + other
    raise _wrong(f"a {type(one).__name__} and a {type(other).__name__} cannot be added")
