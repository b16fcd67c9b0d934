"""What a module lists as its names."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from types import ModuleType

# A name that a documentation string presents.
_PRESENTED = re.compile(r"^@@([\w.]+)", re.MULTILINE)


def make_all(module_name: str, doc_string_modules: Sequence[ModuleType] | None = None) -> list[str]:
    """The names of a module that documentation presents as ``@@name``.

    Args:
      module_name: the module, which is imported.
      doc_string_modules: whose documentation is read; default the module itself.
    """
    modules = [sys.modules[module_name]] if doc_string_modules is None else doc_string_modules
    found = {name for module in modules for name in _PRESENTED.findall(module.__doc__ or "")}
    return sorted(found)


def remove_undocumented(
    module_name: str,
    allowed_exception_list: Sequence[str] | None = None,
    doc_string_modules: Sequence[ModuleType] | None = None,
) -> None:
    """Takes from a module the names that its documentation does not present.

    Args:
      module_name: the module, which is imported; names with an underscore in front stay.
      allowed_exception_list: names that stay.
      doc_string_modules: whose documentation is read; default the module itself.

    Raises:
      ValueError: the documentation presents a name that the module lacks.
    """
    module = sys.modules[module_name]
    kept = set(make_all(module_name, doc_string_modules))
    missing = sorted(name for name in kept if not hasattr(module, name))
    if missing:
        raise ValueError(f"{module_name} lacks names that it presents: {missing}")
    kept.update(allowed_exception_list or ())
    for name in [name for name in vars(module) if name[0] != "_" and name not in kept]:
        delattr(module, name)
