"""The scripts in ``docs/`` that write pages, as modules."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from tests.peers import ROOT

DOCS = ROOT / "docs"


def generator(name: str) -> Any:
    """The module of a script; ``sys.path`` is afterwards as before."""
    found = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    path = list(sys.path)
    try:
        found.loader.exec_module(module)
    finally:
        sys.path[:] = path
    return module
