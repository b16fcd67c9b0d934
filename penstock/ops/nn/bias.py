"""Adding a bias along the channels, and its gradient, a sum over all other dims.

With ``NHWC`` the channels are the last dim; with ``NCHW`` dim 1 (TensorFlow reads it as dim -3 only
for rank 4; for every rank from 3 on it is dim 1 here, as in its CPU kernels).
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make, one_operation
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import ShapeContext, show
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import nodes
from penstock.ops.math.binary import part_by_part

_NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
    " bfloat16, uint16, complex128, half, uint32, uint64}"
)
_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_UNSIGNED = ("uint16", "uint32", "uint64")


def _axis(data_format: str) -> int:
    return -1 if data_format == "NHWC" else 1


def _bias_add_shape(ctx: ShapeContext) -> Any:
    data_format = ctx.op.attrs.get("data_format", "NHWC")
    dims = ctx.rank_at_least("value", 2 if data_format == "NHWC" else 3)
    size = ctx.rank("bias", 1)[0]
    if dims is None:
        return None
    axis = _axis(data_format) % len(dims)
    channels = dims[axis]
    if size is not None and channels is not None and size != channels:
        raise ValueError(
            f"Dimensions must be equal, but are {channels} and {size}: Must provide as many biases"
            f" as the last dimension of the input tensor: [{size}] vs. {show(dims)}"
        )
    merged = channels if channels is not None else size
    return (*dims[:axis], merged, *dims[axis + 1 :])


def _bias_add_grad_shape(ctx: ShapeContext) -> Any:
    data_format = ctx.attr("data_format")
    dims = ctx.rank_at_least("out_backprop", 2 if data_format == "NHWC" else 3)
    return (None,) if dims is None else (dims[_axis(data_format)],)


def _bias_add(value, bias, data_format):
    if data_format == "NCHW":
        bias = bias.view(-1, *(1,) * (value.dim() - 2))
    if value.is_complex():
        return part_by_part(torch.add, value, bias)
    if value.dtype in (torch.uint16, torch.uint32, torch.uint64):
        return (value.to(torch.int64) + bias.to(torch.int64)).to(value.dtype)
    return value + bias


def _bias_add_v1(value, bias):
    return _bias_add(value, bias, "NHWC")


def _bias_add_inline(call: Any) -> str | None:
    if call.op.attrs.get("data_format", "NHWC") != "NHWC" or call.attr("T").name in _UNSIGNED:
        return None
    if call.attr("T").is_complex:
        return None
    return "torch.add({value}, {bias})".format(**call.arg)


def _bias_add_grad(out_backprop, data_format):
    axis = out_backprop.dim() - 1 if data_format == "NHWC" else 1
    dims = [d for d in range(out_backprop.dim()) if d != axis]
    if out_backprop.dtype in (torch.uint16, torch.uint32, torch.uint64):
        return out_backprop.to(torch.int64).sum(dims).to(out_backprop.dtype)
    return torch.sum(out_backprop, dims, dtype=out_backprop.dtype)


def _bias_add_grad_inline(call: Any) -> str | None:
    dims = call.dims("out_backprop")
    dtype = call.attr("T")
    if dims is None or not (dtype.is_floating or dtype.is_complex):
        return None
    axis = _axis(call.attr("data_format")) % len(dims)
    axes = tuple(d for d in range(len(dims)) if d != axis)
    return f"torch.sum({call.arg['out_backprop']}, {literal(axes)})"


def _bias_add_gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    return grad, make("BiasAddGrad", grad, data_format=op.attrs["data_format"])


def _bias_add_v1_gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    axes = nodes.range_to(nodes.sub(nodes.rank(grad), 1))
    return grad, make("Sum", grad, axes)


def _bias_add_grad_gradient(op: Any, grad: Tensor) -> Tensor:
    """Spreads the gradient of the bias over all places that it was added to."""
    full = nodes.shape(op.inputs[0])
    bias = nodes.shape(grad)
    if op.attrs["data_format"] == "NCHW":
        before, after = nodes.ones_like(full[:1]), nodes.ones_like(full[2:])
        expanded = nodes.concat([before, bias, after], 0)
        multiples = nodes.concat([full[:1], [1], full[2:]], 0)
    else:
        expanded = nodes.concat([nodes.ones_like(full[:-1]), bias], 0)
        multiples = nodes.concat([full[:-1], [1]], 0)
    return make("Tile", make("Reshape", grad, expanded), multiples)


define_op(
    "BiasAdd",
    "value: T, bias: T -> output: T",
    attrs=[_NUMBERS, _FORMAT],
    shape=_bias_add_shape,
    kernel=_bias_add,
    inline=_bias_add_inline,
    gradient=_bias_add_gradient,
    flops=arithmetic.each_input(1),
)

define_op(
    "BiasAddV1",
    "value: T, bias: T -> output: T",
    attrs=[_NUMBERS],
    shape=_bias_add_shape,
    kernel=_bias_add_v1,
    inline=_bias_add_inline,
    gradient=_bias_add_v1_gradient,
)

define_op(
    "BiasAddGrad",
    "out_backprop: T -> output: T",
    attrs=[_NUMBERS, _FORMAT],
    shape=_bias_add_grad_shape,
    kernel=_bias_add_grad,
    inline=_bias_add_grad_inline,
    gradient=_bias_add_grad_gradient,
    flops=arithmetic.reduction(0),
)


@one_operation
def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """Adds a bias to every channel.

    Args:
      value: a tensor of rank 2 or more.
      bias: a vector of the same type, as long as there are channels.
      data_format: ``"N...C"`` (default, also ``"NHWC"``) or ``"NC..."`` (``"NCHW"``).

    Returns:
      A tensor like ``value``.

    Raises:
      ValueError: another ``data_format``, or sizes that differ.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0])).tolist()
      [[11.0, 22.0]]
    """
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        layout = _layout(data_format)
        value = convert.convert_to_tensor(value, name="input")
        bias = convert.convert_to_tensor(bias, dtype=value.dtype.base_dtype, name="bias")
        return make("BiasAdd", value, bias, data_format=layout, name=scope)


def _layout(data_format: str | None) -> str:
    if data_format is None or data_format.startswith("N") and data_format.endswith("C"):
        return "NHWC"
    if data_format.startswith("NC"):
        return "NCHW"
    raise ValueError(f"data_format must be of the form 'N...C' or 'NC...'; found {data_format!r}")
