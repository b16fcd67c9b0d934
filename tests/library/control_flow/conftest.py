"""Every test here runs both ways: by generated programs and by the dataflow executor."""

from __future__ import annotations

from tests.both_executors import both_ways as pytest_generate_tests, executor

__all__ = ["executor", "pytest_generate_tests"]
