"""Sessions that look into their steps: one that dumps, one that reports what filters match."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from penstock.engine.session.session import BaseSession, both_default
from penstock.foundation.base import errors
from penstock.foundation.graph import scopes
from penstock.foundation.graph.graph import Graph
from penstock.tools.debug.dump import WatchOptions, dump_step
from penstock.tools.debug.dump_dir import DebugDumpDir, DebugTensorDatum, Predicate, has_inf_or_nan

_SHOWN = 20


class BaseDebugWrapperSession:
    """A session that hands everything on to another, but looks into its steps.

    Args:
      sess: the session.
      thread_name_filter: a regex; steps of threads with other names run as usual.

    Raises:
      TypeError: ``sess`` is no session.
    """

    def __init__(self, sess: BaseSession, thread_name_filter: str | None = None) -> None:
        if not isinstance(sess, BaseSession):
            raise TypeError(f"sess must be a tf.Session; found {type(sess).__name__}")
        self._sess = sess
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._contexts: list[ExitStack] = []
        self.run_call_count = 0

    @property
    def graph(self) -> Graph:
        """The session's graph."""
        return self._sess.graph

    @property
    def graph_def(self) -> Any:
        """The session's graph as a GraphDef."""
        return self._sess.graph_def

    @property
    def sess_str(self) -> bytes:
        """The session's target."""
        return self._sess.sess_str

    @property
    def session(self) -> BaseSession:
        """The session itself."""
        return self._sess

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Runs a step and looks into it; arguments and result are those of ``Session.run``.

        ``options`` and ``run_metadata`` are used only for threads that are not looked at.
        """
        name = threading.current_thread().name
        if self._threads is not None and not self._threads.match(name):
            return self._sess.run(fetches, feed_dict, options, run_metadata)
        self.run_call_count += 1
        return self._look(fetches, feed_dict)

    def _look(self, fetches: Any, feed_dict: Any) -> Any:
        raise NotImplementedError

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Any:
        """A function that runs ``fetches`` through this session's ``run``."""
        keys = list(feed_list or ())

        def call(*args: Any, options: Any = None, run_metadata: Any = None) -> Any:
            fed = dict(zip(keys, args, strict=True))
            return self.run(fetches, fed, options, run_metadata)

        return call

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """As of the session: parts of steps are not looked into."""
        return self._sess.partial_run_setup(fetches, feeds)

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """As of the session: parts of steps are not looked into."""
        return self._sess.partial_run(handle, fetches, feed_dict)

    def list_devices(self) -> list[Any]:
        """The devices of the session."""
        return self._sess.list_devices()

    def as_default(self) -> Any:
        """A context manager that makes this the default session."""
        return scopes.default_session_scope(self)

    def close(self) -> None:
        """Closes the session."""
        self._sess.close()

    def __enter__(self) -> BaseDebugWrapperSession:
        self._contexts.append(both_default(self))
        return self

    def __exit__(self, *exc: Any) -> None:
        self._contexts.pop().__exit__(*exc)
        if not self._contexts:
            self.close()


class DumpingDebugWrapperSession(BaseDebugWrapperSession):
    """A session that dumps the tensors of each step to ``session_root/run_<time>_<count>``.

    Args:
      sess: the session.
      session_root: the folder.
      watch_fn: ``(fetches, feeds) -> WatchOptions``: which tensors; default is all.
      thread_name_filter: a regex; steps of threads with other names are not dumped.
      pass_through_operrors: accepted for compatibility; errors of steps always reach the caller.
      log_usage: accepted for compatibility.

    Raises:
      TypeError: ``watch_fn`` cannot be called.
    """

    def __init__(
        self,
        sess: BaseSession,
        session_root: str,
        watch_fn: Callable[[Any, Any], WatchOptions] | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = None,
        log_usage: bool = True,
    ) -> None:
        super().__init__(sess, thread_name_filter)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError(f"watch_fn must be a function; found {type(watch_fn).__name__}")
        self._root = session_root
        self._watch = watch_fn

    def _look(self, fetches: Any, feed_dict: Any) -> Any:
        watch = self._watch(fetches, feed_dict) if self._watch is not None else None
        folder = f"run_{time.time_ns() // 1000}_{self.run_call_count}"
        root = os.path.join(self._root, folder)
        return dump_step(self._sess, root, fetches, feed_dict, watch)


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """A session that prints, after each step, the first tensors that its filters match.

    Not interactive: there is no screen to walk through a step with; a dump that is kept
    (``dump_root``) can be read with ``DebugDumpDir``.

    Args:
      sess: the session.
      dump_root: a folder to keep the dumps in; default is a temporary one, removed after each step.
      log_usage, ui_type, config_file_path: accepted for compatibility.
      thread_name_filter: a regex; steps of threads with other names are not looked at.

    Raises:
      ValueError: ``dump_root`` is a file.
    """

    def __init__(
        self,
        sess: BaseSession,
        dump_root: str | None = None,
        log_usage: bool = True,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: Any = False,
    ) -> None:
        super().__init__(sess, thread_name_filter)
        if dump_root and os.path.isfile(dump_root):
            raise ValueError(f"dump_root {dump_root!r} is a file; it must be a folder")
        self._root = dump_root
        self._filters: dict[str, Predicate] = {}

    def add_tensor_filter(self, filter_name: str, tensor_filter: Predicate) -> None:
        """Adds a filter; without any, steps are searched for NaN and Inf.

        Args:
          filter_name: its name in reports.
          tensor_filter: ``(datum, value) -> bool``.
        """
        if not filter_name:
            raise ValueError("a filter needs a name")
        self._filters[filter_name] = tensor_filter

    def _look(self, fetches: Any, feed_dict: Any) -> Any:
        folder = tempfile.mkdtemp(prefix="tfdbg_") if self._root is None else ""
        root = folder or os.path.join(self._root or "", f"run_{self.run_call_count}")
        try:
            return dump_step(self._sess, root, fetches, feed_dict)
        except errors.OpError as error:
            print(f"run {self.run_call_count} failed: {error.message}")
            raise
        finally:
            self._report(root)
            if folder:
                shutil.rmtree(folder, ignore_errors=True)

    def _report(self, root: str) -> None:
        dump = DebugDumpDir(root)
        filters = self._filters or {"has_inf_or_nan": has_inf_or_nan}
        lines = [f"run {self.run_call_count}: {dump.size} tensors of {len(dump.nodes())} nodes"]
        for name, test in filters.items():
            found = dump.find(test)
            lines.append(f"filter {name}: {len(found)} match{'' if len(found) == 1 else 'es'}")
            lines += [f"  {_line(dump, datum)}" for datum in found[:_SHOWN]]
            if len(found) > _SHOWN:
                lines.append(f"  and {len(found) - _SHOWN} more")
            if found:
                lines.append(f"the first of them, {found[0].tensor_name}, is made at:")
                lines += [
                    f"  {file}:{line}, in {function}\n    {text}"
                    for file, line, function, text in dump.node_traceback(found[0].tensor_name)
                ]
        print("\n".join(lines))
        sys.stdout.flush()


def _line(dump: DebugDumpDir, datum: DebugTensorDatum) -> str:
    value = datum.get_tensor()
    with np.printoptions(threshold=10, edgeitems=3, precision=4):
        text = " ".join(str(value).split())
    kind = dump.node_op_type(datum.node_name)
    return f"{datum.tensor_name} ({kind}) {value.dtype}{list(value.shape)}: {text}"
