"""Cross entropy of a softmax with class numbers as labels."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext
from penstock.ops.array import nodes
from penstock.ops.nn.softmax import FLOATING


def _sparse_xent_shape(ctx: ShapeContext) -> Any:
    features, labels = ctx.rank("features", 2), ctx.rank("labels", 1)
    rows = shapes.merge_static((features[0],), labels)
    return [rows, (*rows, features[1])]


def _sparse_xent(features, labels):
    log_p = torch.log_softmax(features, -1)
    index, valid = _class_index(features, labels)
    picked = _at_labels(log_p, index)
    # The gradient at the label is p - 1, elsewhere p.
    backprop = log_p.exp_().scatter_(1, index, torch.expm1(picked))
    loss = picked.squeeze(1).neg_()
    if valid is None:
        return loss, backprop
    return torch.where(valid, loss, torch.nan), torch.where(valid[:, None], backprop, torch.nan)


def _sparse_xent_loss(features, labels):
    """The same where nothing wants the gradient, which takes longer than the loss."""
    index, valid = _class_index(features, labels)
    loss = _at_labels(torch.log_softmax(features, -1), index).squeeze(1).neg_()
    return (loss if valid is None else torch.where(valid, loss, torch.nan)), None


def _sparse_xent_inline(call):
    if call.needed[1]:
        return None
    return f"{call.function(_sparse_xent_loss)}({call.arg['features']}, {call.arg['labels']})"


def _at_labels(log_p, index):
    try:
        return log_p.gather(1, index)
    except (IndexError, RuntimeError) as error:
        labels, classes = index.reshape(-1).tolist(), log_p.shape[1]
        wrong = [label for label in labels if not 0 <= label < classes]
        if not wrong:
            raise
        raise ValueError(
            f"Received a label value of {wrong[0]} which is outside the valid range of"
            f" [0, {classes}).  Label values: {' '.join(map(str, labels))}"
        ) from error


def _class_index(features, labels):
    """Labels as a column of int64, and which are valid (None: ``gather`` checks them).

    A label that is no class raises on the CPU; on other devices its row becomes NaN, as on GPUs in
    TensorFlow, since a failed assertion there would end the process's use of the device.
    """
    if labels.shape != features.shape[:1]:  # ``gather`` would leave rows out
        raise ValueError(
            "logits and labels must have the same first dimension, got logits shape"
            f" {list(features.shape)} and labels shape {list(labels.shape)}"
        )
    index = labels.to(torch.int64)
    if labels.device.type != "cpu":
        valid = (index >= 0) & (index < features.shape[1])
        return index.clamp(0, features.shape[1] - 1).unsqueeze(1), valid
    return index.unsqueeze(1), None


def _sparse_xent_gradient(
    op: Any, loss_grad: Tensor, backprop_grad: Tensor | None
) -> tuple[Tensor, None]:
    # TF 1.15 forbids the second derivative by this node.  TF 2 has one, and so has Penstock: the
    # node hands on gradients of this op's output.
    message = "Currently there is no second derivative of sparse_softmax_cross_entropy_with_logits"
    backprop = make("PreventGradient", op.outputs[1], message=message)
    grad = times_rows(loss_grad, backprop)
    if backprop_grad is not None and not is_zero(backprop_grad):
        grad = nodes.add(grad, through_softmax(op.inputs[0], backprop_grad))
    return grad, None


define_op(
    "SparseSoftmaxCrossEntropyWithLogits",
    "features: T, labels: Tlabels -> loss: T, backprop: T",
    attrs=[FLOATING, "Tlabels: {int32, int64} = int64"],
    shape=_sparse_xent_shape,
    kernel=_sparse_xent,
    inline=_sparse_xent_inline,
    gradient=_sparse_xent_gradient,
)


def times_rows(rows: Tensor, matrix: Tensor) -> Tensor:
    """Each row of ``matrix`` times an element of ``rows``: ``ExpandDims``, ``mul``."""
    return nodes.mul(make("ExpandDims", rows, -1), matrix)


def is_zero(grad: Any) -> bool:
    return isinstance(grad, Tensor) and grad.op_type in ("ZerosLike", "Zeros")


def through_softmax(logits: Tensor, grad: Tensor) -> Tensor:
    """Gradient of the logits, given that of their softmax."""
    softmax = make("Softmax", logits)
    rows = make("ExpandDims", grad, 1)
    columns = make("ExpandDims", softmax, 2)
    inner = make("BatchMatMulV2", rows, columns, name="MatMul")
    centered = nodes.sub(grad, make("Squeeze", inner, squeeze_dims=[1]))
    return nodes.mul(centered, softmax)
