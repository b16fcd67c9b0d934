"""``tf.train.warm_start``: a model begins with the variables of an earlier one."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.foundation.graph import collecting
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.partition import PartitionedVariable
from penstock.library.variables.variable import Variable
from penstock.storage.checkpoint.initialize import init_from_checkpoint
from penstock.storage.checkpoint.vocabulary import load_by_vocabulary

_LOG = logging.getLogger("penstock")


def warm_start(
    ckpt_to_initialize_from: Any,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, Any] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Makes the initializers of variables load an earlier model's checkpoint.

    Args:
      ckpt_to_initialize_from: a directory or what ``Saver.save`` returned.
      vars_to_warm_start: a regular expression of names of trainable variables; or a list of
        expressions, of names of any global variables; or a list of variables.
      var_name_to_vocab_info: ``VocabInfo`` by name: rows or columns rearranged by words.
      var_name_to_prev_var_name: names in the checkpoint, where they are others.

    Raises:
      ValueError: a variable is not in the checkpoint, or a name that comes with a vocabulary or
        with an earlier name is that of no variable to load.
    """
    names, words = dict(var_name_to_prev_var_name or {}), dict(var_name_to_vocab_info or {})
    selected = _grouped(vars_to_warm_start)
    if vars_to_warm_start is None:
        everything = _grouped(collecting.get_collection(GraphKeys.GLOBAL_VARIABLES))
        selected = {name: each for name, each in everything.items() if name in words}
    for name, parts in selected.items():
        earlier = names.pop(name, name)
        info = words.pop(name, None)
        if info is not None:
            listed = parts if isinstance(parts, list) else [parts]
            load_by_vocabulary(listed, ckpt_to_initialize_from, earlier, info)
        else:
            init_from_checkpoint(ckpt_to_initialize_from, {earlier: parts})
    for argument, unused in (("prev_var_name", names), ("vocab_info", words)):
        if unused:
            raise ValueError(
                f"You provided the following variables in var_name_to_{argument} that were not"
                f" used: {sorted(unused)}; those that are loaded are {sorted(selected)}"
            )


def _grouped(wanted: Any) -> dict[str, Any]:
    """The variables meant, by name; parts of one variable together."""
    grouped: dict[str, Any] = {}
    for variable in _selected(wanted):
        parts = variable if isinstance(variable, PartitionedVariable) else [variable]
        for part in parts:
            info = part._get_save_slice_info()
            if info is None:
                grouped[part.op.name] = part
            else:
                grouped.setdefault(info.full_name, []).append(part)
    return grouped


def _selected(wanted: Any) -> Sequence[Any]:
    if wanted is None:
        return []
    if isinstance(wanted, str):
        return collecting.get_collection(GraphKeys.TRAINABLE_VARIABLES, wanted)
    if not isinstance(wanted, list | tuple):
        raise ValueError(
            f"`vars_to_warm_start` must be a `list` or `str`; found {type(wanted).__name__}"
        )
    if not all(isinstance(item, str) for item in wanted):
        _check_variables(wanted)
        return list(wanted)
    patterns = [re.compile(item) for item in wanted]
    found = [
        v for v in collecting.get_collection(GraphKeys.GLOBAL_VARIABLES)
        if any(pattern.match(v.name) for pattern in patterns)
    ]  # fmt: skip
    if wanted and not found:
        _LOG.warning("warm_start: there are no variables whose names match %s", list(wanted))
    return found


def _check_variables(wanted: Sequence[Any]) -> None:
    known = Variable | PartitionedVariable
    if not all(isinstance(item, known) for item in wanted):
        kinds = sorted({type(item).__name__ for item in wanted})
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`; found"
            f" {', '.join(kinds)}"
        )
