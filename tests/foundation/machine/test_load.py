"""How much of the cores others use: made-up kernel files, and this machine's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.foundation.machine import load

TICKS = os.sysconf("SC_CLK_TCK")


class Made:
    """A /proc of our making: two cores, and clocks that are set."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now = self.own = 0.0
        self.idle = [0.0, 0.0]
        self.steal = 0.0
        self.waited: float | None = 0.0
        (root / "pressure").mkdir()
        self.write()

    def write(self) -> None:
        lines = ["cpu  9 9 9 9 9 9 9 9 0 0"]
        for number, idle in enumerate(self.idle):
            half = round(idle * TICKS / 2)
            lines.append(f"cpu{number} 7 0 7 {half} {half} 0 0 {round(self.steal * TICKS)} 0 0")
        (self.root / "stat").write_text("\n".join([*lines, "intr 5 4 3", ""]))
        pressure = self.root / "pressure" / "cpu"
        if self.waited is None:
            pressure.unlink(missing_ok=True)
        else:
            total = round(self.waited * 1e6)
            pressure.write_text(f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total}\nfull x\n")

    def meter(self) -> load.Meter:
        return load.Meter(self.root, lambda: self.now, lambda: self.own)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.setattr(load, "affinity", lambda: frozenset({0, 1}))
    return Made(tmp_path)


def test_what_is_neither_idle_nor_own_is_others(made: Made) -> None:
    meter = made.meter()
    made.now, made.own, made.idle, made.steal, made.waited = 10.0, 9.0, [1.0, 2.0], 0.5, 4.0
    made.write()
    use = meter.read()
    # 20 s of two cores: 3 idle (half of it waiting for a disk), 9 ours, 8 others'.
    assert use == load.Use(10.0, 2, 0.9, pytest.approx(0.8), pytest.approx(0.1), 0.4)


def test_each_reading_is_of_the_time_since_the_one_before(made: Made) -> None:
    meter = made.meter()
    made.now, made.idle = 1.0, [0.0, 0.0]
    assert meter.read().others == 2.0
    made.now, made.idle = 2.0, [1.0, 1.0]
    made.write()
    assert meter.read().others == 0.0


def test_more_own_time_than_there_was_is_no_use_by_others(made: Made) -> None:
    meter = made.meter()
    made.now, made.own = 0.001, 0.02  # a clock tick early
    assert meter.read().others == 0.0


def test_only_the_cores_that_this_process_may_use_count(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "affinity", lambda: frozenset({1}))
    meter = made.meter()
    made.now, made.idle = 1.0, [0.0, 0.5]
    made.write()
    assert (meter.cores, meter.read().others) == (1, 0.5)


def test_a_kernel_without_pressure_figures(made: Made) -> None:
    made.waited = None
    made.write()
    meter = made.meter()
    made.now = 1.0
    assert meter.read().pressure is None


@pytest.mark.parametrize("text", ["", "some avg10=0 total=\n", "some avg10=0\n", "total=x"])
def test_malformed_pressure_counts_as_none(made: Made, text: str) -> None:
    (made.root / "pressure" / "cpu").write_text(text)
    meter = made.meter()
    made.now = 1.0
    assert meter.read().pressure is None


def test_where_the_kernel_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError):
        load.Meter(tmp_path)
    monkeypatch.setattr(load, "_PROC", tmp_path)
    monkeypatch.setattr(load.Meter.__init__, "__defaults__", (tmp_path, time.time, time.time))
    assert load.measure(0.01) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_process_that_keeps_a_core_busy_is_seen() -> None:
    busy = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE
    )
    try:
        assert busy.stdout is not None
        busy.stdout.readline()
        before = time.process_time()
        use = load.measure(0.5)
        own = time.process_time() - before
    finally:
        busy.kill()
        busy.wait()
    assert use is not None
    # It may have to share its core; nothing else of this process computes meanwhile.
    assert use.others > 0.3
    assert use.own == pytest.approx(own / use.seconds, abs=0.05)
