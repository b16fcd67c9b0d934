"""A chief that comes back: to servers whose model lives it joins, else it restores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as tf


@pytest.fixture
def server() -> Iterator[Any]:
    """Stands for parameter servers, which outlive the sessions of a chief."""
    made = tf.train.Server.create_local_server()
    yield made
    made.stop()


def _graph() -> tuple[Any, Any]:
    """The global step's update, and a variable that goes along; local ones are a chief's own."""
    step = tf.train.get_or_create_global_step()
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    tf.Variable(7, name="own", collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    with tf.control_dependencies([v.assign_add([1.0, 2.0])]):
        return tf.assign_add(step, 1), v


def _chief(server: Any, folder: Path, **options: Any) -> Any:
    return tf.train.MonitoredTrainingSession(
        server.target, checkpoint_dir=str(folder), save_checkpoint_steps=10,
        save_checkpoint_secs=None, save_summaries_steps=None, save_summaries_secs=None, **options,
    )  # fmt: skip


def _train(sess: Any, train: Any, steps: int) -> int:
    return max(int(sess.run(train)) for _ in range(steps))


def _killed_after(server: Any, folder: Path, steps: int) -> None:
    """A chief trains and is gone: it neither saves nor closes."""
    with tf.Graph().as_default():
        train, _ = _graph()
        assert _train(_chief(server, folder), train, steps) == steps


def test_a_chief_joins_a_model_that_lives(server, tmp_path: Path) -> None:
    _killed_after(server, tmp_path, 18)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-10")
    with tf.Graph().as_default():
        train, v = _graph()
        with _chief(server, tmp_path) as sess:
            raw = sess._tf_sess()
            assert raw.run([tf.train.get_global_step(), "own:0"]) == [18, 7]
            assert raw.run(v).tolist() == [18.0, 36.0]
            assert _train(sess, train, 4) == 22
    # Old checkpoints are still looked after, and new ones written.
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert [path.rpartition("-")[2] for path in state.all_model_checkpoint_paths][-1] == "22"
    assert len(state.all_model_checkpoint_paths) > 2


def test_a_supervisor_joins_as_well(server, tmp_path: Path) -> None:
    _killed_after(server, tmp_path, 18)
    with tf.Graph().as_default():
        _, v = _graph()
        supervisor = tf.train.Supervisor(logdir=str(tmp_path), summary_op=None)
        with supervisor.managed_session(server.target) as sess:
            assert sess.run(v).tolist() == [18.0, 36.0]


def test_a_chief_restores_what_is_lost(server, tmp_path: Path) -> None:
    _killed_after(server, tmp_path, 18)
    tf.Session.reset(server.target)
    with tf.Graph().as_default():
        _, v = _graph()
        with _chief(server, tmp_path) as sess:
            assert sess._tf_sess().run(v).tolist() == [10.0, 20.0]


def test_a_chief_restores_when_a_part_is_lost(server, tmp_path: Path) -> None:
    _killed_after(server, tmp_path, 18)
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        # As of a server that was restarted, while that of the global step was not.
        with tf.container("new"):
            v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
        with _chief(server, tmp_path) as sess:
            raw = sess._tf_sess()
            assert raw.run(v).tolist() == [10.0, 20.0] and raw.run(step) == 10


def test_a_checkpoint_that_is_ahead_or_named_is_restored(server, tmp_path: Path) -> None:
    _killed_after(server, tmp_path, 18)
    path = tf.train.latest_checkpoint(str(tmp_path))
    with tf.Graph().as_default():
        _, v = _graph()
        step = tf.train.get_global_step()
        creator = tf.train.ChiefSessionCreator(
            master=server.target, checkpoint_filename_with_path=path
        )
        with tf.train.MonitoredSession(creator) as sess:
            assert sess._tf_sess().run(v).tolist() == [10.0, 20.0]
    with tf.Graph().as_default():
        _, v = _graph()
        step = tf.train.get_global_step()
        with tf.Session(server.target) as session:
            session.run([step.assign(3), v.assign([5.0, 5.0])])
        with _chief(server, tmp_path) as sess:
            assert sess._tf_sess().run(v).tolist() == [10.0, 20.0]
            assert sess._tf_sess().run(step) == 10
