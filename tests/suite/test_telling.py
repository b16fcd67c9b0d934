"""Workers tell what is shown: no result, error or word of a test is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.suite.telling import UNTOLD, Silence, told

ROOT = Path(__file__).resolve().parents[2]
CONFTEST = """
from tests.suite import telling


def pytest_configure(config):
    if telling.is_enough(config):
        config.pluginmanager.register(telling.Silence())
"""
TESTS = """
import pytest


@pytest.fixture
def broken_before():
    raise ValueError("before")


@pytest.fixture
def broken_after():
    yield
    raise ValueError("after")


def test_passes(): pass
def test_fails(): assert 1 == 2
def test_is_not_set_up(broken_before): pass
def test_is_not_torn_down(broken_after): pass
def test_is_skipped(): pytest.skip("why not")


@pytest.mark.skip
def test_is_never_run(): pass


@pytest.mark.xfail(strict=True)
def test_is_known_to_fail(): assert False
"""


def _report(when: Literal["setup", "call", "teardown"], **more: Any) -> pytest.TestReport:
    how: dict[str, Any] = {"outcome": "passed", "longrepr": None, "when": when, **more}
    return pytest.TestReport("a.py::test", ("a.py", 1, "test"), {}, **how)


@pytest.mark.parametrize(
    ("report", "untold"),
    [
        (_report("setup"), True),
        (_report("teardown", duration=0.004), True),
        (_report("call"), False),
        (_report("setup", outcome="failed", longrepr="why"), False),
        (_report("setup", outcome="skipped", longrepr=("a.py", 1, "why")), False),
        (_report("teardown", outcome="failed", longrepr="why"), False),
        (_report("teardown", sections=[("Captured stdout", "word")]), False),
        (_report("setup", duration=0.006), False),
    ],
)
def test_what_is_told(report: pytest.TestReport, untold: bool) -> None:
    assert Silence().pytest_report_to_serializable(report) == (UNTOLD if untold else None)


def test_what_is_sent() -> None:
    sent: list[str] = []
    send = told(lambda name, **what: sent.append(name))
    send("logstart", nodeid="a.py::test")
    send("testreport", data=UNTOLD)
    send("testreport", data={"when": "call"})
    send("logfinish", nodeid="a.py::test")
    send("runtest_protocol_complete", item_index=0)
    assert sent == ["testreport", "runtest_protocol_complete"]


@pytest.mark.long
@pytest.mark.parametrize("verbose", [(), ("-v",)], ids=["told less", "told all"])
def test_every_outcome_arrives(verbose: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PYTEST")}
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "-rA", *verbose, "test_it.py"],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    shown = "1 failed, 2 passed, 2 skipped, 1 xfailed, 2 errors in"
    assert shown in found.stdout.splitlines()[-1], found.stdout + found.stderr
    assert found.stdout.count("ValueError: before") >= 1
    assert found.stdout.count("ValueError: after") >= 1
