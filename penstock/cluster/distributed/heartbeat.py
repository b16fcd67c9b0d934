"""Tells who started this process, every second, that its Python still runs.

``penstock launch --stuck-after`` gives each task the writing end of a pipe; in a pod it is a file
that a probe looks at.  A task that has begun to say so and then falls silent starts again: its
process is stopped, or its interpreter is held for good.  A step that waits for another task is no
such case: that one has deadlines.

State: whether a thread tells it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

# A file's absolute path, or "NUMBER:INODE" of the pipe's end.
VARIABLE = "PENSTOCK_HEARTBEAT"
SECONDS = 1.0

_lock = threading.Lock()
_begun = False


def begin() -> None:
    """Tells it from now on, if somebody wants to know; once is enough."""
    global _begun
    with _lock:
        beat = None if _begun else _given()
        if beat is None:
            return
        _begun = True
    threading.Thread(target=_go_on, args=(beat,), daemon=True, name="heartbeat").start()


def _given() -> Callable[[], object] | None:
    """What tells it once; None where nobody asks."""
    given = os.environ.get(VARIABLE, "")
    if os.path.isabs(given):
        return Path(given).touch
    number, _, inode = given.partition(":")
    try:
        # A process that has not inherited the pipe has something else of that number.
        if os.fstat(int(number)).st_ino != int(inode):
            return None
        os.set_blocking(int(number), False)
        return partial(os.write, int(number), b".")
    except (ValueError, OSError):
        return None


def _go_on(beat: Callable[[], object]) -> None:
    while True:
        try:
            beat()
        except BlockingIOError:
            pass  # nobody reads just now; enough lies there
        except OSError:
            return  # nobody reads any more
        time.sleep(SECONDS)
