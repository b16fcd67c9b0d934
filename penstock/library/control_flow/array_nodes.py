"""The nodes behind a ``tf.TensorArray``: of an array of the running step, or of a list.

An array of the step is found by its handle, and its elements are written once.  A list is a value:
its variant tensor is the flow, and each write makes another.  Functions that datasets call are
steps of their own, so that only a list goes from one call to the next; in those of ``tf.function``
arrays are lists as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import ranges
from penstock.ops.control import tensor_array


class StepArray:
    """An array of the running step.

    Args:
      handle: the tensor that stands for it.
    """

    prefix = "TensorArray"
    read_scope = stack_scope = None

    def __init__(self, handle: Tensor) -> None:
        self.handle = handle

    def changed(self) -> StepArray:
        """What is written into: itself."""
        return self

    def made_at(self) -> Any:
        """The operation that made the array, as far as it is known."""
        return self.handle.op

    def beside(self) -> AbstractContextManager[Any]:
        """Colocates with the array."""
        together: AbstractContextManager[Any] = scopes.colocate_with(self.handle)
        return together

    def read(self, flow: Any, index: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """An element, of that static shape."""
        return make_tensor("TensorArrayReadV3", self.handle, index, flow, dtype=dtype, name=name)

    def write(self, flow: Any, index: Any, value: Any, name: Any) -> Tensor:
        """The flow after an element is written."""
        return make_tensor("TensorArrayWriteV3", self.handle, index, value, flow, name=name)

    def stack(self, flow: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """All elements."""
        indices = ranges.range_(0, self.size(flow, None))
        return self.gather(flow, indices, dtype, shape, name)

    def gather(self, flow: Any, indices: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """Some elements."""
        return make_tensor(
            "TensorArrayGatherV3", self.handle, indices, flow, dtype=dtype, element_shape=shape,
            name=name,
        )  # fmt: skip

    def concat(self, flow: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """The elements end to end."""
        made: Tensor = make(
            "TensorArrayConcatV3", self.handle, flow, dtype=dtype, element_shape_except0=shape[1:],
            name=name,
        ).value  # fmt: skip
        return made

    def scatter(self, flow: Any, indices: Any, value: Any, name: Any) -> Tensor:
        """The flow after rows are written."""
        return make_tensor("TensorArrayScatterV3", self.handle, indices, value, flow, name=name)

    def split(self, flow: Any, value: Any, lengths: Any, shape: TensorShape, name: Any) -> Tensor:
        """The flow after parts of a tensor are written."""
        return make_tensor("TensorArraySplitV3", self.handle, value, lengths, flow, name=name)

    def size(self, flow: Any, name: Any) -> Tensor:
        """How many elements there are."""
        return make_tensor("TensorArraySizeV3", self.handle, flow, name=name)

    def close(self, name: Any) -> Any:
        """The operation that frees the elements."""
        return make("TensorArrayCloseV3", self.handle, name=name)

    def gradient(self, flow: Any, source: str, name: Any) -> Any:
        """Handle and flow of the array of the elements' gradients."""
        return tensor_array.gradient_array(self.handle, flow, source, name)


class ListArray:
    """A list, which its flow is.

    Args:
      grows: whether writes past the end make it longer.
    """

    prefix = "TensorArrayV2"
    read_scope, stack_scope = "TensorArrayV2Read", "TensorArrayV2Stack"
    handle = None

    def __init__(self, grows: bool) -> None:
        self._grows = grows

    def changed(self) -> ListArray:
        """What is written into: each write makes another list."""
        return self

    def made_at(self) -> Any:
        """Nothing: each state of a list is another value."""
        return None

    def beside(self) -> AbstractContextManager[Any]:
        """A list is where its last write was."""
        return nullcontext()

    def read(self, flow: Any, index: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """An element; zeros where none was written."""
        with _scoped(name, self.read_scope, flow, index):
            return make_tensor(
                "TensorListGetItem", flow, index, dims_of(shape), element_dtype=dtype, name=name
            )

    def write(self, flow: Any, index: Any, value: Any, name: Any) -> Tensor:
        """The list with another element."""
        return make_tensor(
            "TensorListSetItem", flow, index, value, resize_if_index_out_of_bounds=self._grows,
            name=name,
        )  # fmt: skip

    def stack(self, flow: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """All elements."""
        return make_tensor("TensorListStack", flow, dims_of(shape), element_dtype=dtype)

    def gather(self, flow: Any, indices: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """Some elements."""
        return make_tensor(
            "TensorListGather", flow, indices, dims_of(shape), element_dtype=dtype, name=name
        )

    def concat(self, flow: Any, dtype: Any, shape: TensorShape, name: Any) -> Tensor:
        """The elements end to end."""
        rows = TensorShape(None) if shape.dims is None else TensorShape([None, *shape.dims[1:]])
        made: Tensor = make(
            "TensorListConcatV2", flow, dims_of(rows), np.zeros(0, np.int64), element_dtype=dtype,
            name=name,
        ).tensor  # fmt: skip
        return made

    def scatter(self, flow: Any, indices: Any, value: Any, name: Any) -> Tensor:
        """The list with other rows."""
        return make_tensor("TensorListScatterIntoExistingList", flow, value, indices)

    def split(self, flow: Any, value: Any, lengths: Any, shape: TensorShape, name: Any) -> Tensor:
        """A list of parts of a tensor."""
        return make_tensor("TensorListSplit", value, dims_of(shape), lengths, name=name)

    def size(self, flow: Any, name: Any) -> Tensor:
        """How many elements there are."""
        return make_tensor("TensorListLength", flow, name=name)

    def close(self, name: Any) -> Any:
        """An operation that does nothing."""
        return make("NoOp", name=name)

    def gradient(self, flow: Any, source: str, name: Any) -> Any:
        """A list has none of its own: the gradient of its flow is one."""
        raise NotImplementedError(
            "TensorArray.grad: this array is a list, as in every function of tf.function or of a"
            " dataset; tf.gradients takes the gradient of its flow"
        )


def arrays_are_lists(graph: Graph) -> bool:
    """Whether an array that is made in a graph is a list."""
    return isinstance(graph, FunctionGraph) and graph.arrays_are_lists


def reserved(size: Any, dtype: dtypes.DType, shape: TensorShape, name: Any) -> Tensor:
    """A list of that many elements, none of them written."""
    return make_tensor("TensorListReserve", dims_of(shape), size, element_dtype=dtype, name=name)


def of_rows(value: Tensor, shape: TensorShape) -> Tensor:
    """A list of the rows of a tensor."""
    return make_tensor("TensorListFromTensor", value, dims_of(shape))


def dims_of(shape: TensorShape) -> Any:
    """A shape as nodes of lists take it: a vector with -1, or the scalar -1."""
    sizes = shape.sizes
    return np.array(-1 if sizes is None else [-1 if d is None else d for d in sizes], np.int32)


@contextmanager
def _scoped(name: Any, default: str, *values: Any) -> Iterator[None]:
    with scopes.name_scope(name, default, list(values)):
        yield
