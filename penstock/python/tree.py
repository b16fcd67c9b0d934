"""The modules of ``paths.PATHS``, made when a program first names them.

There is one object for a path, whether it is imported, or reached by attributes, and under which
name: ``tensorflow.python.ops.nn`` is ``penstock.python.ops.nn``.

State: the modules that were made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import penstock
from penstock.foundation.base import public_names
from penstock.foundation.base.missing import close_to, missing_attribute
from penstock.python import refused, refused_functions, refused_tpu
from penstock.python.paths import PATHS

_PAGE = "docs/running-programs.md"
_REFUSED = (refused, refused_functions, refused_tpu)
_made: dict[str, ModuleType] = {}
# Where names that are not public stand.
BENEATH = public_names.places(Path(__file__).with_name("beneath.pyi"))


class Row(NamedTuple):
    """What a path has: namespaces that are searched in order, and names of ``BENEATH``."""

    namespaces: tuple[str, ...]
    names: dict[str, str]


@cache
def row(path: str) -> Row:
    """The row of a path; an empty one for what is only above others."""
    namespaces, _, names = PATHS.get(path, "").partition("|")
    pairs = (name.partition("=") for name in names.split())
    return Row(tuple(namespaces.split()), {new: old or new for new, _, old in pairs})


@cache
def _packages() -> dict[str, set[str]]:
    """What is directly below each path."""
    found: dict[str, set[str]] = {}
    for path in PATHS:
        while path:
            above, _, last = path.rpartition(".")
            found.setdefault(above, set()).add(last)
            path = above
    return found


def below(path: str) -> set[str]:
    """The names of the modules directly below a path; of all roots below ``''``."""
    return _packages().get(path, set())


def _full_name(path: str) -> str:
    return f"penstock.{path}" if path.partition(".")[0] == "python" else f"tensorflow.{path}"


def module(path: str) -> ModuleType:
    """The module of a path that ``PATHS`` has, or is above one that it has."""
    made = _made.get(path)
    if made is None:
        made = _made[path] = sys.modules.get(_full_name(path)) or _Branch(path)
    return made


def namespace(name: str) -> Any:
    """What a namespace of a row is: a public one, or a module by its full name.

    Raises:
      AttributeError: if Penstock does not have it.
    """
    if name != "tf" and not name.startswith("tf."):
        return import_module(name)
    found: Any = penstock
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def _namespaces(path: str) -> Iterator[Any]:
    for each in row(path).namespaces:
        try:
            yield namespace(each)
        except AttributeError:
            continue


def find(path: str, name: str) -> Any:
    """What a path has under a name.

    Raises:
      AttributeError: if it has no such name; says which are near.
    """
    if name in below(path):
        return module(f"{path}.{name}")
    if not name.startswith("__"):
        renamed = row(path).names.get(name, name)
        if name in row(path).names and renamed in BENEATH:
            getattr(penstock, "Graph")  # noqa: B009  what stands beneath needs what that loads
            return BENEATH[renamed].load()
        for each in _namespaces(path):
            if hasattr(each, renamed):
                return getattr(each, renamed)
    raise missing_attribute(_absent(path, name))


def listed(path: str) -> set[str]:
    """The names that a path has."""
    names = {each for place in _namespaces(path) for each in dir(place) if each[0] != "_"}
    return names | set(row(path).names) | below(path)


def _absent(path: str, name: str) -> str:
    text = f"module 'tensorflow.{path}' has no attribute {name!r}"
    if name.startswith("__"):
        return text
    reasons = [place.WHY for place in _namespaces(path) if place in _REFUSED]
    if reasons:
        return f"{text}: what it has {reasons[0]}"
    lacking = [each for each in row(path).namespaces if not _is_there(each)]
    why = f"; Penstock has no {', '.join(lacking)}" if lacking else ""
    near = close_to(name, listed(path))
    hint = f"; the nearest names are {', '.join(near)}" if near else ""
    return f"{text}{why}{hint}; {_PAGE} says which modules there are and what is absent"


def absence(fullname: str) -> str | None:
    """What is said of ``penstock.python.ops.nothing``; None of what is no path of the table."""
    path, _, name = fullname.removeprefix("penstock.").rpartition(".")
    if path == "python" or path.rpartition(".")[2] not in below(path.rpartition(".")[0]):
        return None
    return f"No module named {fullname!r}: {_absent(path, name)}"


def _is_there(name: str) -> bool:
    try:
        namespace(name)
    except AttributeError:
        return False
    return True


def names_of(path: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What ``__getattr__`` and ``__dir__`` of a path's module are to be."""
    return lambda name: find(path, name), lambda: sorted(listed(path))


class _Branch(ModuleType):
    """A module of the tree; a name that was found once is its attribute."""

    def __init__(self, path: str) -> None:
        name = _full_name(path)
        super().__init__(name, f"What TensorFlow 1.x has as ``tensorflow.{path}``.")
        self.__path__: list[str] = []
        self.__package__ = name
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted(listed(self._path))
        value = find(self._path, name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Programs set names that a tutorial's functions read: ``train.FLAGS = ...``.
        for each in row(self.__dict__.get("_path", "")).namespaces:
            place = sys.modules.get(each)
            if place and each.startswith("penstock.models.") and name in vars(place):
                setattr(place, name, value)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(listed(self._path))
