"""Half the sum of squares, the usual penalty on weights."""

from __future__ import annotations

import math
from typing import Any

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import scalar
from penstock.ops.array import nodes

# ``dot`` adds up in float32 from end to end: of 100 million elements it is wrong by 0.8 %.
_PART = 1 << 17


def _l2_loss(t: Any) -> Any:
    flat = t.reshape(-1)
    if t.dtype is torch.float64 or (t.dtype is torch.float32 and flat.numel() <= _PART):
        return torch.dot(flat, flat) * 0.5
    if t.dtype is torch.float32:
        return torch.stack([torch.dot(part, part) for part in flat.split(_PART)]).sum() * 0.5
    return (flat.float().square_().sum() * 0.5).to(t.dtype)


def _l2_loss_grad(op: Any, grad: Tensor) -> Tensor:
    return nodes.mul(op.inputs[0], grad)


define_op(
    "L2Loss",
    "t: T -> output: T",
    attrs=["T: {half, bfloat16, float, double}"],
    shape=scalar,
    kernel=_l2_loss,
    gradient=_l2_loss_grad,
    flops=lambda at: 3 * math.prod(at.input(0)) - 1,
)


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of squares of ``t``, a scalar.

    Args:
      t: floating tensor of any shape.

    Returns:
      A scalar of the dtype of ``t``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     print(session.run(tf.nn.l2_loss([3.0, 4.0])))  # (9 + 16) / 2
      12.5
    """
    return make("L2Loss", t, name=name)
