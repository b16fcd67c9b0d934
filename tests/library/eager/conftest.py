"""Eager execution is for a whole program; here it is for one test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.foundation.graph.defaults import default_graph_scope
from penstock.library.eager import mode, operators, replay


@pytest.fixture
def eagerly() -> Iterator[None]:
    """Runs a test with operations that run as they are called."""
    operators.install()
    with default_graph_scope(mode.Program()):
        yield


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients of tapes are programs from the first tape on."""
    monkeypatch.setattr(replay, "TAPES_BEFORE", 0)
