"""``MirroredStrategy`` on several CPU devices: the same results as one device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.training.distribute import (
    MirroredStrategy,
    OneDeviceStrategy,
    ReduceOp,
    ReductionToOneDevice,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from penstock.training.distribute.experimental import MultiWorkerMirroredStrategy
from penstock.training.distribute.values import MirroredVariable, PerReplica
from tests.training.distribute import training


def _strategy(replicas: int = 2) -> MirroredStrategy:
    return MirroredStrategy([f"/cpu:{i}" for i in range(replicas)])


def _session(strategy: Any) -> tf.Session:
    return tf.Session(config=strategy.update_config_proto(tf.ConfigProto()))


@pytest.mark.parametrize("optimizer", training.OPTIMIZERS)
def test_trains_as_one_device_on_the_whole_batch(optimizer: str) -> None:
    expected = training.train(OneDeviceStrategy("/cpu:0"), optimizer)
    assert expected.losses[-1] < 0.95 * expected.losses[0]
    training.check(training.train(_strategy(2), optimizer), expected)
    training.check(training.train(_strategy(3), optimizer), expected)


def test_one_device_trains_as_no_strategy() -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        dataset = tf.data.Dataset.from_tensor_slices(training.examples())
        iterator = dataset.repeat().batch(training.BATCH).make_initializable_iterator()
        loss = training.loss_of(*iterator.get_next())
        train = training.OPTIMIZERS["adam"]().minimize(loss)
        with tf.Session() as session:
            session.run([iterator.initializer, tf.global_variables_initializer()])
            losses = [float(session.run([loss, train])[0]) for _ in range(training.STEPS)]
    found = training.train(OneDeviceStrategy("/cpu:0"), "adam")
    np.testing.assert_allclose(found.losses, losses, rtol=1e-6)


def test_without_a_cluster_several_tasks_are_one() -> None:
    strategy = MultiWorkerMirroredStrategy.of_devices(["/cpu:0", "/cpu:1"])
    assert strategy.num_replicas_in_sync == 2
    expected = training.train(OneDeviceStrategy("/cpu:0"))
    training.check(training.train(strategy), expected)


def test_contexts() -> None:
    strategy = _strategy()
    assert not has_strategy() and not in_cross_replica_context()
    assert get_strategy().num_replicas_in_sync == 1
    assert get_replica_context().replica_id_in_sync_group == 0
    seen = []

    def replica() -> None:
        here = get_replica_context()
        seen.append((here.devices, here.num_replicas_in_sync, in_cross_replica_context()))
        assert here.strategy is strategy

    with tf.Graph().as_default():
        with strategy.scope():
            assert get_strategy() is strategy and in_cross_replica_context()
            assert get_replica_context() is None
            strategy.experimental_run_v2(replica)
            with pytest.raises(RuntimeError, match="scopes of different strategies do not nest"):
                with _strategy().scope():
                    pass
            with tf.Graph().as_default():
                assert not has_strategy()  # another graph's
    device = "/replica:0/task:0/device:CPU:{}".format
    assert seen == [((device(i),), 2, False) for i in range(2)]


def test_reduce_and_all_reduce() -> None:
    strategy = _strategy(3)
    rows = np.arange(14, dtype=np.float32).reshape(7, 2)

    def replica(x: Any) -> Any:
        context = get_replica_context()
        both = context.all_reduce(ReduceOp.SUM, {"a": tf.reduce_sum(x), "b": tf.shape(x)[0]})
        mean = context.all_reduce(ReduceOp.MEAN, tf.cast(tf.shape(x)[0], tf.float32))
        return x, both, mean

    with tf.Graph().as_default(), strategy.scope():
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensors(rows))
        x, both, mean = strategy.experimental_run(replica, iterator)
        wanted = [
            strategy.experimental_local_results(x),
            strategy.reduce(ReduceOp.SUM, x, axis=0),
            strategy.reduce(ReduceOp.MEAN, x, axis=0),
            strategy.experimental_local_results(both["a"]),
            strategy.experimental_local_results(both["b"]),
            strategy.experimental_local_results(mean),
        ]
        with _session(strategy) as session:
            session.run(iterator.initialize())
            parts, total, average, sums, counts, means = session.run(wanted)
    np.testing.assert_array_equal(np.concatenate(parts), rows)
    assert [len(part) for part in parts] == [3, 3, 1]
    np.testing.assert_array_equal(total, rows.sum(0))
    np.testing.assert_allclose(average, rows.mean(0), rtol=1e-6)
    assert sums == (91.0,) * 3 and counts == (7,) * 3
    np.testing.assert_allclose(means, 7 / 3, rtol=1e-6)


def test_gradients_pass_through_all_reduce() -> None:
    strategy = _strategy()

    def replica() -> Any:
        x = tf.cast(get_replica_context().replica_id_in_sync_group + 1, tf.float32)
        total = get_replica_context().all_reduce(ReduceOp.SUM, x)
        return tf.gradients(total * total, x)[0]

    with tf.Graph().as_default(), strategy.scope():
        grads = strategy.experimental_run_v2(replica)
        with _session(strategy) as session:
            # Each replica's loss is 3 squared; each x has a part in both.
            assert session.run(strategy.experimental_local_results(grads)) == (12.0, 12.0)


@pytest.mark.parametrize(
    ("aggregation", "value"),
    [("SUM", 3.0), ("MEAN", 1.5), ("ONLY_FIRST_REPLICA", 1.0)],
)
def test_assigning_in_replicas(aggregation: str, value: float) -> None:
    strategy = _strategy()
    with tf.Graph().as_default(), strategy.scope():
        v = tf.get_variable(
            "v", [], initializer=tf.zeros_initializer(), trainable=False,
            aggregation=tf.VariableAggregation[aggregation],
        )  # fmt: skip

        def replica() -> Any:
            mine = tf.cast(get_replica_context().replica_id_in_sync_group + 1, tf.float32)
            return tf.identity(v.assign_add(mine))

        after = strategy.experimental_run_v2(replica)
        with _session(strategy) as session:
            session.run(tf.global_variables_initializer())
            assert session.run(strategy.experimental_local_results(after)) == (value, value)
            assert session.run(v) == value
            session.run(v.assign(7.0))
            assert session.run(strategy.experimental_local_results(v)) == (7.0, 7.0)


def test_variables_that_are_synchronized_on_read() -> None:
    strategy = _strategy()
    with tf.Graph().as_default(), strategy.scope():
        mean, count = (
            tf.get_variable(
                name, [], initializer=tf.zeros_initializer(), trainable=False,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation[kind],
            )
            for name, kind in (("mean", "MEAN"), ("count", "SUM"))
        )  # fmt: skip

        def replica() -> Any:
            mine = tf.cast(get_replica_context().replica_id_in_sync_group + 1, tf.float32)
            with tf.control_dependencies([mean.assign(mine), count.assign_add(mine)]):
                return mean.read_value(), count.read_value()

        own = strategy.experimental_run_v2(replica)
        with _session(strategy) as session:
            session.run(tf.global_variables_initializer())
            assert session.run([strategy.experimental_local_results(v) for v in own]) == [
                (1.0, 2.0), (1.0, 2.0),
            ]  # fmt: skip
            assert session.run([mean.read_value(), count.read_value()]) == [1.5, 3.0]
            session.run(count.assign(8.0))
            assert session.run(count.read_value()) == 8.0
            assert session.run(strategy.experimental_local_results(count)) == (4.0, 4.0)


def test_a_checkpoint_holds_one_copy_and_restores_all(tmp_path: Path) -> None:
    def build(strategy: Any) -> tuple[Any, Any]:
        with strategy.scope():
            w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
            opt = tf.train.MomentumOptimizer(0.5, 0.9)
            train = strategy.experimental_run_v2(lambda: opt.minimize(tf.reduce_sum(w * w)))
            return w, strategy.group(strategy.experimental_local_results(train))

    with tf.Graph().as_default():
        strategy = _strategy()
        w, train = build(strategy)
        saver = tf.train.Saver()
        with _session(strategy) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
            saved = session.run(w)
            path = saver.save(session, str(tmp_path / "model"))
        with _session(strategy) as session:
            saver.restore(session, path)
            for copy in session.run(strategy.experimental_local_results(w)):
                np.testing.assert_array_equal(copy, saved)
            assert len(session.run(tf.report_uninitialized_variables())) == 0
    assert [name for name, _ in tf.train.list_variables(path)] == ["w", "w/Momentum"]
    with tf.Graph().as_default(), tf.Session() as session:  # and a program without a strategy
        w = tf.get_variable("w", [2])
        tf.train.Saver().restore(session, path)
        np.testing.assert_array_equal(session.run(w), saved)


def test_replicas_share_variables_by_name() -> None:
    strategy = _strategy()
    with tf.Graph().as_default(), strategy.scope():

        def replica() -> Any:
            made = [
                tf.Variable(0.0, name="x"),
                tf.Variable(1.0, name="x"),
                tf.get_variable("y", []),
            ]
            with tf.variable_scope("scope"):
                return [*made, tf.get_variable("y", [])]

        made = strategy.experimental_run_v2(replica)
        assert all(isinstance(v, MirroredVariable) for v in made)
        assert [v.name for v in made] == ["x:0", "x_1:0", "y:0", "scope/y:0"]
        assert [v.values[1].name for v in made] == [
            "x/replica_1:0", "x_1/replica_1:0", "y/replica_1:0", "scope/y/replica_1:0",
        ]  # fmt: skip
        assert tf.trainable_variables() == made


def test_what_it_refuses() -> None:
    strategy = _strategy()
    with tf.Graph().as_default(), strategy.scope():
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        opt = tf.train.GradientDescentOptimizer(0.1)
        with pytest.raises(RuntimeError, match="for replicas"):
            opt.minimize(w * w)
        with pytest.raises(ValueError, match="has no aggregation"):
            strategy.experimental_run_v2(lambda: w.assign(1.0))
        with pytest.raises(ValueError, match="cannot be summed"):
            strategy.reduce(ReduceOp.SUM, 3.0)
        with pytest.raises(ValueError, match="must be batched"):
            strategy.make_dataset_iterator(tf.data.Dataset.range(3))

        def uneven() -> None:
            if get_replica_context().local_index == 0:
                get_replica_context().all_reduce(ReduceOp.SUM, tf.constant(1.0))

        with pytest.raises(RuntimeError, match=r"replicas \[1\] ended"):
            strategy.experimental_run_v2(uneven)

        def other() -> None:
            if get_replica_context().local_index == 1:
                tf.Variable(1.0, name="only_here")

        with pytest.raises(RuntimeError, match="replica 0 did not make"):
            strategy.experimental_run_v2(other)
        with pytest.raises(ZeroDivisionError):
            strategy.experimental_run_v2(lambda: 1 / 0)
    with pytest.raises(ValueError, match="each device can have one replica"):
        MirroredStrategy(["/cpu:0", "/device:CPU:0"])


def test_values_and_cross_device_ops() -> None:
    devices = ["/cpu:0", "/cpu:1"]
    strategy = MirroredStrategy(
        devices, cross_device_ops=ReductionToOneDevice("/cpu:1", tf.accumulate_n)
    )
    with tf.Graph().as_default(), strategy.scope():
        values = PerReplica([tf.constant(1.0), tf.constant(2.0)], strategy.extended.worker_devices)
        total = strategy.reduce("sum", values)
        rows = PerReplica(
            [
                tf.IndexedSlices(tf.ones([1, 2]), tf.constant([i]), tf.constant([4, 2]))
                for i in (1, 3)
            ],
            strategy.extended.worker_devices,
        )
        joined = strategy.extended.reduce_to(ReduceOp.MEAN, rows, "/cpu:0")
        dense = tf.convert_to_tensor(joined.primary)
        with _session(strategy) as session:
            assert session.run(total) == 3.0
            np.testing.assert_array_equal(session.run(dense)[:, 0], [0, 0.5, 0, 0.5])


def test_batches_from_a_function() -> None:
    strategy = _strategy()
    seen = []

    def dataset(context: Any) -> Any:
        seen.append((context.num_input_pipelines, context.input_pipeline_id))
        return tf.data.Dataset.range(8).batch(context.get_per_replica_batch_size(4))

    with tf.Graph().as_default(), strategy.scope():
        iterator = strategy.make_input_fn_iterator(dataset)
        parts = strategy.experimental_local_results(iterator.get_next())
        with _session(strategy) as session:
            session.run(iterator.initialize())
            got = [[part.tolist() for part in session.run(parts)] for _ in range(2)]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(parts)
    assert seen == [(1, 0)]
    assert got == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


def test_only_the_first_replica_writes_summaries() -> None:
    from penstock.python.distribute import summary_op_util

    skipped: list[bool] = []
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    assert not summary_op_util.skip_summary()
    with tf.Graph().as_default(), strategy.scope():
        strategy.experimental_run_v2(lambda: skipped.append(summary_op_util.skip_summary()))
    assert skipped == [False, True]
