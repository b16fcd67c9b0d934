"""Limits count what the machine could give: seconds that others had are no hang."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.suite import clock as clock_module
from tests.suite.clock import Clock, just_made, lost_seconds, wait_until

ROOT = Path(__file__).resolve().parents[2]


class Machine:
    """A machine whose times a test sets."""

    def __init__(self) -> None:
        self.wall, self.used = 1000.0, 50.0
        self.lost: float | None = 300.0

    def clock(self) -> Clock:
        return Clock(lambda: self.wall, lambda: self.used, lambda: self.lost)


@pytest.mark.parametrize(
    ("wall", "used", "lost", "counted"),
    [
        (100.0, 0.0, 0.0, 100.0),  # an idle machine: a wait counts in full
        (100.0, 100.0, 0.0, 100.0),
        (100.0, 30.0, 100.0, 30.0),  # no core to be had: what was computed counts
        (100.0, 30.0, 40.0, 60.0),
        (100.0, 0.0, 100.0, 10.0),  # and a tenth at the least
        (100.0, 0.0, 150.0, 10.0),  # short of cores and of disk at once
        (100.0, 170.0, 100.0, 100.0),  # threads: never faster than wall time
    ],
)
def test_it_counts_what_the_machine_could_give(
    wall: float, used: float, lost: float, counted: float
) -> None:
    machine = Machine()
    clock = machine.clock()
    assert clock.seconds() == 0
    machine.wall += wall
    machine.used += used
    machine.lost = 300.0 + lost
    assert clock.seconds() == pytest.approx(counted)


def test_tests_within_a_second_share_a_clock() -> None:
    first = just_made(lambda: 1e6)
    assert just_made(lambda: 1e6 + 0.9) is first
    later = just_made(lambda: 1e6 + 1.1)
    assert later is not first
    assert just_made(lambda: 1e6 + 2.0) is later


def test_a_machine_that_does_not_tell_is_taken_for_a_busy_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = Machine()
    machine.lost = None
    clock = machine.clock()
    machine.wall += 100.0
    machine.used += 20.0
    assert clock.seconds() == pytest.approx(20.0)
    monkeypatch.setattr(clock_module, "PRESSURE", tmp_path)
    assert lost_seconds() is None


def test_what_the_kernel_says_is_added_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for what, total in (("cpu", 2_500_000), ("io", 1_000_000), ("memory", 0)):
        line = f"avg10=0.00 avg60=0.00 avg300=0.00 total={total}"
        (tmp_path / what).write_text(f"some {line}\nfull {line}9\n")
    (tmp_path / "stat").write_text("cpu  1 2 3 4 5 6 7 800 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    monkeypatch.setattr(clock_module, "PRESSURE", tmp_path)
    monkeypatch.setattr(clock_module, "STAT", tmp_path / "stat")
    monkeypatch.setattr(clock_module.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(clock_module.os, "sysconf", lambda name: 100)
    assert lost_seconds() == pytest.approx(3.5 + 2.0)


def test_waiting_ends_with_the_event_or_fails() -> None:
    found = iter([None, 0, "there"])
    assert wait_until(lambda: next(found), 600, pause=0) == "there"
    with pytest.raises(AssertionError, match=r"not within 0\.05 s"):
        wait_until(lambda: False, 0.05, pause=0.01)


HANGS = """
    import threading
    import pytest

    @pytest.mark.timeout(0.5)
    def test_hangs():
        threading.Event().wait()

    @pytest.mark.timeout(30)
    def test_ends():
        pass
"""


@pytest.mark.long
@pytest.mark.parametrize("lost, ends", [("0.0", True), ("2.0 * time.monotonic()", False)])
def test_the_limit_of_a_test_goes_by_this_clock(tmp_path: Path, lost: str, ends: bool) -> None:
    """A hanging test ends at its limit; not so soon where the machine had nothing to give."""
    (tmp_path / "test_hanging.py").write_text(textwrap.dedent(HANGS))
    program = (
        "import sys, time, pytest; from tests.suite import clock; "
        f"clock.lost_seconds = lambda: {lost}; started = time.monotonic(); "
        f"clock.LEAST = 0.25; pytest.main([*sys.argv[1:], '-p', 'conftest']); "
        "print('took', time.monotonic() - started)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
         "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert "Timeout (>0.5s)" in done.stdout, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    took = float(done.stdout.rpartition("took ")[2])
    assert took >= (0.5 if ends else 2)
