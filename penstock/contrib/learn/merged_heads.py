"""``multi_head``: several heads on the logits of one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.contrib.learn.heads import Head, no_op_train_fn
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps
from penstock.ops.array.slicing import slice_
from penstock.ops.control.control import group
from penstock.ops.math.addn import add_n
from penstock.ops.math.binary import multiply


class MultiHead:
    """Heads side by side; ``multi_head`` makes it.

    Args:
      heads: heads with names.
      loss_weights: what the loss of each counts, or None for 1.
    """

    def __init__(self, heads: Sequence[Head], loss_weights: Sequence[float] | None) -> None:
        self._heads = tuple(heads)
        self._loss_weights = None if loss_weights is None else list(loss_weights)

    @property
    def logits_dimension(self) -> int:
        """How many logits an example has, for all heads."""
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self, features: Any, mode: str, labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None, logits: Any = None,
        logits_input: Any = None, scope: Any = None,
    ) -> ModelFnOps:  # fmt: skip
        """The ops of a model; arguments as of the heads'.

        Raises:
          ValueError: there are no logits, or ``train_op_fn`` is missing.
        """
        ModeKeys.validate(mode)
        if logits is None:
            raise ValueError("Neither logits nor logits_input supplied.")
        made = [
            head.create_model_fn_ops(features, mode, labels, no_op_train_fn, part, None, scope)
            for head, part in zip(self._heads, self._parts(logits), strict=True)
        ]
        if mode == ModeKeys.INFER:
            return self._inferred(made)
        loss = self._merged([ops.loss for ops in made])
        measured = {key: each for ops in made for key, each in ops.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, self._predictions(made), loss, None, measured)
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        train_op = group(train_op_fn(loss), *(ops.train_op for ops in made))
        return ModelFnOps(mode, None, loss, train_op, measured)

    def _parts(self, logits: Any) -> list[Any]:
        parts, begin = [], 0
        for head in self._heads:
            parts.append(slice_(logits, [0, begin], [-1, head.logits_dimension]))
            begin += head.logits_dimension
        return parts

    def _merged(self, losses: list[Any]) -> Any:
        if self._loss_weights is not None:
            losses = [
                multiply(loss, weight)
                for loss, weight in zip(losses, self._loss_weights, strict=True)
            ]
        return add_n(losses)

    def _predictions(self, made: list[ModelFnOps]) -> dict[Any, Any]:
        return {
            (head.head_name, key): value
            for head, ops in zip(self._heads, made, strict=True)
            for key, value in ops.predictions.items()
        }

    def _inferred(self, made: list[ModelFnOps]) -> ModelFnOps:
        alternatives = {}
        for head, ops in zip(self._heads, made, strict=True):
            alternatives[head.head_name] = next(iter(ops.output_alternatives.values()))
        return ModelFnOps(ModeKeys.INFER, self._predictions(made), output_alternatives=alternatives)


def multi_head(heads: Sequence[Head], loss_weights: Sequence[float] | None = None) -> MultiHead:
    """A head made of several, which share the logits of a model.

    Args:
      heads: heads with names.
      loss_weights: what the loss of each counts; default 1.

    Raises:
      ValueError: a head without a name, or another number of weights.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError(
            f"heads and loss_weights must have same size; found {len(heads)} and"
            f" {len(loss_weights)}"
        )
    if any(head.head_name is None for head in heads):
        raise ValueError("Members of MultiHead must have names.")
    return MultiHead(heads, loss_weights)
