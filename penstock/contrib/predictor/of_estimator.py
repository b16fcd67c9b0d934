"""Predictors of estimators, from their latest checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.contrib.predictor.calling import Predictor
from penstock.foundation.graph.graph import Graph
from penstock.ops.array.ranges import range_
from penstock.ops.array.reshape import expand_dims
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.tile import tile
from penstock.ops.strings.string_text import as_string
from penstock.storage.checkpoint.management import latest_checkpoint
from penstock.training.estimator.estimator import Estimator
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.monitored.creators import ChiefSessionCreator
from penstock.training.monitored.monitored_session import MonitoredSession

_DEFAULT_KEY = "serving_default"


class ContribEstimatorPredictor(Predictor):
    """A predictor of an older estimator; ``from_contrib_estimator`` makes it."""


class EstimatorPredictor(Predictor):
    """A predictor of an estimator; ``from_estimator`` makes it."""


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A function that computes an export output of an estimator.

    Args:
      estimator: a ``tf.estimator.Estimator`` that has a checkpoint.
      serving_input_receiver_fn: returns a ``ServingInputReceiver``.
      output_key: name of the export output; default "serving_default".
      graph: the graph that the model is made in; default a new one.
      config: ``ConfigProto`` of the session.

    Returns:
      A ``Predictor``; its inputs are those of the receiver.

    Raises:
      ValueError: an output that the model does not export.
    """
    graph = graph or Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
        creator = ChiefSessionCreator(
            scaffold=spec.scaffold,
            config=config,
            checkpoint_filename_with_path=estimator.latest_checkpoint(),
        )
        session = MonitoredSession(session_creator=creator)
    outputs, key = spec.export_outputs or {}, output_key or _DEFAULT_KEY
    if key not in outputs:
        raise ValueError(f"Got output_key {key!r}; the model exports {sorted(outputs)}")
    tensors = receiver.receiver_tensors
    signature = outputs[key].as_signature_def(tensors)
    feeds = {k: graph.get_tensor_by_name(v.name) for k, v in signature.inputs.items()}
    fetches = {k: graph.get_tensor_by_name(v.name) for k, v in signature.outputs.items()}
    return EstimatorPredictor(graph, session, feeds, fetches)


# ---- estimators of tf.contrib.learn --------------------------------------------------------------


def from_contrib_estimator(
    estimator: Any,
    prediction_input_fn: Callable[[], Any],
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A function that computes what an estimator of ``tf.contrib.learn`` exports.

    Args:
      estimator: a ``tf.contrib.learn.Estimator`` that has a checkpoint.
      prediction_input_fn: returns ``InputFnOps``, whose ``default_inputs`` are fed.
      input_alternative_key: None, as there is one way to feed it.
      output_alternative_key: which of several heads.
      graph: the graph that the model is made in; default a new one.
      config: ``ConfigProto`` of the session.

    Returns:
      A ``Predictor``: of scores, or of probabilities and the classes that they belong to.

    Raises:
      TypeError: a ``tf.estimator.Estimator``.
      KeyError: an input alternative that is not there.
      ValueError: an output alternative that is not there.
    """
    if isinstance(estimator, Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but got type"
            " tf.python.estimator.Estimator. You likely want to call from_estimator."
        )
    graph = graph or Graph()
    with graph.as_default():
        inputs = prediction_input_fn()
        feeds = {None: inputs.default_inputs}[input_alternative_key]  # type: ignore[index]
        ops = estimator.prediction_ops(inputs.features)
        fetches = _fetched(ops.output_alternatives or {}, output_alternative_key)
        creator = ChiefSessionCreator(
            scaffold=ops.scaffold, config=config,
            checkpoint_filename_with_path=latest_checkpoint(estimator.model_dir),
        )  # fmt: skip
        session = MonitoredSession(session_creator=creator)
    return ContribEstimatorPredictor(graph, session, feeds, fetches)


def _fetched(alternatives: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    if key is not None and key not in alternatives:
        raise ValueError(
            f"Requested default_output_alternative: {key}, but available output_alternatives are:"
            f" {sorted(alternatives)}"
        )
    _, tensors = alternatives[key] if key is not None else next(iter(alternatives.values()))
    if "probabilities" not in tensors:
        return dict(tensors)
    shares = tensors["probabilities"]
    # The number of each class as text, a row an example.
    numbers = expand_dims(range_(shape_of(shares)[1]), 0)
    classes = as_string(tile(numbers, [shape_of(shares)[0], 1]), name="classes_tensor")
    return {"probabilities": shares, "classes": classes}
