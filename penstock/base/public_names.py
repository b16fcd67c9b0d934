"""Public names that are loaded when a program first uses them.

A package that has many says each once, in its stub ``__init__.pyi``, as type checkers read it::

    from penstock.ops.binary import add as add, pow_ as _pow
    pow = _pow

``of_package`` makes of that the package's ``__getattr__`` and ``__dir__``.
"""

from __future__ import annotations

import ast
import difflib
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where a public name is defined: a module, and its name there (a submodule's, too)."""

    module: str
    name: str

    def load(self) -> Any:
        """What is there."""
        module = import_module(self.module)
        if self.name in vars(module) or not hasattr(module, "__path__"):
            return getattr(module, self.name)
        return import_module(f"{self.module}.{self.name}")


def places(stub: Path) -> dict[str, Place]:
    """What a stub says: from each public name to its place."""
    found: dict[str, Place] = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                found[alias.asname or alias.name] = Place(node.module, alias.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            (target,) = node.targets
            if isinstance(target, ast.Name):
                found[target.id] = found.pop(node.value.id)
    return found


def of_package(
    package: str, page: str, first: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What a package's ``__getattr__``, ``__dir__`` and ``__all__`` are to be.

    Args:
      package: its full name.
      page: where a user reads why a name may be absent.
      first: a module that is loaded before the first name.
    """
    module = sys.modules[package]
    known = places(Path(str(module.__file__)).with_suffix(".pyi"))

    def get(name: str) -> Any:
        place = known.get(name)
        if place is None:
            raise _missing(package, name, known, page)
        with _uncollected():
            import_module(first)
            value = place.load()
        setattr(module, name, value)  # from now on Python finds it by itself
        return value

    def listed() -> list[str]:
        own = (name for name in vars(module) if name.startswith("__"))
        return sorted({*module.__all__, *own})

    return get, listed, sorted(known)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keeps the collector from looking, again and again, through modules that are here to stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _missing(package: str, name: str, known: dict[str, Place], page: str) -> AttributeError:
    text = f"module {package!r} has no attribute {name!r}"
    if not name.startswith("__"):
        near = difflib.get_close_matches(name, known, n=3)
        hint = f"; the nearest names are {', '.join(near)}" if near else ""
        text += f"{hint}; {page} lists what is there, and why other names are not"
    return AttributeError(text)
