"""The threads of a Supervisor's chief: summaries, steps per second, checkpoints."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from penstock.foundation.formats.messages import SessionLog, Summary
from penstock.library.variables.global_step import global_step
from penstock.training.data.coordinator import LooperThread

if TYPE_CHECKING:
    from penstock.training.monitored.supervisor import Supervisor

_log = logging.getLogger("penstock")
_MOST_LOGS = 10


class SVSummaryThread(LooperThread):
    """Writes summaries every ``save_summaries_secs``."""

    def __init__(self, sv: Supervisor, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        """Runs the summary op once."""
        step = None
        if self._sv.global_step is not None:
            summary, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        else:
            summary = self._sess.run(self._sv.summary_op)
        if self._sv.summary_writer:
            _log.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summary, step)


class SVStepCounterThread(LooperThread):
    """Writes steps per second every ``save_summaries_secs``; logs the first few."""

    def __init__(self, sv: Supervisor, sess: Any, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"
        self._last_time = 0.0
        self._last_step = 0
        self._logs = 0

    def start_loop(self) -> None:
        """Notes time and step to count from."""
        self._last_time = time.monotonic()
        self._last_step = global_step(self._sess, self._step_counter)

    def run_loop(self) -> None:
        """Counts once."""
        step, now = global_step(self._sess, self._step_counter), time.monotonic()
        elapsed = now - self._last_time
        speed = (step - self._last_step) / elapsed if elapsed > 0 else float("inf")
        self._last_step, self._last_time = step, now
        if self._sv.summary_writer:
            value = Summary.Value(tag=self._summary_tag, simple_value=speed)
            self._sv.summary_writer.add_summary(Summary(value=[value]), step)
        if self._logs < _MOST_LOGS:
            self._logs += 1
            _log.info("%s: %g", self._summary_tag, speed)


class SVTimerCheckpointThread(LooperThread):
    """Saves every ``save_model_secs``."""

    def __init__(self, sv: Supervisor, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        """Saves once."""
        sv = self._sv
        _log.info("Saving checkpoint to path %s", sv.save_path)
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            saved = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=sv.save_path)
            sv.summary_writer.add_session_log(saved, global_step(self._sess, sv.global_step))
