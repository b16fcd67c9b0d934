"""Names and modules that are put back where Python and its packages have dropped them.

A name is put back by a ``__getattr__`` of its module, which Python asks for what is not there; so
what a newer release still has is left alone, and each use can be told.

State: what a program has used so far.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

Value = Callable[[], Any]
# From what was used to the program's line that used it first.
used: dict[str, str] = {}


def note(name: str) -> None:
    """Remembers that a program uses what was put back, and where first."""
    if name not in used:
        frame = sys._getframe(1)
        while frame.f_back and _is_machinery(frame.f_code.co_filename):
            frame = frame.f_back
        used[name] = f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"


def _is_machinery(filename: str) -> bool:
    here = os.path.dirname(__file__)
    return filename.startswith(("<frozen", here)) or filename == importlib.__file__


def put_back(module: ModuleType, names: dict[str, Value]) -> None:
    """Gives a module names that it lacks.

    Args:
      module: the module.
      names: from each name to what gives its value.
    """
    before = getattr(module, "__getattr__", None)

    def get(name: str) -> Any:
        if name in names:
            note(f"{module.__name__}.{name}")
            return names[name]()
        if before is not None:
            return before(name)
        text = f"module {module.__name__!r} has no attribute {name!r}"
        raise AttributeError(text, name=name, obj=module)

    module.__getattr__ = get  # type: ignore[method-assign]


def put_back_method(owner: type, name: str, function: Callable[..., Any], shown: str) -> None:
    """Gives a class a method that it lacks.

    Args:
      owner: the class.
      name: of the method.
      function: what it is.
      shown: what programs call such an object, for the note of its use.
    """
    if hasattr(owner, name):
        return

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        note(f"{shown}.{name}")
        return function(*args, **kwargs)

    setattr(owner, name, called)


class _Then(Loader):
    """Loads a module as its own loader does, and then does something with it."""

    def __init__(self, loader: Any, then: Callable[[ModuleType], None]) -> None:
        self._loader, self._then = loader, then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._then(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class Watch(MetaPathFinder):
    """Does something with modules as soon as they are imported.

    Args:
      then: from a module's name to what is done with it.
    """

    def __init__(self, then: dict[str, Callable[[ModuleType], None]]) -> None:
        self._then = then

    def begin(self) -> None:
        """Does it with modules that are there, and watches for the others."""
        for name, do in list(self._then.items()):
            if name in sys.modules:
                del self._then[name]
                do(sys.modules[name])
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        then = self._then.pop(fullname, None)
        if then is None:
            return None
        spec = _others_find(fullname, path)
        if spec is None or spec.loader is None:
            return None
        spec.loader = _Then(spec.loader, then)
        return spec


def _others_find(fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        spec = getattr(finder, "find_spec", lambda *_: None)(fullname, path)
        if spec is not None:
            return spec  # type: ignore[no-any-return]
    return None


class Stands(MetaPathFinder):
    """Comes last: gives modules that nothing else has found.

    Args:
      made: from a module's name to what makes it; it is noted under the name.
    """

    def __init__(self, made: Mapping[str, Callable[[], ModuleType]]) -> None:
        self._made = made

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        make = self._made.get(fullname)
        return None if make is None else spec_from_loader(fullname, _Made(make))


class _Made(Loader):
    def __init__(self, make: Callable[[], ModuleType]) -> None:
        self._make = make

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        note(spec.name)
        return self._make()

    def exec_module(self, module: ModuleType) -> None:
        """It is whole already."""
