"""Threads that work beside a step's own compute on one core each.

ATen splits a kernel among the threads of an OpenMP team, and each thread that calls it has a team
of its own.  Where several threads work at once, teams that together have more threads than there
are cores wait for each other in spinning barriers: a copy of 20 us then takes milliseconds.

It also lasts: once there are more such threads than cores, GNU's OpenMP lets every team of the
process sleep between kernels instead of spin, which makes a step of small kernels take twice as
long (measured: 1.5 and 2.6 ms) until the thread that has the other team ends.

State: the number of threads of the calling thread's team, which is OpenMP's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


def _setter() -> Any:
    try:
        # A PyDLL, as the call is shorter than letting go of the interpreter.
        return ctypes.PyDLL(torch._C.__file__).omp_set_num_threads
    except (AttributeError, OSError):  # a torch without OpenMP: its threads are one shared pool
        return None


_set_num_threads = _setter()


def compute_alone() -> None:
    """Has ATen's kernels that this thread calls run on this thread alone."""
    if _set_num_threads is not None:
        # The first look at the number is what sets it for a new thread. torch.set_num_threads
        # would do, but for threads that are yet to come as well.
        torch.get_num_threads()
        _set_num_threads(1)


@contextmanager
def computing_alone() -> Iterator[None]:
    """As ``compute_alone``, to the end of the context."""
    before = torch.get_num_threads()
    compute_alone()
    try:
        yield
    finally:
        if _set_num_threads is not None:
            _set_num_threads(before)
