"""What a model function of ``tf.contrib.learn`` is given and returns; names of predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.export_outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)


class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Refuses what is no mode.

        Args:
          key: a mode.

        Raises:
          ValueError: it is none.
        """
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}. Allowed: train, eval, infer")


class ProblemType:
    """What a model predicts."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class PredictionKey:
    """Names of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class NotFittedError(ValueError, AttributeError):
    """An estimator without a checkpoint was asked for what it has learnt."""


class _Ops(NamedTuple):
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    output_alternatives: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    mode: str


class ModelFnOps(_Ops):
    """The ops by which an estimator trains, evaluates and predicts.

    Args:
      mode: a value of ``ModeKeys``.
      predictions: a tensor, or tensors by name.
      loss: scalar tensor; needed but to predict.
      train_op: one step; needed to train.
      eval_metric_ops: metrics by name.
      output_alternatives: pairs (problem type, tensors) by name, to export.
      training_chief_hooks, training_hooks: hooks of the chief, and of every trainer.
      scaffold: supplies ops for the session.

    Raises:
      ValueError: what ``mode`` needs is missing.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        """Checks the arguments."""
        ModeKeys.validate(mode)
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op.")
        if mode != ModeKeys.INFER and loss is None:
            raise ValueError("Missing loss.")
        if mode != ModeKeys.TRAIN and predictions is None:
            raise ValueError("Missing predictions.")
        return super().__new__(
            cls, {} if predictions is None else predictions, loss, train_op,
            {} if eval_metric_ops is None else eval_metric_ops, output_alternatives,
            list(training_chief_hooks or []), list(training_hooks or []), scaffold, mode,
        )  # fmt: skip

    def estimator_spec(self, default_serving_output_alternative_key: Any = None) -> EstimatorSpec:
        """The same for ``tf.estimator``.

        Args:
          default_serving_output_alternative_key: which alternative is served by default.
        """
        outputs = {
            key or "default_output_alternative": _export_output(*pair)
            for key, pair in (self.output_alternatives or {}).items()
        }
        if outputs and "serving_default" not in outputs:
            first = default_serving_output_alternative_key or next(iter(outputs))
            outputs["serving_default"] = outputs[first]
        return EstimatorSpec(
            self.mode, self.predictions, self.loss, self.train_op, self.eval_metric_ops,
            outputs or None, self.training_chief_hooks, self.training_hooks, self.scaffold,
        )  # fmt: skip


def _export_output(problem_type: Any, tensors: Mapping[str, Any]) -> ExportOutput:
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return RegressionOutput(next(iter(tensors.values())))
    scores = tensors.get(PredictionKey.PROBABILITIES, tensors.get(PredictionKey.SCORES))
    if scores is not None and problem_type != ProblemType.UNSPECIFIED:
        return ClassificationOutput(scores=scores)
    return PredictOutput(dict(tensors))


class MetricSpec:
    """A metric of an evaluation: a function, and what it is given.

    Args:
      metric_fn: takes predictions, labels and weights, as the functions of ``tf.metrics`` and
        ``tf.contrib.metrics`` do.
      prediction_key: which of several predictions it is given.
      label_key: which of several labels.
      weight_key: which feature has the weights; None for none.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self.metric_fn = metric_fn
        self.prediction_key = prediction_key
        self.label_key = label_key
        self.weight_key = weight_key

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The metric of a batch.

        Args:
          inputs: features by key.
          labels: labels, or labels by key.
          predictions: predictions, or predictions by name.

        Raises:
          ValueError: there are several and no key.
        """
        given = {
            "predictions": _one(predictions, self.prediction_key, "prediction"),
            "labels": _one(labels, self.label_key, "label"),
        }
        if self.weight_key is not None:
            given["weights"] = inputs[self.weight_key]
        return self.metric_fn(**given)

    def __str__(self) -> str:
        return (
            f"MetricSpec(metric_fn={getattr(self.metric_fn, '__name__', self.metric_fn)},"
            f" prediction_key={self.prediction_key}, label_key={self.label_key},"
            f" weight_key={self.weight_key})"
        )


def _one(tensors: Any, key: str | None, what: str) -> Any:
    if not isinstance(tensors, Mapping):
        return tensors
    if key is not None:
        if key not in tensors:
            raise ValueError(f"MetricSpec: no {what} {key!r}; there are {sorted(tensors)}")
        return tensors[key]
    if len(tensors) != 1:
        raise ValueError(
            f"MetricSpec without specified {what}_key requires {what}s tensor or single element"
            f" dictionary, found {sorted(tensors)}"
        )
    return next(iter(tensors.values()))
