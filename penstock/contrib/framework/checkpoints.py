"""Checkpoints, with the names of arguments that contrib gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from penstock.storage.checkpoint import initialize, reader


def load_checkpoint(filepattern: Any) -> reader.CheckpointReader:
    """As ``tf.train.load_checkpoint``.

    Args:
      filepattern: a directory, or what ``Saver.save`` returned.
    """
    return reader.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: Any, name: str) -> np.ndarray:
    """As ``tf.train.load_variable``: the value under ``name``."""
    return reader.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir: Any) -> list[tuple[str, list[int]]]:
    """As ``tf.train.list_variables``: names and shapes."""
    return reader.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir: Any, assignment_map: Mapping[str, Any]) -> None:
    """As ``tf.train.init_from_checkpoint``.

    Args:
      checkpoint_dir: a directory, or what ``Saver.save`` returned.
      assignment_map: from names or scopes in the checkpoint to variables, names or scopes here.
    """
    initialize.init_from_checkpoint(checkpoint_dir, assignment_map)
