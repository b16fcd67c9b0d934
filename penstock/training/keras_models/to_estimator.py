"""``tf.keras.estimator.model_to_estimator``: a compiled model as an Estimator.

The model function makes the model anew in the Estimator's graph, its inputs the features and its
targets the labels; training begins with the values that the model's weights had.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.layer_base import phase
from penstock.library.variables.global_step import get_or_create_global_step
from penstock.ops.array import cast
from penstock.training.estimator.estimator import Estimator
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.keras_models.cloning import clone_model
from penstock.training.keras_models.model_files import load_model
from penstock.training.keras_models.optimizer import OptimizerV2
from penstock.training.keras_models.wrapped_optimizer import TFOptimizer
from penstock.training.monitored.scaffold import Scaffold


def model_to_estimator(
    keras_model: Any = None, keras_model_path: Any = None, custom_objects: Any = None,
    model_dir: str | None = None, config: Any = None, checkpoint_format: str = "saver",
) -> Estimator:  # fmt: skip
    """An Estimator that trains a compiled model.

    Args:
      keras_model: the model.
      keras_model_path: what ``Model.save`` wrote; instead of the model.
      custom_objects: classes and functions by name that are needed to read it.
      model_dir: where checkpoints are; default of ``config``, else a new folder.
      config: a ``RunConfig``.
      checkpoint_format: ``"saver"``.

    Returns:
      The Estimator: features by the names of the model's inputs, predictions by those of its
      outputs.

    Raises:
      ValueError: no model, or both a model and a path; or the model was not compiled.
      NotImplementedError: another format of checkpoints.
      OSError: nothing is at the path.

    Example:
      >>> import penstock as tf
      >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2], name="y")])
      >>> model.compile("sgd", "mse")
      >>> type(tf.keras.estimator.model_to_estimator(model)).__name__
      'Estimator'
    """
    if not (keras_model or keras_model_path):
        raise ValueError(
            "Either `keras_model` or `keras_model_path` needs to be provided when creating an"
            " Estimator from a Keras model."
        )
    if keras_model and keras_model_path:
        raise ValueError("Please specify either `keras_model` or `keras_model_path`, but not both.")
    if checkpoint_format not in (None, "saver"):
        raise NotImplementedError(
            f"checkpoint_format must be 'saver' here; found {checkpoint_format!r}"
        )
    if keras_model_path:
        keras_model = load_model(keras_model_path, custom_objects)
    if getattr(keras_model, "optimizer", None) is None:
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with"
            " `model.compile()` before calling `model_to_estimator()`."
        )
    if model_dir is None and getattr(config, "model_dir", None) is None:
        model_dir = tempfile.mkdtemp()
    return Estimator(_model_function(keras_model), model_dir=model_dir, config=config)


def _model_function(source: Any) -> Callable[..., EstimatorSpec]:
    values, training = source.get_weights(), Training(source)

    def model_fn(features: Any, labels: Any, mode: Any) -> EstimatorSpec:
        phase.set_learning_phase(int(mode == ModeKeys.TRAIN))
        with scopes.name_scope(""):
            model = clone_model(source, _inputs(source, features))
        predictions = dict(zip(model.output_names, model.outputs, strict=True))
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions=predictions)
        training.compile(model, labels)
        train_op = model.training_step() if mode == ModeKeys.TRAIN else None
        return EstimatorSpec(
            mode, predictions, model.total_loss, train_op,
            eval_metric_ops=metric_pairs(model) if mode == ModeKeys.EVAL else None,
            scaffold=_beginning(model, values) if mode == ModeKeys.TRAIN else None,
        )  # fmt: skip

    return model_fn


def _inputs(source: Any, features: Any) -> list[Any]:
    """The features in the order of the model's inputs.

    Raises:
      KeyError: one lacks.
    """
    if not isinstance(features, dict):
        found = list(features) if isinstance(features, list | tuple) else [features]
    else:
        lacking = set(source.input_names) - set(features)
        if lacking:
            raise KeyError(
                f"The dictionary passed into features does not have the expected inputs keys"
                f" defined in the keras model.\n\tExpected keys: {sorted(source.input_names)}"
                f"\n\tfeatures keys: {sorted(features)}\n\tDifference: {sorted(lacking)}"
            )
        found = [features[name] for name in source.input_names]
    return [
        cast.cast(one, made.dtype) if one.dtype != made.dtype else one
        for one, made in zip(found, source.inputs, strict=True)
    ]


class Training:
    """How a model is trained, as it can be said in another graph.

    What its optimizer has learned of its rates is a value of the model's own session; hence it is
    asked here, and not where the copy is made.
    """

    def __init__(self, source: Any) -> None:
        self._source, self._optimizer = source, source.optimizer
        if isinstance(source.optimizer, OptimizerV2):
            self._config = source.optimizer.get_config()

    def compile(self, model: Any, labels: Any = None) -> None:
        """Compiles a copy of the model; its targets are ``labels``, or are fed."""
        optimizer, source, step = self._optimizer, self._source, get_or_create_global_step()
        if isinstance(optimizer, OptimizerV2):
            optimizer = type(optimizer).from_config(self._config)
            optimizer.set_iterations(step)
        elif isinstance(optimizer, TFOptimizer):
            optimizer = TFOptimizer(optimizer.optimizer, step)
        model.compile(
            optimizer, source.loss, metrics=source.asked_metrics, loss_weights=source.loss_weights,
            weighted_metrics=source.asked_weighted_metrics,
            sample_weight_mode=source.sample_weight_mode, target_tensors=labels,
        )  # fmt: skip


def metric_pairs(model: Any) -> dict[str, Any]:
    """Value and update of each metric of a compiled model; their variables become local ones."""
    places = scopes.get_default_graph()
    found = {}
    names = model.metrics_names[-len(model.metrics) :] if model.metrics else []
    for name, metric, update in zip(names, model.metrics, model.metric_updates, strict=True):
        for variable in metric.weights:
            places.add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
        found[name] = (metric.result(), update)
    return found


def _beginning(model: Any, values: list[Any]) -> Scaffold:
    """Begins with the values of the source's weights, where no checkpoint has others."""
    own = [w for layer in model.layers for w in layer.weights]

    def begin(scaffold: Any, session: Any) -> None:
        for variable, value in zip(own, values, strict=True):
            variable.load(value, session)

    return Scaffold(init_fn=begin)
