"""``tf.estimator.EstimatorSpec``: what a ``model_fn`` returns, checked when it is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.variable import Variable
from penstock.ops.array import reshape as reshaping
from penstock.training.estimator.export_outputs import with_default_output
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.keras_models.metrics import Metric
from penstock.training.monitored.hook import SessionRunHook
from penstock.training.monitored.scaffold import Scaffold

LOSS_METRIC_KEY = "loss"


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict[str, Any]
    export_outputs: dict[str, Any] | None
    training_chief_hooks: tuple[SessionRunHook, ...]
    training_hooks: tuple[SessionRunHook, ...]
    scaffold: Scaffold
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class EstimatorSpec(_Fields):
    """The ops by which an ``Estimator`` trains, evaluates and predicts.

    Args:
      mode: a value of ``ModeKeys``.
      predictions: a tensor or a dict of them; needed to predict.
      loss: scalar tensor, or of shape [1]; needed to train and to evaluate.
      train_op: operation of one step; needed to train.
      eval_metric_ops: dict of pairs (value, update op) as of ``tf.metrics``, or of metrics of
        Keras that have been updated.
      export_outputs: dict of ``tf.estimator.export.ExportOutput`` by signature; one of several
        must be called ``"serving_default"``.
      training_chief_hooks: hooks that only the chief has as it trains.
      training_hooks: hooks of every trainer.
      scaffold: supplies ops for the session.
      evaluation_hooks: hooks of an evaluation.
      prediction_hooks: hooks of a prediction.

    Raises:
      ValueError: what ``mode`` needs is missing, or is not of the default graph.
      TypeError: something has another type.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     spec = tf.estimator.EstimatorSpec("infer", predictions={"y": tf.constant([1.0])})
      >>> spec.mode, list(spec.predictions), list(spec.export_outputs)
      ('infer', ['y'], ['serving_default'])
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Iterable[Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        scaffold: Any = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> EstimatorSpec:
        """Checks the arguments."""
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        outputs: Any = export_outputs
        if mode == ModeKeys.PREDICT:
            outputs = with_default_output(export_outputs, predictions)
        scaffold = scaffold or Scaffold()
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold!r}")
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=outputs,
            training_chief_hooks=_checked_hooks(training_chief_hooks),
            training_hooks=_checked_hooks(training_hooks),
            scaffold=scaffold,
            evaluation_hooks=_checked_hooks(evaluation_hooks),
            prediction_hooks=_checked_hooks(prediction_hooks),
        )

    def _replace(self, **kwds: Any) -> EstimatorSpec:
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError(
                f"mode of EstimatorSpec cannot be changed. It is {self.mode!r}; asked was"
                f" {kwds['mode']!r}"
            )
        return EstimatorSpec(**{**self._asdict(), **kwds})


def _checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op. An EstimatorSpec for training needs one")
        return None
    if not isinstance(train_op, Operation | Tensor | Variable):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op!r}")
    if isinstance(train_op, Variable):
        train_op = train_op.op
    _check_graph(train_op, "train_op", train_op.name)
    return train_op


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError(f"Missing loss. An EstimatorSpec of mode {mode!r} needs one")
        return None
    _check_tensor(loss, "loss")
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss!r}")
    if not loss.shape.is_compatible_with([]):
        loss = reshaping.reshape(loss, [])
    _check_graph(loss, "loss", loss.name)
    return loss


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions. An EstimatorSpec for prediction needs them")
        return {}
    if not isinstance(predictions, dict):
        _check_tensor(predictions, "predictions")
        _check_graph(predictions, "prediction values", predictions.name)
        return predictions
    for key, value in predictions.items():
        _check_tensor(value, f"predictions[{key}]")
    for key, value in predictions.items():
        _check_graph(value, "prediction values", f"{key}: {value.name}")
    return dict(predictions)


def _checked_metrics(metrics: Any) -> dict[str, Any]:
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics!r}")
    pairs: dict[str, Any] = {
        key: _pair_of(key, value) if isinstance(value, Metric) else value
        for key, value in metrics.items()
    }
    for key, value in pairs.items():
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given:"
                f" {value!r} for key: {key}"
            )
        for each in nest.flatten(value):
            _check_graph(each, "eval_metric_ops", f"{key}: {each.name}")
    return pairs


def _pair_of(key: str, metric: Metric) -> tuple[Any, Any]:
    """Value and update op of a metric of Keras, whose variables become local ones."""
    if not metric.updates:
        raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric ({key})')
    places = scopes.get_default_graph()
    for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
        there = {id(each) for each in places.get_collection(collection)}
        for variable in metric.weights:
            if id(variable) not in there:
                places.add_to_collection(collection, variable)
    return metric.result(), metric.updates[0]


def _checked_hooks(hooks: Iterable[Any] | None) -> tuple[SessionRunHook, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook!r}")
    return found


def _check_tensor(value: Any, what: str) -> None:
    if not isinstance(value, Tensor | Variable):
        raise TypeError(f"{what} must be Tensor, given: {value!r}")


def _check_graph(value: Any, what: str, named: str) -> None:
    if value.graph is not scopes.get_default_graph():
        raise ValueError(
            f'{what} with "{named}" must be from the default graph. It was made in another graph,'
            " or by an earlier call of model_fn; make it anew in each call"
        )
