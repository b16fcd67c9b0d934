"""The objects and functions that a SavedModel of an object is made of, in their order."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from penstock.library.eager.concrete import ConcreteFunction
from penstock.library.eager.function import Function
from penstock.library.variables.variable import Variable
from penstock.storage.checkpoint.trackable import children
from penstock.storage.saved_model.restored import RestoredFunction
from penstock.storage.saved_model.signatures import SignatureMap

FUNCTIONS = (Function, RestoredFunction, ConcreteFunction)
SIGNATURES = "signatures"


def functions_of(item: Any) -> dict[str, Any]:
    """The functions among an object's attributes, and those it says, by name.

    A class's properties are not asked: they may make something.
    """
    if isinstance(item, Variable | list | tuple | dict | SignatureMap):
        return {}
    own = getattr(item, "functions_to_save", None)
    if own is not None:
        return dict(own())
    found = {}
    for name in sorted({*dir(type(item)), *getattr(item, "__dict__", {})}):
        if isinstance(inspect.getattr_static(item, name, None), FUNCTIONS):
            found[name] = getattr(item, name)
    return found


def parts_of(root: Any, signatures: SignatureMap) -> list[tuple[str, Any]]:
    """What a SavedModel has of an object beside what checkpoints have: by name."""
    own = getattr(root, "parts_to_save", None)
    found = [] if own is None else list(own())
    known = {name for name, _ in children(root)}
    return [pair for pair in found if pair[0] not in known] + [(SIGNATURES, signatures)]


class View:
    """What a root reaches, nearest first.

    Args:
      root: the object.
      signatures: its signatures.
      parts: what it has beside its children: ``parts_of``.

    ``items`` are the objects by number, ``edges`` the (name, number) of each one's children.
    """

    def __init__(
        self, root: Any, signatures: SignatureMap, parts: Sequence[tuple[str, Any]]
    ) -> None:
        self._signatures, self._parts = signatures, parts
        self.items: list[Any] = [root]
        self.edges: list[list[tuple[str, int]]] = []
        self.number: dict[int, int] = {id(root): 0}
        for item in self.items:  # grows while it is gone through
            self.edges.append(
                [(name, self._numbered(child)) for name, child in self._children(item)]
            )

    def _children(self, item: Any) -> list[tuple[str, Any]]:
        if item is self._signatures:
            return list(self._signatures.items())
        if isinstance(item, FUNCTIONS):
            return []
        found = [(name, child) for name, child in children(item)]
        if item is self.items[0]:
            found = [(name, child) for name, child in found if name != SIGNATURES]
            found += self._parts
        known = {name for name, _ in found}
        return found + [pair for pair in functions_of(item).items() if pair[0] not in known]

    def _numbered(self, item: Any) -> int:
        number = self.number.get(id(item))
        if number is None:
            number = self.number[id(item)] = len(self.items)
            self.items.append(item)
        return number

    def add(self, item: Any) -> int:
        """The number of one more object, which has no name."""
        number = self._numbered(item)
        if number == len(self.edges):
            self.edges.append([])
        return number
