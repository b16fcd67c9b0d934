"""The module that programs import as ``tensorflow``.

It has Penstock's public names, and what only makes sense under that name: the version that programs
ask for, and the paths of TensorFlow's source tree (``tf.python``, ``tf.core``, ``tf.examples``).
Names are looked up when they are first used, so that importing it loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import penstock
from penstock.foundation.base.missing import missing_attribute
from penstock.python import tree
from penstock.tf1 import spellings

VERSION = "1.15.0"
NAME = "tensorflow"
# What has TensorFlow's version; `tf.version` is a module of its own there.
_VERSIONS = ("__version__", "VERSION")


class Front(ModuleType):
    """``tensorflow``; ``tensorflow.compat.v1`` as well.

    Args:
      version: what ``tf.__version__`` is to be.
      old: whether it has the names and orders of arguments of older versions, too.
    """

    def __init__(self, version: str = VERSION, old: bool = True) -> None:
        super().__init__(NAME, penstock.__doc__)
        self.__file__ = penstock.__file__
        self.__path__: list[str] = []
        self.__package__ = NAME
        self.__spec__ = ModuleSpec(NAME, None, origin=penstock.__file__, is_package=True)
        self._version, self._old = version, old

    def __getattr__(self, name: str) -> Any:
        value = self._find(name)
        setattr(self, name, value)  # from now on Python finds it by itself
        return value

    def _find(self, name: str) -> Any:
        if name in _VERSIONS:
            return self._version
        if name == "version":
            return _with(penstock.version, VERSION=self._version)
        if name == "compat":
            return self._compat()
        if name == "python":
            return import_module("penstock.python")
        if name in tree.below(""):
            return tree.module(name)
        if name == "__all__":
            return [each for each in dir(penstock) if not each.startswith("_")]
        if self._old and name in spellings.top():
            return spellings.find(name, self._version)
        try:
            value = getattr(penstock, name)
        except AttributeError as error:
            raise missing_attribute(_absent(name, str(error))) from None
        if self._old and isinstance(value, ModuleType):
            spellings.add_to(name, value, self._version)
        return value

    def _compat(self) -> ModuleType:
        """Both APIs, as this release has them; each has the other in a ``compat`` of its own."""
        second = penstock.compat.v2
        lazy = {"__getattr__": second.__getattr__, "__dir__": second.__dir__}
        v2 = _with(second, __version__=self._version, **lazy)
        made = _with(penstock.compat, v1=self, v2=v2)
        v2.compat = made  # type: ignore[attr-defined]
        return made

    def __dir__(self) -> list[str]:
        return sorted({*dir(penstock), *tree.below(""), *_VERSIONS})


def _absent(name: str, said: str) -> str:
    said = said.replace("module 'penstock'", f"module {NAME!r}", 1)
    hint = spellings.GONE.get(name)
    return said if hint is None else f"{said.partition(';')[0]}; {hint}"


def _with(module: ModuleType, **changed: Any) -> ModuleType:
    """A module like another, but for some names."""
    made = ModuleType(f"{NAME}.{module.__name__.rpartition('.')[2]}", module.__doc__)
    vars(made).update({k: v for k, v in vars(module).items() if k[:2] != "__"}, **changed)
    if hasattr(module, "__path__"):
        made.__path__ = []
    made.__spec__ = ModuleSpec(made.__name__, None, is_package=hasattr(module, "__path__"))
    return made
