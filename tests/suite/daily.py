"""Which values of a parameter are run with ``make test``; the others are long."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any

import pytest


def long_but(short: Container[Any], values: Iterable[Any]) -> Iterator[Any]:
    """For ``parametrize``: the values, with the mark of long tests at those not in ``short``."""
    for value in values:
        several = value if isinstance(value, tuple) else (value,)
        yield pytest.param(*several, marks=() if value in short else pytest.mark.long)
