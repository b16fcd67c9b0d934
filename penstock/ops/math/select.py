"""Choice by a condition: ``Select`` and ``SelectV2``.

``Select`` takes a condition of the shape of its operands, a scalar, or a vector that chooses rows;
``SelectV2`` broadcasts all three.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import broadcasting
from penstock.ops.math import elementwise


def _select_shape(ctx: ShapeContext) -> Dims:
    dims = shapes.merge_static(ctx["t"], ctx["e"])
    condition = ctx["condition"]
    if condition is None or dims is None or len(condition) == 0:
        return dims
    if len(condition) == 1 and len(dims) != 1:
        if not dims or not shapes.is_compatible_static(condition, dims[:1]):
            raise ValueError(
                f"Number of batches of 'then' must match size of 'cond', but saw:"
                f" {dims[0] if dims else 'a scalar'} vs. {condition[0]}: a vector chooses among the"
                f" rows of t and e, which have shape {show(dims)}"
            )
        return dims
    return shapes.merge_static(dims, condition)


def _select(condition: Any, t: Any, e: Any) -> Any:
    if t.shape != e.shape:
        raise ValueError(f"t has shape {list(t.shape)}, e {list(e.shape)}; they must agree")
    shape = condition.shape
    if len(shape) == 1 and t.ndim > 1 and shape[0] == t.shape[0]:
        condition = condition.reshape(-1, *[1] * (t.ndim - 1))
    elif len(shape) and shape != t.shape:
        raise ValueError(
            f"condition has shape {list(shape)}; t and e have {list(t.shape)}: it must have that"
            " shape, be a scalar, or a vector with an element for each row"
        )
    return _select_v2(condition, t, e)


def _select_v2(condition: Any, t: Any, e: Any) -> Any:
    if isinstance(t, np.ndarray):
        return np.array(np.where(condition.cpu().numpy(), t, e), object)
    return torch.where(condition, t, e)


def _select_inline(call: Any) -> str | None:
    condition, dims = call.dims("condition"), call.dims("t")
    fits = condition == () or (condition == dims and dims is not None and None not in dims)
    same = dims is not None and None not in dims and dims == call.dims("e")
    if same and condition is not None and len(condition) == 1 < len(dims):
        rows = call.arg["condition"] + f".view(-1{', 1' * (len(dims) - 1)})"
        if condition == dims[:1] and call.dtype("t") is not dtypes.string:
            return f"torch.where({rows}, {call.arg['t']}, {call.arg['e']})"
    return _select_v2_inline(call) if fits and same else None


def _select_v2_inline(call: Any) -> str | None:
    if call.dtype("t") is dtypes.string:
        return None
    return "torch.where({condition}, {t}, {e})".format(**call.arg)


def _select_grad(op: Any, grad: Any) -> list[Any]:
    condition, chosen, _ = op.inputs
    zeros = elementwise.zeros_like(chosen)
    return [
        None,
        make("Select", condition, grad, zeros),
        make("Select", condition, zeros, grad),
    ]


def _select_v2_grad(op: Any, grad: Any) -> list[Any]:
    condition, first, second = op.inputs
    kind = grad.dtype.base_dtype
    zeros = constant(np.zeros((), kind.as_numpy_dtype), kind, "zeros")
    for_first = make("SelectV2", condition, grad, zeros)
    shape, whole = broadcasting.shape_of(first), broadcasting.shape_of(op.outputs[0])
    for_first = _reduced(for_first, shape, whole)
    for_second = make("SelectV2", condition, zeros, grad)
    shape = broadcasting.shape_of(second)
    return [None, for_first, _reduced(for_second, shape, whole)]


def _reduced(grad: Any, shape: Any, whole: Any) -> Any:
    axes, _ = make("BroadcastGradientArgs", shape, whole)
    return make("Reshape", make("Sum", grad, axes, keep_dims=True), shape)


def _select_v2_shape(ctx: ShapeContext) -> Dims:
    return shapes.broadcast_static(ctx["condition"], shapes.broadcast_static(ctx["t"], ctx["e"]))


define_op(
    "Select",
    "condition: bool, t: T, e: T -> output: T",
    attrs=["T: type"],
    shape=_select_shape,
    kernel=_select,
    inline=_select_inline,
    gradient=_select_grad,
    moves=True,
)


define_op(
    "SelectV2",
    "condition: bool, t: T, e: T -> output: T",
    attrs=["T: type"],
    shape=_select_v2_shape,
    kernel=_select_v2,
    inline=_select_v2_inline,
    gradient=_select_v2_grad,
)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Elements of ``x`` where ``condition`` holds, else of ``y``; or the positions where it holds.

    Args:
      condition: bool tensor; with ``x`` and ``y``, of their shape, a scalar, or a vector that
        chooses whole rows.
      x, y: tensors of one shape and type, or both None.

    Returns:
      A tensor like ``x``; without ``x`` and ``y``, an int64 tensor [n, rank] of positions.

    Raises:
      ValueError: only one of ``x`` and ``y`` is given, or the shapes do not fit.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.where([True, False], [1, 2], [3, 4])).tolist()
      [1, 4]
    """
    return _where("Select", condition, x, y, name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Like ``where``, but ``condition``, ``x`` and ``y`` broadcast.

    Args:
      condition: bool tensor.
      x, y: tensors of one type, or both None.

    Returns:
      A tensor of the broadcast shape; without ``x`` and ``y``, the positions, int64 [n, rank].

    Raises:
      ValueError: only one of ``x`` and ``y`` is given, or the shapes do not broadcast.
    """
    return _where("SelectV2", condition, x, y, name)


def _where(op_type: str, condition: Any, x: Any, y: Any, name: str | None) -> Tensor:
    if (x is None) != (y is None):
        missing = "x" if x is None else "y"
        raise ValueError(
            "x and y must both be non-None or both be None.:"
            f" where: x and y must both be given, or neither; {missing} is None"
        )
    made: Tensor
    if x is not None:
        made = make(op_type, condition, x, y, name=name)
        return made
    with name_scope(name, "Where", [condition]) as scope:
        condition = convert_to_tensor(condition, name="condition", preferred_dtype=dtypes.bool)
        made = make("Where", condition, name=scope)
    return made
