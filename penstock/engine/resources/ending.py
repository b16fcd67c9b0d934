"""The end of the process while other threads are inside steps.

When the interpreter ends, it ends each daemon thread that comes back to it from native code by
unwinding that thread's stack.  Frames of C++ that let nothing through, as torch's, then abort the
process, whatever its exit status was to be.  So before that, every thread in a step is stopped
where it stands in Python: it is sent ``ProcessEnds``, which leaves the step by itself, giving its
locks back, and waits for the end outside.  There it still holds what its frames held: the end of a
tensor is native code as well, which lets go of the interpreter.  A thread in a user's own function
is left alone, and waits where it comes back.  What waits for a lock stays where it is: no frame of
C++ is below it.

Users see nothing of that: a daemon thread just stops, as Python promises.

State: whether the end has begun; the code in which a thread can be stopped, in which it only
waits, and in which the user's functions run.
"""

from __future__ import annotations

import atexit
import ctypes
import dis
import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import wraps
from types import CodeType, FrameType
from typing import Any, NoReturn

# After so many seconds it is said what the process waits for, and after so many it waits no more.
_TELL_SECONDS, _GIVE_UP_SECONDS = 10.0, 60.0
_LOOK_SECONDS = 0.002
_SEND_AGAIN_SECONDS = 0.1
_log = logging.getLogger("penstock")

# Whether the process has begun to end: only the thread that ends it may begin a step.
begun = False
_ender = 0

_stops: set[CodeType] = set()
_waits: set[CodeType] = set()
_users: set[CodeType] = set()
# Code of the standard library that calls and frees nothing of torch: it waits.  (Not contextlib's,
# say: where a ``with`` ends, what an exception holds may end as well.)
_LIBRARY_WAITS = {
    os.path.join(os.path.dirname(os.__file__), *name.split("/"))
    for name in (
        "threading.py", "queue.py", "selectors.py", "socket.py", "ssl.py", "subprocess.py",
        "multiprocessing/connection.py",
    )
}  # fmt: skip


class ProcessEnds(SystemExit):
    """What a thread in a step is sent."""


def stops_in(*functions: Any) -> None:
    """Says that threads in these functions work for steps; they let ``ProcessEnds`` through."""
    _stops.update(function.__code__ for function in functions)


def waits_in(function: Any) -> None:
    """Says that all that this function itself calls of native code is to wait."""
    _waits.add(function.__code__)


def calls_users_code(function: Any) -> None:
    """Says that this function calls the user's; it calls ``stay`` before it returns."""
    _users.add(function.__code__)


def in_steps(work: Callable[..., None]) -> Callable[..., None]:
    """The work of a thread for steps, which ends where the process does."""

    @wraps(work)
    def run(*args: Any) -> None:
        try:
            check()
            work(*args)
        except ProcessEnds:
            wait_for_end()

    stops_in(run)
    return run


def check() -> None:
    """Leaves the step when the process ends and another thread is ending it.

    Raises:
      ProcessEnds: so it is.
    """
    if begun and threading.get_ident() != _ender:
        raise ProcessEnds


def stay() -> None:
    """Keeps a thread that was left alone from doing anything more when the process ends."""
    if begun and threading.get_ident() != _ender:
        wait_for_end()


def wait_for_end() -> NoReturn:
    """Waits for the end of the process, which never returns.

    To be called where ``ProcessEnds`` is caught, and not after: there it still holds the frames.
    """
    while True:
        time.sleep(3600.0)


def _state(frame: FrameType) -> str:
    """What a thread does: "out" of steps, "users" code of one, "waits" in one, or is "busy"."""
    at: FrameType | None = frame
    while at is not None:
        if at.f_code in _users:
            return "users"
        if at.f_code in _stops:
            return "waits" if _only_waits(frame) else "busy"
        at = at.f_back
    return "out"


def _only_waits(frame: FrameType) -> bool:
    code = frame.f_code
    if code in _waits or code.co_filename in _LIBRARY_WAITS:
        return True
    if f"{os.sep}grpc{os.sep}" in code.co_filename:  # its waits are frames that let a thread end
        return True
    # In front of a lock.
    return dis.opname[code.co_code[frame.f_lasti]] == "BEFORE_WITH"


def _send(ident: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(ProcessEnds))


class _Watched:
    """A thread as it was at the last look."""

    def __init__(self) -> None:
        self.place: tuple[int, int] | None = None
        self.sent = -_SEND_AGAIN_SECONDS

    def settled(self, state: str, frame: FrameType) -> bool:
        """Whether it is sure to begin nothing: it was there at the last look, too."""
        if state == "users":
            return True
        place = id(frame), frame.f_lasti
        settled = state == "waits" and place == self.place
        self.place = place
        return settled


def _silent(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A hook of ``threading`` for a thread that was stopped before its step could catch it.

    That is where a call of ``run`` begins: the user's function was left, and nothing is said.
    """

    def excepthook(args: Any) -> None:
        if args.exc_type is ProcessEnds:
            wait_for_end()
        hook(args)

    return excepthook


def stop_threads(
    tell_seconds: float = _TELL_SECONDS, give_up_seconds: float = _GIVE_UP_SECONDS
) -> None:
    """Stops all other threads that are inside steps; waits for the kernels that they are in.

    Args:
      tell_seconds: after which a warning says what is awaited.
      give_up_seconds: after which nothing is awaited any more.
    """
    global begun, _ender
    begun, _ender = True, threading.get_ident()
    threading.excepthook = _silent(threading.excepthook)
    began, told = time.monotonic(), False
    watched: dict[int, _Watched] = {}
    while busy := _busy(watched):
        time.sleep(_LOOK_SECONDS)
        seconds = time.monotonic() - began
        if seconds > give_up_seconds:
            return
        if seconds > tell_seconds and not told:
            told = True
            _log.warning(
                "the process ends when %s has left the kernel that it is in", " and ".join(busy)
            )


def _frames() -> dict[int, FrameType]:
    """Where each thread is.

    Garbage is not collected meanwhile: some Pythons (3.11.7) hold the lock of all threads' states
    while they make these frames, and the end of a ``threading.local`` waits for it.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        if collects:
            gc.enable()


def _busy(watched: dict[int, _Watched]) -> list[str]:
    """Names of the threads that may still call a kernel; each is told to stop."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    now, busy = time.monotonic(), []
    for ident, frame in _frames().items():
        if ident == _ender:
            continue
        state = _state(frame)
        if state == "out":
            continue
        known = watched.setdefault(ident, _Watched())
        if state != "users" and frame.f_code is not wait_for_end.__code__:
            # Again, where something on the way has taken it for an error of its own.
            if now - known.sent >= _SEND_AGAIN_SECONDS:
                known.sent = now
                _send(ident)
        if not known.settled(state, frame):
            busy.append(names.get(ident, str(ident)))
    return busy


waits_in(wait_for_end)
atexit.register(stop_threads)
