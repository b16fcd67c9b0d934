"""Processes that keep cores busy: they compute, they end, and they cannot outlive their driver."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import busy, machine
from benchmarks.busy import BusyCores, BusyError
from tests.benchmarks.processes import has_ended, wait_until_ended

ROOT = Path(busy.__file__).resolve().parents[1]
# A driver that holds a busy process, says which, and then does nothing for a while. What a shell
# starts in the background ignores SIGINT, and so would what that starts.
DRIVER = """
import signal
import time
from benchmarks.busy import BusyCores
signal.signal(signal.SIGINT, signal.default_int_handler)
with BusyCores(1) as competitors:
    print(competitors.pids[0], flush=True)
    time.sleep(60)
"""


def test_they_compute_until_the_end() -> None:
    with BusyCores(2) as competitors:
        first, second = competitors.pids
        before = machine.used_by([first]), machine.used_by([second])
        for _ in range(1000):
            now = machine.used_by([first]), machine.used_by([second])
            if min(now[0] - before[0], now[1] - before[1]) >= 0.05:
                break
            time.sleep(0.02)
        else:
            pytest.fail("a busy process uses no core")
        competitors.check()
    assert has_ended(first) and has_ended(second)
    assert competitors.pids == []


def test_none_is_allowed() -> None:
    with BusyCores(0) as competitors:
        assert competitors.pids == []
        competitors.check()


def test_they_end_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        with BusyCores(1) as competitors:
            (pid,) = competitors.pids
            raise ZeroDivisionError
    assert has_ended(pid)


def test_one_that_ended_is_told_of() -> None:
    with BusyCores(1) as competitors:
        (pid,) = competitors.pids
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # leaves its end to be seen
        with pytest.raises(BusyError, match="ended with -9"):
            competitors.check()


def test_one_that_does_not_start_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    start, started = busy._start, []

    def start_or_fail() -> subprocess.Popen[bytes]:
        if started:
            command = [sys.executable, "-c", "pass"]
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(start())
        return started[0]

    monkeypatch.setattr(busy, "_start", start_or_fail)
    with pytest.raises(BusyError, match="did not start"):
        BusyCores(2).__enter__()
    assert started[0].returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_they_end_with_their_driver(number: signal.Signals) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert driver.stdout is not None
    with driver.stdout:
        pid = int(driver.stdout.readline())
    assert not has_ended(pid)
    driver.send_signal(number)
    driver.wait()
    wait_until_ended(pid)
