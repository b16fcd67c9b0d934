"""How eager operations are executed: here always at once, on the host; and clusters, which are not.

State: of a thread, the mode that it was told.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.scopes import get_default_graph
from penstock.library.eager.mode import Program, enable_eager_execution

SYNC, ASYNC = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT = 0, 1, 2


class _Mode(threading.local):
    value: int | None = SYNC


_mode = _Mode()


def set_execution_mode(mode: int | None) -> None:
    """Says whether calls return before they have run; all have run when they return, in both modes.

    Args:
      mode: ``SYNC``, ``ASYNC`` or None.

    Raises:
      ValueError: another one.
    """
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")
    _mode.value = SYNC if mode is None else mode


@contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """As ``set_execution_mode``, in a ``with`` block."""
    before = _mode.value
    set_execution_mode(mode)
    try:
        yield
    finally:
        _mode.value = before


def async_wait() -> None:
    """Waits until all calls have run: they have."""


def async_clear_error() -> None:
    """Forgets errors of calls that ran later: there are none."""


def connect_to_remote_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Raises: eager calls run in this process alone.

    Raises:
      ValueError: no host is given.
      NotImplementedError: one is.
    """
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    set_server_def(None)


def set_server_def(server_def: Any) -> None:
    """Raises NotImplementedError: eager calls run in this process alone."""
    raise NotImplementedError(
        "eager calls run in this process; to run operations on other tasks, build a graph and run"
        " it in a tf.Session on a tf.train.Server (docs/distributed.md)"
    )


def enable_remote_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None,
    server_def: Any = None,
) -> None:  # fmt: skip
    """``tf.enable_eager_execution``, without a server.

    Args:
      config, device_policy, execution_mode: those of that function.
      server_def: must be None.

    Raises:
      NotImplementedError: a ``server_def``: eager calls run in this process alone.
    """
    if server_def is not None:
        set_server_def(server_def)
    enable_eager_execution(config, device_policy, execution_mode)


def run_test_in_graph_and_eager_modes(
    func: Callable[..., Any] | None = None,
    config: Any = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:
    """Decorates a test to be run twice: with a session of a new graph, and eagerly.

    Args:
      func: the test, a method of ``tf.test.TestCase``; without it, this gives a decorator.
      config: of the session.
      use_gpu: as of ``test_session``.
      reset_test: whether ``tearDown`` and ``setUp`` run in between.
      assert_no_eager_garbage: accepted for compatibility.
    """
    if func is None:
        return functools.partial(
            run_test_in_graph_and_eager_modes, config=config, use_gpu=use_gpu,
            reset_test=reset_test, assert_no_eager_garbage=assert_no_eager_garbage,
        )  # fmt: skip
    test = func

    @functools.wraps(test)
    def both(self: Any, *args: Any, **kwargs: Any) -> None:
        with Graph().as_default(), self.test_session(use_gpu=use_gpu, config=config):
            test(self, *args, **kwargs)
        if reset_test:
            self.tearDown()
            self._tempdir = None
            self.setUp()
        inner = get_default_graph() if get_default_graph().executes else Program()
        with inner.as_default():
            test(self, *args, **kwargs)

    return both


def run_all_tests_in_graph_and_eager_modes(cls: type) -> type:
    """Decorates a class of tests: each runs as ``run_test_in_graph_and_eager_modes`` has it."""
    for name in dir(cls):
        value = getattr(cls, name)
        if callable(value) and name.startswith("test") and name != "test_session":
            setattr(cls, name, run_test_in_graph_and_eager_modes(value))
    return cls
