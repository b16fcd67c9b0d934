"""The module ``imp``, gone since Python 3.12, as far as programs use it."""

from __future__ import annotations

import importlib.util
import os
import sys
import tokenize
from _imp import (
    acquire_lock as acquire_lock,
    lock_held as lock_held,
    release_lock as release_lock,
)
from importlib import reload as reload
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    PathFinder,
    SourceFileLoader,
)
from types import ModuleType
from typing import Any

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY, C_BUILTIN, PY_FROZEN = 1, 2, 3, 5, 6, 7
# How a module's file ends, how it is opened, and of what kind it is.
Description = tuple[str, str, int]


def get_suffixes() -> list[Description]:
    """How the files of modules end, how they are opened, and of what kind they are."""
    return [
        *((suffix, "rb", C_EXTENSION) for suffix in EXTENSION_SUFFIXES),
        *((suffix, "r", PY_SOURCE) for suffix in SOURCE_SUFFIXES),
        *((suffix, "rb", PY_COMPILED) for suffix in BYTECODE_SUFFIXES),
    ]


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """Loads a module from a file of source text.

    Args:
      name: what it is called in ``sys.modules``.
      pathname: the file.
      file: left out of account.
    """
    return _loaded(name, pathname, SourceFileLoader(name, pathname))


def load_package(name: str, path: str) -> ModuleType:
    """Loads a package from its folder."""
    first = os.path.join(path, "__init__.py")
    return _loaded(name, first, SourceFileLoader(name, first), [path])


def load_module(name: str, file: Any, filename: str, details: Description) -> ModuleType:
    """Loads what ``find_module`` has found, anew where it is there already.

    Args:
      name: what it is called in ``sys.modules``.
      file: left out of account.
      filename: the file, or a package's folder.
      details: its third result.

    Raises:
      ImportError: it is of a kind that is not loaded so.
    """
    kind = details[2]
    if kind == PY_SOURCE:
        return load_source(name, filename)
    if kind == PKG_DIRECTORY:
        return load_package(name, filename)
    if kind == C_EXTENSION:
        return _loaded(name, filename, ExtensionFileLoader(name, filename))
    if kind in (C_BUILTIN, PY_FROZEN):
        return importlib.import_module(name)
    raise ImportError(f"Don't know how to import {name} (type code {kind})", name=name)


def _loaded(name: str, pathname: str, loader: Any, folders: list[str] | None = None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        name, pathname, loader=loader, submodule_search_locations=folders
    )
    assert spec is not None  # a loader was given
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def new_module(name: str) -> ModuleType:
    """A new, empty module that is not in ``sys.modules``."""
    return ModuleType(name)


def find_module(name: str, path: list[str] | None = None) -> tuple[Any, Any, Description]:
    """Where a module is: an open file or None, its path, and what ``get_suffixes`` says of it.

    Raises:
      ImportError: if there is none.
    """
    if path is None and name in sys.builtin_module_names:
        return None, None, ("", "", C_BUILTIN)
    spec = PathFinder.find_spec(name, path)
    if spec is None or spec.origin is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations is not None:
        return None, os.path.dirname(spec.origin), ("", "", PKG_DIRECTORY)
    for suffix, mode, kind in get_suffixes():
        if spec.origin.endswith(suffix):
            text = kind == PY_SOURCE
            file: Any = tokenize.open(spec.origin) if text else open(spec.origin, "rb")
            return file, spec.origin, (suffix, mode, kind)
    raise ImportError(f"No module named {name!r}", name=name)
