"""``tensorflow.python.util.lazy_loader``: modules that are imported at their first use."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from penstock.tools.platform import tf_logging


class LazyLoader(ModuleType):
    """A module that is imported when the first of its names is asked for.

    Args:
      local_name: the name under which ``parent_module_globals`` then has the module.
      parent_module_globals: a module's names.
      name: the module's full name.
      warning: what is logged when it is imported.
    """

    def __init__(
        self,
        local_name: str,
        parent_module_globals: dict[str, Any],
        name: str,
        warning: str | None = None,
    ) -> None:
        self._local_name, self._warning = local_name, warning
        self._parent_module_globals = parent_module_globals
        super().__init__(name)

    def _load(self) -> ModuleType:
        module = import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        if self._warning:
            tf_logging.warning(self._warning)
            self._warning = None
        vars(self).update(vars(module))
        return module

    def __getattr__(self, item: str) -> Any:
        return getattr(self._load(), item)

    def __dir__(self) -> list[str]:
        return dir(self._load())
