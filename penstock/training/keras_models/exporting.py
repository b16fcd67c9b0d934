"""``tf.keras.experimental.export_saved_model``: a model as graphs that serve, train and evaluate.

The folder has what ``tf.saved_model.load`` takes, one graph for each mode, which share the
variables; these are under the keys of object-based checkpoints, so that the model can be made anew
from its configuration, which lies beside them as JSON.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from penstock.engine.session.session import Session
from penstock.foundation.formats import files
from penstock.foundation.graph import collecting
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.layer_base import phase
from penstock.library.variables import listing
from penstock.ops.control import control
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.checkpoint.trackable import saveables_below
from penstock.storage.saved_model import constants
from penstock.storage.saved_model.builder import SavedModelBuilder
from penstock.training.estimator.export_outputs import EvalOutput, PredictOutput, TrainOutput
from penstock.training.keras_models import reading, saved_models
from penstock.training.keras_models.cloning import clone_model
from penstock.training.keras_models.network import weights_made
from penstock.training.keras_models.to_estimator import Training, metric_pairs

_CONFIGURATION = "saved_model.json"
_DEFAULT = "serving_default"


def export_saved_model(
    model: Any, saved_model_path: Any, custom_objects: Any = None, as_text: bool = False,
    input_signature: Any = None, serving_only: bool = False,
) -> None:  # fmt: skip
    """Writes a model as a SavedModel, with its configuration and the state of its training.

    Args:
      model: the model; where it was compiled, graphs that train and evaluate are written, too.
      saved_model_path: a new folder.
      custom_objects: classes and functions by name; not needed, as the model has them.
      as_text: whether ``saved_model.pbtxt`` is written; not with ``serving_only``.
      input_signature: specs of what the serving function takes; only with ``serving_only``.
      serving_only: whether only what serves is written, as ``tf.saved_model.save`` does.

    Raises:
      AssertionError: the folder is there and has something in it.
      NotImplementedError: a model that a subclass computes, without ``serving_only``.
      ValueError: the model has no weights yet.
    """
    path = os.fspath(saved_model_path)
    if serving_only:
        saved_models.save(model, path, True, input_signature)
        _write_configuration(model, path)
        return
    if not getattr(model, "is_graph", False) and not hasattr(model, "add"):
        raise NotImplementedError(
            "Subclassed models can only be exported for serving. Please set argument"
            " serving_only=True."
        )
    if not weights_made(model) or not model.weights:
        raise ValueError(
            "Weights for sequential model have not yet been created. Weights are created when the"
            " Model is first called on inputs or `build()` is called with an `input_shape`, or the"
            " first layer in the model has `input_shape` during construction."
        )
    builder = SavedModelBuilder(path)
    with tempfile.TemporaryDirectory() as folder:
        if model.optimizer is not None:
            model.training_step()
        prefix = os.path.join(folder, "weights")
        model.save_weights(prefix, save_format="tf")
        training = None if model.optimizer is None else Training(model)
        modes = ("serve",) if training is None else ("train", "eval", "serve")
        for number, mode in enumerate(modes):
            _add_graph(builder, model, training, mode, "" if number else prefix)
    builder.save(as_text)
    _write_configuration(model, path)


def load_from_saved_model(saved_model_path: Any, custom_objects: Any = None) -> Any:
    """The model that ``export_saved_model`` wrote, here or in TensorFlow; it is not compiled.

    Args:
      saved_model_path: the folder.
      custom_objects: classes and functions that the configuration names, by name.
    """
    path = os.fsdecode(saved_model_path)
    configuration = os.path.join(path, constants.ASSETS_DIRECTORY, _CONFIGURATION)
    with files.open_file(configuration) as file:
        text = file.read().decode()
    model = reading.model_from_json(text, custom_objects)
    model.load_weights(
        os.path.join(path, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
    )
    return model


def _write_configuration(model: Any, path: str) -> None:
    if not getattr(model, "is_graph", False):
        return
    assets = os.path.join(path, constants.ASSETS_DIRECTORY)
    files.makedirs(assets)
    files.write_atomically(os.path.join(assets, _CONFIGURATION), model.to_json().encode())


def _add_graph(
    builder: SavedModelBuilder, source: Any, training: Training | None, mode: str, prefix: str
) -> None:
    graph = Graph()
    with graph.as_default(), Session(graph=graph) as session:
        phase.set_learning_phase(int(mode == "train"))
        model = clone_model(source)
        signatures = _signatures(model, training, mode)
        start = control.group(
            listing.local_variables_initializer(),
            *graph.get_collection(GraphKeys.TABLE_INITIALIZERS), name="init",
        )  # fmt: skip
        saver = Saver(saveables_below(model), sharded=True)
        given: dict[str, Any] = {
            "tags": [mode], "signature_def_map": signatures, "main_op": start, "saver": saver,
        }  # fmt: skip
        if prefix:
            saver.restore(session, prefix)
            builder.add_meta_graph_and_variables(session, **given)
        else:
            builder.add_meta_graph(**given)


def _signatures(model: Any, training: Training | None, mode: str) -> dict[str, Any]:
    receivers = dict(zip(model.input_names, model.inputs, strict=True))
    predictions = dict(zip(model.output_names, model.outputs, strict=True))
    if training is None or mode == "serve":
        return {_DEFAULT: PredictOutput(predictions).as_signature_def(receivers)}
    training.compile(model)
    if mode == "train":
        collecting.add_to_collection(constants.TRAIN_OP_KEY, model.training_step())
    receivers.update((f"{one.name}_target", one.target) for one in model.trained_outputs)
    kind = TrainOutput if mode == "train" else EvalOutput
    output = kind(model.total_loss, predictions, metric_pairs(model))
    return {mode: output.as_signature_def(receivers)}
