"""What every test and doctest of the repository shares.

Doctests (in docs/, README.md and Penstock's docstrings) find `tf` and `np` already imported, as
NumPy's and TensorFlow's do, and each test begins with an empty default graph.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.doctest import DoctestItem

if "PYTEST_XDIST_WORKER" in os.environ:
    # One kernel thread a worker: several workers' thread pools would fight for the same cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Modules are compiled once, not by each of the hundreds of processes that tests start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Collecting makes a million objects that stay, torch's and Penstock's modules and tens of
# thousands of tests. Looking through them for garbage, then and later, takes longer than making
# them.
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """What was collected is no garbage until the end."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    """Empties the default graph before a test, if anything has imported Penstock by then."""
    reset = getattr(sys.modules.get("penstock"), "reset_default_graph", None)
    if reset is not None:
        reset()
    yield


@pytest.fixture(autouse=True)
def doctest_names(request: pytest.FixtureRequest) -> None:
    """Gives doctests `tf` and `np`; other tests pay no import for it."""
    if not isinstance(request.node, DoctestItem):
        return
    names: dict[str, Any] = request.getfixturevalue("doctest_namespace")
    if "tf" not in names:
        import numpy as np

        import penstock as tf

        names.update(np=np, tf=tf)
