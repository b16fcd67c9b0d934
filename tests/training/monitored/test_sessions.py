"""What training sessions promise beyond TensorFlow: savers, speed, saving beside steps."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.formats.bundle import BundleReader, BundleWriter


def _train() -> tuple[Any, Any]:
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def test_hooks_that_ask_for_no_options_leave_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    _, train = _train()
    hooks = [tf.train.StopAtStepHook(100)]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        sess.run(train)
        raw = sess._tf_sess()
        slow = []
        monkeypatch.setattr(type(raw), "_run_with_options", lambda *a: slow.append(a), raising=True)
        assert sess.run(train) == 2
        assert not slow


def test_checkpoint_as_saver(tmp_path: Path) -> None:
    def session() -> Any:
        tf.reset_default_graph()
        step, train = _train()
        v = tf.get_variable("v", [2], initializer=tf.zeros_initializer(), use_resource=True)
        add = v.assign_add([1.0, 2.0])
        checkpoint = tf.train.Checkpoint(v=v, step=step)
        scaffold = tf.train.Scaffold(saver=checkpoint)
        sess = tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), scaffold=scaffold)
        return sess, v, [train, add]

    sess, v, ops = session()
    with sess:
        sess.run(ops)
    names = [name for name, _ in tf.train.list_variables(tf.train.latest_checkpoint(str(tmp_path)))]
    assert "v/.ATTRIBUTES/VARIABLE_VALUE" in names
    sess, v, ops = session()
    with sess:
        np.testing.assert_array_equal(sess.run(v), [1.0, 2.0])
    tf.summary.FileWriterCache.clear()


def test_what_is_saved_while_it_changes_can_be_read(tmp_path: Path) -> None:
    # A Supervisor saves in a thread of its own, beside steps that update what is saved.
    array = np.zeros(1 << 16, np.int64)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            np.add(array, 1, out=array)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for turn in range(60):
            prefix = str(tmp_path / f"m{turn % 2}")
            writer = BundleWriter(prefix)
            writer.add("a", array)
            writer.finish()
            with BundleReader(prefix) as reader:
                reader.read("a")
    finally:
        stop.set()
        thread.join()


def test_training_goes_on_after_a_thread_lost_its_task(tmp_path: Path) -> None:
    """A queue runner whose task is restarted: the session is made anew from a checkpoint."""
    _, train = _train()
    calls = [0]

    def element() -> Any:
        calls[0] += 1
        if calls[0] == 20:
            raise tf.errors.AbortedError(None, None, "the reader was restarted")
        return np.int64(calls[0])

    queue = tf.FIFOQueue(3, [tf.int64], shapes=[[]])
    enqueue = queue.enqueue(tf.py_func(element, [], tf.int64))
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue]))
    taken = queue.dequeue()
    hooks = [tf.train.StopAtStepHook(last_step=50)]
    seen = []
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), hooks=hooks, save_checkpoint_steps=5
    ) as sess:
        while not sess.should_stop():
            seen.append(int(sess.run([train, taken])[0]))
    assert seen[-1] == 50
    assert calls[0] >= 20
    tf.summary.FileWriterCache.clear()


def test_a_run_after_a_hook_has_asked_to_stop_says_so() -> None:
    _, train = _train()
    with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=1)]) as sess:
        sess.run(train)
        with pytest.raises(RuntimeError, match="Run called even after should_stop requested."):
            sess.run(train)
