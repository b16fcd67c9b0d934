"""Finding state by container and name.

State: one dictionary from (container, name) to resource and to who asked for it first, under one
lock.  A session of its own has a manager of its own; the sessions of a server share the server's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any


class ResourceManager:
    """The resources of one task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # With each resource: for whom it was made.
        self._items: dict[tuple[str, str], tuple[Any, Any]] = {}

    def lookup_or_create(
        self,
        container: str,
        name: str,
        make: Callable[[], Any],
        asked: Any = None,
        check: Callable[[Any], None] | None = None,
    ) -> Any:
        """The resource of that name, made by ``make()`` when it does not exist yet.

        Args:
          container, name: where it is kept.
          make: makes it.
          asked: what is remembered of who asks, if it is made now.
          check: called with what was remembered, if it exists; raises if it is not what is wanted.
        """
        key = (container, name)
        with self._lock:
            found = self._items.get(key)
            if found is None:
                made = make()
                self._items[key] = (made, asked)
                return made
        if check is not None:
            check(found[1])
        return found[0]

    def lookup(self, container: str, name: str) -> Any:
        """The resource of that name, or None."""
        found = self._items.get((container, name))
        return None if found is None else found[0]

    def all(self) -> list[Any]:
        """All resources."""
        with self._lock:
            return [made for made, _ in self._items.values()]

    def clear(self, containers: Iterable[str] | None = None) -> None:
        """Forgets all resources, or those of the named containers."""
        with self._lock:
            if containers is None:
                self._items.clear()
                return
            names = set(containers)
            self._items = {k: v for k, v in self._items.items() if k[0] not in names}
