"""Public names that are loaded when a program first uses them.

A package that has many says each once, in its stub ``__init__.pyi``, as type checkers read it::

    from penstock.ops.math.binary import add as add, pow_ as _pow
    pow = _pow

``of_package`` makes of that the package's ``__getattr__`` and ``__dir__``.  A module that has its
names at once, and needs others for itself, says by ``listing`` which are the user's.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from penstock.foundation.base.collector import collector_paused, kept_for_good
from penstock.foundation.base.missing import close_to, missing_attribute


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
                if alias.name == "*":
                    found |= _all_of(node.module)
                else:
                    found[alias.asname or alias.name] = Place(node.module, alias.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            (target,) = node.targets
            if isinstance(target, ast.Name):
                found[target.id] = found.pop(node.value.id)
    return found


def _all_of(package: str) -> dict[str, Place]:
    """What ``from package import *`` gives: what its stub says, or else its ``__init__.py``."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None, package
    source = Path(spec.origin)
    stub = source.with_suffix(".pyi")
    if stub.exists():
        return places(stub)
    defined = _defined(source)
    return {name: place for name, place in places(source).items() if name in defined}


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
        begins = first not in sys.modules
        with collector_paused():
            import_module(first)  # and waits for a thread that is just importing it
            if begins:
                kept_for_good()
            value = place.load()
        setattr(module, name, value)  # from now on Python finds it by itself
        return value

    def listed() -> list[str]:
        own = (name for name in vars(module) if name.startswith("__"))
        return sorted({*module.__all__, *own})

    return get, listed, sorted(known)


def listing(package: str) -> Callable[[], list[str]]:
    """A ``__dir__`` for a module: its ``__all__``, or what it defines and imports to hand it on.

    What is imported under its own name again, ``from a import b as b``, is handed on, as type
    checkers take it; other imports are for the module itself, and so are its submodules.
    """

    def listed() -> list[str]:
        module = sys.modules[package]
        own = {name for name in vars(module) if name.startswith("__")}
        names = getattr(module, "__all__", None) or _defined(Path(str(module.__file__)))
        return sorted(own.union(names))

    return listed


def _defined(source: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            handed_on = {a.asname for a in node.names if a.asname is not None}
            star = node.names[0].name == "*"
            found |= set(import_module(node.module).__all__) if star else handed_on
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
    return {name for name in found if not name.startswith("_")}


def _missing(package: str, name: str, known: dict[str, Place], page: str) -> AttributeError:
    text = f"module {package!r} has no attribute {name!r}"
    if not name.startswith("_"):  # such names are asked for by tools, often and of every module
        near = close_to(name, known)
        hint = f"; the nearest names are {', '.join(near)}" if near else ""
        text += f"{hint}; {page} lists what is there, and why other names are not"
    return missing_attribute(text)
