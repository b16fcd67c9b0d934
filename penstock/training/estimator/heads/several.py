"""``tf.estimator.MultiHead``: several heads as one, their losses added."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.ops.array import join, shape as shaping
from penstock.ops.array.slicing import slice_
from penstock.ops.control.control import no_op
from penstock.ops.math import elementwise
from penstock.ops.math.addn import add_n
from penstock.ops.math.binary import multiply
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.export_outputs import PredictOutput
from penstock.training.estimator.heads.base import (
    DEFAULT,
    Head,
    regularization_metric,
    train_op_of,
)
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.keras_models import metrics
from penstock.training.keras_models.weighting import Reduction


class MultiHead(Head):
    """Heads for several objectives, each with a name.

    Args:
      heads: the heads.
      head_weights: what the loss of each is multiplied with, or None.

    Raises:
      ValueError: there are no heads, one has no name, or there are more or fewer weights.

    Example:
      >>> import penstock as tf
      >>> head = tf.estimator.MultiHead([
      ...     tf.estimator.BinaryClassHead(name="kind"),
      ...     tf.estimator.RegressionHead(2, name="place"),
      ... ])
      >>> head.name, head.logits_dimension
      ('kind_place', 3)
    """

    def __init__(self, heads: Sequence[Any], head_weights: Sequence[Any] | None = None) -> None:
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                "heads and head_weights must have the same size. Given len(heads):"
                f" {len(heads)}. Given len(head_weights): {len(head_weights)}."
            )
        for head in heads:
            if not head.name:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        self._heads, self._weights = tuple(heads), tuple(head_weights or ())

    @property
    def name(self) -> str:
        """The names of the heads."""
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads'."""
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        """That of the first head whose losses are not averaged, or the mean."""
        found = [head.loss_reduction for head in self._heads]
        return next((how for how in found if how != Reduction.AUTO), Reduction.AUTO)

    def _by_head(self, logits: Any) -> dict[str, Any]:
        """Logits by the heads' names.

        Raises:
          ValueError: some lack, or they do not have as many as the heads take together.
        """
        if isinstance(logits, Mapping):
            lacking = [head.name for head in self._heads if head.name not in logits]
            if lacking:
                raise ValueError(f"logits has missing values for head(s): {lacking}")
            return dict(logits)
        with scopes.name_scope(None, "split_logits", values=[logits]):
            return self._split(convert_to_tensor(logits))

    def _split(self, logits: Any) -> dict[str, Any]:
        widths = [head.logits_dimension for head in self._heads]
        dims = logits.shape.as_list()
        if dims[-1] not in (None, sum(widths)):
            raise ValueError(
                f"Could not split logits of shape {dims} among the heads with individual logits"
                f" dimensions: {widths}. The last dimension of the logits tensor should equal"
                f" {sum(widths)} but is {dims[-1]}."
            )
        batch: Any = shaping.shape(logits)
        batch = batch[:-1]
        zeros, all_of_it = elementwise.zeros_like(batch), -1 * elementwise.ones_like(batch)
        found, start = {}, 0
        for head, width in zip(self._heads, widths, strict=True):
            begin = join.concat([zeros, [start]], axis=0)
            size = join.concat([all_of_it, [width]], axis=0)
            found[head.name] = slice_(logits, begin=begin, size=size)
            start += width
        return found

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:  # fmt: skip
        """The sum of the heads' losses, weighed.

        Args:
          labels: by the heads' names.
          logits: by head, or one tensor with those of all, in order.
          features, mode, regularization_losses: as of ``Head.loss``.

        Raises:
          ValueError: labels are no dict, or logits do not fit.
        """
        given = self._by_head(logits)
        if not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        found = [
            head.loss(logits=given[head.name], labels=labels[head.name], features=features)
            for head in self._heads
        ]
        with scopes.name_scope("merge_losses", values=[*found, *self._weights]):
            if self._weights:
                found = [multiply(loss, w) for loss, w in zip(found, self._weights, strict=True)]
            whole = add_n(found)
            if regularization_losses is not None:
                whole = whole + add_n(list(regularization_losses))
        return whole

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """Predictions by the pair of a head's name and a key.

        Args:
          logits: by head, or one tensor with those of all, in order.
          keys: not used; each head predicts all that it can.
        """
        given = self._by_head(logits)
        found: dict[Any, Any] = {}
        with scopes.name_scope("merge_pred", values=list(given.values())):
            for head in self._heads:
                made = head.predictions(given[head.name])
                found |= {(head.name, key): value for key, value in made.items()}
        return found

    def metrics(self, regularization_losses: Sequence[Any] | None = None) -> dict[str, Any]:
        """A new metric of each head's loss; the heads' own come as they are updated.

        Args:
          regularization_losses: where there are some, their mean is a metric, too.
        """
        found: dict[str, Any] = {}
        if regularization_losses is not None:
            found[self._key("regularization_loss")] = regularization_metric()
        with scopes.name_scope("merge_eval"):
            for head in self._heads:
                found[f"loss/{head.name}"] = metrics.Mean(name=f"loss/{head.name}")
        return found

    def update_metrics(  # type: ignore[override]
        self, eval_metrics: dict[str, Any], features: Any, logits: Any, labels: Any,
        regularization_losses: Sequence[Any] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Has the metrics of all heads take a batch in.

        Args:
          eval_metrics: what ``metrics`` made; the heads' own are added to it.
          features, logits, labels, regularization_losses: as of ``loss``.
        """
        given = self._by_head(logits)
        if not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        if regularization_losses is not None:
            mean = eval_metrics[self._key("regularization_loss")]
            mean.update_state(add_n(list(regularization_losses)))
        for head in self._heads:
            own, ours = given[head.name], labels[head.name]
            loss = head.loss(logits=own, labels=ours, features=features)
            eval_metrics[f"loss/{head.name}"].update_state(loss)
            eval_metrics |= head.update_metrics(
                head.metrics(), features=features, logits=own, labels=ours
            )
        return eval_metrics

    def create_estimator_spec(
        self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None, update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:  # fmt: skip
        """The ops of a model; as ``Head.create_estimator_spec``.

        Args:
          logits: by head, or one tensor with those of all, in order.
          labels: by head.
          features, mode, optimizer, trainable_variables, train_op_fn, update_ops: as of other
            heads.
          regularization_losses: added to the sum of the losses.
        """
        regularization = regularization_losses or None
        with scopes.name_scope(self.name, "multi_head"):
            specs = self._specs(features, mode, logits, labels)
            found = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, found, export_outputs=self._merged_outputs(specs))
            loss = self.loss(labels, logits, features, mode, regularization)
            if mode == ModeKeys.EVAL:
                made = self.update_metrics(
                    self.metrics(regularization), features, logits, labels, regularization
                )
                return EstimatorSpec(mode, found, loss, eval_metric_ops=made)
            train_op = train_op_of(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        self._summarize(loss, regularization)
        return EstimatorSpec(ModeKeys.TRAIN, found, loss, train_op)

    def _specs(self, features: Any, mode: str, logits: Any, labels: Any) -> list[EstimatorSpec]:
        """What each head alone would have."""
        given = self._by_head(logits)
        if labels and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        return [
            head.create_estimator_spec(
                features=features, mode=mode, logits=given[head.name],
                labels=labels[head.name] if labels else None, train_op_fn=lambda _: no_op(),
            )
            for head in self._heads
        ]  # fmt: skip

    def _summary_key(self, key: str) -> str:
        return key

    def _key(self, key: str) -> str:
        return f"{key}/{self.name}"

    def _merged_outputs(self, specs: Sequence[EstimatorSpec]) -> dict[str, Any]:
        first = specs[0].export_outputs or {}
        found = {DEFAULT: first[DEFAULT]}
        predicted: dict[str, Any] = {}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in (spec.export_outputs or {}).items():
                found[head.name if key == DEFAULT else f"{head.name}/{key}"] = output
                if key == "predict" and isinstance(output, PredictOutput):
                    predicted |= {f"{head.name}/{k}": v for k, v in output.outputs.items()}
        return found | {"predict": PredictOutput(predicted)}
