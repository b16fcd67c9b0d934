"""Runs tests twice: with generated programs, and with the dataflow executor in their place.

A directory's `conftest.py` takes `executor` and `pytest_generate_tests` from here. Modules that it
names in `ONCE` run once: they compare graphs, or with another system, for minutes; what they run is
run both ways by `tests/engine/runtime/test_dataflow_agrees.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

EXECUTORS = ("program", "dataflow")
ONCE = {
    "test_graphs_conformance", "test_random_graphs", "test_tensor_array_conformance",
    "test_control_flow_conformance",
}  # fmt: skip


@pytest.fixture(autouse=True)
def executor(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Which of the two runs what the test runs."""
    which = getattr(request, "param", "program")
    monkeypatch.setenv("PENSTOCK_DATAFLOW", "1" if which == "dataflow" else "0")
    yield which


def both_ways(metafunc: Any) -> None:
    """``pytest_generate_tests`` of a directory whose tests run both ways."""
    if metafunc.module.__name__.rpartition(".")[2] not in ONCE:
        metafunc.parametrize("executor", EXECUTORS, indirect=True)
