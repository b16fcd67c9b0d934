"""``tf.train.init_from_checkpoint``: initializers that read a checkpoint.

The variables' initializer ops are replaced by assignments of ``RestoreV2`` nodes, so that
``tf.global_variables_initializer()``, made afterwards, loads them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.library.variables import store as stores
from penstock.library.variables.partition import PartitionedVariable
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.library.variables.variable import Variable
from penstock.storage.checkpoint.reader import CheckpointReader, check_fits, load_checkpoint

_LOG = logging.getLogger("penstock")


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Mapping[str, Any]) -> None:
    """Makes the initializers of variables load a checkpoint.

    Args:
      ckpt_dir_or_file: a directory or what ``Saver.save`` returned.
      assignment_map: what to load into what:
        ``{"old": "new"}``: tensor ``old`` into the variable called ``new``;
        ``{"old": variable}``: into a variable, a PartitionedVariable, or a list of its parts;
        ``{"old/": "new/"}``: all variables of scope ``new`` from those of scope ``old``;
        ``{"/": "new/"}``: all variables of scope ``new`` from the names without it.

    Raises:
      ValueError: a tensor or variable is missing, or shapes differ.

    Example:
      ``tf.train.init_from_checkpoint("/models/base", {"encoder/": "model/encoder/"})``
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    path = reader.path
    for key in sorted(assignment_map, key=str):
        target = assignment_map[key]
        if not isinstance(target, str):
            _load(reader, path, key, target)
        elif key.endswith("/") or target.endswith("/"):
            _load_scope(reader, path, key, target)
        else:
            _load(reader, path, key, _by_name(target))


def _by_name(name: str) -> Any:
    store = stores.default_store()
    found = store._vars.get(name, store._partitioned_vars.get(name))
    if found is None:
        raise ValueError(
            f"there is no variable {name!r} made by tf.get_variable{store.nearest(name)}"
        )
    return found


def _load_scope(reader: CheckpointReader, path: str, old: str, new: str) -> None:
    store = stores.default_store()
    scope = "" if new == "/" else new
    if not all(part == "/" or part.endswith("/") for part in (old, new)):
        raise ValueError(
            f"Assignment map with scope only name {new} should map to scope only {old}. Should be"
            " 'scope/': 'other_scope/'"
        )
    wanted: dict[str, Any] = {}
    for name, variable in store._vars.items():
        if name.startswith(scope) and "/part_" not in name:
            wanted[name] = variable
    for name, parted in store._partitioned_vars.items():
        if name.startswith(scope):
            wanted[name] = parted
    if not wanted:
        _LOG.warning("init_from_checkpoint: there are no variables in scope %r to load", new)
    for name in sorted(wanted):
        rest = name[len(scope) :]
        _load(reader, path, rest if old == "/" else f"{old}{rest}", wanted[name])


def _load(reader: CheckpointReader, path: str, key: str, target: Any) -> None:
    """Replaces the initializers of a variable or of the parts of one."""
    if isinstance(target, PartitionedVariable):
        target = target._get_variable_list()
    if isinstance(target, list | tuple) and len(target) == 1 and target[0]._save_slice_info is None:
        target = target[0]
    parts = list(target) if isinstance(target, list | tuple) else [target]
    for part in parts:
        if not isinstance(part, Variable):
            raise TypeError(f"{key!r} can be loaded into variables only; found {part!r}")
        info = part._get_save_slice_info()
        shape = info.full_shape if info else part.get_shape().sizes
        if part.get_shape().is_fully_defined():
            dims = [int(d) for d in shape or () if d is not None]
            check_fits(reader, key, dims, part.name)
        _set_initializer(part, path, key, info.spec if info else "")
        _LOG.info("variable %s is initialized from %s of checkpoint %s", part.name, key, path)


def _set_initializer(variable: Any, path: str, key: str, spec: str) -> None:
    graph = variable.graph
    with (
        graph.as_default(), graph.control_dependencies(None), scopes.colocate_with(variable.op),
        scopes.device(variable.device or None), scopes.device("/cpu:0"),
    ):  # fmt: skip
        name = "checkpoint_initializer"
        value = make(
            "RestoreV2", path, [key], [spec], dtypes=[variable.dtype.base_dtype], name=name
        )[0]
        value.set_shape(variable.get_shape())
        if isinstance(variable, ResourceVariable):
            op = make("AssignVariableOp", variable.handle, value)
        else:
            op = make("Assign", variable._ref(), value).op
    variable._initializer_op = op
    variable._initial_value = value
