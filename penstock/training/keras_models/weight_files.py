"""A model's weights in files: checkpoints that are found by layer, or HDF5."""

from __future__ import annotations

import os
from typing import Any

from penstock.foundation.formats import hdf5
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.graph import scopes
from penstock.library.layer_base import sessions
from penstock.storage.checkpoint import management, object_graph
from penstock.storage.checkpoint.trackable import Checkpoint, CheckpointLoadStatus
from penstock.training.keras_models import hdf5_weights


class _OfModel(Checkpoint):
    """A checkpoint whose root is a model."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.__dict__["_model"] = model

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(self.__dict__["_model"]._checkpoint_dependencies)


def _checkpoint(model: Any) -> _OfModel:
    found = model.__dict__.get("_weights_checkpoint")
    if found is None:
        found = model.__dict__["_weights_checkpoint"] = _OfModel(model)
    return found  # type: ignore[no-any-return]


def _is_hdf5(path: str, save_format: str | None = None) -> bool:
    if save_format is None:
        return path.endswith(hdf5.ENDINGS)
    if save_format.lower() in ("h5", "hdf5", "keras"):
        return True
    if save_format.lower() not in ("tf", "tensorflow"):
        raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')
    return False


def save(model: Any, filepath: str, save_format: str | None = None) -> None:
    """Writes a model's weights; see ``Network.save_weights``."""
    path = os.fsdecode(filepath)
    if not model.weights:
        raise ValueError("Weights for model have not yet been created; call or build it first")
    if _is_hdf5(path, save_format):
        with hdf5.open_file(path, "w", "save_weights") as file:
            hdf5_weights.write(file, model.layers)
        return
    session = sessions.get_session()
    with scopes.get_default_graph().as_default():
        _checkpoint(model).write(path, session=session)
    management.update_checkpoint_state(
        os.path.dirname(path) or ".", os.path.basename(path), [os.path.basename(path)]
    )


def load(model: Any, filepath: str, by_name: bool = False) -> Any:
    """Reads a model's weights; see ``Network.load_weights``."""
    path = os.fsdecode(filepath)
    if hdf5.is_hdf5(path) or path.endswith(hdf5.ENDINGS):
        _load_hdf5(model, path, by_name)
        return None
    if by_name:
        raise NotImplementedError(
            "Weights may only be loaded based on topology into Models when loading TensorFlow-"
            "formatted weights (got by_name=True to load_weights)."
        )
    record = object_graph.read(open_checkpoint(path))
    status = CheckpointLoadStatus(_checkpoint(model), path, record)
    if scopes.get_default_graph().executes:
        return status.restored()
    status.run_restore_ops(sessions.get_session())
    model.__dict__["_restored_weights"] = status
    return status


def restore_made_since(model: Any) -> None:
    """Gives what layers and the optimizer have made since ``load`` what that checkpoint has."""
    status = model.__dict__.get("_restored_weights")
    if status is not None:
        status.run_restore_ops_of_more(sessions.get_session())


def _load_hdf5(model: Any, path: str, by_name: bool) -> None:
    with hdf5.open_file(path, "r", "load_weights") as file:
        inner = "layer_names" not in file.attrs and "model_weights" in file
        group = file["model_weights"] if inner else file
        if not model.layers or not model.weights:
            raise ValueError(
                "Unable to load weights saved in HDF5 format into a subclassed Model which has not"
                " created its variables yet. Call the Model first, then load the weights."
            )
        (hdf5_weights.load_by_name if by_name else hdf5_weights.load)(group, model.layers)
