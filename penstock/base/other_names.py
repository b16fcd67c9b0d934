"""A package that can be imported under another name as well, with all that is below it.

``import other.nn.rnn_cell`` then gives the module that is the attribute ``nn.rnn_cell`` of the
package: the same object, and not a second copy of it.

State: the packages by their other names.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

_packages: dict[str, ModuleType] = {}


class _Found(Loader):
    """Gives a module that there is already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import has just written the other name's


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for name, package in _packages.items():
            if fullname.startswith(f"{name}."):
                found: Any = package
                for part in fullname[len(name) + 1 :].split("."):
                    found = getattr(found, part, None)
                if isinstance(found, ModuleType):
                    return spec_from_loader(fullname, _Found(found))
        return None


def also_known_as(package: ModuleType, name: str) -> None:
    """Has a package imported under another name, too.

    Args:
      package: the package.
      name: its other name in full.
    """
    if not _packages:
        sys.meta_path.insert(0, _Finder())
    _packages[name] = sys.modules[name] = package
