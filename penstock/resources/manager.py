"""Finding state by container and name.

State: one dictionary from (container, name) to resource, under one lock.  A session of its own has
a manager of its own; the sessions of a server share the server's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any


class ResourceManager:
    """The resources of one task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: dict[tuple[str, str], Any] = {}

    def lookup_or_create(self, container: str, name: str, make: Callable[[], Any]) -> Any:
        """The resource of that name, made by ``make()`` when it does not exist yet."""
        key = (container, name)
        with self._lock:
            found = self._items.get(key)
            if found is None:
                found = self._items[key] = make()
            return found

    def lookup(self, container: str, name: str) -> Any:
        """The resource of that name, or None."""
        return self._items.get((container, name))

    def clear(self, containers: Iterable[str] = ()) -> None:
        """Forgets all resources, or those of the named containers."""
        names = set(containers)
        with self._lock:
            if not names:
                self._items.clear()
                return
            self._items = {k: v for k, v in self._items.items() if k[0] not in names}
