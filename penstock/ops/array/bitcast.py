"""The bits of a tensor read as another type: Bitcast."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show


def _bitcast_shape(ctx: ShapeContext) -> Dims:
    dims = ctx["input"]
    own, other = ctx.attr("T").size, ctx.attr("type").size
    if dims is None or own == other:
        return dims  # type: ignore[no-any-return]
    if own > other:
        return (*dims, own // other)
    if not dims or dims[-1] not in (None, other // own):
        raise ValueError(
            f"input has shape {show(dims)}; its last dim must be {other // own}, the number of"
            f" {ctx.attr('T').name} in one {ctx.attr('type').name}"
        )
    return dims[:-1]  # type: ignore[no-any-return]


def _bitcast(input: Any, type: Any) -> Any:
    own, other = input.dtype.itemsize, type.itemsize
    if own == other:
        return input.view(type)
    if not input.numel():
        dims = (*input.shape, own // other) if own > other else input.shape[:-1]
        return input.new_empty(dims, dtype=type)
    if own > other:
        return input.contiguous().unsqueeze(-1).view(type)
    if input.ndim == 0 or input.shape[-1] != other // own:
        raise ValueError(
            f"input has shape {list(input.shape)}; its last dim must be {other // own}"
        )
    return input.contiguous().view(type).squeeze(-1)


_BITS = (
    "bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16,"
    " complex64, complex128, qint8, quint8, qint16, quint16, qint32"
)


define_op(
    "Bitcast",
    "input: T -> output: type",
    attrs=[f"T: {{{_BITS}}}", f"type: {{{_BITS}}}"],
    shape=_bitcast_shape,
    kernel=_bitcast,
    aliases=("input",),
    no_gradient="bits are not numbers",
)


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The same bits read as another type.

    Args:
      input: numeric tensor.
      type: a smaller type adds a last dim, a larger one takes the last dim away.

    Returns:
      A tensor of ``type`` that shares memory with ``input``.

    Raises:
      ValueError: the last dim does not make up one element of ``type``.
    """
    return make("Bitcast", input, name=name, type=type)
