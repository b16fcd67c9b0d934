"""Namespaces that are loaded when a program first uses them.

What they bring in (absl's flags, unittest) takes time that most programs need not spend.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def names_of(*modules: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a module's ``__getattr__`` and ``__dir__`` are to be.

    Args:
      *modules: full names of the modules whose public names it hands on.
    """

    def get(name: str) -> Any:
        if name == "__all__":
            return listed()
        # Not a name that Python or an inspecting tool asks any module for.
        if not name.startswith("__"):
            for module in map(import_module, modules):
                if name in module.__all__:
                    return getattr(module, name)
        raise AttributeError(f"this namespace has no attribute {name!r}")

    def listed() -> list[str]:
        return sorted(name for module in modules for name in import_module(module).__all__)

    return get, listed
