"""Looking into checkpoints without a graph or a session."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.formats import files
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.ops.state.save import missing_keys, nearest_keys
from penstock.storage.checkpoint import management


class CheckpointReader:
    """The tensors of one checkpoint, of any format.

    Args:
      filepattern: what ``Saver.save`` returned.

    Raises:
      tf.errors.NotFoundError: there is no such checkpoint.
      tf.errors.DataLossError: a file is damaged.
    """

    def __init__(self, filepattern: Any) -> None:
        self.path = os.fsdecode(filepattern)
        self._reader = open_checkpoint(self.path)
        self._names = self._reader.names()

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a tensor of that name."""
        return tensor_str in self._names

    def get_tensor(self, tensor_str: str) -> Any:
        """The value of a tensor, put together from its slices; a scalar as a NumPy scalar.

        Raises:
          tf.errors.NotFoundError: there is none of that name; says which names are near.
        """
        name = os.fsdecode(tensor_str)
        if not self.has_tensor(name):
            raise missing_keys([name], self._names, self.path)
        value = self._reader.read(name)
        return value[()] if value.ndim == 0 else value

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Shapes by name."""
        return {name: list(self._reader.shape(name)) for name in self._names}

    def get_variable_to_dtype_map(self) -> dict[str, dtypes.DType]:
        """Dtypes by name."""
        return {name: self._reader.dtype(name) for name in self._names}

    def debug_string(self) -> bytes:
        """A line a tensor: name, dtype, shape, such as ``w (DT_FLOAT) [2,3]``."""
        lines = []
        for name in self._names:
            kind = dtypes.message_name(self._reader.dtype(name).name).upper()
            shape = ",".join(str(size) for size in self._reader.shape(name))
            lines.append(f"{name} (DT_{kind}) [{shape}]\n")
        return "".join(lines).encode()


def NewCheckpointReader(filepattern: Any) -> CheckpointReader:  # the public name
    """A reader of a checkpoint.

    Args:
      filepattern: what ``Saver.save`` returned.

    Returns:
      A ``CheckpointReader``: ``has_tensor``, ``get_tensor``, ``get_variable_to_shape_map``,
      ``get_variable_to_dtype_map``, ``debug_string``.

    Raises:
      tf.errors.NotFoundError: there is no such checkpoint.

    Example:
      >>> import penstock as tf
      >>> import tempfile
      >>> v = tf.get_variable("v", initializer=[1.0, 2.0])
      >>> with tf.Session() as session:
      ...     session.run(v.initializer)
      ...     path = tf.train.Saver().save(session, tempfile.mkdtemp() + "/model")
      >>> reader = tf.train.NewCheckpointReader(path)
      >>> reader.get_variable_to_shape_map(), reader.get_tensor("v").tolist()
      ({'v': [2]}, [1.0, 2.0])
    """
    return CheckpointReader(filepattern)


def checkpoint_in(ckpt_dir_or_file: Any) -> str:
    """The checkpoint meant: a directory means the newest one in it.

    Raises:
      ValueError: the directory has none.
    """
    path = os.fsdecode(ckpt_dir_or_file)
    if not files.isdir(path):
        return path
    newest = management.latest_checkpoint(path)
    if newest is None:
        raise ValueError(
            f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
        )
    return newest


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of a checkpoint, or of the newest one of a directory.

    Args:
      ckpt_dir_or_file: a directory or what ``Saver.save`` returned.

    Raises:
      ValueError: the directory has no checkpoint.
      tf.errors.NotFoundError: there is no such checkpoint.
    """
    return CheckpointReader(checkpoint_in(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file: Any, name: str) -> np.ndarray:
    """The value of a variable in a checkpoint.

    Args:
      ckpt_dir_or_file: a directory or what ``Saver.save`` returned.
      name: the variable's name; ``":0"`` at the end is taken off.
    """
    value: np.ndarray = load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
    return value


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Name and shape of each tensor of a checkpoint, in order of the names.

    Args:
      ckpt_dir_or_file: a directory or what ``Saver.save`` returned.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def check_fits(reader: CheckpointReader, name: str, dims: list[int], variable: str) -> None:
    """Raises ValueError when a tensor is missing or has another shape than a variable."""
    if not reader.has_tensor(name):
        raise ValueError(
            f"Tensor {name} is not found in {reader.path} checkpoint, which has"
            f" {len(reader._names)}:\n{nearest_keys([name], reader._names)}"
        )
    found = list(reader._reader.shape(name))
    if found != dims:
        raise ValueError(
            f"Shape of variable {variable} ({tuple(dims)}) doesn't match with shape of tensor"
            f" {name} ({found}) from checkpoint reader"
        )
