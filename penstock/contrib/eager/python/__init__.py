"""Module paths of TensorFlow that programs import directly: ``tfe`` is the package above."""

import sys
from typing import Any

__all__ = ["tfe"]


def __getattr__(name: str) -> Any:
    if name == "tfe":
        return sys.modules[__name__.rpartition(".")[0]]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
