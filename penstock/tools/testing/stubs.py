"""``tf.test.StubOutForTesting``: replaces attributes, and puts them back."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any


class StubOutForTesting:
    """Replaces attributes until ``CleanUp``.

    Example:
      >>> import os
      >>> with StubOutForTesting() as stubs:
      ...     stubs.Set(os.path, "exists", lambda path: True)
      ...     os.path.exists("/no/such/file")
      True
      >>> os.path.exists("/no/such/file")
      False
    """

    def __init__(self) -> None:
        self._replaced: dict[str, list[tuple[Any, str, Any]]] = {"Set": [], "SmartSet": []}

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.CleanUp()

    def __del__(self) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        """Puts everything back."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replaces an attribute of ``parent`` itself.

        Args:
          parent: a module, class or object.
          child_name: the attribute.
          new_child: its new value.

        Raises:
          AttributeError: there is no such attribute.
        """
        self._replace("Set", parent, child_name, new_child)

    def UnsetAll(self) -> None:
        """Puts back what ``Set`` has replaced."""
        self._put_back("Set")

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replaces an attribute where it is defined: in the class of an object, or above it.

        Args:
          obj: a module, class or object.
          attr_name: the attribute.
          new_attr: its new value.

        Raises:
          AttributeError: there is no such attribute.
        """
        own = isinstance(obj, ModuleType) or (not inspect.isclass(obj) and attr_name in vars(obj))
        if own:
            self._replace("SmartSet", obj, attr_name, new_attr)
            return
        for parent in inspect.getmro(obj if inspect.isclass(obj) else type(obj)):
            if attr_name in vars(parent):
                self._replace("SmartSet", parent, attr_name, new_attr)
                return
        raise AttributeError("Attribute not found.")

    def SmartUnsetAll(self) -> None:
        """Puts back what ``SmartSet`` has replaced."""
        self._put_back("SmartSet")

    def _replace(self, how: str, parent: Any, name: str, new: Any) -> None:
        old = getattr(parent, name)
        # A method as the class has it: static and class methods stay what they are.
        old = vars(parent).get(name, old) if hasattr(parent, "__dict__") else old
        self._replaced[how].append((parent, name, old))
        setattr(parent, name, new)

    def _put_back(self, how: str) -> None:
        while self._replaced[how]:
            parent, name, old = self._replaced[how].pop()
            setattr(parent, name, old)
