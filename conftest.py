"""What every test and doctest of the repository shares.

Doctests (in docs/, README.md and Penstock's docstrings) find `tf` and `np` already imported, as
NumPy's and TensorFlow's do, and each test begins with an empty default graph.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_timeout
from _pytest.doctest import DoctestItem, DoctestModule

from tests import provenance
from tests.suite import collecting, telling
from tests.suite.clock import just_made

if "PYTEST_XDIST_WORKER" in os.environ:
    # One kernel thread a worker: several workers' thread pools would fight for the same cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# What tests measure of this machine is no user's to find, nor what users' programs measured theirs.
os.environ.setdefault("PENSTOCK_CACHE", "off")

# Modules are compiled once, not by each of the hundreds of processes that tests start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Collecting makes a million objects that stay, torch's and Penstock's modules and tens of
# thousands of tests. Looking through them for garbage, then and later, takes longer than making
# them.
gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Doctests are looked for where there may be some: in a third of the modules."""
    found = yield
    if file_path.suffix == ".py" and not collecting.may_hold_doctests(file_path.read_text("utf-8")):
        return [each for each in found if not isinstance(each, DoctestModule)]
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """What was collected is no garbage until the end, and what torch logs is seen at the root.

    Garbage is looked for less often than Python would: it was an eighth of the time of many tests.
    To each logger that keeps its records for itself pytest adds two handlers for each phase of each
    test, and torch has forty: more work than all else that surrounds a short test.
    """
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()
    for name, logger in logging.root.manager.loggerDict.items():
        if name.partition(".")[0] == "torch" and isinstance(logger, logging.Logger):
            logger.propagate = True


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    """A test's limit counts what the machine could give (``tests.suite.clock``), not wall time."""
    if settings.method != "signal" or threading.current_thread() is not threading.main_thread():
        return None  # the plugin's own timer
    clock = just_made()

    def look(*_: Any) -> None:
        left = settings.timeout - clock.seconds()
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, max(left, 1.0))
        else:
            pytest_timeout.timeout_sigalrm(item, settings)

    def cancel() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    item.cancel_timeout = cancel
    signal.signal(signal.SIGALRM, look)
    # The clock is never faster than wall time: nothing is to be looked at before.
    signal.setitimer(signal.ITIMER_REAL, settings.timeout)
    return True


def pytest_configure(config: pytest.Config) -> None:
    """A worker tells what came of its tests, not each of their phases."""
    if telling.is_enough(config):
        config.pluginmanager.register(telling.Silence())


# What the workers' kernels were: one line, unless they differ.
_kernels: set[str] = set()


def pytest_report_header() -> list[str]:
    """Says on which machine, and lowered to what, the tests run."""
    return provenance.header()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Notes which kernels this process ran, a worker for the process that reports."""
    if "torch" in sys.modules:
        output = getattr(session.config, "workeroutput", None)
        if output is None:
            _kernels.add(provenance.kernels())
        else:
            output["kernels"] = provenance.kernels()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collects what a worker noted."""
    kernels = getattr(node, "workeroutput", {}).get("kernels")
    if kernels is not None:
        _kernels.add(kernels)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says which kernels the tests ran; known only once torch is imported."""
    for kernels in sorted(_kernels):
        terminalreporter.write_line(f"kernels: {kernels}")


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    """Empties the default graph before a test, if anything has imported Penstock by then."""
    reset = getattr(sys.modules.get("penstock"), "reset_default_graph", None)
    if reset is not None:
        reset()
    yield


def pytest_itemcollected(item: pytest.Item) -> None:
    """Doctests use ``doctest_names``; a fixture is work that other tests would do for nothing."""
    if isinstance(item, DoctestItem):
        item.fixturenames = [*item.fixturenames, doctest_names.__name__]


@pytest.fixture
def doctest_names(request: pytest.FixtureRequest) -> None:
    """Gives doctests `tf` and `np`; other tests pay no import for it."""
    names: dict[str, Any] = request.getfixturevalue("doctest_namespace")
    if "tf" not in names:
        import numpy as np

        import penstock as tf

        names.update(np=np, tf=tf)
    if request.node.path.suffix == ".md":  # pages write files by plain names
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
