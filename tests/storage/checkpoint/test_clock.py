"""Who sets the machine's clock changes nothing in when checkpoints are made and kept."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.storage.checkpoint import clock

_DAY = 24 * 3600.0


class _Machine:
    """Two clocks: one that goes on, and one of the day, which is set now and then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, self.set_by = 0.0, 0.0
        started, day = time.monotonic(), time.time()
        monkeypatch.setattr(time, "monotonic", lambda: started + self.seconds)
        monkeypatch.setattr(time, "time", lambda: day + self.seconds + self.set_by)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> _Machine:
    return _Machine(monkeypatch)


def test_it_begins_with_the_time_of_the_day() -> None:
    assert abs(clock.now() - time.time()) < 60


@pytest.mark.parametrize("change", [-_DAY, _DAY])
def test_timers(machine: _Machine, change: float) -> None:
    timer = tf.train.SecondOrStepTimer(every_secs=10)
    timer.update_last_triggered_step(1)
    machine.set_by = change
    machine.seconds = 9
    assert not timer.should_trigger_for_step(2)
    machine.seconds = 11
    assert timer.should_trigger_for_step(3)
    assert timer.update_last_triggered_step(3)[0] == pytest.approx(11)


@pytest.mark.parametrize("change", [-_DAY, _DAY])
def test_what_a_saver_keeps(machine: _Machine, change: float, tmp_path: Path) -> None:
    w = tf.Variable(0.0, name="w")
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1)
    with tf.Session() as session:
        session.run(w.initializer)
        for hour in range(4):
            machine.seconds = hour * 3500
            machine.set_by = change * hour
            saver.save(session, str(tmp_path / "model"), hour, write_meta_graph=False)
    # 0 and 3500 s are within the first hour, 7000 s is after it, and 10500 s the last one.
    kept = sorted(name for name in os.listdir(tmp_path) if name.endswith(".index"))
    assert kept == ["model-2.index", "model-3.index"]


@pytest.mark.parametrize("change", [-_DAY, _DAY])
def test_what_a_manager_keeps(machine: _Machine, change: float, tmp_path: Path) -> None:
    w = tf.Variable(np.zeros(2), name="w")
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(w=w), str(tmp_path), 1, keep_checkpoint_every_n_hours=1
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with session.as_default():
            for hour in range(4):
                machine.seconds = hour * 3500
                machine.set_by = change * hour
                manager.save(checkpoint_number=hour)
    kept = sorted(name for name in os.listdir(tmp_path) if name.endswith(".index"))
    assert kept == ["ckpt-2.index", "ckpt-3.index"]


@pytest.mark.parametrize("change", [-_DAY, _DAY])
def test_the_pause_between_checkpoints(
    machine: _Machine, change: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = tf.Variable(0.0, name="w")
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    with tf.Session() as session:
        session.run(w.initializer)
        saver = tf.train.Saver()
        saver.save(session, str(tmp_path / "model"), 1)
        found = tf.train.checkpoints_iterator(str(tmp_path), min_interval_secs=10, timeout=5)
        assert next(found).endswith("model-1")
        machine.seconds, machine.set_by = 4, change
        saver.save(session, str(tmp_path / "model"), 2)
        assert next(found).endswith("model-2")
    assert slept[0] == pytest.approx(6)
