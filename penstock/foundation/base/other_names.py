"""A package whose modules can be imported by their public names, and by those of other packages.

``import penstock.nn.rnn_cell`` gives the module that is the attribute ``nn.rnn_cell`` of the
package, wherever its file stands: the same object, and not a second copy of it.  So does
``import other.nn.rnn_cell``, once the package is also known as ``other``.

State: the packages by their other names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple


class _Known(NamedTuple):
    package: ModuleType
    absence: Callable[[str], str | None]


_packages: dict[str, _Known] = {}


class _Found(Loader):
    """Gives a module that there is already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        spec, module.__spec__ = module.__spec__, self._spec  # the import has written the other's
        if spec is not None and not hasattr(module, "__path__"):
            # Python looks for no module below one that is no package; it finds these at once.
            for name, below in vars(module).items():
                if isinstance(below, ModuleType) and not name.startswith("_"):
                    sys.modules.setdefault(f"{spec.name}.{name}", below)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for name, known in list(_packages.items()):  # an attribute may bring another
            if fullname.startswith(f"{name}."):
                first, *rest = fullname[len(name) + 1 :].split(".")
                if name == known.package.__name__ and first in _folders(name):
                    continue  # what stands there is found as Python does
                found: Any = getattr(known.package, first, None)
                for part in rest:
                    found = getattr(found, part, None)
                if isinstance(found, ModuleType):
                    return spec_from_loader(fullname, _Found(found))
                said = known.absence(fullname)
                if said is not None:
                    raise ModuleNotFoundError(said)
        return None


@cache
def _folders(package: str) -> set[str]:
    return {module.name for module in iter_modules(sys.modules[package].__path__)}


def also_known_as(
    package: ModuleType, name: str, absence: Callable[[str], str | None] = lambda fullname: None
) -> None:
    """Has a package, and what its attributes are, imported under a name, too.

    Args:
      package: the package.
      name: another name in full; its own one, for modules that are attributes and stand elsewhere.
      absence: what is said of a module below it that is not there, by its full name; None, the
        default, leaves it to other finders.
    """
    if not _packages:
        sys.meta_path.insert(0, _Finder())
    _packages[name] = _Known(package, absence)
    sys.modules[name] = package
