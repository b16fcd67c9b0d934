"""Predictors of estimators, from their latest checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib.predictor.calling import Predictor
from penstock.foundation.graph.graph import Graph
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.monitored.creators import ChiefSessionCreator
from penstock.training.monitored.monitored_session import MonitoredSession

_DEFAULT_KEY = "serving_default"


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
