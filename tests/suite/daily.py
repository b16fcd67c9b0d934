"""Which values of a parameter are run with ``make test``; the others are long."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def long_but(short: Container[Any], values: Iterable[Any]) -> list[Any]:
    """For ``parametrize``: the values, with the mark of long tests at those not in ``short``."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if value in short else pytest.mark.long,
        )
        for value in values
    ]
