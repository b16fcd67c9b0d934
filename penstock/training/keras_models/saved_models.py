"""A model in a SavedModel: what describes it there, and the model made anew from that.

The description, JSON, stands with the object of the model in the file's record of objects, as
TensorFlow writes it; the weights and the optimizer's state are under the keys of checkpoints.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from penstock.foundation.graph import scopes
from penstock.library.layer_base import configs, sessions
from penstock.storage.saved_model import constants, loader
from penstock.storage.saved_model.save import save as save_objects
from penstock.training.keras_models import configuration, optimizers, reading
from penstock.training.keras_models.wrapped_optimizer import TFOptimizer

_LOG = logging.getLogger("penstock")


def save(model: Any, path: str, include_optimizer: bool, signatures: Any) -> None:
    """Writes a model as a SavedModel; see ``Model.save``."""
    executes = scopes.get_default_graph().executes
    optimizer = getattr(model, "optimizer", None)
    if not include_optimizer:
        model.__dict__["optimizer"] = None
    try:
        with nullcontext() if executes else sessions.get_session().as_default():
            save_objects(model, path, signatures)
    finally:
        model.__dict__["optimizer"] = optimizer


def description(model: Any) -> str:
    """What a SavedModel says of a model: its configuration, and how it was compiled."""
    made: dict[str, Any] = {"class_name": type(model).__name__}
    if model.is_graph:
        made["config"] = model.get_config()
    found = {
        **made, "name": model.name, "trainable": model.trainable, "model_config": made,
        "keras_version": "2.2.4-tf", "backend": "tensorflow",
    }  # fmt: skip
    if getattr(model, "optimizer", None) is not None:
        found["training_config"] = training_config(model)
    return json.dumps(found, default=_described)


def training_config(model: Any) -> dict[str, Any] | None:
    """How a model was compiled; None, and a warning, of an optimizer that has no configuration."""
    if isinstance(model.optimizer, TFOptimizer):
        _LOG.warning(
            "TensorFlow optimizers do not make it possible to access optimizer attributes or"
            " optimizer state after instantiation. As a result, we cannot save the optimizer as"
            " part of the model save file. You will have to compile your model again after loading"
            " it. Prefer using a Keras optimizer instead (see keras.io/optimizers)."
        )
        return None
    optimizer = {
        "class_name": type(model.optimizer).__name__, "config": model.optimizer.get_config()
    }  # fmt: skip
    found = {
        "loss": model.loss, "metrics": model.asked_metrics,
        "weighted_metrics": model.asked_weighted_metrics,
        "sample_weight_mode": model.sample_weight_mode, "loss_weights": model.loss_weights,
        "optimizer_config": optimizer,
    }  # fmt: skip
    plain: dict[str, Any] = json.loads(json.dumps(found, default=_described))
    return plain


def _described(value: Any) -> Any:
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if callable(value):
        return value.__name__
    return configuration.plain(value)


def load(path: str, custom_objects: Mapping[str, Any] | None, compile: bool) -> Any:
    """The model that a SavedModel describes; see ``load_model``.

    Raises:
      NotImplementedError: its calls are a subclass's code.
      ValueError: it describes no model.
    """
    described = _description_in(path)
    given = dict(custom_objects or {})
    if "config" not in described.get("model_config", {}):
        raise NotImplementedError(
            f"the model {described.get('class_name')} at {path} is a subclass, whose call is code;"
            " tf.saved_model.load_v2 loads its functions and variables"
        )
    model = reading.model_from_config(described["model_config"], given)
    if compile and described.get("training_config"):
        compile_by(described["training_config"], model, given)
    prefix = os.path.join(path, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
    model.load_weights(prefix)
    return model


def _description_in(path: str) -> dict[str, Any]:
    for meta_graph in loader.parse_saved_model(path).meta_graphs:
        nodes = meta_graph.object_graph_def.nodes
        text = nodes[0].user_object.metadata if nodes else ""
        if text:
            found: dict[str, Any] = json.loads(text)
            return found
    raise ValueError(
        f"the SavedModel at {path} describes no model of Keras; tf.saved_model.load_v2 loads its"
        " functions and variables, tf.saved_model.loader.load its graph"
    )


def compile_by(training: Mapping[str, Any], model: Any, given: dict[str, Any]) -> Any:
    """Compiles a model as ``training_config`` says; the optimizer.

    Args:
      training: what ``training_config`` found.
      model: the model.
      given: classes and functions that it names, by name.
    """
    with configs.custom_object_scope(given):
        optimizer = optimizers.deserialize(training["optimizer_config"], given)
        model.compile(
            optimizer, training["loss"], training["metrics"], training["loss_weights"],
            training.get("sample_weight_mode"), training.get("weighted_metrics"),
        )  # fmt: skip
    return optimizer
