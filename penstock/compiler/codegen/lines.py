"""What is decided of a step before its program is written: its lines, reads and fetches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph

Root = Any


@dataclass(eq=False)
class Read:
    """One read of a variable into a local."""

    handle: Operation
    position: int
    copies: bool = False


@dataclass(eq=False)
class Line:
    """One node of the program and what was decided about it."""

    op: Operation
    position: int
    reads: list[Read] = field(default_factory=list)
    # Input position to the Read that supplies it, for inputs that are variables' values.
    read_of: dict[int, Read] = field(default_factory=dict)
    releases: list[Any] = field(default_factory=list)
    overwrites: str | None = None
    needed: list[bool] = field(default_factory=list)
    # The plans of a region's blocks.
    blocks: list[Plan] = field(default_factory=list)
    # The variables of a loop that its rounds overwrite, and those to be copied before it.
    overwritten: set[int] = field(default_factory=set)
    copied: set[int] = field(default_factory=set)


@dataclass(eq=False)
class Plan:
    """The lines of a step and its fetches."""

    step: StepGraph
    lines: list[Line]
    fetch_copies: list[bool]
    # For each fetch of a variable's value directly: the Read that supplies it.
    fetch_reads: list[Read | None]
    # For each fetch: the memory that it lies in.
    fetch_roots: list[frozenset[Root]] = field(default_factory=list)
    # Memory that others hold, and memory that objects of the step have taken to keep.
    external: set[Root] = field(default_factory=set)
    kept: set[Root] = field(default_factory=set)
