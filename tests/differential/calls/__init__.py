"""The rows: base calls of public functions, a family a module."""

from __future__ import annotations

from tests.differential.args import Call
from tests.differential.calls import (
    array,
    checks,
    data,
    image,
    linalg,
    losses,
    math,
    nn,
    other,
    sparse,
    strings,
)

MODULES = (math, array, linalg, nn, sparse, strings, image, data, losses, checks, other)


def all_calls() -> dict[str, Call]:
    """Every row by the function's name."""
    return {row.name: row for module in MODULES for row in module.CALLS}
