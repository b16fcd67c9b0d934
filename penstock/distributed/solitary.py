"""The peers of a server that has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from penstock.base import errors


class NoPeers:
    """A cluster of one task.

    Args:
      task: its full name.
    """

    def __init__(self, task: str) -> None:
        self._task = task
        self._job, _, index = task.removeprefix("/job:").partition("/replica:0/task:")
        self._index = int(index)

    def tasks(self, job: str | None, index: int | None, replica: int | None) -> list[str]:
        """The one task, if it has these parts."""
        own = job in (None, self._job) and index in (None, self._index) and replica in (None, 0)
        return [self._task] if own else []

    def devices(self, task: str) -> NoReturn:
        """There is no other task."""
        raise errors.NotFoundError(None, None, f"the cluster has no {task}, only {self._task}")

    def register(self, task: str, *args: Any) -> NoReturn:
        """There is no other task."""
        self.devices(task)

    start = cancel = send = register

    def deregister(self, task: str, handles: Sequence[str]) -> None:
        """Nothing is registered elsewhere."""

    def clear_containers(self, task: str, containers: Sequence[str]) -> None:
        """There is no state elsewhere."""
