"""Checkpoints where operations run as they are called: saving and restoring are calls at once.

Objects that are attached, and variables that layers and optimizers make, after ``restore`` get
their values when they come to be: who makes such tells ``tracked.attached``, and what waits looks
again.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import constant, make
from penstock.library.variables import tracked
from penstock.library.variables.variable import Variable
from penstock.storage.checkpoint import management
from penstock.storage.checkpoint.saveable import SaveableObject, saveables_of


def here() -> bool:
    """Whether operations run as they are called."""
    return scopes.get_default_graph().executes


def named(var_list: Any) -> dict[str, Any]:
    """The variables that a ``Saver`` is given, by name.

    Raises:
      RuntimeError: it is given none: nothing keeps a list of all variables.
    """
    if var_list is None:
        raise RuntimeError(
            "When eager execution is enabled, `var_list` must specify a list or dict of variables"
            " to save"
        )
    if isinstance(var_list, dict):
        return dict(var_list)
    return {variable._shared_name: variable for variable in var_list}


def write(prefix: str, values: Sequence[tuple[str, Any]], record: bytes | None, key: str) -> str:
    """Writes a checkpoint.

    Args:
      prefix: of its files.
      values: keys, and the variables or tables under them.
      record: of the objects, or None.
      key: what the record stands under.

    Returns:
      The prefix.
    """
    names, slices, tensors = [], [], []
    for name, item in values:
        for part, slice_spec, tensor in _parts(name, item):
            names.append(part)
            slices.append(slice_spec)
            tensors.append(tensor)
    if record is not None:
        names.append(key)
        slices.append("")
        tensors.append(constant(record, dtypes.string))
    make("SaveV2", os.fsdecode(prefix), names, slices, tensors)
    return prefix


def _parts(name: str, item: Any) -> list[tuple[str, str, Any]]:
    if isinstance(item, Variable):
        info = getattr(item, "_save_slice_info", None)
        return [(name, "" if info is None else info.spec, item.read_value())]
    return [(s.name, s.slice_spec, s.tensor) for s in _saveable(name, item).specs]


def _saveable(name: str, item: Any) -> SaveableObject:
    return next(saveables_of(name, item))


def read(path: str, values: dict[str, Any]) -> None:
    """Gives variables and tables what a checkpoint has under their keys.

    Raises:
      ValueError: there is no such checkpoint, or a value's shape is not that of its variable.
      tf.errors.NotFoundError: it has no such key.
    """
    if not management.checkpoint_exists(path):
        raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
    reader = open_checkpoint(path)
    for name, item in values.items():
        if isinstance(item, Variable):
            item.assign(constant(reader.read(name), item.dtype.base_dtype))
        else:
            saveable = _saveable(name, item)
            saveable.restore([constant(reader.read(s.name)) for s in saveable.specs], None)


class Waiting:
    """Restores what comes to be later, as long as the root of the objects lives.

    Args:
      status: what finds the values of objects, by key.
      root: the ``Checkpoint``.
      path: of the checkpoint.
    """

    def __init__(self, status: Any, root: Any, path: str) -> None:
        self._status, self._root, self._path = status, weakref.ref(root), path
        self._done: set[str] = set()
        tracked.when_attached(self.restore)
        root.waiting = self  # the one before, of another checkpoint, is over
        self.restore()

    def restore(self) -> bool:
        """Restores what was not restored; whether there may be more."""
        root = self._root()
        if root is None or root.waiting is not self:
            return False
        found = {k: v for k, v in self._status.values().items() if k not in self._done}
        self._done |= set(found)
        read(self._path, found)
        return True
