"""``tf.contrib.summary`` where calls run at once, and in the host call of a TPUEstimator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import eager as tfe, summary
from tests.library.eager.conftest import eagerly as eagerly


def _scalars(directory: Path) -> list[tuple[int, str, float]]:
    return [
        (event.step, value.tag, value.simple_value)
        for path in sorted(directory.glob("events*.v2"))
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
    ]


@pytest.mark.usefixtures("eagerly")
def test_calls_write_at_once(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    assert step is tf.train.get_or_create_global_step()
    writer = summary.create_file_writer(str(tmp_path))
    assert (summary.scalar("silent", 1.0), summary.all_summary_ops()) == (None, None)
    summary.initialize()  # nothing is left to be done
    with pytest.raises(RuntimeError, match="only supported in graph mode"):
        summary.summary_writer_initializer_op()
    with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
        for value in (0.0, 1.0, 2.0):
            assert bool(summary.scalar("loss", value, family="all")) == (value != 1.0)
            step.assign_add(1)
    with writer.as_default(), summary.always_record_summaries():
        assert summary.graph(tf.GraphDef(), step=1) is None
        summary.image("picture", tf.zeros([1, 1, 1, 1]), step=1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Nan in summary histogram"):
            summary.histogram("bad", [np.nan])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Tensor must be 3-D or 2-D"):
            summary.audio("bad", [1.0], 3.0, 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="has one value"):
            summary.scalar("bad", [1.0, 2.0])
    found = _scalars(tmp_path)
    assert found == [(0, "all/all/loss", 0.0), (2, "all/all/loss", 2.0), (1, "picture/image/0", 0)]
    assert writer.close() is None
    with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
        writer.flush()


@pytest.mark.usefixtures("eagerly")
def test_traced_functions_write_in_each_call(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()

    @tfe.defun
    def traced(x: tf.Tensor) -> tf.Tensor:
        return summary.scalar("traced", x)

    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
        for value in (3.0, 4.0, 5.0):
            traced(tf.constant(value))
            step.assign_add(1)
    assert _scalars(tmp_path) == [(0, "traced", 3.0), (2, "traced", 5.0)]


def test_a_database_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        writer = summary.create_db_writer(f"sqlite:{tmp_path}/x.db")
        with pytest.raises(tf.errors.UnimplementedError, match="create_file_writer"):
            sess.run(writer.init())


def test_a_full_queue_is_flushed(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        writer = summary.create_file_writer(str(tmp_path), max_queue=2)
        with writer.as_default(), summary.always_record_summaries():
            one = summary.scalar(
                "x", 1.0, step=tf.placeholder_with_default(tf.cast(1, "int64"), [])
            )
        sess.run(writer.init())
        sizes = []
        for _ in range(3):
            sess.run(one)
            sizes.append(len(_scalars(tmp_path)))
        assert sizes == [0, 0, 3]
        sess.run(one)
        sess.run(writer.close())
        assert len(_scalars(tmp_path)) == 4


def test_the_host_call_of_an_estimator(tmp_path: Path) -> None:
    def host_call(step: tf.Tensor, loss: tf.Tensor) -> list[tf.Operation]:
        step = step[0]
        writer = tf.contrib.summary.create_file_writer(str(tmp_path), max_queue=1000)
        with writer.as_default(), tf.contrib.summary.always_record_summaries():
            tf.contrib.summary.scalar("loss", loss[0], step=step)
            return tf.contrib.summary.all_summary_ops()

    def model(features, labels, mode, params):  # type: ignore[no-untyped-def]
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(w * features)
        step = tf.train.get_global_step()
        train = tf.train.GradientDescentOptimizer(1.0).minimize(loss, global_step=step)
        call = host_call, [tf.reshape(step, [1]), tf.reshape(loss, [1])]
        return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train, host_call=call)

    config = tf.contrib.tpu.RunConfig(model_dir=str(tmp_path / "model"))
    estimator = tf.contrib.tpu.TPUEstimator(
        model, config=config, use_tpu=False, train_batch_size=2, params={}
    )
    features = np.ones([4, 1], np.float32)

    def input_fn(params: dict[str, int]) -> tf.data.Dataset:
        data = tf.data.Dataset.from_tensor_slices((features, features)).repeat()
        return data.batch(params["batch_size"])

    estimator.train(input_fn, steps=2)
    assert [tag for _, tag, _ in _scalars(tmp_path)] == ["loss", "loss"]
