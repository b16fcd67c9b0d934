"""``TFModuleWrapper``: what a package puts in its own place among the modules."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class TFModuleWrapper(ModuleType):
    """A module that hands on what is asked of it to another.

    Args:
      wrapped: the module.
      module_name: its public name.
      public_apis: names that are imported when they are asked for, with pairs (module, name there).
      deprecation: whether uses of deprecated names are told; accepted for compatibility.
      has_lite: accepted for compatibility.
    """

    def __init__(
        self, wrapped: ModuleType, module_name: str,
        public_apis: Mapping[str, tuple[str, str]] | None = None, deprecation: bool = True,
        has_lite: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(wrapped.__name__)
        own = self.__dict__
        own.update(vars(wrapped))
        own.update(_tfmw_wrapped_module=wrapped, _tfmw_public_apis=dict(public_apis or {}))

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        place = own["_tfmw_public_apis"].get(name)
        if place is None:
            return getattr(own["_tfmw_wrapped_module"], name)
        module, there = place
        found = import_module(module)
        value = getattr(found, there) if there else found
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        setattr(self._tfmw_wrapped_module, name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__.pop(name, None)
        delattr(self._tfmw_wrapped_module, name)

    def __dir__(self) -> list[str]:
        own = self.__dict__
        return sorted({*dir(own["_tfmw_wrapped_module"]), *own["_tfmw_public_apis"]})

    def __repr__(self) -> str:
        return repr(self._tfmw_wrapped_module)
