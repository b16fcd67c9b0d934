"""Tests of gradients through control flow run both ways."""

from __future__ import annotations

from typing import Any

from tests.both_executors import both_ways, executor

__all__ = ["executor"]


def pytest_generate_tests(metafunc: Any) -> None:
    if "control_flow" in metafunc.module.__name__:
        both_ways(metafunc)
