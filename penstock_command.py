"""Starts the ``penstock`` command without importing all of Penstock first.

``import penstock`` brings in torch and every op family, which takes seconds; ``penstock --help``
and a look at a checkpoint need neither.  Here the package stands in ``sys.modules`` unexecuted: its
submodules can be imported, and the first use of a public name (``penstock.Session``) executes it.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any


class _Unexecuted(ModuleType):
    """A package whose ``__init__`` runs when a name is missing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]
        spec = self.__spec__
        if spec is None or spec.loader is None:
            raise AttributeError(name)
        spec.loader.exec_module(self)
        return getattr(self, name)


def main() -> None:
    """The entry point of the console script."""
    if "penstock" not in sys.modules:
        spec = importlib.util.find_spec("penstock")
        if spec is not None:
            package = importlib.util.module_from_spec(spec)
            package.__class__ = _Unexecuted
            sys.modules["penstock"] = package
    from penstock.cli.main import app

    app()


if __name__ == "__main__":
    main()
