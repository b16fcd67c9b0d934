"""Hooks that write to event files and logs: summaries, speed, traces, values of tensors.

State of each: its timer, its writer, and the step that it expects next.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from penstock.engine.session.options import RunOptions
from penstock.foundation.formats.gfile import GFile
from penstock.foundation.formats.messages import SessionLog, Summary
from penstock.foundation.graph import scopes
from penstock.library.variables.global_step import get_global_step
from penstock.storage.summary.writer import FileWriterCache
from penstock.tools.profiler.timeline import Timeline
from penstock.training.monitored.global_step_read import required_global_step_read
from penstock.training.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from penstock.training.monitored.scaffold import Scaffold
from penstock.training.monitored.timers import NeverTriggerTimer, SecondOrStepTimer

_log = logging.getLogger("penstock")
_MOST_WARNINGS = 5


class StepCounterHook(SessionRunHook):
    """Logs steps per second, and writes them to an event file.

    Args:
      every_n_steps: steps between two looks.
      every_n_secs: seconds between two looks; exactly one of both is to be given.
      output_dir: directory of the event file.
      summary_writer: the writer to use instead.

    Raises:
      ValueError: not exactly one of ``every_*`` was given.
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError(
                "exactly one of every_n_steps and every_n_secs should be provided; found"
                f" {every_n_steps} and {every_n_secs}"
            )
        self._timer = SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_steps)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: Any = None
        self._warnings = 0

    def begin(self) -> None:
        """Opens the event file, and makes the node that reads the global step."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._global_step = required_global_step_read("StepCounterHook")
        self._summary_tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs the speed when it is time; warns when the global step stands still."""
        stale = run_values.results
        if self._timer.should_trigger_for_step(stale + 1):
            step = run_context.session.run(self._global_step)
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None and steps is not None:
                    self._log_and_record(steps, seconds, step)
        if stale == self._last_global_step and self._warnings < _MOST_WARNINGS:
            self._warnings += 1
            _log.warning(
                "the global step has not been increased: it is %s, as before; does an optimizer"
                " get it (minimize(loss, global_step=tf.train.get_global_step()))?", stale,
            )  # fmt: skip
        self._last_global_step = stale

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: Any) -> None:
        speed = elapsed_steps / elapsed_time if elapsed_time > 0 else float("inf")
        if self._summary_writer is not None:
            value = Summary.Value(tag=self._summary_tag, simple_value=speed)
            self._summary_writer.add_summary(Summary(value=[value]), global_step)
        _log.info("%s: %g", self._summary_tag, speed)


class _OwnUpdate:
    """How far a step's own update is ahead of what the step fetches as its global step.

    Nothing orders the two: ``lag`` is 0 where the fetch comes after the update, 1 where it comes
    before, and 1 until it is known.  State: that, and the global step that was seen last.
    """

    def __init__(self, seen: int) -> None:
        self.lag = 1
        self._seen = seen

    def fetched(self, value: int) -> int:
        """Notes what a step fetched; the global step after it, most likely."""
        self._seen = value
        return value + self.lag

    def learn(self, value: int, exact: int) -> None:
        """Notes what a step fetched and, read after it, the global step."""
        if exact > value:
            self.lag = 1
        elif value > self._seen:
            self.lag = 0
        self._seen = value


class SummarySaverHook(SessionRunHook):
    """Writes summaries to an event file, every so many steps or seconds.

    Args:
      save_steps: steps between summaries.
      save_secs: seconds between summaries; exactly one of both is to be given.
      output_dir: directory of the event file.
      summary_writer: the writer to use instead.
      scaffold: has the summary op.
      summary_op: a string tensor, or a list of them; exactly one of both is to be given.

    Raises:
      ValueError: not exactly one of ``scaffold`` and ``summary_op``, or of ``save_*``.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
        scaffold: Scaffold | None = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Opens the event file, and makes the node that reads the global step."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._global_step = required_global_step_read("SummarySaverHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Notes the global step that the session begins with."""
        self._own = _OwnUpdate(session.run(self._global_step))

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step, and for summaries when it is time."""
        self._due = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        requests: dict[str, Any] = {"global_step": self._global_step}
        summaries = self._summaries() if self._due else None
        if summaries is not None:
            requests["summary"] = summaries
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes what the step gave."""
        if not self._summary_writer:
            return
        fetched = run_values.results["global_step"]
        if self._due:
            step = run_context.session.run(self._global_step)
            self._own.learn(fetched, step)
        else:
            step = self._own.fetched(fetched)
        if self._next_step is None:
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._due:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        """Flushes the event file."""
        if self._summary_writer:
            self._summary_writer.flush()

    def _summaries(self) -> list[Any] | None:
        found = self._summary_op if self._scaffold is None else self._scaffold.summary_op
        return found if found is None or isinstance(found, list) else [found]


