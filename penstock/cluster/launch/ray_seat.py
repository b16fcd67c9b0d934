"""The actor that a task runs in on a Ray cluster.  Standard library and ``task_process`` only.

Ray ships this class by value (``on_ray``), so that a node's actor starts without importing
Penstock; the task's own process imports it.

State: the guard over this actor's processes, the process that runs, and what it wrote since the
last ``read``.  All methods run in the actor's main thread, one at a time; only ``_collect`` runs in
a thread of its own, and fills the queue.
"""

from __future__ import annotations

import importlib
import os
import queue
import threading
from collections.abc import Mapping, Sequence

from penstock.cluster.launch.ports import free_ports
from penstock.cluster.launch.task_process import Guard, TaskProcess

_CHUNK = 1 << 16
# Chunks waiting to be read; then the task's writes block.
_QUEUED = 256


class Seat:
    """A place for a task on a node.

    Args:
      host: None: the node's address, as Ray knows it.
      guard_source: the text of ``penstock.cluster.launch.guard``.
      grace: seconds between asking left-over processes to end and killing them.
    """

    def __init__(self, host: str | None, guard_source: str, grace: float) -> None:
        self._host = host
        self._guard = Guard(guard_source, grace)
        self._process: TaskProcess | None = None
        self._output: queue.Queue[bytes] = queue.Queue(_QUEUED)
        self._start = 0
        self._why = b""

    def address(self) -> str:
        """An address of this node with a free port."""
        host: str | None = self._host
        if host is None:
            # This class is imported where there is no Ray, too.
            host = importlib.import_module("ray.util").get_node_ip_address()
        port = free_ports(1, host)[0]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def start(
        self,
        start: int,
        command: Sequence[str],
        environment: Mapping[str, str],
        directory: str | None,
    ) -> None:
        """Starts the task's process; one that cannot be started shows as exit status 127."""
        self._start, self._process, self._why = start, None, b""
        here = directory if directory is not None and os.path.isdir(directory) else None
        try:
            self._process = TaskProcess(command, environment, self._guard, here)
        except OSError as error:
            self._why = f"cannot be started: {error}\n".encode()
            return
        self._output = queue.Queue(_QUEUED)
        collector = threading.Thread(
            target=_collect, args=(self._process, self._output), daemon=True
        )
        collector.start()

    def read(self, wait: float) -> tuple[int, bytes, int | None]:
        """What the task wrote, waiting for at most ``wait`` seconds.

        Returns:
          The number of the start, the bytes, and the exit status when it has ended.
        """
        if self._process is None:
            return self._start, self._why, 127
        data = self._taken(wait)
        code = None if data else self._process.poll()
        if code is not None:
            # Its group is gone, so its output ends: nothing is left behind.
            data = b"".join(iter(lambda: self._taken(0.2), b""))
        return self._start, data, code

    def terminate(self) -> None:
        """Asks the task to stop."""
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """Kills the task."""
        if self._process is not None:
            self._process.kill()

    def _taken(self, wait: float) -> bytes:
        chunks = []
        try:
            chunks.append(self._output.get(timeout=wait))
            while True:
                chunks.append(self._output.get_nowait())
        except queue.Empty:
            return b"".join(chunks)


def _collect(process: TaskProcess, output: queue.Queue[bytes]) -> None:
    with process.output as stream:
        while data := os.read(stream.fileno(), _CHUNK):
            output.put(data)
