"""What makes sure that no process of a job outlives its launcher.  Standard library only.

This file runs as a program of its own, in two ways::

    guard.py exec PARENT COMMAND...   becomes COMMAND, which dies with its parent (Linux)
    guard.py watch GRACE              reads "+GROUP" and "-GROUP" lines, and kills the process
                                      groups that are left when its input ends

The launcher holds the other end of the watch's input: however it dies, the input ends.  The watch
is no child of the launcher: Ray kills an actor's children with it.  It prints its process id.  It
reaches what a task started itself; the kernel's signal (``PR_SET_PDEATHSIG``) reaches the task even
when launcher and watch are killed at the same moment.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Asks the kernel to kill this process when the thread that started it ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the kernel knew
        os._exit(128 + signal.SIGKILL)


def become(parent: int, command: list[str]) -> None:
    """Turns this process into ``command``."""
    die_with_parent(parent)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def watch(grace: float) -> None:
    """Reads process groups until the input ends; then ends those that are left."""
    if os.fork():
        os._exit(0)
    os.setsid()
    print(os.getpid(), flush=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    end_groups(groups, grace)


def end_groups(groups: set[int], grace: float) -> None:
    """Asks process groups to end, and kills those that have not after ``grace`` seconds."""
    left = {group for group in groups if signal_group(group, signal.SIGTERM)}
    end = time.monotonic() + grace
    while left and time.monotonic() < end:
        time.sleep(0.05)
        left = {group for group in left if signal_group(group, 0)}
    for group in left:
        signal_group(group, signal.SIGKILL)


def signal_group(group: int, number: int) -> bool:
    """Sends a signal to a process group (0: only looks); False when there is none any more."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    if sys.argv[1] == "exec":
        become(int(sys.argv[2]), sys.argv[3:])
    else:
        watch(float(sys.argv[2]))
