"""TensorLists: the sequences that TensorFlow 2's loops gather their results in.

A list is a value of the step (``resources.tensor_list``), held by a variant tensor: what writes to
one makes another.  ``keeps`` and ``lends`` tell the planner that elements' memory stays as it is.

Graphs of TensorFlow 1.x have these too, where control flow is in its functional form.  Gradients
are TensorFlow's: the gradient of a list is a list.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.engine.resources.tensor_list import TensorList, as_dims
from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, each, scalar, unknown
from penstock.ops.array import nodes

# ---- kernels -------------------------------------------------------------------------------------


def _empty(element_shape: Any, max_num_elements: int, element_dtype: Any) -> TensorList:
    return TensorList(element_dtype, as_dims(element_shape), [], max_num_elements)


def _reserve(element_shape: Any, num_elements: int, element_dtype: Any) -> TensorList:
    return TensorList(element_dtype, as_dims(element_shape), []).resized(num_elements)


def _parts(tensor: Any) -> list[Any]:
    return list(tensor.unbind(0)) if hasattr(tensor, "unbind") else [_row(t) for t in tensor]


def _row(item: Any) -> Any:
    return item if isinstance(item, np.ndarray) else np.array(item, object)


def _from_tensor(tensor: Any, element_shape: Any, element_dtype: Any) -> TensorList:
    made = TensorList(element_dtype, as_dims(element_shape), [])
    items = _parts(tensor)
    if items:
        made.check_item(items[0])
    return made.like(items)


def _get(input_handle: TensorList, index: int, element_shape: Any, element_dtype: Any) -> Any:
    return input_handle.get(index, as_dims(element_shape), element_dtype)


def _set(
    input_handle: TensorList, index: int, item: Any, resize_if_index_out_of_bounds: bool
) -> TensorList:
    return input_handle.set(index, item, resize_if_index_out_of_bounds)


def _push(input_handle: TensorList, tensor: Any) -> TensorList:
    return input_handle.push(tensor)


def _pop(input_handle: TensorList, element_shape: Any, element_dtype: Any) -> Any:
    return input_handle.pop(as_dims(element_shape), element_dtype)


def _length(input_handle: TensorList) -> Any:
    import torch

    return torch.tensor(len(input_handle.items), dtype=torch.int32)


def _element_shape(input_handle: TensorList, shape_type: Any) -> Any:
    import torch

    dims = input_handle.dims
    sizes = -1 if dims is None else [-1 if d is None else d for d in dims]
    return torch.tensor(sizes, dtype=shape_type)


def _resize(input_handle: TensorList, size: int) -> TensorList:
    return input_handle.resized(size)


def _stack(
    input_handle: TensorList, element_shape: Any, element_dtype: Any, num_elements: int
) -> Any:
    count = len(input_handle.items)
    if num_elements not in (-1, count):
        raise errors.invalid(
            f"TensorListStack: {num_elements} elements were asked for; found {count}"
        )
    return input_handle.stack(as_dims(element_shape), element_dtype)


def _gather(
    input_handle: TensorList, indices: list[int], element_shape: Any, element_dtype: Any
) -> Any:
    return input_handle.stack(as_dims(element_shape), element_dtype, indices)


def _scatter(
    tensor: Any, indices: list[int], element_shape: Any, element_dtype: Any, num_elements: int = -1
) -> TensorList:
    made = TensorList(element_dtype, as_dims(element_shape), [])
    size = max(indices, default=-1) + 1
    return _scatter_into(made.resized(max(num_elements, size)), tensor, indices)


def _scatter_v1(
    tensor: Any, indices: list[int], element_shape: Any, element_dtype: Any
) -> TensorList:
    return _scatter(tensor, indices, element_shape, element_dtype)


def _scatter_into(input_handle: TensorList, tensor: Any, indices: list[int]) -> TensorList:
    made = input_handle.resized(max(len(input_handle.items), max(indices, default=-1) + 1))
    for index, item in zip(indices, _parts(tensor), strict=True):
        made.check_item(item)
        made.check_index(index)
        made.items[index] = item
    return made


def _split(tensor: Any, element_shape: Any, lengths: list[int], element_dtype: Any) -> TensorList:
    made = TensorList(element_dtype, as_dims(element_shape), [])
    if sum(lengths) != tensor.shape[0]:
        raise errors.invalid(
            f"TensorListSplit: the lengths {lengths} sum to {sum(lengths)}; the tensor has"
            f" {tensor.shape[0]} row(s)"
        )
    items, start = [], 0
    for length in lengths:
        items.append(tensor[start : start + length])
        made.check_item(items[-1])
        start += length
    return made.like(items)


def _concat(input_handle: TensorList, element_shape: Any, element_dtype: Any) -> Any:
    return input_handle.concat(element_shape, element_dtype)


def _concat_v2(
    input_handle: TensorList, element_shape: Any, leading_dims: list[int], element_dtype: Any
) -> Any:
    return input_handle.concat(as_dims(element_shape), element_dtype, leading_dims)


def _concat_lists(input_a: TensorList, input_b: TensorList, element_dtype: Any) -> TensorList:
    input_b.check_dtype(element_dtype)
    return input_a.like([*input_a.items, *input_b.items])


# ---- shapes --------------------------------------------------------------------------------------


def _element(ctx: ShapeContext) -> Dims:
    return ctx.shape_value("element_shape")


def _rows(ctx: ShapeContext) -> Dims:
    dims = ctx.shape_value("element_shape")
    count = ctx.attr("num_elements") if "num_elements" in ctx.op.attrs else -1
    return None if dims is None else (None if count < 0 else count, *dims)


def _gathered(ctx: ShapeContext) -> Dims:
    dims = ctx.shape_value("element_shape")
    (count,) = ctx.rank("indices", 1)
    return None if dims is None else (count, *dims)


def _joined(ctx: ShapeContext) -> list[Dims]:
    dims = (
        ctx.shape_value("element_shape")
        if "leading_dims" in ctx.op.inputs_by_name()
        else ctx.attr("element_shape").sizes
    )
    return [None if dims is None else (None, *dims[1:]), (None,)]


# ---- gradients -----------------------------------------------------------------------------------


def _shape_of(tensor: Tensor) -> Tensor:
    return nodes.shape(tensor)


def _zeros(tensor: Tensor) -> Tensor:
    return make("ZerosLike", tensor)


def _elements_shape(handle: Tensor) -> Tensor:
    return make("TensorListElementShape", handle, shape_type=dtypes.int32)


def _push_grad(op: Operation, dlist: Tensor) -> list[Any]:
    item = op.inputs[1]
    shape = -1 if item.dtype is dtypes.variant else _shape_of(item)
    return list(make("TensorListPopBack", dlist, shape, element_dtype=item.dtype))


def _pop_grad(op: Operation, dlist: Tensor | None, ditem: Tensor | None) -> list[Any]:
    dtype = op.attrs["element_dtype"]
    if dlist is None:
        dlist = make("EmptyTensorList", _elements_shape(op.outputs[0]), -1, element_dtype=dtype)
    if ditem is None:
        ditem = _zeros(op.outputs[1])
    return [make("TensorListPushBack", dlist, ditem), None]


def _stack_grad(op: Operation, grad: Tensor) -> list[Any]:
    return [make("TensorListFromTensor", grad, _tail(_shape_of(grad))), None]


def _tail(shape: Tensor) -> Tensor:
    """All but the first entry of a shape vector."""
    return make("Slice", shape, [1], [-1])


def _from_tensor_grad(op: Operation, dlist: Tensor) -> list[Any]:
    tensor = op.inputs[0]
    dims = tensor.sizes
    count = dims[0] if dims is not None and dims[0] is not None else -1
    grad = make(
        "TensorListStack", dlist, _tail(_shape_of(tensor)), element_dtype=tensor.dtype,
        num_elements=count,
    )  # fmt: skip
    return [grad, None]


def _get_grad(op: Operation, grad: Tensor) -> list[Any]:
    handle, index = op.inputs[:2]
    size = make("TensorListLength", handle)
    empty = make("TensorListReserve", _elements_shape(handle), size, element_dtype=grad.dtype)
    return [make("TensorListSetItem", empty, index, grad), None, None]


def _set_grad(op: Operation, dlist: Tensor) -> list[Any]:
    _, index, item = op.inputs
    below = make("TensorListSetItem", dlist, index, _zeros(item))
    grad = make("TensorListGetItem", dlist, index, _shape_of(item), element_dtype=item.dtype)
    return [below, None, grad]


def _resize_grad(op: Operation, dlist: Tensor) -> list[Any]:
    return [make("TensorListResize", dlist, make("TensorListLength", op.inputs[0])), None]


def _gather_grad(op: Operation, grad: Tensor) -> list[Any]:
    handle, indices = op.inputs[:2]
    size = make("TensorListLength", handle)
    made = make("TensorListScatterV2", grad, indices, _elements_shape(handle), size)
    return [made, None, None]


def _scatter_grad(op: Operation, dlist: Tensor) -> list[Any]:
    tensor, indices = op.inputs[:2]
    grad = make(
        "TensorListGather", dlist, indices, _tail(_shape_of(tensor)), element_dtype=tensor.dtype
    )
    return [grad, *[None] * (len(op.inputs) - 1)]


def _scatter_into_grad(op: Operation, dlist: Tensor) -> list[Any]:
    _, tensor, indices = op.inputs
    grad = make(
        "TensorListGather", dlist, indices, _tail(_shape_of(tensor)), element_dtype=tensor.dtype
    )
    below = make("TensorListScatterIntoExistingList", dlist, _zeros(tensor), indices)
    return [below, grad, None]


def _concat_grad(op: Operation, grad: Tensor, _: Any) -> list[Any]:
    handle = op.inputs[0]
    made = make("TensorListSplit", grad, _elements_shape(handle), op.outputs[1])
    return [made, *[None] * (len(op.inputs) - 1)]


def _split_grad(op: Operation, dlist: Tensor) -> list[Any]:
    tensor, shape, lengths = op.inputs
    del shape
    rows = make("ConcatV2", [[-1], _tail(_shape_of(tensor))], 0)
    made = make("TensorListConcatV2", dlist, rows, lengths, element_dtype=tensor.dtype)
    return [made[0], None, None]


# ---- definitions ---------------------------------------------------------------------------------

_ELEMENT = "element_dtype: type"
_KIND = "shape_type: {int32, int64}"
_IN = "input_handle: variant"
_OUT = "output_handle: variant"
_SHAPE = "element_shape: shape_type"
_NO_GRADIENT = "it gives a size or a shape"
_NEW = "it makes an empty list"

# Op type, signature, attrs, shape rule, kernel, host inputs, gradient (or why there is none).
_ROWS: tuple[tuple[str, str, list[str], Any, Any, tuple[str, ...], Any], ...] = (
    ("EmptyTensorList", f"{_SHAPE}, max_num_elements: int32 -> handle: variant",
     [_ELEMENT, _KIND], scalar, _empty, ("element_shape", "max_num_elements"), _NEW),
    ("TensorListReserve", f"{_SHAPE}, num_elements: int32 -> handle: variant",
     [_ELEMENT, _KIND], scalar, _reserve, ("element_shape", "num_elements"), _NEW),
    ("TensorListFromTensor", f"tensor: element_dtype, {_SHAPE} -> {_OUT}",
     [_ELEMENT, _KIND], scalar, _from_tensor, ("element_shape",), _from_tensor_grad),
    ("TensorListGetItem", f"{_IN}, index: int32, element_shape: int32 -> item: element_dtype",
     [_ELEMENT], _element, _get, ("index", "element_shape"), _get_grad),
    ("TensorListSetItem", f"{_IN}, index: int32, item: element_dtype -> {_OUT}",
     [_ELEMENT, "resize_if_index_out_of_bounds: bool = False"], scalar, _set, ("index",),
     _set_grad),
    ("TensorListPushBack", f"{_IN}, tensor: element_dtype -> {_OUT}", [_ELEMENT], scalar, _push,
     (), _push_grad),
    ("TensorListPopBack", f"{_IN}, element_shape: int32 -> {_OUT}, tensor: element_dtype",
     [_ELEMENT], each(scalar, _element), _pop, ("element_shape",), _pop_grad),
    ("TensorListLength", f"{_IN} -> length: int32", [], scalar, _length, (), _NO_GRADIENT),
    ("TensorListElementShape", f"{_IN} -> {_SHAPE}", [_KIND], unknown, _element_shape, (),
     _NO_GRADIENT),
    ("TensorListResize", f"{_IN}, size: int32 -> {_OUT}", [], scalar, _resize, ("size",),
     _resize_grad),
    ("TensorListStack", f"{_IN}, element_shape: int32 -> tensor: element_dtype",
     [_ELEMENT, "num_elements: int = -1"], _rows, _stack, ("element_shape",), _stack_grad),
    ("TensorListGather",
     f"{_IN}, indices: int32, element_shape: int32 -> values: element_dtype", [_ELEMENT],
     _gathered, _gather, ("indices", "element_shape"), _gather_grad),
    ("TensorListScatter", f"tensor: element_dtype, indices: int32, {_SHAPE} -> {_OUT}",
     [_ELEMENT, _KIND], scalar, _scatter_v1, ("indices", "element_shape"), _scatter_grad),
    ("TensorListScatterV2",
     f"tensor: element_dtype, indices: int32, {_SHAPE}, num_elements: int32 -> {_OUT}",
     [_ELEMENT, _KIND], scalar, _scatter, ("indices", "element_shape", "num_elements"),
     _scatter_grad),
    ("TensorListScatterIntoExistingList",
     f"{_IN}, tensor: element_dtype, indices: int32 -> {_OUT}", [_ELEMENT], scalar,
     _scatter_into, ("indices",), _scatter_into_grad),
    ("TensorListSplit", f"tensor: element_dtype, {_SHAPE}, lengths: int64 -> {_OUT}",
     [_ELEMENT, _KIND], scalar, _split, ("element_shape", "lengths"), _split_grad),
    ("TensorListConcat", f"{_IN} -> tensor: element_dtype, lengths: int64",
     [_ELEMENT, "element_shape: shape = null"], _joined, _concat, (), _concat_grad),
    ("TensorListConcatV2",
     f"{_IN}, {_SHAPE}, leading_dims: int64 -> tensor: element_dtype, lengths: int64",
     [_ELEMENT, _KIND], _joined, _concat_v2, ("element_shape", "leading_dims"), _concat_grad),
    ("TensorListConcatLists", "input_a: variant, input_b: variant -> output: variant",
     [_ELEMENT], scalar, _concat_lists, (), "TensorFlow 1.15 defines none"),
)  # fmt: skip

for _name, _signature, _attrs, _rule, _kernel, _host, _gradient in _ROWS:
    _held = [part.split(":")[0] for part in _signature.split(" -> ")[0].split(", ")]
    _why = _gradient if isinstance(_gradient, str) else None
    define_op(
        _name, _signature, attrs=_attrs, shape=_rule, kernel=_kernel, host=_host,
        gradient=None if _why else _gradient, no_gradient=_why,
        # The list keeps what is put into it, and gives it out again.
        keeps=[name for name in _held if name in ("tensor", "item")],
        lends=True,
        # A variant is no constant.
        stateful=True,
        later=["Tshape: type = int32"] if _name == "TensorListGetItem" else (),
    )  # fmt: skip
