"""``tf.estimator.WarmStartSettings``: the earlier model that a new one begins with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.foundation.formats import files
from penstock.storage.saved_model import constants


class _Settings(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: dict[str, Any]
    var_name_to_prev_var_name: dict[str, str]


class WarmStartSettings(_Settings):
    """What an ``Estimator`` loads of an earlier model before its first step.

    Args:
      ckpt_to_initialize_from: a checkpoint, or a directory with one.
      vars_to_warm_start: a regular expression of names of trainable variables; or a list of
        expressions, of names of any global variables; or a list of variables; or None, for those of
        ``var_name_to_vocab_info`` only.
      var_name_to_vocab_info: ``VocabInfo`` by name of variable: rows rearranged.
      var_name_to_prev_var_name: names in the checkpoint, where they are others.

    Raises:
      ValueError: no checkpoint is given.

    Example:
      >>> import penstock as tf
      >>> tf.estimator.WarmStartSettings("earlier", "dnn/.*").vars_to_warm_start
      'dnn/.*'
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: Any,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, Any] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        """Checks the arguments."""
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            dict(var_name_to_vocab_info or {}),
            dict(var_name_to_prev_var_name or {}),
        )


def settings_of(warm_start_from: Any) -> WarmStartSettings | None:
    """The settings that an estimator's ``warm_start_from`` stands for.

    Args:
      warm_start_from: settings; the path of a checkpoint, its directory, or a SavedModel; or None.

    Raises:
      ValueError: it is something else.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, str | bytes | os.PathLike):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, instead got"
            f" {type(warm_start_from)}"
        )
    path = os.fsdecode(warm_start_from)
    variables = os.path.join(path, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
    return WarmStartSettings(variables if files.exists(f"{variables}.index") else path)
