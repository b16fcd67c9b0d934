"""Processes that keep cores busy beside what is measured, as neighbours on a shared machine do.

Each is a plain Python loop of its own process at the usual priority. It ends when its stdin does:
the driver holds the other end, so that it cannot outlive the driver, however that ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

END_SECONDS = 5.0


class BusyError(Exception):
    """A process that should keep a core busy did not start, or has ended."""


class BusyCores:
    """So many processes that compute from ``__enter__`` to ``__exit__``.

    Example::

        with BusyCores(1) as competitors:
            ...                     # one core is used by competitors.pids
            competitors.check()     # and was all the time
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [process.pid for process in self._processes]

    def check(self) -> None:
        """Raises:
        BusyError: One of the processes has ended: what was measured had less beside it.
        """
        for process in self._processes:
            if process.poll() is not None:
                raise BusyError(f"a busy process ended with {process.returncode}")

    def __enter__(self) -> BusyCores:
        try:
            for _ in range(self._count):
                self._processes.append(_start())
            for process in self._processes:
                # It says so when its loop is about to begin.
                if process.stdout is None or not process.stdout.readline():
                    raise BusyError("a busy process did not start")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the processes, by force where needed, and waits until they have ended."""
        processes, self._processes = self._processes, []
        for process in processes:
            if process.stdin is not None:
                process.stdin.close()
        for process in processes:
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _start() -> subprocess.Popen[bytes]:
    # Isolated and without site packages: it starts at once, and runs nobody else's code.
    command = [sys.executable, "-I", "-S", str(Path(__file__).resolve())]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _end_with_stdin() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)


def compete() -> None:
    """Keeps a core busy until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches all: end without a traceback
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    print("busy", flush=True)
    while True:
        for _ in range(1_000_000):
            pass


if __name__ == "__main__":
    compete()
