"""``tf.compat.v2``: what the second API shares with the first.

``SHARED`` (``v2_shared.py``) are the names that are the very same object in both APIs of TensorFlow
1.15, ``ADAPTED`` (``v2_rows.py``) the functions whose arguments have another order or other names
there, ``OWN`` (``v2_own.py``) what is made for the second API. Whatever else it has is absent, as
is what only the first one has: a program that asks ``hasattr(tf, "placeholder")`` is told which API
it holds.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from penstock.compat.v2_arguments import adapted
from penstock.compat.v2_own import OWN, public
from penstock.compat.v2_rows import ADAPTED
from penstock.compat.v2_shared import SHARED
from penstock.foundation.base.missing import close_to, missing_attribute
from penstock.foundation.base.other_names import also_known_as

# Namespaces that are the first API's: its classes under the second's paths.  Where the second has
# another default (recurrent layers, normalization), it is that of the first.
ALIASED = {"keras"}


def names(namespace: str) -> set[str]:
    """What a namespace of the second API has; ``''`` is the API itself."""
    own = set(SHARED.get(namespace, "").split()) | (set() if namespace else ALIASED)
    prefix = f"{namespace}." if namespace else ""
    for name in {*ADAPTED, *OWN, *(each for each in SHARED if each)}:
        if name.startswith(prefix):
            own.add(name.removeprefix(prefix).partition(".")[0])
    return own


def find(namespace: str, name: str) -> Any:
    """What a namespace has under a name.

    Raises:
      AttributeError: if it has no such name.
    """
    full = f"{namespace}.{name}" if namespace else name
    if name in SHARED.get(namespace, "").split():
        return public(full)
    if full in ADAPTED:
        return adapted(full)
    if full in ALIASED:
        return public(full)
    if full in OWN:
        return OWN[full]()
    if name in names(namespace):
        return _Namespace(full)
    near = close_to(name, names(namespace))
    hint = f"; the nearest names are {', '.join(near)}" if near else ""
    path = f"tensorflow.compat.v2.{namespace}".rstrip(".")
    raise missing_attribute(
        f"module {path!r} has no attribute {name!r}{hint}; Penstock has of the second API what it"
        " shares with the first"
    )


class _Namespace(ModuleType):
    """``tf.compat.v2.math`` and so on; a name that was found once is its attribute."""

    def __init__(self, namespace: str) -> None:
        name = f"{__name__}.{namespace}"
        super().__init__(name, f"What ``tf.{namespace}`` of the second API shares with the first.")
        self.__path__: list[str] = []
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        value = find(self._namespace, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted(names(self._namespace))


def __getattr__(name: str) -> Any:
    value = find("", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(names(""))


__path__: list[str] = []
also_known_as(sys.modules[__name__], __name__)
