"""The end of a process that has servers: they are stopped, then their threads are awaited.

No thread of ours may be inside native code when the interpreter ends (``resources.ending`` says
why).  The user's are stopped first, so that none of them is told that its server has gone.

State: the servers that are to be stopped.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Protocol

from penstock.engine.resources.ending import stop_threads

# Names of threads that end with the servers begin so.
THREADS = "penstock-"
_SECONDS, _LOOK_SECONDS = 10.0, 0.002
_log = logging.getLogger(__name__)


class _Stops(Protocol):
    def stop(self) -> None: ...


_servers: dict[_Stops, Callable[[], None]] = {}


def stop_at_exit(server: _Stops, say_goodbye: Callable[[], None]) -> None:
    """Has a server stopped when the process ends; ``say_goodbye`` before, if that ends well."""
    _servers[server] = say_goodbye


def stopped(server: _Stops) -> None:
    """The server was stopped before."""
    _servers.pop(server, None)


def wait_for_threads(seconds: float) -> list[str]:
    """Waits until the threads of servers have ended.

    Returns:
      Names of those that have not in time.
    """
    end = time.monotonic() + seconds
    while left := [each for each in threading.enumerate() if each.name.startswith(THREADS)]:
        if time.monotonic() > end:
            return sorted(each.name for each in left)
        # A thread can be waited for only once its first line runs.
        begun = next((each for each in left if each.is_alive()), None)
        if begun is None:
            time.sleep(_LOOK_SECONDS)
        else:
            begun.join(min(0.2, end - time.monotonic() + 0.01))
    return []


def _end() -> None:
    stop_threads()
    servers = dict(_servers)
    # The interpreter keeps here what ended the main thread, ``machine.leaving`` a bad exit status.
    if not hasattr(sys, "last_value"):
        for say_goodbye in servers.values():
            say_goodbye()
    for server in servers:
        server.stop()
    left = wait_for_threads(_SECONDS)
    if left:
        # The exit status is not known here, so the process cannot be ended at once.
        _log.warning(
            "these threads did not end within %g s, and may abort the process: %s",
            _SECONDS, ", ".join(left),
        )  # fmt: skip


atexit.register(_end)
# A child process has none of the threads of its parent's servers, and does not speak for them.
os.register_at_fork(after_in_child=_servers.clear)
