"""``SyncReplicasOptimizer``: replicas as threads on one session, against training on the mean."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.suite.clock import PATIENCE, PATIENCE_MS, wait_until

_RATE = 0.1


class _Cluster:
    """One graph with a training op for each replica, and one session.

    Replica r's loss is ``0.5 * sum(square(w - target))`` for the target that is fed to it, and has
    a sparse gradient of a table besides.
    """

    def __init__(
        self, aggregate: int, total: int, averages: bool = False, replicas: int | None = None
    ) -> None:
        self.step = tf.train.get_or_create_global_step()
        self.w = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
        self.table = tf.get_variable("table", [4, 2], initializer=tf.zeros_initializer())
        self.replicas = []
        self.average = tf.train.ExponentialMovingAverage(0.5) if averages else None
        for r in range(replicas or total):
            target = tf.placeholder(tf.float32, [3], name=f"target_{r}")
            row = tf.placeholder(tf.int32, [1], name=f"row_{r}")
            loss = 0.5 * tf.reduce_sum(tf.square(self.w - target))
            loss += tf.reduce_sum(tf.nn.embedding_lookup(self.table, row))
            base = tf.train.GradientDescentOptimizer(_RATE)
            sync = tf.train.SyncReplicasOptimizer(
                base, aggregate, total,
                variable_averages=self.average if r == 0 else None,
                variables_to_average=[self.w] if r == 0 else None,
            )  # fmt: skip
            train = sync.minimize(loss, global_step=self.step)
            self.replicas.append((sync, train, target, row))
        config = tf.ConfigProto(operation_timeout_in_ms=PATIENCE_MS)
        self.session = tf.Session(config=config)
        self.session.run(tf.global_variables_initializer())
        assert len(self.session.run(self.replicas[0][0].ready_for_local_init_op)) == 0
        self.session.run(self.replicas[0][0].chief_init_op)
        for sync, *_ in self.replicas[1:]:
            self.session.run(sync.local_step_init_op)
        self.coordinator = tf.train.Coordinator()
        runner = self.replicas[0][0].get_chief_queue_runner()
        runner.create_threads(self.session, coord=self.coordinator, daemon=True, start=True)

    def run(self, r: int, target: np.ndarray, row: int = 0) -> Any:
        _, train, placeholder, rows = self.replicas[r]
        return self.session.run(train, {placeholder: target, rows: [row]})

    def value(self, variable: Any) -> Any:
        return self.session.run(variable)

    def close(self) -> None:
        self.coordinator.request_stop()
        self.session.close()


@pytest.fixture
def cluster() -> Any:
    made: list[_Cluster] = []

    def make(*args: Any, **kwargs: Any) -> _Cluster:
        made.append(_Cluster(*args, **kwargs))
        return made[-1]

    with tf.Graph().as_default():
        yield make
        for each in made:
            each.close()


def _threads(count: int, work: Callable[[int], None]) -> None:
    """Runs ``work(r)`` in a thread each; none may fail or hang."""
    failures: list[BaseException] = []

    def guarded(r: int) -> None:
        try:
            work(r)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(r,), daemon=True) for r in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(thread.is_alive() for thread in threads), "a replica hangs"
    if failures:
        raise failures[0]


def test_equals_training_on_the_mean_gradient(cluster: Any) -> None:
    replicas, steps = 3, 8
    targets = np.random.RandomState(0).randn(steps, replicas, 3).astype(np.float32)
    made = cluster(replicas, replicas)
    # A replica that is early could take another's token: they begin each step together.
    barrier = threading.Barrier(replicas, timeout=PATIENCE)

    def work(r: int) -> None:
        for step in range(steps):
            barrier.wait()
            assert made.run(r, targets[step, r], row=r) == step + 1

    _threads(replicas, work)
    w = np.zeros(3, np.float32)
    for step in range(steps):
        w -= np.float32(_RATE) * (w - targets[step].mean(0))
    np.testing.assert_allclose(made.value(made.w), w, rtol=1e-5)
    assert made.value(made.step) == steps
    # The mean of a row's gradient is over the replicas that had the row.
    table = np.zeros((4, 2), np.float32)
    table[:3] = -_RATE * steps
    np.testing.assert_allclose(made.value(made.table), table, rtol=1e-5)


def test_moving_averages_follow_each_update(cluster: Any) -> None:
    made = cluster(1, 1, averages=True)
    shadow = made.average.average(made.w)
    w = average = 0.0
    for step in range(5):
        assert made.run(0, np.full(3, 2.0, np.float32)) == step + 1
        w -= _RATE * (w - 2.0)
        average += 0.5 * (w - average)
        # The chief's runner updates the average after it has handed out the tokens.
        expected = pytest.approx(average, rel=1e-5)
        wait_until(lambda expected=expected: made.value(shadow)[0] == expected)


def test_a_backup_worker_replaces_one_that_hangs(cluster: Any) -> None:
    made = cluster(2, 3)
    target = np.ones(3, np.float32)

    def work(r: int) -> None:  # replica 2 never runs
        while made.value(made.step) < 10:
            made.run(r, target)

    _threads(2, work)
    steps = int(made.value(made.step))
    assert steps >= 10
    # Equal gradients: whoever computed them, each step moves w a tenth of the way.
    np.testing.assert_allclose(made.value(made.w), 1 - (1 - _RATE) ** steps, rtol=1e-5)


def test_a_stale_gradient_is_dropped(cluster: Any) -> None:
    made = cluster(1, 1, replicas=2)  # one token a step: the second replica comes in between
    target = np.ones(3, np.float32)
    for step in range(4):
        assert made.run(0, target) == step + 1
    before = made.value(made.w)
    sync, train, late, row = made.replicas[1]
    assert made.value(sync._local_step) == 0
    with pytest.raises(tf.errors.DeadlineExceededError):
        # Its gradient makes no step, so there is no token for it.
        made.session.run(train, {late: np.full(3, 1e6), row: [0]}, tf.RunOptions(timeout_in_ms=500))
    np.testing.assert_array_equal(made.value(made.w), before)
    assert made.value(made.step) == 4
    made.session.run(sync.local_step_init_op)
    assert made.run(1, target) == 5  # with the present step its gradients count
    np.testing.assert_allclose(made.value(made.w), 1 - (1 - _RATE) ** 5, rtol=1e-5)


def test_fewer_replicas_than_gradients(cluster: Any) -> None:
    made = cluster(3, 1)
    # As many tokens as the first step lacks; a further one would let a gradient come too late.
    made.session.run(made.replicas[0][0].get_init_tokens_op(num_tokens=2))
    target = np.ones(3, np.float32)
    for _ in range(12):
        made.run(0, target)
    assert made.value(made.step) == 4


def test_a_wait_for_a_token_ends_at_the_deadline(cluster: Any) -> None:
    made = cluster(2, 2)
    sync, train, target, row = made.replicas[0]
    with pytest.raises(tf.errors.DeadlineExceededError, match="sync_token_q"):
        made.session.run(train, {target: np.zeros(3), row: [0]}, tf.RunOptions(timeout_in_ms=300))


def test_what_it_refuses() -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [])
        sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 4, 2)
        for early in (sync.get_chief_queue_runner, sync.get_init_tokens_op):
            with pytest.raises(ValueError, match="after apply_gradients"):
                early()
        with pytest.raises(ValueError, match="^Global step is required to check staleness"):
            sync.minimize(w * w)
        with pytest.raises(ValueError, match="^Must supply at least one variable"):
            sync.apply_gradients([], step)
        sync.minimize(w * w, step)
        with pytest.raises(ValueError, match="1 given, 2 needed"):
            sync.get_init_tokens_op(num_tokens=1)


def test_slots_are_the_wrapped_optimizers() -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [])
        sync = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 1)
        sync.minimize(w * w, step)
        assert sync.get_slot_names() == ["momentum"]
        assert sync.get_slot(w, "momentum").name == "w/Momentum:0"
        assert [v.name for v in sync.variables()] == ["w/Momentum:0"]


def test_the_hook_starts_it_all() -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 1)
        early = sync.make_session_run_hook(is_chief=True)
        with pytest.raises(ValueError, match="before its apply_gradients"):
            early.begin()
        train = sync.minimize(tf.square(w - 4.0), step)
        hook = sync.make_session_run_hook(is_chief=True, num_tokens=0)
        config = tf.ConfigProto(operation_timeout_in_ms=PATIENCE_MS)
        with tf.train.MonitoredTrainingSession(
            hooks=[hook, tf.train.StopAtStepHook(last_step=3)], config=config
        ) as session:
            values = []
            while not session.should_stop():
                values.append(int(session.run(train)))
        assert values == [1, 2, 3]
