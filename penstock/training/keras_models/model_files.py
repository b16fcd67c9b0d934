"""``save_model`` and ``load_model``: a model, how it is trained and how far, in an HDF5 file or a
SavedModel.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

from penstock.foundation.formats import hdf5
from penstock.foundation.graph import scopes
from penstock.storage.saved_model import loader
from penstock.training.keras_models import configuration, hdf5_weights, reading, saved_models

_LOG = logging.getLogger("penstock")


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True,
    save_format: str | None = None, signatures: Any = None,
) -> None:  # fmt: skip
    """Writes a model: its configuration, weights, and the state of its training.

    Args:
      model: the model.
      filepath: of the file; of a folder for ``save_format="tf"``.
      overwrite: whether an old file is replaced without asking.
      include_optimizer: whether the optimizer and its state are written.
      save_format: ``"h5"`` (default), or ``"tf"``: a SavedModel.
      signatures: of a SavedModel.

    Raises:
      ImportError: h5py is not installed.
      NotImplementedError: a model that a subclass computes cannot be written as HDF5.
    """
    path = os.fspath(filepath)
    if save_format == "tf":
        saved_models.save(model, path, include_optimizer, signatures)
        return
    if not getattr(model, "is_graph", False):
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a"
            " Sequential model. It does not work for subclassed models, because such models are"
            " defined via the body of a Python method, which isn't safely serializable. Consider"
            ' saving to the Tensorflow SavedModel format (by setting save_format="tf") or using'
            " `save_weights`."
        )
    if not overwrite and os.path.isfile(path) and not _may_overwrite(path):
        return
    with hdf5.open_file(path, "w", "save_model") as file:
        file.attrs["keras_version"] = hdf5_weights.KERAS_VERSION.encode()
        file.attrs["backend"] = hdf5_weights.BACKEND.encode()
        described = {"class_name": type(model).__name__, "config": model.get_config()}
        file.attrs["model_config"] = json.dumps(described, default=configuration.plain).encode()
        hdf5_weights.write(file.create_group("model_weights"), model.layers)
        if include_optimizer and model.optimizer is not None:
            _write_training(file, model)


def _may_overwrite(path: str) -> bool:
    answer = ""
    while answer not in ("y", "n"):
        answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip().lower()
    return answer == "y"


def _write_training(file: Any, model: Any) -> None:
    training = saved_models.training_config(model)
    if training is None:
        return
    file.attrs["training_config"] = json.dumps(training).encode()
    if model.optimizer.weights:
        hdf5_weights.write_weights(file.create_group("optimizer_weights"), model.optimizer.weights)


def load_model(
    filepath: Any, custom_objects: Mapping[str, Any] | None = None, compile: bool = True
) -> Any:
    """Reads a model that ``save_model`` wrote, here or in Keras.

    Args:
      filepath: of the file, or of a SavedModel's folder.
      custom_objects: classes and functions that the file names, by name.
      compile: whether the model is compiled as it was, with the state of its optimizer.

    Returns:
      The model.

    Raises:
      ImportError: h5py is not installed.
      NotImplementedError: a SavedModel of a model that a subclass computes.
      OSError: there is no such file.
      ValueError: it holds weights, or functions, and no model.
    """
    path = os.fspath(filepath)
    if os.path.isdir(path) and loader.maybe_saved_model_directory(path):
        return saved_models.load(path, custom_objects, compile)
    if not os.path.exists(path):
        raise OSError(
            f"SavedModel file does not exist at: {path}/{{saved_model.pbtxt|saved_model.pb}}"
        )
    with hdf5.open_file(path, "r", "load_model") as file:
        text = hdf5.text_of(file, "model_config")
        if text is None:
            raise ValueError("No model found in config file.")
        given = dict(custom_objects or {})
        model = reading.model_from_config(json.loads(text), given)
        hdf5_weights.load(file["model_weights"], model.layers)
        if compile:
            _compile(file, model, given)
    return model


def _compile(file: Any, model: Any, given: dict[str, Any]) -> None:
    text = hdf5.text_of(file, "training_config")
    if text is None:
        _LOG.warning(
            "No training configuration found in save file: the model was *not* compiled. Compile"
            " it manually."
        )
        return
    optimizer = saved_models.compile_by(json.loads(text), model, given)
    if "optimizer_weights" not in file:
        return
    values = hdf5_weights.read_weights(file["optimizer_weights"])
    try:
        if not scopes.get_default_graph().executes:
            model.training_step()
        optimizer.make_weights(model.trained_weights)
        optimizer.set_weights(values)
    except ValueError:
        _LOG.warning(
            "Error in loading the saved optimizer state. As a result, your model is starting with a"
            " freshly initialized optimizer."
        )
