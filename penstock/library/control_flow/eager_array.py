"""A ``tf.TensorArray`` where operations run at once: a list of tensors that have values.

All objects of one array share the list, which is written in place.  Elements are what the user's
calls made, so that a tape follows them.  A function that is being traced takes them in as it takes
other values from outside; what it writes it writes into a list of its own.

State: the elements, None where nothing is written or where it was cleared by a read; which were
cleared.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import constant, make, make_tensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.static import constant_value

# Nothing hangs on the flow of such an array; TensorFlow's is this number.
_FLOW = 0


class EagerArray:
    """An array of tensors that have values.

    Args:
      size: how many elements it has.
      grows: whether writes past the end make it longer.
      clears: whether an element that was read is freed.
    """

    prefix = "TensorArray"
    read_scope = stack_scope = None
    handle = None

    def __init__(self, size: Any, grows: bool, clears: bool) -> None:
        self._elements: list[Any] = [None] * int(_number(size))
        self._grows, self._clears = grows, clears
        self._cleared: set[int] = set()

    def changed(self) -> EagerArray:
        """What is written into: itself, or a copy for a function that is being traced."""
        if scopes.get_default_graph().executes:
            return self
        made = EagerArray(0, self._grows, False)
        made._elements = list(self._elements)
        return made

    def made_at(self) -> Any:
        """Nothing: no node made it."""
        return None

    def beside(self) -> AbstractContextManager[Any]:
        """An array is wherever its elements are."""
        return nullcontext()

    # ---- elements --------------------------------------------------------------------------------

    def read(self, flow: Any, index: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """An element; zeros where none was written and the shape is known.

        Raises:
          OutOfRangeError: there is no such index.
          InvalidArgumentError: it was read before, and cleared.
        """
        known = constant_value(convert_to_tensor(index))
        if known is None:  # of a function that is being traced
            return make_tensor("GatherV2", self.stack(flow, dtype, shape, None), index, 0)
        position = int(known)
        if position < 0:
            raise _outside(f"Reading from negative indices (index {position}) is not allowed.")
        if position >= len(self._elements):
            raise _outside(
                f"Tried to read from index {position} but array size is: {len(self._elements)}"
            )
        if position in self._cleared:
            raise errors.invalid(
                f"Could not read index {position} twice because it was cleared after a previous"
                " read (clear_after_read=False keeps elements)"
            )
        element: Tensor = self._present(position, dtype, shape)
        if self._clears and scopes.get_default_graph().executes:
            self._elements[position] = None
            self._cleared.add(position)
        return element

    def write(self, flow: Any, index: Any, value: Tensor, name: Any) -> Any:
        """Sets an element.

        Raises:
          OutOfRangeError: there is no such index, and the array cannot grow.
        """
        self._set(int(_number(index)), value)
        return _FLOW

    def _set(self, position: int, value: Tensor) -> None:
        size = len(self._elements)
        if position < 0:
            raise _outside(f"Writing to negative indices (index {position}) is not allowed.")
        if position >= size:
            if not self._grows:
                raise _outside(
                    f"Tried to write to index {position} but array is not resizeable and size"
                    f" is: {size}"
                )
            self._elements.extend([None] * (position + 1 - size))
        self._elements[position] = value
        self._cleared.discard(position)

    def _present(self, position: int, dtype: Any, shape: TensorShape) -> Any:
        """An element, which is written with zeros where there was none."""
        if self._elements[position] is None:
            dims = shape.sizes
            if dims is None or None in dims:
                raise ValueError(
                    f"element {position} of a TensorArray was not written, or was read and"
                    f" cleared; zeros of shape {shape} cannot take its place"
                )
            zero = constant(np.zeros(dims, dtype.as_numpy_dtype), dtype, "zeros")
            self._elements[position] = zero
            self._cleared.discard(position)
        return self._elements[position]

    # ---- all of them -----------------------------------------------------------------------------

    def stack(self, flow: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """All elements as one tensor."""
        return self._stacked(range(len(self._elements)), dtype, shape, name)

    def gather(self, flow: Any, indices: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """Some elements as one tensor."""
        chosen = constant_value(convert_to_tensor(indices, dtype=dtypes.int32))
        if chosen is None:
            return make_tensor("GatherV2", self.stack(flow, dtype, shape, None), indices, 0)
        return self._stacked(chosen.tolist(), dtype, shape, name)

    def _stacked(self, positions: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        parts = [self._present(position, dtype, shape) for position in positions]
        if parts:
            return make_tensor("Pack", parts, axis=0, name=name)
        dims = [d or 0 for d in shape.sizes or ()]
        made: Tensor = constant(np.zeros([0, *dims], dtype.as_numpy_dtype), dtype, "empty")
        return made

    def concat(self, flow: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """The elements end to end."""
        parts = [self._present(i, dtype, shape) for i in range(len(self._elements))]
        if len(parts) == 1:
            return make_tensor("Identity", parts[0], name=name)
        return make_tensor("ConcatV2", parts, 0, name=name)

    def unstack(self, value: Tensor) -> Any:
        """Takes the rows of a tensor for its elements.

        Raises:
          ValueError: there are more than it has, and it cannot grow.
        """
        rows = _rows(value)
        if len(rows) > len(self._elements) and not self._grows:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size"
                f" {len(self._elements)}"
            )
        self._elements[:] = rows
        self._cleared.clear()
        return _FLOW

    def scatter(self, flow: Any, indices: Any, value: Tensor, name: Any) -> Any:
        """Sets elements to the rows of a tensor."""
        for index, row in zip(_number(indices).tolist(), _rows(value), strict=False):
            self._set(index, row)
        return _FLOW

    def split(self, flow: Any, value: Tensor, lengths: Any, shape: TensorShape, name: Any) -> Any:
        """Takes parts of a tensor for its elements.

        Raises:
          InvalidArgumentError: the lengths are not of all rows, or not one for each element.
        """
        sizes, size = _number(lengths).tolist(), len(self._elements)
        rows = value.sizes[0] if value.sizes else None
        if rows is not None and sum(sizes) != rows:
            raise errors.invalid(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is"
                f" {sum(sizes)} and value's shape is: {value.shape.as_list()}"
            )
        if len(sizes) != size and not (self._grows and len(sizes) > size):
            raise errors.invalid(
                "TensorArray's size is not equal to the size of lengths"
                f" ({size} vs. {len(sizes)}), and the TensorArray is not marked as dynamically"
                " resizeable"
            )
        parts = make("SplitV", value, lengths, 0, num_split=len(sizes)) if sizes else []
        self._elements[:] = parts if isinstance(parts, (list, tuple)) else [parts]
        self._cleared.clear()
        return _FLOW

    # ---- the array -------------------------------------------------------------------------------

    def size(self, flow: Any, name: Any) -> Tensor:
        """How many elements there are."""
        made: Tensor = constant(np.int32(len(self._elements)), dtypes.int32, "size")
        return made

    def close(self, name: Any) -> Any:
        """Drops the elements."""
        del self._elements[:]

    def gradient(self, flow: Any, source: str, name: Any) -> Any:
        """There is none: a tape follows the elements themselves."""
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly: a tf.GradientTape follows"
            " the elements themselves"
        )


def start_flow() -> Tensor:
    """The flow of an array of which nothing was written."""
    made: Tensor = constant(np.int32(_FLOW), dtypes.int32, "flow")
    return made


def _number(value: Any) -> Any:
    found = constant_value(convert_to_tensor(value))
    if found is None:
        raise TypeError(
            "an array that was made eagerly is written at places that are known when a function is"
            " traced; make the array in the function"
        )
    return found


def _rows(value: Tensor) -> list[Any]:
    if value.sizes is None or not value.sizes or value.sizes[0] is None:
        raise ValueError(f"the rows of a tensor of shape {value.shape} cannot be told apart")
    if not value.sizes[0]:
        return []
    rows = make("Unpack", value, num=value.sizes[0], axis=0)
    return list(rows) if isinstance(rows, (list, tuple)) else [rows]


def _outside(message: str) -> errors.OutOfRangeError:
    return errors.OutOfRangeError(None, None, message)
