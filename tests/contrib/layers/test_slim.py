"""``tf.contrib.slim`` beyond its layers and networks: training, queues, what a model holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

slim = tf.contrib.slim


def _train_op(**arguments: Any) -> Any:
    x = tf.constant(np.random.RandomState(0).rand(8, 4).astype("float32"))
    y = slim.fully_connected(x, 1, activation_fn=None)
    loss = tf.reduce_mean(tf.square(y - 1.0))
    return slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), **arguments)


def test_train_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    losses = []
    for last in (10, 30):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            losses.append(slim.learning.train(_train_op(), str(tmp_path), number_of_steps=last))
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / f"model.ckpt-{last}")
    assert losses[1] < losses[0]


def test_train_with_synchronous_replicas(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        y = slim.fully_connected(x, 1, activation_fn=None)
        inner = tf.train.GradientDescentOptimizer(0.01)
        sync = tf.train.SyncReplicasOptimizer(inner, replicas_to_aggregate=1, total_num_replicas=1)
        step = slim.learning.create_train_op(tf.reduce_mean(tf.square(y - 1.0)), sync)
        loss = slim.learning.train(step, str(tmp_path), number_of_steps=40, sync_optimizer=sync)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-40")
    assert loss < 0.5


def test_train_traces_every_few_steps(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        slim.learning.train(_train_op(), str(tmp_path), number_of_steps=5, trace_every_n_steps=2)
    traces = sorted(path.name for path in tmp_path.glob("tf_trace-*.json"))
    # Asked before a step, named by what the counter is after it.
    assert traces == ["tf_trace-1.json", "tf_trace-3.json", "tf_trace-5.json"]
    events = json.loads((tmp_path / traces[0]).read_text())["traceEvents"]
    assert {"Sub", "Mul"} <= {each.get("args", {}).get("op") for each in events}


def test_only_another_than_the_chief_waits_for_its_first_step() -> None:
    with tf.Graph().as_default():
        loss = slim.learning.train(_train_op(), None, number_of_steps=2, startup_delay_steps=9)
    assert np.isfinite(loss)


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"saver": "s"}, "Cannot provide saver because logdir=None"),
        ({"summary_op": None}, "Cannot provide summary_op because logdir=None"),
        ({"trace_every_n_steps": 1}, "Cannot provide trace_every_n_steps because logdir=None"),
        ({"number_of_steps": 0}, "`number_of_steps` must be either None or a positive number"),
        ({"sync_optimizer": [3]}, "`sync_optimizer` must be a tf.train.SyncReplicasOptimizer"),
        (
            {"sync_optimizer": [], "startup_delay_steps": 1},
            "startup_delay_steps must be zero when sync_optimizer is supplied",
        ),
    ],
)
def test_train_refuses(arguments: dict[str, Any], said: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=said):
        slim.learning.train(_train_op(), None, **arguments)


def test_clipping_and_multipliers_change_the_step() -> None:
    moved = []
    for arguments in (
        {},
        {"clip_gradient_norm": 1e-3},
        {"gradient_multipliers": {"fully_connected/weights": 2.0}},
    ):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(1)
            step = _train_op(**arguments)
            weights = slim.get_model_variables()[0]
            sess.run(tf.global_variables_initializer())
            before = sess.run(weights)
            sess.run(step)
            moved.append(sess.run(weights) - before)
    assert np.linalg.norm(moved[1]) == pytest.approx(1e-4, rel=1e-3)
    np.testing.assert_allclose(moved[2], 2 * moved[0], rtol=1e-5)


def test_updates_run_before_the_step() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(np.random.RandomState(0).rand(8, 4).astype("float32")) + 3.0
        loss = tf.reduce_mean(slim.batch_norm(slim.fully_connected(x, 2, activation_fn=None)))
        step = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        sess.run(tf.global_variables_initializer())
        mean = slim.get_variables_by_name("moving_mean")[0]
        before = sess.run(mean)
        sess.run(step)
        assert (sess.run(mean) != before).any()


def test_variables_and_operations_are_counted() -> None:
    with tf.Graph().as_default() as graph:
        slim.conv2d(tf.zeros([1, 4, 4, 3]), 2, 3)
        assert slim.model_analyzer.analyze_vars(slim.get_model_variables()) == (56, 224)
        assert slim.model_analyzer.analyze_ops(graph) > 56


def test_queue_runners_run_in_the_block_alone() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        taken = tf.train.input_producer(tf.constant([1, 2, 3]), shuffle=False).dequeue()
        with slim.queues.QueueRunners(sess):
            assert [sess.run(taken) for _ in range(3)] == [1, 2, 3]
            with pytest.raises(slim.queues.NestedQueueRunnerError, match="nested"):
                with slim.queues.QueueRunners(sess):
                    pass


def test_paths_of_programs_lead_to_the_same_functions() -> None:
    assert slim.python.slim.nets.inception_v3.inception_v3 is slim.nets.inception.inception_v3
    assert tf.contrib.layers.python.layers.layer_norm is slim.layer_norm is slim.layers.layer_norm
    assert slim.nets.resnet_v2.resnet_utils is slim.nets.resnet_utils
    assert slim.learning.supervisor.Supervisor is tf.train.Supervisor
