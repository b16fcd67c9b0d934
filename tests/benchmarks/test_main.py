"""The command: options, what is printed and written; its driver measures nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as command, busy, cases, driver
from benchmarks.cases import BEFORE, PENSTOCK, Case, Implementation
from benchmarks.driver import Outcome, Settings
from tests.benchmarks.processes import has_ended

STATE = {
    "processor": "some",
    "cores": 2,
    "usable_cores": 2,
    "quota": None,
    "instruction_sets": ["avx2"],
    "load": [0.1, 0.2, 0.3],
    "pressure": 0.0,
    "environment": {},
}


class FakeDriver:
    """Takes what the command asks for; every figure of Penstock is 3, of others 2 or more."""

    asked: dict[str, Any] = {}

    def __init__(
        self,
        settings: Settings,
        say: Callable[[str], None],
        implementations: Sequence[Implementation],
        busy: int,
    ) -> None:
        self.names = [each.name for each in implementations]
        self.busy = busy
        FakeDriver.asked = {"settings": settings, "names": self.names, "busy": busy}

    def run(self, chosen: Sequence[Case]) -> Outcome:
        FakeDriver.asked["cases"] = [case.name for case in chosen]
        use = {"others": 0.5, "ours": 1.0, "competing": 0.9, "steal": 0.0}
        outcome = Outcome()
        outcome.details["machine"] = {"before": STATE, "busy": self.busy, "whole_run": use}
        outcome.details["packages"] = {PENSTOCK: {"python": "3.11.7", "torch": "2.13.0"}}
        outcome.details["paths"] = {PENSTOCK: "/here/penstock/__init__.py"}
        for case in chosen:
            row = {name: 3.0 if name == PENSTOCK else 2.0 for name in self.names}
            outcome.results[case.name] = row
            outcome.steps[f"{case.name}_p50"] = row
            outcome.steps[f"{case.name}_p95"] = {name: 1.5 * row[name] for name in row}
            outcome.steps[f"{case.name}_cpu"] = row
            outcome.details[case.name] = {"samples": {name: [row[name]] * 15 for name in row}}
        return outcome


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(command, "Driver", FakeDriver)
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    return tmp_path


def test_everything_is_measured_by_default(results: Path) -> None:
    assert command.main([]) == 0
    assert FakeDriver.asked["cases"] == [case.name for case in cases.CASES]
    assert FakeDriver.asked["names"] == [each.name for each in cases.IMPLEMENTATIONS]
    assert FakeDriver.asked["busy"] == 0


def test_a_busy_run_has_its_own_cases_requirements_and_files(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--busy", "2", "--only", "penstock,tensorflow"]) == 0
    assert FakeDriver.asked["cases"] == list(cases.BUSY_CASES)
    assert FakeDriver.asked["busy"] == 2
    assert sorted(path.name for path in results.iterdir()) == [
        "details-busy2.json",
        "latest-busy2.json",
    ]
    latest = json.loads((results / "latest-busy2.json").read_text())
    assert latest["mlp_p95"] == {"penstock": 4.5, "tensorflow": 3.0}
    details = json.loads((results / "details-busy2.json").read_text())
    assert details["machine"]["before"] == STATE
    printed = capsys.readouterr().out
    for line in (
        "machine: some, 2 of 2 cores usable, no quota",
        "during the run: others used 0.50 cores, busy processes 0.90",
        "BUSY=2: so many processes kept a core busy each",
        "penstock: python 3.11.7, torch 2.13.0 from /here/penstock/__init__.py",
        "mlp: at most 1 of tensorflow: 1.5, NOT MET",
        "mlp_p50: at most 1 of tensorflow: 1.5, NOT MET",
        "mlp_p95: at most 2 of penstock's mlp_p50: 1.5, met",
    ):
        assert line in printed.splitlines()
    assert "best peer" not in printed  # what is required of an idle machine


def test_the_other_checkout_stands_beside_this_one(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "penstock").mkdir()
    (tmp_path / "penstock" / "__init__.py").touch()
    command.main(["cnn", "--against", str(tmp_path)])
    assert FakeDriver.asked["names"][:3] == [PENSTOCK, BEFORE, "tensorflow"]
    assert "cnn: 1.500 of penstock_before (1.500 to 1.500): SLOWER" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--cases", "cmn"], "no such case: cmn"),
        (["--only", "pytorch"], "no such implementation: pytorch; the implementations are pen"),
        (["--against", "/nowhere"], "no penstock in /nowhere"),
    ],
)
def test_what_is_not_there_is_said(
    arguments: list[str], message: str, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert message in capsys.readouterr().err


def test_busy_processes_compete_in_every_case_and_end_with_an_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []
    start = busy._start

    def watched() -> Any:
        process = start()
        seen.append(process.pid)
        return process

    class Interrupted:
        def __init__(self, implementation: Implementation) -> None:
            assert len(seen) == 2 and not any(map(has_ended, seen))
            raise KeyboardInterrupt

    monkeypatch.setattr(busy, "_start", watched)
    monkeypatch.setattr(driver, "WorkerProcess", Interrupted)
    measuring = driver.Driver(driver.QUICK, lambda line: None, cases.implementations([]), 2)
    with pytest.raises(KeyboardInterrupt):
        measuring.run(cases.select(["null"]))
    assert all(map(has_ended, seen))
