"""``ProfileContext``: steps of every session that runs in a ``with`` block are traced and kept.

While it is entered, ``Session.run`` is one that counts the steps; which of them are traced, written
and shown is either said or found: after ten steps those that fetch something new, and others now
and then.

State: the steps so far and how many of them were traced, what was fetched, the profiler, which is
of the first session's graph, and what was shown by view and step.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from penstock.engine.session.options import RunMetadata, RunOptions
from penstock.engine.session.session import Session
from penstock.foundation.formats import files
from penstock.foundation.graph import nest
from penstock.tools.profiler.profiler import Profiler

_WARM_UP, _MOST_TRACED, _DUMP_AT = 10, 100, 100
_ONE_IN = 5
_VIEWS = {
    "graph": "profile_graph", "code": "profile_python", "op": "profile_operations",
    "scope": "profile_name_scope",
}  # fmt: skip
_entered = threading.Lock()


class ProfileContext:
    """Traces steps of the sessions in a ``with`` block, and writes the profile.

    Args:
      profile_dir: where ``profile_N`` is written after step N.
      trace_steps: numbers of the steps to trace, from 0; None: some, as it finds.
      dump_steps: after which steps the profile is written; None: after the hundredth.
      enabled: whether it does anything.
      debug: whether it says on which steps it does something.

    Raises:
      ValueError: no ``profile_dir``.

    Example:
      >>> import penstock as tf, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> with tf.contrib.tfprof.ProfileContext(folder, trace_steps=[1], dump_steps=[1]):
      ...     with tf.Graph().as_default(), tf.Session() as sess:
      ...         product = tf.matmul(tf.ones([2, 3]), tf.ones([3, 2]))
      ...         _ = sess.run(product), sess.run(product)
      >>> os.listdir(folder)
      ['profile_1']
    """

    def __init__(
        self, profile_dir: str, trace_steps: Iterable[int] | None = None,
        dump_steps: Iterable[int] | None = None, enabled: bool = True, debug: bool = False,
    ) -> None:  # fmt: skip
        self._enabled = enabled
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        self._folder, self._debug = profile_dir, debug
        self._traced = None if trace_steps is None else set(trace_steps)
        self._dumped = {_DUMP_AT} if dump_steps is None else set(dump_steps)
        self._shown: list[tuple[str, Mapping[str, Any], set[int]]] = []
        self._views: dict[str, dict[int, Any]] = {}
        self._step, self._count, self._fetched = 0, 0, set[str]()
        self._trace_next = self._dump_next = False
        self._draw, self._lock = random.Random(111), threading.Lock()
        self._profiler: Profiler | None = None

    # ---- what a program asks for -------------------------------------------------------------

    def add_auto_profiling(
        self, cmd: str, options: Mapping[str, Any], profile_steps: Iterable[int]
    ) -> None:
        """Has a view made after steps.

        Args:
          cmd: the view: "scope", "graph", "op" or "code".
          options: what ``tf.profiler.ProfileOptionBuilder`` builds.
          profile_steps: after which steps.
        """
        if self._enabled:
            self._shown.append((cmd, options, set(profile_steps)))

    @property
    def profiler(self) -> Profiler | None:
        """The profiler; None before the first step."""
        return self._profiler if self._enabled else None

    def trace_next_step(self) -> None:
        """Has the next step traced."""
        if self._enabled:
            self._trace_next = True

    def dump_next_step(self) -> None:
        """Has the next step traced, and the profile written after it."""
        if self._enabled:
            self._trace_next = self._dump_next = True

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """The views that were made, by step.

        Args:
          cmd: the view.

        Raises:
          ValueError: none was.
        """
        if not self._enabled or cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    # ---- what happens in the block -----------------------------------------------------------

    def __enter__(self) -> ProfileContext:
        if self._enabled:
            if not _entered.acquire(blocking=False):
                raise ValueError("Cannot nest profile contexts: one is entered already.")
            self._run = Session.run
            Session.run = self._counting(Session.run)  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: Any) -> None:
        if self._enabled:
            Session.run = self._run  # type: ignore[method-assign]
            _entered.release()

    def _counting(self, run: Callable[..., Any]) -> Any:
        def counted(
            session: Any, fetches: Any, feed_dict: Any = None, options: Any = None,
            run_metadata: Any = None,
        ) -> Any:  # fmt: skip
            with self._lock:
                if self._profiler is None:
                    self._profiler = Profiler(session.graph)
                step, self._step = self._step, self._step + 1
                traces, dumps = self._wants(step, fetches)
            if not traces:
                found = run(session, fetches, feed_dict, options, run_metadata)
            else:
                asked = RunOptions()
                asked.CopyFrom(options or RunOptions())
                asked.trace_level = RunOptions.FULL_TRACE
                told = RunMetadata()
                found = run(session, fetches, feed_dict, asked, told)
                if run_metadata is not None:
                    run_metadata.CopyFrom(told)
                with self._lock:
                    self._profiler.add_step(step, told)
            self._finish(step, dumps)
            return found

        return counted

    def _wants(self, step: int, fetches: Any) -> tuple[bool, bool]:
        """Whether a step is traced, and whether the profile is written after it."""
        names = {str(getattr(f, "name", f)) for f in nest.flatten(fetches)}
        traces = self._trace_next or self._is_of_interest(step, names)
        dumps = self._dump_next or step in self._dumped
        self._trace_next = self._dump_next = False
        if traces:
            self._count += 1
            self._fetched |= names
        if self._debug and (traces or dumps):
            print(f"debug: step {step}: traced {traces}, written {dumps}")
        return traces, dumps

    def _is_of_interest(self, step: int, names: set[str]) -> bool:
        if self._traced is not None:
            return step in self._traced
        if step <= _WARM_UP or self._count >= _MOST_TRACED:
            return False
        return not names <= self._fetched or not self._draw.randrange(_ONE_IN)

    def _finish(self, step: int, dumps: bool) -> None:
        wanted = [(cmd, options) for cmd, options, steps in self._shown if step in steps]
        if not dumps and not wanted:
            return
        with self._lock:
            assert self._profiler is not None
            for cmd, options in wanted:
                made = getattr(self._profiler, _VIEWS[cmd])(options)
                self._views.setdefault(cmd, {})[step] = made
            if dumps:
                files.makedirs(self._folder)
                path = os.path.join(self._folder, f"profile_{step}")
                files.write_atomically(path, self._profiler.serialize_to_string())
