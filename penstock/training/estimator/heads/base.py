"""``tf.estimator.Head``: from logits to loss, metrics, predictions and the ops of a model.

Unlike the heads of canned estimators (``canned.heads``) these have a public interface: each part
can be asked for alone.  Metrics are Keras's, trained is with Keras's optimizers.  Nodes up to the
loss are those of TensorFlow 1.15.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.ops.control.control import group
from penstock.ops.math.addn import add_n
from penstock.storage.summary.build import scalar
from penstock.training.estimator.canned import head_checks
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.heads import checking
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.keras_models import metrics
from penstock.training.keras_models.optimizer import OptimizerV2
from penstock.training.keras_models.wrapped_optimizer import TFOptimizer

DEFAULT = "serving_default"


class Head(abc.ABC):
    """What all heads have: the names of its parts, and the ops of a model made of them.

    Example:
      >>> import penstock as tf
      >>> head = tf.estimator.RegressionHead(label_dimension=2)
      >>> isinstance(head, tf.estimator.Head), head.logits_dimension
      (True, 2)
    """

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """Its name, behind a slash in the names of summaries and metrics; or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the last dim of logits."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How the losses of a batch become one: of Keras's reductions."""

    @abc.abstractmethod
    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:  # fmt: skip
        """The loss of a batch, a scalar.

        Args:
          labels: the labels.
          logits: of shape [batch, logits_dimension].
          features: the features, where weights or the loss function need them.
          mode: a value of ``ModeKeys``.
          regularization_losses: added to it.
        """

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """Predictions by key.

        Args:
          logits: of shape [batch, logits_dimension].
          keys: those that are wanted; default all.
        """

    @abc.abstractmethod
    def metrics(self, regularization_losses: Sequence[Any] | None = None) -> dict[str, Any]:
        """New metrics by key.

        Args:
          regularization_losses: where there are some, their mean is a metric, too.
        """

    @abc.abstractmethod
    def update_metrics(
        self, eval_metrics: dict[str, Any], features: Any, logits: Any, labels: Any,
        mode: str | None = None, regularization_losses: Sequence[Any] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Has metrics take a batch in.

        Args:
          eval_metrics: what ``metrics`` made.
          features, logits, labels, mode, regularization_losses: as of ``loss``.

        Returns:
          ``eval_metrics``.
        """

    def create_estimator_spec(
        self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None, update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:  # fmt: skip
        """The ops of a model.

        Args:
          features: the features, by name.
          mode: a value of ``ModeKeys``.
          logits: of shape [batch, logits_dimension].
          labels: the labels.
          optimizer: of ``tf.keras.optimizers``; its ``iterations`` should be the global step.
          trainable_variables: what it trains.
          train_op_fn: ``f(loss) -> train_op``, in its place.
          update_ops: run with the train op.
          regularization_losses: added to the loss.

        Raises:
          ValueError: both or none of ``optimizer`` and ``train_op_fn`` as a model is trained, an
            optimizer that is not Keras's, or no variables for it.
        """
        with scopes.name_scope(self.name, "head"):
            found = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, found, export_outputs=self._outputs(found))
            regularization = regularization_losses or None
            loss = self.loss(labels, logits, features, mode, regularization)
            if mode == ModeKeys.EVAL:
                made = self.update_metrics(
                    self.metrics(regularization_losses=regularization), features, logits, labels,
                    regularization_losses=regularization,
                )  # fmt: skip
                return EstimatorSpec(mode, found, loss, eval_metric_ops=made)
            train_op = train_op_of(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        self._summarize(loss, regularization)
        return EstimatorSpec(ModeKeys.TRAIN, found, loss, train_op)

    def _outputs(self, predictions: dict[Any, Any]) -> dict[str, Any]:
        raise NotImplementedError("Subclasses of Head say what is exported of predictions.")

    def _key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key

    def _summarize(self, loss: Any, regularization: Sequence[Any] | None) -> None:
        with scopes.name_scope(""):
            scalar(self._summary_key("loss"), loss)
            if regularization is not None:
                scalar(self._summary_key("regularization_loss"), add_n(list(regularization)))

    def _summary_key(self, key: str) -> str:
        return self._key(key)


def train_op_of(
    loss: Any, optimizer: Any, variables: Any, train_op_fn: Callable[[Any], Any] | None,
    update_ops: Sequence[Any] | None,
) -> Any:  # fmt: skip
    """The op of a step, in a scope of its own.

    Raises:
      ValueError: as ``create_estimator_spec`` says.
    """
    with scopes.name_scope(""), scopes.name_scope("training"):
        if optimizer is not None and train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        if optimizer is not None:
            made = _minimized(loss, optimizer, variables)
        elif train_op_fn is not None:
            made = train_op_fn(loss)
        else:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        return group(made, *update_ops) if update_ops else made


def _minimized(loss: Any, optimizer: Any, variables: Any) -> Any:
    if not isinstance(optimizer, OptimizerV2 | TFOptimizer):
        raise ValueError(
            "The given optimizer is not a tf.keras.optimizers.Optimizer instance. Given:"
            f" {optimizer}"
        )
    if variables is None:
        raise ValueError("trainable_variables cannot be None. Given None")
    if not isinstance(variables, list | tuple):
        raise ValueError(
            f"trainable_variables should be a list or a tuple. Given type: {type(variables)}."
        )
    (made,) = optimizer.get_updates(loss, list(variables))
    return made


class OwnHead(Head):
    """A head with a loss of its own: all but those made of several.

    Args:
      weight_column: key or ``numeric_column`` of the examples' weights, or None.
      loss_reduction: how the losses of a batch become one.
      loss_fn: ``f(labels, logits, features)`` in place of the head's loss; unreduced.
      name: behind a slash in the names of summaries and metrics.
    """

    _each_logit = False

    def __init__(
        self, weight_column: Any, loss_reduction: str, loss_fn: Callable[..., Any] | None,
        name: str | None,
    ) -> None:  # fmt: skip
        checking.check_reduction(loss_reduction)
        if loss_fn is not None:
            head_checks.check_loss_fn(loss_fn)
        self._weight_column, self._loss_fn, self._name = weight_column, loss_fn, name
        self._loss_reduction = loss_reduction

    @property
    def name(self) -> str | None:
        """Its name, or None."""
        return self._name

    @property
    def loss_reduction(self) -> str:
        """How the losses of a batch become one."""
        return self._loss_reduction

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:  # fmt: skip
        """The loss of a batch, a scalar; as ``Head.loss``."""
        given = (logits, labels, regularization_losses, features)
        with scopes.name_scope(None, "losses", [each for each in given if each is not None]):
            logits = head_checks.checked_logits(logits, self.logits_dimension)
            labels = self._labels(labels, logits)
            unreduced, weights = self._unreduced(labels, logits, features)
            found = checking.weighted_loss(unreduced, weights, self._loss_reduction)
            if regularization_losses is not None:
                found = found + add_n(list(regularization_losses))
        return found

    @abc.abstractmethod
    def _labels(self, labels: Any, logits: Any) -> Any:
        """Labels, checked."""

    @abc.abstractmethod
    def _loss_of_each(self, labels: Any, logits: Any, features: Any) -> Any:
        """The loss of each example."""

    def _unreduced(self, labels: Any, logits: Any, features: Any) -> tuple[Any, Any]:
        """The loss of each example, and its weight."""
        each = self._loss_of_each(labels, logits, features)
        weights = checking.weights_of(features, self._weight_column, logits, self._each_logit)
        return each, weights

    def _chosen(self, keys: Sequence[str] | None, known: Sequence[str]) -> list[str]:
        """The keys of predictions that are wanted."""
        if not keys:
            return list(known)
        for key in keys:
            if key not in known:
                raise ValueError(
                    f"Prediction key must be in PredictionKeys, given: {key}.Valid prediction keys"
                    f" include {list(known)}."
                )
        return list(keys)

    def metrics(self, regularization_losses: Sequence[Any] | None = None) -> dict[str, Any]:
        """New metrics by key; as ``Head.metrics``."""
        with scopes.name_scope(None, "metrics", list(regularization_losses or ())):
            found = self._new_metrics(regularization_losses is not None)
        return {self._key(key): metric for key, metric in found.items()}

    @abc.abstractmethod
    def _new_metrics(self, regularized: bool) -> dict[str, Any]:
        """New metrics by key, without the head's name."""

    def update_metrics(  # type: ignore[override]
        self, eval_metrics: dict[str, Any], features: Any, logits: Any, labels: Any,
        regularization_losses: Sequence[Any] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Has metrics take a batch in; as ``Head.update_metrics``."""
        logits = head_checks.checked_logits(logits, self.logits_dimension)
        labels = self._labels(labels, logits)
        each, weights = self._unreduced(labels, logits, features)
        mine = {key: eval_metrics[self._key(key)] for key in self._new_keys(eval_metrics)}
        self._update(mine, labels, logits, each, weights)
        if regularization_losses is not None:
            mine["regularization_loss"].update_state(add_n(list(regularization_losses)))
        return eval_metrics

    def _new_keys(self, eval_metrics: dict[str, Any]) -> list[str]:
        end = f"/{self.name}" if self.name else ""
        return [key[: len(key) - len(end)] for key in eval_metrics if key.endswith(end)]

    @abc.abstractmethod
    def _update(
        self, found: dict[str, Any], labels: Any, logits: Any, each: Any, weights: Any
    ) -> None:
        """Has metrics take a batch in.

        Args:
          found: the metrics by key, without the head's name.
          labels: as ``_labels`` made them.
          logits: the logits.
          each: the loss of each example.
          weights: of the examples, or 1.0.
        """


def regularization_metric() -> Any:
    """The metric of losses that regularize."""
    return metrics.Mean(name="regularization_loss")
