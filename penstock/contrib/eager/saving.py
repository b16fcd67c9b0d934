"""Checkpoints by the names of variables, where operations run as they are called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.storage.checkpoint.saver import Saver as _Saver


class Saver:
    """Saves and restores variables by their names.

    Args:
      var_list: the variables; names that two of them have stand for the later one.

    Example:
      >>> import penstock as tf
      >>> tf.contrib.eager.Saver.__name__
      'Saver'
    """

    def __init__(self, var_list: Iterable[Any]) -> None:
        self._saver = _Saver(list(var_list))

    def save(self, file_prefix: str, global_step: Any = None) -> str | None:
        """Writes a checkpoint.

        Args:
          file_prefix: prefix of its files.
          global_step: a number that is added to the prefix.

        Returns:
          The prefix with the number.
        """
        return self._saver.save(None, file_prefix, global_step, write_meta_graph=False)

    def restore(self, file_prefix: str) -> None:
        """Gives the variables their values in a checkpoint.

        Raises:
          ValueError: there is no such checkpoint.
        """
        self._saver.restore(None, file_prefix)


def get_optimizer_variables(optimizer: Any) -> list[Any]:
    """The variables of an optimizer."""
    return list(optimizer.variables())
