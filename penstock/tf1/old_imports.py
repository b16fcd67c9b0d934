"""The module ``imp``, gone since Python 3.12, as far as programs use it."""

from __future__ import annotations

import importlib.util
import sys
from importlib import reload as reload
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """Loads a module from a file of source text.

    Args:
      name: what it is called in ``sys.modules``.
      pathname: the file.
      file: left out of account.
    """
    loader = SourceFileLoader(name, pathname)
    spec = importlib.util.spec_from_file_location(name, pathname, loader=loader)
    assert spec is not None  # a loader was given
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def new_module(name: str) -> ModuleType:
    """A new, empty module that is not in ``sys.modules``."""
    return ModuleType(name)


def find_module(name: str, path: list[str] | None = None) -> tuple[None, str, tuple[str, str, int]]:
    """Where a module is.

    Raises:
      ImportError: if there is none.
    """
    finder = importlib.machinery.PathFinder
    spec = finder.find_spec(name, path)
    if spec is None or spec.origin is None:
        raise ImportError(f"No module named {name!r}", name=name)
    return None, spec.origin, (".py", "r", 1)
