"""A task's part of a step."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.foundation.graph.step import StepGraph


@dataclass(frozen=True)
class Part:
    """What one task runs of a step.

    ``feeds`` and ``fetches`` say which of the whole step's the part's own are, by index and in the
    order of ``step.feeds`` and ``step.fetches``.  A feed may be in several parts; each fetch is in
    one.
    """

    task: str
    step: StepGraph
    feeds: list[int]
    fetches: list[int]
