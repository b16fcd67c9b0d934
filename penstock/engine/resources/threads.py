"""The team of threads that ATen splits a kernel among, as OpenMP has it.

Each thread that calls kernels has a team of its own.  Where several threads work at once, teams
that together have more threads than there are cores wait for each other in spinning barriers: a
copy of 20 us then takes milliseconds.  So threads that work beside a step compute alone, and where
others use the cores too, ``runtime.teams`` has waits sleep.

GNU's OpenMP has no call for the latter, but a rule: once it has made more threads than there are
cores, every team of the process sleeps between kernels instead of spinning.  ``sleep_in_waits``
therefore keeps a team of idle threads (which costs nothing: they sleep), and drops it again.

A fork copies none of the threads, and a team that has lost its own waits for them forever.  So in a
child every thread computes alone.

Denormal numbers count here, while TensorFlow's threads take them for 0 (so x * 1 of 1e-40 is 0
there, ``tf.log`` of it -inf).  That is a flag of each thread, and OpenMP's threads have that of the
thread that made them for good: set for a step alone (0.26 us, where a small step takes 5) it gave a
product of a million denormals half of zeros where the team was there before, and went on in the
program's own use of torch afterwards where it was not.  A program that wants TensorFlow's way, or
its speed with numbers that die away, calls ``torch.set_flush_denormal(True)`` before its first
step: then all threads have it.

State: the size of the calling thread's team, which is OpenMP's; whether there is the idle team;
whether this process is a child.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from penstock.foundation.machine.load import affinity


def _symbol(name: str, library: type[ctypes.CDLL] = ctypes.PyDLL) -> Any:
    """A function of what torch is linked with; None where it has none of that name.

    A PyDLL by default, as such a call is shorter than letting go of the interpreter.
    """
    try:
        return getattr(library(torch._C.__file__), name)
    except (AttributeError, OSError):
        return None


# None in a torch without OpenMP: its threads are one shared pool.
_set_num_threads = _symbol("omp_set_num_threads")
_get_max_threads = _symbol("omp_get_max_threads")
# Once torch.set_num_threads has been called, MKL has a number of its own for that thread.
_set_mkl_threads = _symbol("MKL_Set_Num_Threads_Local") or (lambda count: 0)

CAN_RESIZE = _set_num_threads is not None
# The team size of the calling thread, once torch has looked at it; 1 where it cannot be set.
size: Callable[[], int] = _get_max_threads if CAN_RESIZE else lambda: 1


_forked = False


def _after_fork() -> None:
    global _forked, _idle_team
    _forked, _idle_team = True, None
    if CAN_RESIZE:
        torch.set_num_threads(1)  # of this thread, and of those that are yet to come


os.register_at_fork(after_in_child=_after_fork)


def settle() -> int:
    """The team size of the calling thread; the first look is what sets it for a new thread."""
    torch.get_num_threads()
    return size()


def resize(count: int) -> int:
    """Gives the calling thread a team of ``count``; returns MKL's own number, for ``restore``.

    torch.set_num_threads would do, but for threads that are yet to come as well.
    """
    if _forked:
        count = 1
    _set_num_threads(count)
    return _set_mkl_threads(count)


def restore(count: int, mkl: int) -> None:
    """Sets the team size back to what it was before ``resize``."""
    _set_num_threads(1 if _forked else count)
    _set_mkl_threads(1 if _forked else mkl)


def compute_alone() -> None:
    """Has ATen's kernels that this thread calls run on this thread alone."""
    if CAN_RESIZE:
        settle()
        resize(1)


@contextmanager
def computing_alone() -> Iterator[None]:
    """As ``compute_alone``, to the end of the context."""
    if not CAN_RESIZE:
        yield
        return
    before = settle()
    mkl = resize(1)
    try:
        yield
    finally:
        restore(before, mkl)


class _IdleTeam:
    """Threads that do nothing, so that OpenMP counts more threads than there are cores."""

    def __init__(self, count: int) -> None:
        self._done = threading.Event()
        made = threading.Event()
        # Not named as threads of servers are, which are awaited when the process ends.
        thread = threading.Thread(
            target=self._hold, args=(count, made), daemon=True, name="idle-team"
        )
        thread.start()
        made.wait()

    def _hold(self, count: int, made: threading.Event) -> None:
        parallel = _symbol("GOMP_parallel", ctypes.CDLL)
        parallel.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
        # Each thread of the team frees nothing, once.
        free = ctypes.cast(ctypes.CDLL(None).free, ctypes.c_void_p)
        parallel(free, None, count, 0)
        made.set()
        self._done.wait()

    def drop(self) -> None:
        """Ends the threads."""
        self._done.set()


_idle_team: _IdleTeam | None = None
_can_sleep = _symbol("GOMP_parallel") is not None and _symbol("kmp_set_blocktime") is None


def sleep_in_waits(sleep: bool) -> bool:
    """Whether threads of all teams sleep, instead of spinning, while they wait for each other.

    Args:
      sleep: whether they should.

    Returns:
      Whether they do: with an OpenMP that is not GNU's they wait as they always do.
    """
    global _idle_team
    if sleep and _idle_team is None and _can_sleep and not _forked:
        # With the calling thread's own team, one more than there are cores.
        _idle_team = _IdleTeam(len(affinity()) + 1)
    elif not sleep and _idle_team is not None:
        _idle_team.drop()
        _idle_team = None
    return waits_sleep()


def waits_sleep() -> bool:
    """Whether ``sleep_in_waits`` has them sleep."""
    return _idle_team is not None
