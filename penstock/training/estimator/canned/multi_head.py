"""Several heads as one: their losses are added, their keys stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.variables import metrics
from penstock.library.variables.global_step import get_global_step
from penstock.ops.array import join, shape as shaping
from penstock.ops.array.slicing import slice_
from penstock.ops.control.control import no_op
from penstock.ops.math import elementwise
from penstock.ops.math.addn import add_n
from penstock.ops.math.binary import multiply
from penstock.storage.summary.build import scalar
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.export_outputs import PredictOutput
from penstock.training.estimator.mode_keys import ModeKeys


class MultiHead:
    """Heads for several objectives, by name.

    Args:
      heads: heads with names.
      head_weights: what each loss is multiplied with, or None.

    Raises:
      ValueError: there are no heads, one has no name, or there are more or fewer weights.
    """

    def __init__(self, heads: Sequence[Any], head_weights: Sequence[Any] | None = None) -> None:
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                "heads and head_weights must have the same size. Given len(heads):"
                f" {len(heads)}. Given len(head_weights): {len(head_weights)}."
            )
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        for head in heads:
            if not head.name:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        self._heads, self._weights = tuple(heads), tuple(head_weights or ())
        self.name = "_".join(head.name for head in heads)
        self.logits_dimension = sum(head.logits_dimension for head in heads)

    def create_estimator_spec(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any = None,
        optimizer: Any = None, train_op_fn: Callable[[Any], Any] | None = None,
    ) -> EstimatorSpec:  # fmt: skip
        """The ops of a model.

        Args:
          features, mode, optimizer, train_op_fn: as of other heads.
          logits: by head, or one tensor with those of all, in order.
          labels: by head.

        Raises:
          ValueError: labels are no dict, logits have another width, or both or none of
            ``optimizer`` and ``train_op_fn`` are given as a model is trained.
        """
        given = logits if isinstance(logits, dict) else self._split(logits)
        if labels and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        specs = [
            head.create_estimator_spec(
                features=features, mode=mode, logits=given[head.name],
                labels=labels[head.name] if labels else None, train_op_fn=lambda _: no_op(),
            )
            for head in self._heads
        ]  # fmt: skip
        predictions: Any = {
            (head.name, key): value
            for head, spec in zip(self._heads, specs)
            for key, value in spec.predictions.items()
        }
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions, export_outputs=self._outputs(specs))
        if mode == ModeKeys.EVAL:
            return self._evaluated(specs, predictions)
        loss = self._merged([spec.loss for spec in specs])
        train_op = _train_op(loss, optimizer, train_op_fn)
        with scopes.name_scope(""):
            scalar("loss", loss)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def _split(self, logits: Any) -> dict[str, Any]:
        with scopes.name_scope(None, "split_logits", values=[logits]):
            logits = convert_to_tensor(logits)
            widths = [head.logits_dimension for head in self._heads]
            dims = logits.shape.as_list()
            if dims[-1] not in (None, sum(widths)):
                raise ValueError(
                    f"Could not split logits of shape {dims} among the heads with individual"
                    f" logits dimensions: {widths}. The last dimension of the logits tensor should"
                    f" equal {sum(widths)} but is {dims[-1]}."
                )
            batch: Any = shaping.shape(logits)
            batch = batch[:-1]
            zeros, all_of_it = elementwise.zeros_like(batch), -1 * elementwise.ones_like(batch)
            found, start = {}, 0
            for head, width in zip(self._heads, widths):
                begin = join.concat([zeros, [start]], axis=0)
                size = join.concat([all_of_it, [width]], axis=0)
                found[head.name] = slice_(logits, begin=begin, size=size)
                start += width
        return found

    def _merged(self, losses: Sequence[Any]) -> Any:
        with scopes.name_scope("merge_losses", values=(*losses, *self._weights)):
            if self._weights:
                losses = [multiply(loss, weight) for loss, weight in zip(losses, self._weights)]
            return add_n(list(losses))

    def _evaluated(self, specs: Sequence[EstimatorSpec], predictions: Any) -> EstimatorSpec:
        found: dict[str, Any] = {}
        with scopes.name_scope("merge_eval"):
            for head, spec in zip(self._heads, specs):
                key = f"loss/{head.name}"
                found[key] = metrics.mean(spec.loss, name=key)
                found |= spec.eval_metric_ops
            loss = self._merged([spec.loss for spec in specs])
        return EstimatorSpec(ModeKeys.EVAL, predictions, loss, eval_metric_ops=found)

    def _outputs(self, specs: Sequence[EstimatorSpec]) -> dict[str, Any]:
        first = specs[0].export_outputs or {}
        found = {"serving_default": first["serving_default"]}
        predicted: dict[str, Any] = {}
        for head, spec in zip(self._heads, specs):
            for key, output in (spec.export_outputs or {}).items():
                served = key == "serving_default"
                found[head.name if served else f"{head.name}/{key}"] = output
                if key == "predict" and isinstance(output, PredictOutput):
                    predicted |= {f"{head.name}/{k}": v for k, v in output.outputs.items()}
        found["predict"] = PredictOutput(predicted)
        return found


def _train_op(loss: Any, optimizer: Any, train_op_fn: Callable[[Any], Any] | None) -> Any:
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is not None:
        return optimizer.minimize(loss, global_step=get_global_step())
    if train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    return train_op_fn(loss)
