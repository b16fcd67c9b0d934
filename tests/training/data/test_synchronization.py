"""Accumulators, critical sections, staging areas, barriers and stacks in sessions."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.staging import StagingArea
from penstock.foundation.graph.build import make
from penstock.training.data.barriers import Barrier
from penstock.training.data.staging import MapStagingArea
from tests.suite.clock import PATIENCE_MS


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def _later(work: Any, seconds: float = 0.1) -> threading.Thread:
    def run() -> None:
        time.sleep(seconds)
        work()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def _count(v: Any) -> Any:
    def count() -> Any:
        value = v.read_value()
        with tf.control_dependencies([value]), tf.control_dependencies([v.assign_add(1.0)]):
            return tf.identity(value)

    return count


def test_critical_section_counts_under_threads(session: Any) -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    section = tf.CriticalSection()
    both = [section.execute(_count(v)), section.execute(_count(v))]
    session.run(v.initializer)
    seen: list[float] = []

    def work() -> None:
        for _ in range(25):
            seen.extend(float(x) for x in session.run(both))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(200))


def test_failed_step_leaves_no_lock(session: Any) -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    ok = tf.placeholder(tf.bool, [])
    section = tf.CriticalSection()

    def fails() -> Any:
        with tf.control_dependencies([tf.check_numerics(tf.where(ok, 1.0, np.nan), "bad")]):
            return v.assign_add(1.0)

    out = section.execute(fails)
    session.run(v.initializer)
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(out, {ok: False})
    timed = tf.RunOptions(timeout_in_ms=PATIENCE_MS)
    assert session.run(out, {ok: True}, options=timed) == 1.0


def test_nested_lock_is_refused_and_exclusive_access_held(session: Any) -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    first, second = tf.CriticalSection(), tf.CriticalSection()
    first.execute(_count(v))
    with pytest.raises(ValueError, match="exclusive"):
        second.execute(_count(v))
    with pytest.raises(ValueError, match="deadlock"):
        first.execute(lambda: first.execute(_count(v)))


def test_two_locks_in_one_step_end_by_the_deadline(session: Any) -> None:
    mutex = make("MutexV2")
    lock = make("MutexLock", mutex)
    with tf.control_dependencies([lock]):
        again = make("MutexLock", mutex)
    with tf.control_dependencies([again]):
        held = make("ConsumeMutexLock", lock)
    timed = tf.RunOptions(timeout_in_ms=100)
    with pytest.raises(tf.errors.DeadlineExceededError, match="mutex"):
        session.run(held, options=timed)
    timed = tf.RunOptions(timeout_in_ms=PATIENCE_MS)
    session.run(lock.op, options=timed)  # nobody holds it any more


def test_take_waits_for_gradients_of_other_steps(session: Any) -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2])
    apply = accumulator.apply_grad([2.0, 4.0], local_step=0)
    take = accumulator.take_grad(2)
    thread = _later(lambda: [session.run(apply), session.run(apply)])
    assert session.run(take).tolist() == [2, 4]
    thread.join()
    session.run(apply)  # stale now
    assert session.run(accumulator.num_accumulated()) == 0
    session.run(accumulator.set_global_step(0))
    session.run(apply)
    assert session.run(accumulator.num_accumulated()) == 1


def test_closing_the_session_ends_the_wait() -> None:
    with tf.Graph().as_default():
        session = tf.Session()
        take = tf.ConditionalAccumulator(tf.float32, shape=[]).take_grad(1)
        thread = _later(session.close)
        with pytest.raises(tf.errors.CancelledError, match="closed"):
            session.run(take)
        thread.join()


def test_accumulator_refuses_shapes(session: Any) -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2])
    with pytest.raises(ValueError, match="incompatible"):
        accumulator.apply_grad([1.0])
    sparse = tf.SparseConditionalAccumulator(tf.float32, shape=[3, 1])
    grad = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="index is 3"):
        session.run(sparse.apply_indexed_slices_grad(grad))


def test_staging_area_prefetches(session: Any) -> None:
    area = StagingArea([tf.float32], shapes=[[]], capacity=2)
    x = tf.placeholder(tf.float32, [])
    put, got = area.put(x), area.get()[0]
    session.run(put, {x: 0.0})
    seen = [session.run([got, put], {x: float(i)})[0] for i in range(1, 4)]
    assert seen == [0, 1, 2]
    thread = _later(lambda: session.run(put, {x: 9.0}))
    assert [session.run(got), session.run(got)] == [3, 9]
    thread.join()


def test_map_staging_area_by_name(session: Any) -> None:
    area = MapStagingArea([tf.float32, tf.int32], names=["a", "b"], ordered=True)
    two, one = tf.constant(2, tf.int64), tf.constant(1, tf.int64)
    session.run(area.put(two, {"a": tf.constant(1.0), "b": tf.constant(5)}))
    session.run(area.put(one, {"b": tf.constant(7)}))
    assert session.run([area.size(), area.incomplete_size()]) == [1, 1]
    session.run(area.put(one, {"a": tf.constant(3.0)}))
    key, values = session.run(area.get())
    assert (key, values) == (1, {"a": 3.0, "b": 7})
    with pytest.raises(ValueError, match="names"):
        area.put(one, {"c": tf.constant(1)})


def test_barrier(session: Any) -> None:
    barrier = Barrier((tf.string, tf.int32), shapes=((), ()))
    session.run(barrier.insert_many(0, ["k1", "k2"], ["a", "b"]))
    session.run(barrier.insert_many(1, ["k2"], [2]))
    taken = barrier.take_many(2)
    thread = _later(lambda: session.run(barrier.insert_many(1, ["k1"], [1])))
    indices, keys, values = session.run([taken.indices, taken.keys, taken.values])
    thread.join()
    assert indices.tolist() == [-(2**63)] * 2
    assert dict(zip(keys.tolist(), zip(*[v.tolist() for v in values]))) == {
        b"k1": (b"a", 1), b"k2": (b"b", 2),
    }  # fmt: skip
    session.run(barrier.close())
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(taken.keys)


@pytest.mark.parametrize("form", ["", "V2"])
def test_stack_lives_one_step(session: Any, form: str) -> None:
    size = [tf.constant(2)] if form else []
    stack = make(f"Stack{form}", *size, elem_type=tf.float32)
    x = tf.placeholder(tf.float32, [2])
    pushed = make(f"StackPush{form}", stack, x * 2.0, swap_memory=True)
    with tf.control_dependencies([pushed + 1.0]):
        popped = make(f"StackPop{form}", stack, elem_type=tf.float32)
    with tf.control_dependencies([popped]):
        empty = make(f"StackPop{form}", stack, elem_type=tf.float32)
        closed = make(f"StackClose{form}", stack)
    with tf.control_dependencies([closed]):
        after = make(f"StackPush{form}", stack, x)
    for i in range(2):
        assert session.run(popped, {x: [i, 1.0]}).tolist() == [2 * i, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
        session.run(empty, {x: [1.0, 1.0]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="closed"):
        session.run(after, {x: [1.0, 1.0]})


@pytest.mark.parametrize("get_first", [True, False])
@pytest.mark.parametrize("shared_name", [None, "area"])
def test_give_and_take_of_a_full_area_in_one_step(
    session: Any, shared_name: str | None, get_first: bool
) -> None:
    area = StagingArea([tf.int32], shapes=[[]], capacity=1, shared_name=shared_name)
    x = tf.placeholder(tf.int32, [])
    if get_first:
        got, put = area.get()[0], area.put([x])
    else:
        put, got = area.put([x]), area.get()[0]
    timed = tf.RunOptions(timeout_in_ms=PATIENCE_MS)
    session.run(put, {x: 1})
    assert session.run([put, got], {x: 2}, options=timed)[1] == 1
    assert session.run([got, put], {x: 3}, options=timed)[0] == 2
    assert session.run(area.size()) == 1
    assert session.run(got) == 3
    assert session.run([put, got], {x: 4}, options=timed)[1] == 4  # an empty one


@pytest.mark.parametrize("ordered", [True, False])
def test_give_and_take_of_a_full_map_in_one_step(session: Any, ordered: bool) -> None:
    area = MapStagingArea([tf.int32, tf.float32], capacity=1, ordered=ordered)
    keys = [tf.constant(k, tf.int64) for k in (1, 2)]
    values = [tf.constant(5), tf.constant(0.5)]
    first, second = (area.put(k, values, [0, 1]) for k in keys)
    got = area.get(keys[0])
    session.run(first)
    timed = tf.RunOptions(timeout_in_ms=PATIENCE_MS)
    assert session.run([second, got], options=timed)[1] == (1, [5, 0.5])
    assert session.run(area.get()) == (2, [5, 0.5])


def test_a_failed_step_withdraws_the_put_that_it_has_started(session: Any) -> None:
    area = StagingArea([tf.int32], shapes=[[]], capacity=1)
    put, got = area.put([tf.constant(1)]), area.get()[0]
    session.run(put)
    fails = tf.check_numerics(tf.cast(got, tf.float32) / 0.0, "bad")
    with tf.control_dependencies([fails]):
        last = StagingArea([tf.int32], shapes=[[]]).get()[0]
    other = StagingArea([tf.int32], shapes=[[]], capacity=1, shared_name="other")
    fill, blocked = other.put([tf.constant(7)]), other.put([tf.constant(8)])
    session.run(fill)
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        session.run([blocked, last])
    gc.collect()
    assert session.run(other.get()[0]) == 7
    assert session.run(other.size()) == 0


def test_older_accumulator_ops(session: Any) -> None:
    handle = make("ConditionalAccumulator", dtype=tf.float32, shape=tf.TensorShape([2]))
    assert handle.dtype.is_ref
    x, step = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int64, [])
    apply = make("AccumulatorApplyGradient", handle, step, x)
    count = make("AccumulatorNumAccumulated", handle)
    take = make("AccumulatorTakeGradient", handle, tf.constant(2), dtype=tf.float32)
    move = make("AccumulatorSetGlobalStep", handle, step)
    session.run(apply, {x: [1, 2], step: 0})
    thread = _later(lambda: session.run(apply, {x: [3, 6], step: 0}))
    assert session.run(take).tolist() == [2, 4]
    thread.join()
    session.run(apply, {x: [9, 9], step: 0})  # stale: a take moves the step on
    assert session.run(count) == 0
    session.run(move, {step: 5})
    session.run(apply, {x: [9, 9], step: 4})
    session.run(apply, {x: [9, 9], step: 5})
    assert session.run(count) == 1
    with pytest.raises(tf.errors.DeadlineExceededError, match="2 gradient"):
        session.run(take, options=tf.RunOptions(timeout_in_ms=50))
    assert session.run(count) == 1
