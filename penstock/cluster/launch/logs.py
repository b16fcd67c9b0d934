"""What tasks print: cut into lines, handed on by task, and kept in files.

State: of each task the part of a line that has not ended, and its file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO

from penstock.cluster.launch.job import Task

# Without a line's end in so many bytes, what is there is shown as a line.
_LONGEST = 1 << 20


class Logs:
    """The output of a job's tasks.

    Args:
      show: gets each line, with the task that wrote it (None: the launcher itself).
      directory: where ``worker-0.log`` and so on are written, as the bytes came; made when it is
        missing; files that are there are appended to.
    """

    def __init__(
        self, show: Callable[[Task | None, str], None], directory: str | None = None
    ) -> None:
        self._show = show
        self._directory = None if directory is None else Path(directory)
        self._rest: dict[Task, bytes] = {}
        self._files: dict[Task, IO[bytes]] = {}
        if self._directory is not None:
            self._directory.mkdir(parents=True, exist_ok=True)

    def say(self, text: str) -> None:
        """A line of the launcher's own."""
        self._show(None, text)

    def output(self, task: Task, data: bytes) -> None:
        """Bytes that a task wrote."""
        if self._directory is not None:
            self._file(task).write(data)
        *lines, rest = (self._rest.pop(task, b"") + data).split(b"\n")
        for line in lines:
            self._show(task, _text(line))
        if len(rest) > _LONGEST:
            self._show(task, _text(rest))
        elif rest:
            self._rest[task] = rest

    def ended(self, task: Task) -> None:
        """A task's process ended: what it wrote without a line's end is shown."""
        if rest := self._rest.pop(task, b""):
            self._show(task, _text(rest))

    def close(self) -> None:
        """Closes the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _file(self, task: Task) -> IO[bytes]:
        if task not in self._files:
            assert self._directory is not None
            path = self._directory / f"{task.job}-{task.index}.log"
            self._files[task] = path.open("ab", buffering=0)
        return self._files[task]


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", "replace")
