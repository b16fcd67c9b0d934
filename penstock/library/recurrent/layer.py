"""What configurations of cells say of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def config_of(function: Callable[..., Any] | None) -> str | None:
    """An activation by name, as configurations hold it."""
    return None if function is None else getattr(function, "__name__", str(function))
