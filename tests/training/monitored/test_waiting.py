"""Waits end: each has a deadline, and its error says what was waited for."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.training.monitored import basic_hooks, waiting, wrapped_sessions
from tests.suite.clock import PATIENCE, Clock


def _lost(*_: Any) -> Any:
    raise tf.errors.UnavailableError(None, None, "task /job:ps/replica:0/task:1 is gone")


def test_worker_waits_for_the_model_and_gets_it() -> None:
    ready = [b"v"]
    names = tf.py_func(lambda: np.array(ready, object), [], tf.string)
    manager = tf.train.SessionManager(ready_op=names, recovery_wait_secs=30)
    began, clock = time.monotonic(), Clock()
    threading.Timer(0.4, ready.clear).start()
    sess = manager.wait_for_session("", max_wait_secs=PATIENCE)
    # The first pauses are short: nobody waits for half a minute because of half a second.
    assert time.monotonic() - began > 0.3 and clock.seconds() < 5
    sess.close()


def test_worker_gives_up_and_says_what_was_missing() -> None:
    tf.get_variable("weights", [])
    scaffold = tf.train.Scaffold()
    creator = tf.train.WorkerSessionCreator(scaffold, max_wait_secs=0.5)
    with pytest.raises(tf.errors.DeadlineExceededError, match=r"0\.5 secs.*weights"):
        tf.train.MonitoredSession(creator)


def test_waiting_for_a_checkpoint_ends_with_initializing(tmp_path: Any) -> None:
    v = tf.get_variable("v", [], initializer=tf.constant_initializer(3.0))
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    began, clock = time.monotonic(), Clock()
    sess = manager.prepare_session(
        "", tf.global_variables_initializer(), tf.train.Saver(), str(tmp_path),
        wait_for_checkpoint=True, max_wait_secs=0.5,
    )  # fmt: skip
    assert time.monotonic() - began > 0.4 and clock.seconds() < 5
    assert sess.run(v) == 3.0


def test_a_step_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrapped_sessions, "RECOVERY_SECS", 0.5)
    hook = tf.train.SessionRunHook()
    hook.before_run = _lost  # type: ignore[method-assign]
    c = tf.constant(1)
    session = tf.train.MonitoredSession(hooks=[hook])
    with pytest.raises(
        tf.errors.DeadlineExceededError, match=r"a step could not be run .*task:1 is gone"
    ) as raised:
        session.run(c)
    assert isinstance(raised.value.__cause__, tf.errors.UnavailableError)
    session.close()


class _Time:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_no_session_is_made_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrapped_sessions, "RECOVERY_SECS", 0.5)
    monkeypatch.setattr(waiting, "time", clock := _Time())
    made: list[float] = []

    class Creator(tf.train.SessionCreator):
        def create_session(self) -> Any:
            made.append(clock.now)
            _lost()

    with pytest.raises(tf.errors.DeadlineExceededError, match="no session could be created"):
        tf.train.MonitoredSession(Creator())
    # At once, and then in growing pauses; the last is what is left.
    pauses = [after - before for before, after in zip(made, made[1:], strict=False)]
    assert pauses[0] == 0 and 3 <= len(made) <= 8
    assert pauses[:-1] == sorted(pauses[:-1]) and made[-1] == pytest.approx(0.5)


def test_waiter_ends_when_the_step_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(basic_hooks.GlobalStepWaiterHook, "_MOST_WITHOUT_PROGRESS", 0.3)
    monkeypatch.setattr(basic_hooks.GlobalStepWaiterHook, "_PAUSE", 0.05)
    step = tf.train.get_or_create_global_step()
    with (
        pytest.raises(tf.errors.DeadlineExceededError, match="global step 5: it has stood at 0"),
        tf.train.MonitoredSession(hooks=[tf.train.GlobalStepWaiterHook(5)]) as sess,
    ):
        sess.run(step)


def test_waiter_ends_with_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    step = tf.train.get_or_create_global_step()
    coords: list[Any] = []

    class Stop(tf.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            coords.append(coord)

    hooks = [Stop(), tf.train.GlobalStepWaiterHook(5)]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        threading.Timer(0.3, coords[0].request_stop).start()
        assert sess.run(step) == 0
        assert sess.should_stop()


def test_step_function_gets_the_new_session() -> None:
    step = tf.train.get_or_create_global_step()
    sessions = []

    def step_fn(step_context: Any) -> Any:
        sessions.append(step_context.session)
        if len(sessions) == 1:
            _lost()
        return step_context.session.run(step)

    with tf.train.MonitoredSession() as sess:
        assert sess.run_step_fn(step_fn) == 0
    assert sessions[0] is not sessions[1]
