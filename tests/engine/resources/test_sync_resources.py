"""Barriers, staging areas, mutexes, accumulators and stacks under threads and deadlines."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from penstock.engine.resources import waiting
from penstock.engine.resources.accumulator import DenseAccumulator, SparseAccumulator
from penstock.engine.resources.barrier import Barrier
from penstock.engine.resources.mutex import Mutex
from penstock.engine.resources.stack import Stack, StepStack
from penstock.engine.resources.staging import MapStagingArea, StagingArea
from penstock.foundation.base import errors
from tests.suite.clock import PATIENCE


def _keys(*names: str) -> np.ndarray:
    array = np.empty(len(names), object)
    array[:] = [n.encode() for n in names]
    return array


def _all(*work: Callable[[], Any]) -> None:
    """Runs each in a thread; fails when one raises or does not end."""
    raised: list[BaseException] = []

    def guarded(one: Callable[[], Any]) -> None:
        try:
            with waiting.running(None, PATIENCE):
                one()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(w,), daemon=True) for w in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised, raised


BLOCKED = [
    (lambda: Barrier("b", [torch.float32], [()]), lambda r: r.take_many(1)),
    (lambda: StagingArea("s", 1, 0), lambda r: r.get([torch.float32])),
    (lambda: StagingArea("s", 1, 0), lambda r: r.peek(3, [torch.float32])),
    (lambda: MapStagingArea("m", 1, 0, True), lambda r: r.get(3, [0], [torch.float32])),
    (lambda: MapStagingArea("m", 1, 0, True), lambda r: r.get_any([0], [torch.float32])),
    (lambda: DenseAccumulator("a", torch.float32, None, True), lambda r: r.take(1)),
    (lambda: SparseAccumulator("a", torch.float32, None, True), lambda r: r.take(1)),
]


@pytest.mark.parametrize(("make", "block"), BLOCKED)
def test_deadline_and_cancel_end_every_wait(make: Any, block: Any) -> None:
    resource = make()
    with waiting.running(None, 0.05), pytest.raises(errors.DeadlineExceededError, match="waited"):
        block(resource)
    cancellation = waiting.Cancellation()
    timer = threading.Timer(0.05, lambda: cancellation.cancel("the session was closed"))
    timer.start()
    with (
        waiting.running(cancellation, PATIENCE),
        pytest.raises(errors.CancelledError, match="closed"),
    ):
        block(resource)


def test_mutex_deadline_names_it_and_leaves_it_whole() -> None:
    mutex = Mutex("m")
    lock = mutex.acquire()
    with waiting.running(None, 0.05), pytest.raises(errors.DeadlineExceededError, match="'m'"):
        mutex.acquire()
    del lock
    assert not mutex.held
    mutex.acquire().release()
    assert not mutex.held


def test_mutex_excludes_and_is_fair() -> None:
    mutex, inside, seen, count = Mutex("m"), 0, [], 40

    def work() -> None:
        nonlocal inside
        for _ in range(count):
            lock = mutex.acquire()
            inside += 1
            seen.append(inside)
            time.sleep(0)
            inside -= 1
            del lock

    _all(*[work] * 6)
    assert seen == [1] * (6 * count)
    assert not mutex.held


def test_mutex_serves_in_order() -> None:
    mutex, order = Mutex("m"), []
    lock = mutex.acquire()

    def enter(i: int) -> None:
        held = mutex.acquire()
        order.append(i)
        del held

    threads = []
    for i in range(5):
        thread = threading.Thread(target=enter, args=(i,), daemon=True)
        thread.start()
        threads.append(thread)
        while len(mutex._line) <= i:
            time.sleep(0.001)
    del lock
    for thread in threads:
        thread.join()
    assert order == list(range(5))


def test_mutex_is_released_by_a_failed_holder() -> None:
    mutex = Mutex("m")

    def fails() -> None:
        lock = mutex.acquire()
        raise ValueError(lock)

    with pytest.raises(ValueError, match="Lock"):
        fails()
    gc.collect()
    assert not mutex.held


def test_barrier_loses_and_doubles_nothing() -> None:
    barrier = Barrier("b", [torch.int64, torch.int64], [(), ()])
    count, taken = 60, []

    def insert(component: int, part: int) -> Callable[[], None]:
        def work() -> None:
            for i in range(count):
                values = torch.tensor([part * count + i])
                barrier.insert_many(component, _keys(f"{part}/{i}"), values)

        return work

    def take() -> None:
        for _ in range(count):
            _, keys, (first, second) = barrier.take_many(3)
            taken.extend(zip(keys.tolist(), first.tolist(), second.tolist()))

    _all(*[insert(c, p) for c in (0, 1) for p in range(3)], take)
    assert sorted(taken) == sorted(
        (f"{p}/{i}".encode(), p * count + i, p * count + i) for p in range(3) for i in range(count)
    )
    assert (barrier.ready_size(), barrier.incomplete_size()) == (0, 0)


def test_closing_a_barrier_wakes_its_takes() -> None:
    barrier = Barrier("b", [torch.float32], [()])
    barrier.insert_many(0, _keys("x"), torch.ones(1))

    def fails() -> None:
        with pytest.raises(errors.OutOfRangeError, match="insufficient"):
            barrier.take_many(2)

    def close() -> None:
        while not barrier._takes:
            time.sleep(0.001)
        barrier.close()

    _all(fails, close)
    assert barrier.ready_size() == 1


def test_withdrawn_take_lets_the_next_go_on() -> None:
    barrier, withdrawn = Barrier("b", [torch.float32], [()]), threading.Event()
    got = []

    def large() -> None:
        with waiting.running(None, 0.3), pytest.raises(errors.DeadlineExceededError):
            barrier.take_many(5)
        withdrawn.set()

    def small() -> None:
        while not barrier._takes and not withdrawn.is_set():
            time.sleep(0.001)
        barrier.insert_many(0, _keys("x"), torch.ones(1))
        got.append(barrier.take_many(1)[1].tolist())

    _all(large, small)
    assert got == [[b"x"]]


def test_staging_keeps_order_and_bounds() -> None:
    area, got, most = StagingArea("s", 3, 0), [], []

    def put() -> None:
        for i in range(300):
            area.put([torch.tensor(i)])
            most.append(area.size())

    def get() -> None:
        for _ in range(300):
            got.append(int(area.get([torch.int64])[0]))

    _all(put, get)
    assert got == list(range(300))
    assert max(most) <= 3


def test_staging_owns_its_memory_and_frees_its_bytes() -> None:
    area = StagingArea("s", 0, 16)
    value = torch.ones(4)
    area.put([value])
    value.zero_()
    assert area.peek(0, [torch.float32])[0].sum() == 4
    with waiting.running(None, 0.02), pytest.raises(errors.DeadlineExceededError, match="16 of 16"):
        area.put([torch.ones(1)])
    assert area.get([torch.float32])[0].sum() == 4
    area.put([torch.ones(1)])
    with pytest.raises(errors.ResourceExhaustedError, match="20 bytes"):
        area.put([torch.ones(5)])


def test_map_staging_under_threads() -> None:
    area, got, count = MapStagingArea("m", 2, 0, True), [], 100
    both = [torch.int64, torch.int64]

    def put(component: int) -> Callable[[], None]:
        return lambda: [
            area.put(i, [component], [torch.tensor(i)], 2) for i in range(count)
        ] and None  # fmt: skip

    def get() -> None:
        for i in range(count):
            got.append([int(v) for v in area.get(i, [0, 1], both)])

    _all(put(0), put(1), get)
    assert got == [[i, i] for i in range(count)]
    assert (area.size(), area.incomplete_size()) == (0, 0)


def test_a_put_may_complete_what_a_full_map_waits_for() -> None:
    area = MapStagingArea("m", 1, 0, False)
    area.put(1, [0], [torch.tensor(1)], 1)
    order = []

    def put() -> None:
        area.put(2, [0], [torch.tensor(2)], 1)
        order.append("put")

    def get() -> None:
        while not area._requests:
            time.sleep(0.001)
        order.append(int(area.get(1, [0], [torch.int64])[0]))

    _all(put, get)
    assert set(order) == {1, "put"}
    assert area.size() == 1


def test_accumulator_adds_every_gradient_once() -> None:
    total, count = DenseAccumulator("a", torch.float64, (), False), 200
    taken = []

    def apply() -> None:
        for _ in range(count):
            total.apply(10**9, torch.ones((), dtype=torch.float64))

    def take() -> None:
        while sum(taken) < 4 * count:
            taken.append(float(total.take(1)))

    _all(apply, apply, apply, apply, take)
    assert sum(taken) == 4 * count


def test_sparse_mean_is_per_row() -> None:
    rows = SparseAccumulator("a", torch.float32, (4, 1), True)
    rows.apply(0, torch.tensor([0, 2]), torch.tensor([[1.0], [3.0]]), None)
    rows.apply(0, torch.tensor([2, 3]), torch.tensor([[5.0], [7.0]]), (4, 1))
    indices, values, shape = rows.take(2)
    assert indices.tolist() == [0, 2, 3]
    assert values.flatten().tolist() == [1, 4, 7]
    assert shape.tolist() == [4, 1]


def test_stack_is_the_threads_own() -> None:
    stack = StepStack("s")

    def work() -> None:
        stack.begin(3)
        for i in range(3):
            stack.push(torch.tensor(i))
            time.sleep(0.001)
        with pytest.raises(errors.InvalidArgumentError, match="max_size"):
            stack.push(torch.tensor(3))
        assert [int(stack.pop(torch.int64)) for _ in range(3)] == [2, 1, 0]
        with pytest.raises(errors.InvalidArgumentError, match="empty"):
            stack.pop(torch.int64)
        stack.close()
        with pytest.raises(errors.InvalidArgumentError, match="closed"):
            stack.push(torch.tensor(0))

    _all(*[work] * 4)


def test_taking_nothing_of_a_closed_barrier() -> None:
    barrier = Barrier("b", [torch.float32, torch.float32], [(), ()])
    barrier.insert_many(0, _keys("x"), torch.ones(1))
    assert barrier.take_many(0)[1].size == 0
    barrier.close()
    assert barrier.take_many(0)[1].size == 0  # "x" may be completed yet
    with pytest.raises(errors.OutOfRangeError):
        barrier.take_many(0, allow_small_batch=True)
    barrier.insert_many(1, _keys("x"), torch.ones(1))
    assert barrier.take_many(0, allow_small_batch=True)[1].size == 0
    assert barrier.take_many(5, allow_small_batch=True)[1].tolist() == [b"x"]
    with pytest.raises(errors.OutOfRangeError):
        barrier.take_many(0)


def test_failed_insertion_keeps_what_it_completed() -> None:
    barrier = Barrier("b", [torch.float32, torch.float32], [(), ()])
    barrier.insert_many(1, _keys("x", "y"), torch.ones(2))
    barrier.insert_many(0, _keys("z"), torch.ones(1))
    with pytest.raises(errors.InvalidArgumentError, match="'z' already"):
        barrier.insert_many(0, _keys("x", "z", "y"), torch.ones(3))
    assert barrier.take_many(1)[1].tolist() == [b"x"]


def test_barrier_can_be_cancelled_after_it_was_closed() -> None:
    barrier = Barrier("b", [torch.float32], [()])
    barrier.close()
    barrier.close(cancel_pending_enqueues=True)
    with pytest.raises(errors.CancelledError, match="cancelled"):
        barrier.close(cancel_pending_enqueues=True)


def test_map_keeps_pieces_beside_a_whole_tuple_of_their_key() -> None:
    area, both = MapStagingArea("m", 1, 0, True), [torch.int64, torch.int64]
    one, two = torch.tensor(1), torch.tensor(2)
    area.put(7, [0, 1], [one, one], 2)
    area.put(7, [0], [two], 2)
    with pytest.raises(errors.InvalidArgumentError, match="whole tuple of key 7 already"):
        area.put(7, [1], [two], 2)
    with pytest.raises(errors.InvalidArgumentError, match="whole tuple of key 7 already"):
        area.put(7, [0, 1], [two, two], 2)
    assert [int(v) for v in area.get(7, [0, 1], both)] == [1, 1]
    area.put(7, [1], [two], 2)
    assert [int(v) for v in area.get(7, [0, 1], both)] == [2, 2]


@pytest.mark.parametrize("use", ["put", "get", "peek", "get_any"])
def test_map_indices_increase(use: str) -> None:
    area, both = MapStagingArea("m", 0, 0, True), [torch.int64, torch.int64]
    values = [torch.tensor(0)] * 2
    call = {
        "put": lambda: area.put(1, [1, 0], values, 2),
        "get": lambda: area.get(1, [1, 0], both),
        "peek": lambda: area.peek(1, [0, 0], both),
        "get_any": lambda: area.get_any([1, 0], both),
    }[use]
    with pytest.raises(errors.InvalidArgumentError, match="increase"):
        call()


@pytest.mark.parametrize("kind", ["line", "map"])
def test_a_dropped_ticket_withdraws_its_put(kind: str) -> None:
    one = torch.tensor(1)
    area: Any
    if kind == "line":
        area = StagingArea("s", 1, 0)
        tickets = [area.start_put([one]), area.start_put([one]), area.start_put([one])]
    else:
        area = MapStagingArea("m", 1, 0, True)
        tickets = [area.start_put(key, [0], [one], 1) for key in range(3)]
    tickets.pop(0).settle()
    del tickets[0]
    area.get([torch.int64]) if kind == "line" else area.get(0, [0], [torch.int64])
    assert area.size() == 1
    with waiting.running(None, PATIENCE):
        tickets.pop().settle()
    area.clear()
    assert area.size() == 0


def test_stack_ends_as_in_tensorflow() -> None:
    stack = Stack("s", 1)
    stack.push(torch.ones(1))
    with pytest.raises(errors.InternalError, match="asked for"):
        stack.pop(torch.int64)
    stack.close()
    stack.close()
    with pytest.raises(errors.InvalidArgumentError, match="closed"):
        stack.pop(torch.float32)


@pytest.mark.parametrize(
    ("dims", "rows", "wanted"),
    [
        ((2, None), (1, 2, 2, 2), [2, 2, 2, 2]),
        ((None, 2), (1, 2, 2), [-1, 2, 2]),
        ((2,), (1, 2, 3), [2, 2, 3]),
        ((2, None, 3), (1, 4, 3), [2, 4, 3]),
        (None, (1, 2), [-1, 2]),
    ],
)
def test_rows_say_the_dims_that_were_not_declared(
    dims: Any, rows: tuple[int, ...], wanted: list[int]
) -> None:
    accumulator = SparseAccumulator("a", torch.float32, dims, True)
    accumulator.apply(0, torch.tensor([0]), torch.ones(rows), None)
    assert accumulator.take(1)[2].tolist() == wanted
