"""``make_all``: the names that the documentation of modules says are public."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Sequence
from types import ModuleType

_REFERENCE = re.compile(r"^\s*@@(\w+)", re.MULTILINE)


def make_all(module_name: str, doc_string_modules: Sequence[ModuleType] | None = None) -> list[str]:
    """The value of ``__all__`` for a module whose documentation has lines ``@@name``.

    Args:
      module_name: its name, usually ``__name__``.
      doc_string_modules: modules whose documentation is read; default that one.

    Returns:
      The names that the module has.
    """
    modules = [sys.modules[module_name]] if doc_string_modules is None else doc_string_modules
    there = dir(sys.modules[module_name])
    named = {n for each in modules for n in _REFERENCE.findall(inspect.getdoc(each) or "")}
    return sorted(named & set(there))
