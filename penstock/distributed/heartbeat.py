"""Tells who started this process, every second, that its Python still runs.

``penstock launch --stuck-after`` gives each task the writing end of a pipe, and kills one that has
begun to write there and then stays silent: it is stopped, or its interpreter is held for good.  A
step that waits for another task is no such case: that one has deadlines.

State: whether a thread writes.
"""

from __future__ import annotations

import os
import threading
import time

# The pipe's end: its number, and its inode.
VARIABLE = "PENSTOCK_HEARTBEAT"
SECONDS = 1.0

_lock = threading.Lock()
_begun = False


def begin() -> None:
    """Writes a byte every second from now on, if somebody reads; once is enough."""
    global _begun
    with _lock:
        pipe = None if _begun else _given()
        if pipe is None:
            return
        _begun = True
    threading.Thread(target=_beat, args=(pipe,), daemon=True, name="heartbeat").start()


def _given() -> int | None:
    """The pipe's end; None in a process that was given none, or has not inherited it."""
    number, _, inode = os.environ.get(VARIABLE, "").partition(":")
    try:
        return int(number) if os.fstat(int(number)).st_ino == int(inode) else None
    except (ValueError, OSError):
        return None


def _beat(pipe: int) -> None:
    try:
        os.set_blocking(pipe, False)
        while True:
            try:
                os.write(pipe, b".")
            except BlockingIOError:
                pass  # nobody reads just now; enough lies there
            time.sleep(SECONDS)
    except OSError:
        return  # nobody reads any more
