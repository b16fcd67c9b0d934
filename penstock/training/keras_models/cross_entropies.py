"""The cross entropies of ``tf.keras.backend``, of which losses and metrics are made.

Those of what a softmax or a sigmoid made take the logits before it, which is exact where the
probabilities round to 0 or 1.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library import nn
from penstock.library.layer_base import settings
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import nodes, reshape as reshaping, transpose


def _logits_before(output: Any, kind: str) -> Any:
    """What an output was made of by a node of that type, or None; of a value nothing is known.

    Nor of what stands for a value between the layers of a model: a loss of it goes through layers.
    """
    op = getattr(output, "op", None)
    if op is None or getattr(op.graph, "takes_calls", False):
        return None
    while op.op_def.role == "identity":
        op = op.inputs[0].op
    return op.inputs[0] if op.type == kind else None


def _bounded(probabilities: Any) -> Any:
    least = settings.epsilon()
    return math.clip_by_value(probabilities, least, 1.0 - least)


def categorical(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Cross entropy of distributions over ``axis``.

    Args:
      target, output: tensors of the same shape.
      from_logits: whether ``output`` are logits; otherwise they are divided by their sum.
      axis: that of the classes.

    Returns:
      A tensor without that dim.
    """
    target, output = convert_to_tensor(target), convert_to_tensor(output)
    logits = output if from_logits else _logits_before(output, "Softmax")
    if logits is not None:
        return nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=logits, axis=axis)
    output = _bounded(output / math.reduce_sum(output, axis=axis, keepdims=True))
    return -math.reduce_sum(target * math.log(output), axis=axis)


def sparse_categorical(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Cross entropy of classes by number.

    Args:
      target: numbers of classes, as many as ``output`` has distributions.
      output: distributions over ``axis``.
      from_logits: whether ``output`` are logits.
      axis: that of the classes.

    Returns:
      A vector; of an ``output`` of three dims or more, its shape without ``axis``.
    """
    output = convert_to_tensor(output)
    logits = output if from_logits else _logits_before(output, "Softmax")
    if logits is None:
        logits = math.log(_bounded(output))
    rank = output.shape.ndims
    if axis % rank != rank - 1:
        others = [one for one in range(rank) if one != axis % rank]
        logits = transpose.transpose(logits, [*others, axis % rank])
    labels = math.cast(reshaping.reshape(target, [-1]), "int64")
    rows = reshaping.reshape(logits, [-1, int(logits.shape[-1])])
    found = nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=rows)
    return found if rank < 3 else reshaping.reshape(found, nodes.shape(logits)[:-1])


def binary(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The cross entropy of yes and no, element by element.

    Args:
      target, output: tensors of the same shape.
      from_logits: whether ``output`` are logits.
    """
    target, output = convert_to_tensor(target), convert_to_tensor(output)
    logits = output if from_logits else _logits_before(output, "Sigmoid")
    if logits is not None:
        return nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits)
    output = _bounded(output)
    yes = target * math.log(output + settings.epsilon())
    return -(yes + (1 - target) * math.log(1 - output + settings.epsilon()))
