"""Whether one checkout is slower than the other: intervals of the ratios of rounds."""

from __future__ import annotations

import doctest
import random
from pathlib import Path

import pytest

from benchmarks import cases, comparison, workers
from benchmarks.comparison import compare
from benchmarks.workers import WorkerError, WorkerProcess


def test_doctests() -> None:
    result = doctest.testmod(comparison)
    assert result.attempted and not result.failed


def test_what_is_slower_in_every_round_is_slower() -> None:
    before = [1.0 + 0.1 * turn for turn in range(15)]
    slower = compare("cnn", [1.03 * seconds for seconds in before], before)
    assert slower.slower and slower.low == pytest.approx(1.03)
    assert str(slower) == "cnn: 1.030 of penstock_before (1.030 to 1.030): SLOWER"
    faster = compare("cnn", [0.9 * seconds for seconds in before], before)
    assert faster.slower is False and faster.high == pytest.approx(0.9)


def test_ratios_are_those_of_the_same_round() -> None:
    # The machine becomes ten times slower; each round has the two within one percent.
    drift = [1.0 + turn for turn in range(10)]
    found = compare("cnn", [1.01 * seconds for seconds in drift], drift)
    assert found.ratio == pytest.approx(1.01) and found.high - found.low < 1e-9


def test_few_rounds_cannot_tell() -> None:
    found = compare("cnn", [2.0] * 5, [1.0] * 5)
    assert found.slower is None
    assert str(found) == "cnn: 2.000 of penstock_before: too few rounds to tell"
    assert compare("cnn", [2.0] * 6, [1.0] * 6).slower


def test_the_interval_holds_the_median_as_often_as_it_says() -> None:
    draw = random.Random(1)
    outside = {"low": 0, "high": 0}
    for _ in range(4000):
        now = [draw.lognormvariate(0.0, 0.2) for _ in range(15)]
        found = compare("cnn", now, [1.0] * 15)
        outside["low"] += found.low > 1.0
        outside["high"] += found.high < 1.0
    # 1.8% on each side for 15 rounds.
    assert all(0.010 < count / 4000 < 0.026 for count in outside.values())


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with another Penstock, which has nothing but a version."""
    monkeypatch.setattr(workers, "RESULTS", tmp_path / "results")
    (tmp_path / "penstock").mkdir()
    (tmp_path / "penstock" / "__init__.py").write_text("__version__ = 'the other'\n")
    return tmp_path


def test_the_other_checkout_is_what_the_worker_imports(checkout: Path) -> None:
    worker = WorkerProcess(cases.before(str(checkout)))
    try:
        assert worker.name == cases.BEFORE and worker.version == "the other"
        assert Path(worker.path) == checkout / "penstock" / "__init__.py"
        assert worker.packages["penstock"] == "the other"
    finally:
        worker.close()


def test_a_module_from_elsewhere_is_refused(checkout: Path) -> None:
    elsewhere = cases.Implementation("other", "", "graph", "json", "", str(checkout))
    with pytest.raises(WorkerError, match=r"json came from .*json/__init__\.py"):
        WorkerProcess(elsewhere)