class ProfilerHook(SessionRunHook):
    """Traces a step every so often, and writes ``timeline-<step>.json`` in Chrome's format.

    The first step is not traced.

    Args:
      save_steps: steps between traces.
      save_secs: seconds between traces; exactly one of both is to be given.
      output_dir: directory of the traces and of the event file, which gets the run metadata.
      show_dataflow: draw arrows from outputs to the nodes that take them.
      show_memory: show the life of each output.

    Raises:
      ValueError: not exactly one of ``save_*`` was given.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: Any = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = FileWriterCache.get(os.fsdecode(output_dir) or ".")
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory

    def begin(self) -> None:
        """Makes the node that reads the global step."""
        self._next_step: int | None = None
        self._global_step = required_global_step_read("ProfilerHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Notes the global step that the session begins with."""
        self._own = _OwnUpdate(session.run(self._global_step))

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step, and for a trace when it is time."""
        step = self._next_step
        self._due = step is not None and self._timer.should_trigger_for_step(step)
        options = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._due else None
        return SessionRunArgs({"global_step": self._global_step}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes the trace."""
        stale = run_values.results["global_step"]
        if self._next_step is None:
            self._timer.update_last_triggered_step(stale)
            self._own.learn(stale, run_context.session.run(self._global_step))
        step = self._own.fetched(stale)
        if self._due:
            step = run_context.session.run(self._global_step)
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata)
        self._next_step = step + 1

    def _save(self, step: Any, run_metadata: Any) -> None:
        path = self._output_file.format(step)
        _log.info("Saving timeline for %d into '%s'.", step, path)
        trace = Timeline(run_metadata.step_stats).generate_chrome_trace_format(
            show_dataflow=self._show_dataflow, show_memory=self._show_memory
        )
        with GFile(path, "w") as file:
            file.write(trace)
        self._file_writer.add_run_metadata(run_metadata, f"step_{step}")


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors, with level INFO, every so many local steps or seconds.

    Args:
      tensors: from tags to tensors or their names; or tensors or names, which are tags then.
      every_n_iter: runs between two logs.
      every_n_secs: seconds between two logs.
      at_end: whether to log at the end, too; alone, only there.
      formatter: ``f(values by tag) -> text``.

    Raises:
      ValueError: both or none of ``every_*``, without ``at_end``; ``every_n_iter`` below one.
    """

    def __init__(
        self,
        tensors: Any,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[Mapping[Any, Any]], str] | None = None,
    ) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be"
                f" provided; found at_end={at_end}, every_n_iter={every_n_iter},"
                f" every_n_secs={every_n_secs}"
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}: it must be above 0")
        by_tag = isinstance(tensors, dict)
        self._tags: Iterable[Any] = sorted(tensors) if by_tag else list(tensors)
        self._tensors = tensors if by_tag else {item: item for item in self._tags}
        self._formatter = formatter
        self._log_at_end = at_end
        self._timer: NeverTriggerTimer | SecondOrStepTimer = (
            NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        )

    def begin(self) -> None:
        """Finds the tensors in the default graph.

        Raises:
          ValueError: a tensor of another graph, or the name of an op with several outputs.
        """
        self._timer.reset()
        self._iter_count = 0
        self._current = {tag: _in_default_graph(item) for tag, item in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Asks for the tensors when it is time."""
        self._due = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs them."""
        if self._due:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: Any) -> None:
        """Logs them once more where that was asked for."""
        if self._log_at_end:
            self._log_tensors(session.run(self._current))

    def _log_tensors(self, values: Mapping[Any, Any]) -> None:
        seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter is not None:
                text = self._formatter(values)
            else:
                text = ", ".join(f"{tag} = {values[tag]}" for tag in self._tags)
                text += "" if seconds is None else f" ({seconds:.3f} sec)"
        _log.info("%s", text)


def _in_default_graph(item: Any) -> Any:
    graph = scopes.get_default_graph()
    if not isinstance(item, str):
        if getattr(item, "graph", None) is not graph:
            raise ValueError(f"{item!r} is no tensor of the default graph, {graph}")
        return item
    if ":" in item:
        return graph.as_graph_element(item)
    try:
        graph.as_graph_element(f"{item}:1")
    except (KeyError, ValueError):
        return graph.as_graph_element(f"{item}:0")
    raise ValueError(f"{item!r} has several outputs; say which one, as {item + ':0'!r}")
