"""A name-to-thing registry whose failures name the nearest names."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A mapping that is written once a name.

    >>> r = Registry("colour")
    >>> r.register("red", 1)
    >>> r["red"]
    1
    >>> r["rde"]
    Traceback (most recent call last):
    ...
    LookupError: no colour is registered as 'rde'; the nearest names are 'red'
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._items: dict[str, T] = {}

    def register(self, name: str, item: T) -> None:
        """Adds ``item``; raises KeyError when the name is taken."""
        if name in self._items:
            raise KeyError(f"{self._what} {name!r} is already registered")
        self._items[name] = item

    def __getitem__(self, name: str) -> T:
        try:
            return self._items[name]
        except KeyError:
            raise LookupError(self.missing(name)) from None

    def get(self, name: str, default: Any = None) -> Any:
        """The item of a name, or the default."""
        return self._items.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def missing(self, name: str) -> str:
        """What to say of a name that is not there."""
        near = difflib.get_close_matches(str(name), self._items, n=3)
        hint = ", ".join(map(repr, near)) if near else "none"
        return f"no {self._what} is registered as {name!r}; the nearest names are {hint}"
