"""A model's weights in files: checkpoints that are found by layer, TensorFlow's format."""

from __future__ import annotations

import os
from typing import Any

from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.graph import scopes
from penstock.library.layer_base import sessions
from penstock.storage.checkpoint import management, object_graph
from penstock.storage.checkpoint.trackable import Checkpoint, CheckpointLoadStatus

_ENDINGS = (".h5", ".keras", ".hdf5")


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


def _refuse_hdf5(path: str, save_format: str | None = None) -> None:
    if (save_format or "").lower() in ("h5", "hdf5", "keras") or (
        save_format is None and path.endswith(_ENDINGS)
    ):
        raise ImportError(
            f"HDF5 is not supported: {path!r} would need h5py. Write TensorFlow's format: a path"
            f" without {', '.join(_ENDINGS)}, or save_format='tf'."
        )


def save(model: Any, filepath: str, save_format: str | None = None) -> None:
    """Writes a model's weights; see ``Network.save_weights``."""
    path = os.fsdecode(filepath)
    _refuse_hdf5(path, save_format)
    if not model.weights:
        raise ValueError("Weights for model have not yet been created; call or build it first")
    session = sessions.get_session()
    with scopes.get_default_graph().as_default():
        _checkpoint(model).write(path, session=session)
    management.update_checkpoint_state(
        os.path.dirname(path) or ".", os.path.basename(path), [os.path.basename(path)]
    )


def load(model: Any, filepath: str, by_name: bool = False) -> Any:
    """Reads a model's weights; see ``Network.load_weights``."""
    path = os.fsdecode(filepath)
    if os.path.isfile(path) or path.endswith(_ENDINGS):
        _refuse_hdf5(path, "h5")
    if by_name:
        raise NotImplementedError(
            "Weights may only be loaded based on topology into Models when loading TensorFlow-"
            "formatted weights (got by_name=True to load_weights)."
        )
    session = sessions.get_session()
    record = object_graph.read(open_checkpoint(path))
    status = CheckpointLoadStatus(_checkpoint(model), path, record)
    status.run_restore_ops(session)
    return status
