"""Runs a program once where something starts it again and again.

A StatefulSet's pods run for ever: a worker whose program is done would train again.  Here the
program's success is the end: this process then waits to be stopped.  A failure goes on to whoever
starts pods again.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from penstock.cluster.launch.task_process import HEARTBEAT

_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def hold(command: Sequence[str]) -> int:
    """Runs a command; when it has ended with 0, waits for SIGTERM or SIGINT.

    Signals meanwhile go on to the command.

    Returns:
      The exit status: the command's (128 + n when signal n ended it); 0 after waiting.

    Raises:
      OSError: when the command cannot be started.
    """
    # Blocked until someone waits for them: none can slip in between.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
    try:
        with subprocess.Popen(command, preexec_fn=_unblock) as process:

            def forward(number: int, frame: FrameType | None) -> None:
                process.send_signal(number)

            handlers = {number: signal.signal(number, forward) for number in _FORWARDED}
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            code = process.wait()
            signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
            for number, handler in handlers.items():
                signal.signal(number, handler)
        if code:
            return code if code > 0 else 128 - code
        _forget_heartbeat()
        print("done; waiting to be stopped", flush=True)
        signal.sigwait(_FORWARDED)
        return 0
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _forget_heartbeat() -> None:
    """Takes away the file that the program touched: its silence is no sign of trouble any more."""
    file = os.environ.get(HEARTBEAT, "")
    if os.path.isabs(file):
        Path(file).unlink(missing_ok=True)


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED)
