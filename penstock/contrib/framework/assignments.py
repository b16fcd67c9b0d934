"""Giving variables values by hand or from a checkpoint, as an op and what to feed it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from penstock.contrib.framework.variables import get_variable_full_name
from penstock.foundation.graph import collecting
from penstock.foundation.graph.keys import GraphKeys
from penstock.ops.array.constant import placeholder
from penstock.ops.control.control import group
from penstock.storage.checkpoint.reader import NewCheckpointReader
from penstock.storage.checkpoint.saver import Saver

_LOG = logging.getLogger("penstock")

Assignment = tuple[Any, dict[Any, np.ndarray]]


def _fed(var: Any) -> tuple[Any, Any]:
    """A placeholder for the value of ``var``, and the op that assigns it."""
    value = placeholder(var.dtype.base_dtype, var.get_shape(), name=f"placeholder/{var.op.name}")
    return value, var.assign(value)


def _global_variable(name: str) -> Any:
    found = collecting.get_collection(GraphKeys.GLOBAL_VARIABLES, name)
    if not found:
        raise ValueError(f"Variable {name} wasn't found")
    if len(found) == 1:
        return found[0]
    exact = [v for v in found if v.op.name == name]
    if not exact:
        raise ValueError(
            f"Variable {name} doesn't uniquely identify a variable; found"
            f" {[v.op.name for v in found]}"
        )
    return exact[0]


def assign_from_values(var_names_to_values: Mapping[str, np.ndarray]) -> Assignment:
    """An op that gives variables the values of arrays.

    Args:
      var_names_to_values: from names of global variables to arrays of as many elements.

    Returns:
      The op, and the feeds that a step with it needs.

    Raises:
      ValueError: a name that is no variable's.
    """
    feeds, assigned = {}, []
    for name, value in var_names_to_values.items():
        var = _global_variable(name)
        fed, op = _fed(var)
        feeds[fed] = np.asarray(value).reshape(var.get_shape().as_list())
        assigned.append(op)
    return group(*assigned), feeds


def assign_from_values_fn(var_names_to_values: Mapping[str, np.ndarray]) -> Callable[[Any], Any]:
    """As ``assign_from_values``: a function that does it in the session it is given."""
    op, feeds = assign_from_values(var_names_to_values)

    def assign(session: Any) -> Any:
        return session.run(op, feeds)

    return assign


def _by_key(var_list: Any) -> dict[str, list[Any]]:
    """The variables by their key in the checkpoint; parts of one variable have one key."""
    grouped: dict[str, list[Any]] = {}
    if isinstance(var_list, Mapping):
        for key, given in var_list.items():
            grouped[key] = list(given) if isinstance(given, list | tuple) else [given]
    else:
        for var in var_list:
            grouped.setdefault(get_variable_full_name(var), []).append(var)
    return grouped


def _part(key: str, value: np.ndarray, var: Any) -> np.ndarray:
    """What of a checkpoint's tensor belongs to ``var``."""
    info = var._get_save_slice_info()
    if info:
        ends = zip(info.var_offset, info.var_shape)
        return value[tuple(slice(start, start + size) for start, size in ends)]
    dims = tuple(var.get_shape().as_list())
    if dims != value.shape:
        raise ValueError(
            f"Total size of new array must be unchanged for {key}: the checkpoint has shape"
            f" {value.shape}, the variable {dims}"
        )
    return value


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> Assignment:
    """An op that gives variables the values of a checkpoint.

    Args:
      model_path: what ``Saver.save`` returned.
      var_list: list of variables; or from keys of the checkpoint to a variable (or the list of its
        parts).
      ignore_missing_vars: whether variables that the checkpoint lacks are left alone.

    Returns:
      The op, and the feeds that a step with it needs.

    Raises:
      ValueError: the checkpoint lacks a variable, or has another shape.
    """
    reader = NewCheckpointReader(model_path)
    feeds, assigned = {}, []
    for key, parts in _by_key(var_list).items():
        if not reader.has_tensor(key):
            text = f"Checkpoint is missing variable [{key}]"
            if not ignore_missing_vars:
                raise ValueError(f"{text}: {model_path}")
            _LOG.warning(text)
            continue
        value = reader.get_tensor(key)
        for var in parts:
            fed, op = _fed(var)
            feeds[fed] = _part(key, value, var)
            assigned.append(op)
    return group(*assigned), feeds


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """A function that restores variables in the session it is given.

    Args:
      model_path: what ``Saver.save`` returned.
      var_list: list of variables, or from keys of the checkpoint to variables.
      ignore_missing_vars: whether variables that the checkpoint lacks are left alone.
      reshape_variables: whether shapes may differ where sizes do not.

    Returns:
      The function, or None where nothing is left to restore.

    Raises:
      ValueError: no variables.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = NewCheckpointReader(model_path)
        named = var_list if isinstance(var_list, Mapping) else {v.op.name: v for v in var_list}
        for key in named:
            if not reader.has_tensor(key):
                _LOG.warning("Variable %s missing in checkpoint %s", key, model_path)
        var_list = {key: var for key, var in named.items() if reader.has_tensor(key)}
    if not var_list:
        _LOG.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables)

    def restore(session: Any) -> None:
        saver.restore(session, model_path)

    return restore
