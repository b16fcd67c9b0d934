"""What is said of how far a training is."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from penstock.models.workshop.progress import Bar


@pytest.mark.parametrize(
    ("done", "pace"), [(1, "0.2"), (2.6, "0.52"), (26, "5.2"), (50, "10"), (26170, "5,234")]
)
def test_slow_rates_have_digits(done: float, pace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(time, "process_time", lambda: now[0])
    with Bar(Console(file=io.StringIO()), 1e6, unit="steps") as bar:
        now[0] += 5
        bar.at(done, 0.5)
        assert (bar.pace, bar.cpu_pace) == (f"{pace} steps/s", pace)
