"""Conversion between element types by value: Cast, and what is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import example, named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.families import OfOne
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, first_input

# Bits of the significand, the leading one not counted.
_SIGNIFICAND = {torch.float64: 52, torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}
_SAME_SIZE_INT = {torch.float64: torch.int64, torch.float32: torch.int32}


def _cast(x: Any, DstT: Any, Truncate: bool) -> Any:
    if isinstance(x, np.ndarray) or DstT is object:
        if isinstance(x, np.ndarray) and DstT is object:
            return x.copy()
        raise NotImplementedError(
            "Cast of strings is not supported: Cast does not convert strings; see string_to_number,"
            " as_string"
        )
    if x.dtype.is_complex and not DstT.is_complex:
        x = x.real
    if Truncate:
        x = _truncated(x, DstT)
    return x.to(DstT, copy=True)


def _truncated(x: Any, target: torch.dtype) -> Any:
    """``x`` without the bits of the significand that ``target`` has no room for."""
    bits = _SIGNIFICAND.get(x.dtype, 0) - _SIGNIFICAND.get(target, 0)
    integer = _SAME_SIZE_INT.get(x.dtype)
    if bits <= 0 or integer is None or target not in _SIGNIFICAND:
        return x
    return (x.view(integer) & (-1 << bits)).view(x.dtype)


def _cast_inline(call: Any) -> str | None:
    source, target = call.dtype("x"), call.attr("DstT").base_dtype
    if dtypes.string in (source, target) or call.attr("Truncate") or source is target:
        return None
    if source.is_complex and not target.is_complex:
        return None
    return "{x}.to({DstT})".format(**call.arg)


_DIFFERENTIABLE = frozenset(
    (
        dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.complex64,
        dtypes.complex128,
    )
)  # fmt: skip


def _cast_grad(op: Any, grad: Any) -> Any:
    source, target = op.inputs[0].dtype.base_dtype, grad.dtype.base_dtype
    if source not in _DIFFERENTIABLE or target not in _DIFFERENTIABLE:
        return None
    return cast(grad, source)


def _cast_fold(ctx: ShapeContext, x: Any) -> Any:
    target = ctx.op.outputs[0].dtype.base_dtype
    if x is None or x.dtype.kind not in "biufc" or target is dtypes.string:
        return None
    if x.dtype.kind == "c" and not target.is_complex:
        x = x.real
    if target.is_integer and not np.all(np.isfinite(x)):
        return None  # such a cast is undefined
    return x.astype(target.as_numpy_dtype)


define_op(
    "Cast",
    "x: SrcT -> y: DstT",
    attrs=["SrcT: type", "DstT: type", "Truncate: bool = False"],
    shape=first_input,
    kernel=_cast,
    inline=_cast_inline,
    gradient=_cast_grad,
    fold=_cast_fold,
)


# ---- public functions ---------------------------------------------------------------------------


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """``x`` with elements of another type; floats become integers by dropping the fraction.

    Args:
      x: Tensor, SparseTensor or IndexedSlices of a numeric type or bool.
      dtype: element type of the result.

    Returns:
      ``x`` converted, of its class; ``x`` itself if it is of that type already.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.cast([1.8, -2.2], tf.int32)).tolist()
      [1, -2]
    """
    target = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, Tensor) and x.dtype is target:
        return x
    if getattr(x, "has_value", False):  # no node is to be named
        return make("Cast", x, name=name, DstT=target)
    if hasattr(x, "handle") and getattr(x, "dtype", None) is target:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast(x.values, target, scope), x.dense_shape)
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, target, scope), x.indices, x.dense_shape)
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype is target:
            return x
        return make("Cast", x, name=scope, DstT=target)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """``cast`` with values beyond the range of ``dtype`` brought to its ends first.

    Args:
      value: numeric tensor.
      dtype: element type of the result.

    Returns:
      A tensor of ``dtype``.
    """
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        target = dtypes.as_dtype(dtype).base_dtype
        own = value.dtype.base_dtype
        for op_type, end in (("Maximum", "min"), ("Minimum", "max")):
            limit, mine = getattr(target, end), getattr(own, end)
            if mine < limit if end == "min" else mine > limit:
                value = make(op_type, value, convert_to_tensor(limit, own, end))
        return cast(value, target, scope)


def _to(target: dtypes.DType, function_name: str, node_name: str) -> OfOne:
    def function(x: Any, name: str | None = node_name) -> Any:
        return cast(x, target, name)

    value = {"float32": "[1.0, 2.0]", "int32": "[1, 2]", "int64": "[1, 2]"}.get(target.name, "")
    call = f"tf.{function_name}([1, 2])" if value else ""
    doc = f"``cast(x, tf.{target.name})``; deprecated.\n{example(call, value)}"
    return named(function_name, doc, cast)(function)


to_bfloat16 = _to(dtypes.bfloat16, "to_bfloat16", "ToBFloat16")
to_complex128 = _to(dtypes.complex128, "to_complex128", "ToComplex128")
to_complex64 = _to(dtypes.complex64, "to_complex64", "ToComplex64")
to_double = _to(dtypes.float64, "to_double", "ToDouble")
to_float = _to(dtypes.float32, "to_float", "ToFloat")
to_int32 = _to(dtypes.int32, "to_int32", "ToInt32")
to_int64 = _to(dtypes.int64, "to_int64", "ToInt64")
