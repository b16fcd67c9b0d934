"""TensorArrays in the graph: arrays of tensors that loops read and write by index.

The handle is a value: the node makes a ``resources.tensor_array.TensorArray``, which the program
hands on like a tensor.  ``flow`` is a scalar without meaning whose edges put reads after writes.
What is written is kept, not copied, and what is read is lent (see ``keeps`` in ``opdef``).  All but
the size count as effects: control edges order them, as a close after a read.

Gradients go the other way through a *gradient array*, which belongs to the forward array and to the
``tf.gradients`` call (its *source* is the call's name scope): a read's gradient is a write there,
which adds, and a write's gradient is a read.

``TensorArrayV2`` and its kin are the same with a string for the handle and no flow of their own.
The handle of the first form, ``TensorArray``, is a reference to a string: it stands for state of
its node, a ``resources.step_array.StepArray``, which the node begins anew in each step.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.engine.resources.step_array import StepArray
from penstock.engine.resources.tensor_array import TensorArray
from penstock.foundation.base import shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs
from penstock.ops.control import control

_NO_GRADIENT = "makes, measures or closes an array; gradients flow through its reads and writes"
_HANDED_ON = frozenset(["Identity", "Enter", "RefEnter", "Switch", "Exit", "Merge"])
_FLOW = torch.zeros(())

# ---- static shapes -------------------------------------------------------------------------------


def _element_dims(handle: Tensor) -> Any:
    """Static dims of the elements of the array behind a handle, as its node declares them."""
    op = handle.op
    while op.type in _HANDED_ON and op.inputs:
        op = op.inputs[0].op
    if op.type in ("TensorArray", "TensorArrayV2", "TensorArrayV3"):
        shape = op.attrs["element_shape"]
        return None if shape is None else shape.sizes
    if op.type in ("TensorArrayGrad", "TensorArrayGradV2", "TensorArrayGradV3"):
        return _element_dims(op.inputs[0])
    return None


def _ranked(ctx: ShapeContext, **ranks: int) -> None:
    for name, rank in ranks.items():
        ctx.rank(name, rank)


def _check_element(ctx: ShapeContext, dims: Any) -> None:
    wanted = _element_dims(ctx.tensor("handle"))
    if not shapes.is_compatible_static(wanted, dims):
        raise ValueError(
            f"an element of shape {shapes.format_static(dims)} is written to a TensorArray whose"
            f" elements have shape {shapes.format_static(wanted)}"
        )


def _made_shape(ctx: ShapeContext) -> Any:
    _ranked(ctx, size=0)
    return [(2,), ()] if len(ctx.op.outputs) == 2 else (2,)


def _gradient_shape(ctx: ShapeContext) -> Any:
    return [(2,), ()] if len(ctx.op.outputs) == 2 else (2,)


def _write_shape(ctx: ShapeContext) -> Any:
    _ranked(ctx, index=0, flow_in=0)
    _check_element(ctx, ctx["value"])
    return ()


def _read_shape(ctx: ShapeContext) -> Any:
    _ranked(ctx, index=0, flow_in=0)
    return _element_dims(ctx.tensor("handle"))


def _gather_shape(ctx: ShapeContext) -> Any:
    (count,) = ctx.rank("indices", 1)
    _ranked(ctx, flow_in=0)
    asked = ctx.attr("element_shape")
    declared = _element_dims(ctx.tensor("handle"))
    dims = shapes.merge_static(declared, None if asked is None else asked.sizes)
    return None if dims is None else (count, *dims)


def _scatter_shape(ctx: ShapeContext) -> Any:
    (count,) = ctx.rank("indices", 1)
    _ranked(ctx, flow_in=0)
    value = ctx["value"]
    if value is not None and len(value) > 0:
        if None not in (count, value[0]) and count != value[0]:
            raise ValueError(f"{count} indices are given for the {value[0]} rows of value")
        _check_element(ctx, value[1:])
    return ()


def _split_shape(ctx: ShapeContext) -> Any:
    _ranked(ctx, lengths=1, flow_in=0)
    return ()


def _pack_shape(ctx: ShapeContext) -> Any:
    _ranked(ctx, flow_in=0)
    asked = ctx.attr("element_shape")
    declared = _element_dims(ctx.tensor("handle"))
    dims = shapes.merge_static(declared, None if asked is None else asked.sizes)
    return None if dims is None else (None, *dims)


def _unpack_shape(ctx: ShapeContext) -> Any:
    _ranked(ctx, flow_in=0)
    dims = ctx["value"]
    if dims:
        _check_element(ctx, dims[1:])
    return ()


def _flow_shape(ctx: ShapeContext) -> Any:
    _ranked(ctx, flow_in=0)
    return ()


def _concat_shape(ctx: ShapeContext) -> Any:
    _ranked(ctx, flow_in=0)
    return [None, (None,)]


# ---- kernels -------------------------------------------------------------------------------------


def _array(
    size: int,
    dtype: Any,
    element_shape: Any,
    dynamic_size: bool,
    clear_after_read: bool,
    tensor_array_name: str,
) -> TensorArray:
    name = tensor_array_name
    return TensorArray(name, dtype, size, element_shape, dynamic_size, clear_after_read)


def _array_and_flow(
    size: int,
    dtype: Any,
    element_shape: Any,
    dynamic_size: bool,
    clear_after_read: bool,
    identical_element_shapes: bool,
    tensor_array_name: str,
) -> tuple[TensorArray, torch.Tensor]:
    made = TensorArray(
        tensor_array_name, dtype, size, element_shape, dynamic_size, clear_after_read,
        identical_element_shapes,
    )  # fmt: skip
    return made, _FLOW


def _gradient(handle: TensorArray, source: str) -> TensorArray:
    return handle.gradient(source)


def _gradient_and_flow(handle: TensorArray, flow_in: Any, source: str) -> Any:
    return handle.gradient(source), flow_in


def _gradient_with_shape(
    handle: TensorArray, flow_in: Any, shape_to_prepend: list[int], source: str
) -> Any:
    return handle.gradient(source, shape_to_prepend), flow_in


def _size(handle: TensorArray) -> torch.Tensor:
    return torch.tensor(handle.size(), dtype=torch.int32)


def _begin(
    size: int,
    dtype: Any,
    element_shape: Any,
    dynamic_size: bool,
    clear_after_read: bool,
    tensor_array_name: str,
    state: StepArray,
) -> None:
    state.begin(
        _array(size, dtype, element_shape, dynamic_size, clear_after_read, tensor_array_name)
    )


def _begin_gradient(handle: TensorArray, source: str, state: StepArray) -> None:
    state.begin(handle.gradient(source))


def _size_now(handle: StepArray) -> torch.Tensor:
    return _size(handle.current)


def _pack(handle: StepArray, dtype: Any, element_shape: Any) -> Any:
    array = handle.current
    return array.gather(list(range(array.size())), dtype, element_shape)


def _unpack(handle: StepArray, value: Any, flow_in: Any) -> Any:
    return handle.current.scatter(list(range(value.shape[0] if value.shape else 0)), value, flow_in)


# ---- gradients -----------------------------------------------------------------------------------


def gradient_source(op: Operation, gradient: Any) -> str:
    """Which ``tf.gradients`` call is at work: the name of its scope.

    A gradient function runs in the scope ``<call>/<op>_grad``.  TF takes the name of a gradient up
    to the last scope that begins with "gradients": the same, but for gradients of gradients, where
    that is not one source for all.  It is what is left where the scope has another form.

    Args:
      op: the node whose gradient is made.
      gradient: the gradient of one of its outputs.

    Raises:
      ValueError: neither the scope nor the name tells.
    """
    scope, ending = op.graph.get_name_scope(), f"/{op.name}_grad"
    if scope.endswith(ending):
        return scope.removesuffix(ending)
    parts = gradient.name.split("/")
    found = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not found:
        raise ValueError(
            f"the gradient of a TensorArray needs to know its tf.gradients call, but no scope of"
            f" {gradient.name!r} begins with 'gradients': name the calls of tf.gradients so"
        )
    return "/".join(parts[: found[-1] + 1])


def gradient_array(handle: Any, flow: Any, source: str, name: str | None = None) -> tuple[Any, Any]:
    """Handle and flow of the gradient array for ``source`` of the array behind ``handle``."""
    with scopes.name_scope(name, "TensorArrayGrad", [handle]), scopes.colocate_with(handle.op):
        made = make("TensorArrayGradV3", handle, flow, source=source, name=name)
        with scopes.control_dependencies([made.grad_handle]):
            flow = control.identity(flow, name="gradient_flow")
        take_scope_name(made.grad_handle)
        return made.grad_handle, flow


def take_scope_name(handle: Any) -> None:
    """Takes the name that TF takes for each Python object that stands for an array."""
    with scopes.name_scope(None, "TensorArray", [handle]):
        pass


def _of(op: Operation, flow: Any, gradient: Any) -> tuple[Any, Any]:
    handle = op.inputs[0]
    take_scope_name(handle)
    return gradient_array(handle, flow, gradient_source(op, gradient))


def _written(scope: str, handle: Any, flow: Any, *middle: Any) -> Any:
    with scopes.name_scope(None, f"TensorArray{scope}", [handle, *middle]):
        made = make(f"TensorArray{scope}V3", handle, *middle, flow)
        take_scope_name(handle)
        return made


def _read_gradient(op: Operation, grad: Any) -> list[Any]:
    _, index, flow = op.inputs
    return [None, None, _written("Write", *_of(op, flow, grad), index, grad)]


def _write_gradient(op: Operation, flow: Any) -> list[Any]:
    handle, after = _of(op, flow, flow)
    dtype = op.attrs["T"]
    return [None, None, make("TensorArrayReadV3", handle, op.inputs[1], after, dtype=dtype), flow]


def _gather_gradient(op: Operation, grad: Any) -> list[Any]:
    _, indices, flow = op.inputs
    return [None, None, _written("Scatter", *_of(op, flow, grad), indices, grad)]


def _scatter_gradient(op: Operation, flow: Any) -> list[Any]:
    handle, after = _of(op, flow, flow)
    dtype = op.attrs["T"]
    grad = make("TensorArrayGatherV3", handle, op.inputs[1], after, dtype=dtype)
    return [None, None, grad, flow]


def _concat_gradient(op: Operation, grad: Any, _: Any) -> list[Any]:
    handle, flow = _of(op, op.inputs[1], grad)
    return [None, _written("Split", handle, flow, grad, op.outputs[1])]


def _split_gradient(op: Operation, flow: Any) -> list[Any]:
    handle, after = _of(op, flow, flow)
    made = make("TensorArrayConcatV3", handle, after, dtype=op.attrs["T"])
    return [None, made.value, None, flow]


# ---- definitions ---------------------------------------------------------------------------------

_ATTRS = [
    "dtype: type",
    "element_shape: shape = None",
    "dynamic_size: bool = false",
    "clear_after_read: bool = true",
]
_NAME = 'tensor_array_name: string = ""'
define_op(
    "TensorArrayV2",
    "size: int32 -> handle: string",
    attrs=[*_ATTRS, _NAME],
    shape=_made_shape,
    kernel=_array,
    host=("size",),
    stateful=True,
    no_gradient=_NO_GRADIENT,
    on_host=True,
)
define_op(
    "TensorArrayV3",
    "size: int32 -> handle: resource, flow: float",
    attrs=[*_ATTRS, "identical_element_shapes: bool = false", _NAME],
    shape=_made_shape,
    kernel=_array_and_flow,
    host=("size",),
    lends=True,  # the flow
    stateful=True,
    no_gradient=_NO_GRADIENT,
    on_host=True,
)
for _name, _signature, _kernel, _host in (
    ("V2", "handle: string, flow_in: float -> grad_handle: string", _gradient, ()),
    (
        "V3",
        "handle: resource, flow_in: float -> grad_handle: resource, flow_out: float",
        _gradient_and_flow,
        (),
    ),
    (
        "WithShape",
        "handle: resource, flow_in: float, shape_to_prepend: int32"
        " -> grad_handle: resource, flow_out: float",
        _gradient_with_shape,
        ("shape_to_prepend",),
    ),
):
    define_op(
        f"TensorArrayGrad{_name}",
        _signature,
        attrs=["source: string"],
        shape=_gradient_shape,
        kernel=_kernel,
        host=_host,
        lends=True,
        writes=("handle",),  # its size is fixed
        stateful=True,
        no_gradient=_NO_GRADIENT,
    )

_T, _DTYPE = ["T: type"], ["dtype: type"]
_ELEMENT, _EXCEPT0 = "element_shape: shape = None", "element_shape_except0: shape = None"
# Name, inputs after the handle, outputs, attrs, shape rule, kernel, host inputs, gradient.
_ROWS: Any = [
    (
        "Write", "index: int32, value: T, flow_in: float", "flow_out: float", _T, _write_shape,
        "{handle}.write({index}, {value}, {flow_in})", ("index",), _write_gradient,
    ),
    (
        "Read", "index: int32, flow_in: float", "value: dtype", _DTYPE, _read_shape,
        "{handle}.read({index}, {dtype})", ("index",), _read_gradient,
    ),
    (
        "Gather", "indices: int32, flow_in: float", "value: dtype", [*_DTYPE, _ELEMENT],
        _gather_shape, "{handle}.gather({indices}, {dtype}, {element_shape})", ("indices",),
        _gather_gradient,
    ),
    (
        "Scatter", "indices: int32, value: T, flow_in: float", "flow_out: float", _T,
        _scatter_shape, "{handle}.scatter({indices}, {value}, {flow_in})", ("indices",),
        _scatter_gradient,
    ),
    (
        "Concat", "flow_in: float", "value: dtype, lengths: int64", [*_DTYPE, _EXCEPT0],
        _concat_shape, "{handle}.concat({dtype}, {element_shape_except0})", (), _concat_gradient,
    ),
    (
        "Split", "value: T, lengths: int64, flow_in: float", "flow_out: float", _T, _split_shape,
        "{handle}.split({value}, {lengths}, {flow_in})", ("lengths",), _split_gradient,
    ),
    ("Size", "flow_in: float", "size: int32", [], _flow_shape, _size, (), None),
    ("Close", "", "", [], no_outputs, "{handle}.close()", (), None),
]  # fmt: skip
for _version, _type in (("V2", "string"), ("V3", "resource")):
    for _name, _inputs, _outputs, _attrs, _shape, _kernel, _host, _backward in _ROWS:
        _stores = "value: T" in _inputs
        define_op(
            f"TensorArray{_name}{_version}",
            f"handle: {_type}{', ' if _inputs else ''}{_inputs} -> {_outputs}".rstrip(),
            attrs=_attrs,
            shape=_shape,
            kernel=_kernel,
            host=_host,
            aliases=("flow_in",) if _stores else (),
            keeps=("value",) if _stores else (),
            lends=_name == "Read",
            writes=() if _name == "Size" else ("handle",),
            on_host=_name == "Size",
            stateful=_version == "V3",
            gradient=_backward,
            no_gradient=None if _backward else _NO_GRADIENT,
        )


# ---- the first form ------------------------------------------------------------------------------

_NO_V3 = "TensorFlow's gradient makes V3 nodes, which do not take this handle"


def _step_array(attrs: dict[str, Any], name: str) -> StepArray:
    return StepArray(attrs.get("tensor_array_name") or name)


for _name, _signature, _attrs, _kernel, _host in (
    ("TensorArray", "size: int32 -> handle: Ref(string)", [*_ATTRS, _NAME], _begin, ("size",)),
    (
        "TensorArrayGrad", "handle: string, flow_in: float -> grad_handle: Ref(string)",
        ["source: string"], _begin_gradient, (),
    ),
):  # fmt: skip
    define_op(
        _name,
        _signature,
        attrs=_attrs,
        shape=_made_shape if _host else _gradient_shape,
        kernel=_kernel,
        host=_host,
        state=_step_array,
        on_host=_name == "TensorArray",
        stateful=True,
        effect=True,
        no_gradient=_NO_GRADIENT,
    )
_FIRST_ROWS: Any = [
    *_ROWS,
    (
        "Pack", "flow_in: float", "value: dtype", [*_DTYPE, _ELEMENT], _pack_shape, _pack, (), None,
    ),
    (
        "Unpack", "value: T, flow_in: float", "flow_out: float", _T, _unpack_shape, _unpack, (),
        None,
    ),
]  # fmt: skip
for _name, _inputs, _outputs, _attrs, _shape, _kernel, _host, _ in _FIRST_ROWS:
    _stores = "value: T" in _inputs
    if isinstance(_kernel, str):
        _kernel = _kernel.replace("{handle}.", "{handle}.current.")
    define_op(
        f"TensorArray{_name}",
        f"handle: Ref(string){', ' if _inputs else ''}{_inputs} -> {_outputs}".rstrip(),
        attrs=_attrs,
        shape=_shape,
        kernel=_size_now if _name == "Size" else _kernel,
        host=_host,
        aliases=("flow_in",) if _stores else (),
        keeps=("value",) if _stores else (),
        lends=_name == "Read",
        writes=() if _name == "Size" else ("handle",),
        on_host=_name == "Size",
        no_gradient=_NO_GRADIENT if _name in ("Size", "Close") else _NO_V3,
    )
