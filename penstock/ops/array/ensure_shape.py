"""What is promised of a tensor: EnsureShape, GuaranteeConst."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show


def _ensure_shape_rule(ctx: ShapeContext) -> Dims:
    wanted = ctx.attr("shape")
    return shapes.merge_static(ctx["input"], None if wanted is None else wanted.sizes)


def _ensure_shape_kernel(input: Any, shape: Any) -> Any:
    found = tuple(input.shape)
    if shape is not None:
        fits = len(shape) == len(found) and all(
            want is None or want == have for want, have in zip(shape, found, strict=True)
        )
        if not fits:
            raise ValueError(
                f"shape {show(found)} of the tensor does not fit the shape {show(shape)} that"
                " ensure_shape asks for"
            )
    return input


define_op(
    "EnsureShape",
    "input: T -> output: T",
    attrs=["shape: shape", "T: type"],
    shape=_ensure_shape_rule,
    kernel=_ensure_shape_kernel,
    aliases=("input",),
    gradient=lambda op, grad: grad,
)


define_op(
    "GuaranteeConst",
    "input: T -> output: T",
    attrs=["T: type"],
    shape=lambda ctx: ctx["input"],
    kernel="{input}",
    aliases=("input",),
    stateful=True,
    no_gradient="what it passes on is promised to be constant",
)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """``x``, checked to have ``shape`` when it is built and again when it is run.

    Args:
      x: a tensor.
      shape: a TensorShape or what makes one; unknown dims are not checked.

    Returns:
      A tensor with the value of ``x``.

    Raises:
      ValueError: the static shape of ``x`` contradicts ``shape``.
      InvalidArgumentError: at run time, when the shape is another.
    """
    return make("EnsureShape", x, name=name, shape=shapes.as_shape(shape))


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """``input``, with the caller's promise that its value never changes.

    Args:
      input: a tensor.

    Returns:
      A tensor with the value of ``input``.
    """
    return make("GuaranteeConst", input, name=name)
