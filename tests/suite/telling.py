"""What a worker of pytest-xdist tells the process that reports: what it would show.

Of each test it tells six things, each packed, sent, unpacked and given to every plugin. Where
36,000 tests take milliseconds each, that is a third of what surrounds a test. Two of the six are
shown: what came of the test, and that it is over. Setting up and tearing down are told of when
they fail, print, or take as long as ``--durations`` shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

# Seconds: what `--durations` leaves out unless it is asked for more.
SHORT = 0.005
# In place of a report that need not be told.
UNTOLD: dict[str, Any] = {"untold": True}


def is_silent(report: pytest.TestReport | pytest.CollectReport) -> bool:
    """Whether nothing that is shown depends on a report.

    >>> report = pytest.TestReport("a.py::test", ("a.py", 1, "test"), {}, "passed", None, "setup")
    >>> is_silent(report)
    True
    """
    if not isinstance(report, pytest.TestReport) or report.when == "call":
        return False
    return report.passed and not report.sections and report.duration < SHORT


def told(send: Callable[..., None]) -> Callable[..., None]:
    """What sends events to the process that reports, without those that it does not show."""

    def send_what_is_shown(name: str, **what: Any) -> None:
        if name in ("logstart", "logfinish") or (name == "testreport" and "untold" in what["data"]):
            return
        send(name, **what)

    return send_what_is_shown


class Silence:
    """The plugin of a worker whose options ask for no more than what came of each test."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_to_serializable(
        self, report: pytest.TestReport | pytest.CollectReport
    ) -> dict[str, Any] | None:
        """Packs nothing of a report that need not be told."""
        return dict(UNTOLD) if is_silent(report) else None

    def pytest_plugin_registered(self, plugin: object) -> None:
        """Stands between the worker's side of pytest-xdist and what it sends."""
        if type(plugin).__name__ == "WorkerInteractor":
            interactor: Any = plugin
            interactor.sendevent = told(interactor.sendevent)


def is_enough(config: pytest.Config) -> bool:
    """Whether this process is a worker, and no option asks for every phase of each test."""
    asked = config.option
    phases = asked.verbose > 0 or asked.xmlpath or asked.durations_min is not None
    return hasattr(config, "workerinput") and not phases
