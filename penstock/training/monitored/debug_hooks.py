"""The debuggers of ``tools.debug`` as hooks, for sessions that the user does not make himself.

State: the debugger around the session that stands now, and the filters for the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.tools.debug.dump import WatchOptions
from penstock.tools.debug.dump_dir import Predicate
from penstock.tools.debug.wrappers import (
    BaseDebugWrapperSession,
    DumpingDebugWrapperSession,
    LocalCLIDebugWrapperSession,
)
from penstock.training.monitored.hook import SessionRunContext, SessionRunHook


class _DebugHook(SessionRunHook):
    """Has a debugger run the step in place of the session; a hook's own runs stay as they are."""

    _debugger: BaseDebugWrapperSession

    def _wrapped(self, session: Any) -> BaseDebugWrapperSession:
        raise NotImplementedError

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Puts the debugger around the session."""
        self._debugger = self._wrapped(session)

    def before_run(self, run_context: SessionRunContext) -> None:
        """Hands the step to the debugger."""
        session = run_context.session

        def look(fetches: Any, feed_dict: Any) -> Any:
            # This step only: what the debugger itself runs, and hooks after it, run as usual.
            session.__dict__.pop("inspect", None)
            return self._debugger.run(fetches, feed_dict)

        session.inspect = look


class LocalCLIDebugHook(_DebugHook):
    """Prints, after each step, the first tensors that filters match; see the wrapper session.

    Args:
      ui_type: accepted for compatibility.
      dump_root: a folder to keep the dumps in.
      thread_name_filter: a regex; steps of threads with other names are not looked at.
      config_file_path: accepted for compatibility.
    """

    def __init__(
        self,
        ui_type: str = "curses",
        dump_root: str | None = None,
        thread_name_filter: str | None = None,
        config_file_path: Any = False,
    ) -> None:
        self._arguments = (dump_root, True, ui_type, thread_name_filter, config_file_path)
        self._filters: dict[str, Predicate] = {}

    def add_tensor_filter(self, filter_name: str, tensor_filter: Predicate) -> None:
        """Adds a filter; without any, steps are searched for NaN and Inf.

        Args:
          filter_name: its name in reports.
          tensor_filter: ``f(datum, tensor) -> bool``.
        """
        self._filters[filter_name] = tensor_filter

    def _wrapped(self, session: Any) -> BaseDebugWrapperSession:
        debugger = LocalCLIDebugWrapperSession(session, *self._arguments)
        for name, tensor_filter in self._filters.items():
            debugger.add_tensor_filter(name, tensor_filter)
        return debugger


class DumpingDebugHook(_DebugHook):
    """Dumps the tensors of each step to ``session_root/run_<time>_<count>``.

    Args:
      session_root: the folder.
      watch_fn: ``(fetches, feeds) -> WatchOptions``: which tensors; default is all.
      thread_name_filter: a regex; steps of threads with other names are not dumped.
      log_usage: accepted for compatibility.
    """

    def __init__(
        self,
        session_root: str,
        watch_fn: Callable[[Any, Any], WatchOptions] | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ) -> None:
        self._root, self._watch_fn, self._threads = session_root, watch_fn, thread_name_filter

    def _wrapped(self, session: Any) -> BaseDebugWrapperSession:
        return DumpingDebugWrapperSession(session, self._root, self._watch_fn, self._threads)
