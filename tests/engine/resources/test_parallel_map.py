"""Parallel maps: order, ends, errors and positions, alone and in batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch

from penstock.engine.resources.dataset import base, batches, parallel, sources, state
from penstock.foundation.base import errors
from tests.suite.clock import wait_until

_COUNT = 23


class _Function:
    """Stands for the body of a node's function."""

    def __init__(self, call: Callable[[Any], Any]) -> None:
        self._call = call

    def instance(self) -> Callable[[Any], tuple[Any, ...]]:
        return lambda value: (self._call(value),)


def _tenfold(value: Any) -> Any:
    # Later elements are often ready before earlier ones.
    time.sleep(0.002 * (int(value) % 3 == 0))
    return value * 10


def _mapped(call: Callable[[Any], Any] = _tenfold, calls: int = 3) -> parallel.ParallelMap:
    elements = sources.Elements([(torch.tensor(i),) for i in range(_COUNT)])
    return parallel.ParallelMap(elements, _Function(call), (), calls)


def _rest(iterator: base.Iterator) -> list[Any]:
    found = []
    while True:
        try:
            found.append(iterator.next()[0].tolist())
        except base.EndOfSequence:
            return found


@pytest.mark.parametrize("calls", [1, 2, 5])
def test_elements_come_in_order(calls: int) -> None:
    iterator = _mapped(calls=calls).iterator(base.Context())
    assert _rest(iterator) == [10 * i for i in range(_COUNT)]
    assert _rest(iterator) == []


@pytest.mark.parametrize("size", [1, 4, 23, 40])
@pytest.mark.parametrize("whole", [False, True])
def test_batches(size: int, whole: bool) -> None:
    wanted = [list(range(i, min(i + size, _COUNT))) for i in range(0, _COUNT, size)]
    wanted = [[10 * i for i in b] for b in wanted if len(b) == size or not whole]
    assert _rest(batches.Batch(_mapped(), size, whole).iterator(base.Context())) == wanted


def test_a_function_may_end_the_sequence() -> None:
    def call(value: Any) -> Any:
        if int(value) == 9:
            raise errors.OutOfRangeError(None, None, "enough")
        return _tenfold(value)

    assert _rest(_mapped(call).iterator(base.Context())) == [10 * i for i in range(9)]
    iterator = batches.Batch(_mapped(call), 4, False).iterator(base.Context())
    assert [len(b) for b in _rest(iterator)] == [4, 4, 1]


def test_an_error_stands_in_its_elements_place() -> None:
    def call(value: Any) -> Any:
        if int(value) == 5:
            raise errors.InvalidArgumentError(None, None, "five")
        return value

    iterator = _mapped(call).iterator(base.Context())
    assert [int(iterator.next()[0]) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(errors.InvalidArgumentError, match="five"):
        iterator.next()
    assert _rest(iterator) == list(range(6, _COUNT))


@pytest.mark.parametrize("taken", [0, 1, 7, 22, 23])
@pytest.mark.parametrize("size", [1, 5])
def test_positions(taken: int, size: int) -> None:
    dataset = batches.Batch(_mapped(), size, False)
    first = dataset.iterator(base.Context())
    for _ in range(min(taken, -(-_COUNT // size))):
        first.next()
    state = first.save()
    second = dataset.iterator(base.Context())
    second.restore(state)
    assert _rest(second) == _rest(first)


def test_no_more_is_read_than_there_is_room_for() -> None:
    seen: list[int] = []

    def call(value: Any) -> Any:
        seen.append(int(value))
        return value

    iterator = _mapped(call, calls=2).iterator(base.Context())
    iterator.next()
    wait_until(lambda: len(seen) >= 3)
    time.sleep(0.05)
    assert sorted(seen) == [0, 1, 2]


def test_threads_end_with_their_iterator() -> None:
    before = threading.active_count()
    iterator = _mapped().iterator(base.Context())
    iterator.next()
    assert threading.active_count() > before
    del iterator
    wait_until(lambda: threading.active_count() <= before)


def test_a_batch_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[str] = []
    wait = parallel.blocking.wait

    def counted(waiter: Any, give_up: Any, waiting_for: Callable[[], str]) -> None:
        waits.append(waiting_for())
        wait(waiter, give_up, waiting_for)

    monkeypatch.setattr(parallel.blocking, "wait", counted)

    def call(value: Any) -> Any:
        time.sleep(0.002)
        return value

    batches.Batch(_mapped(call, calls=2), 20, True).iterator(base.Context()).next()
    # For the last one to begin, and for it to end.
    assert len(waits) <= 2


def _large(value: Any) -> Any:
    time.sleep(0.002 * (int(value) % 3 == 0))
    return torch.full((64, 64), float(value))


def _firsts(batch: Any) -> list[float]:
    assert batch.is_contiguous() and (batch == batch[:, :1, :1]).all()
    return [float(v) for v in batch[:, 0, 0]]


@pytest.mark.parametrize("size", [2, 5, 23, 40])
def test_large_elements_are_written_into_their_batch(size: int) -> None:
    iterator = batches.Batch(_mapped(_large), size, False).iterator(base.Context())
    first = iterator.next()[0]
    assert _firsts(first) == [float(i) for i in range(min(size, _COUNT))]
    # Memory of its own, that no later batch is written to.
    first.fill_(-1)
    rest = [iterator.next()[0] for _ in range(-(-_COUNT // size) - 1)]
    assert sum(map(_firsts, rest), []) == [float(i) for i in range(size, _COUNT)]
    assert (first == -1).all()


def test_no_second_copy_is_made_of_large_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "stacked", None)
    iterator = batches.Batch(_mapped(_large), 4, True).iterator(base.Context())
    assert [_firsts(iterator.next()[0]) for _ in range(5)] == [
        [float(4 * i + k) for k in range(4)] for i in range(5)
    ]


def test_batches_are_whole_again_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(value: Any) -> Any:
        if int(value) == 5:
            raise errors.InvalidArgumentError(None, None, "five")
        return _large(value)

    stacked: list[int] = []
    stack = batches.stacked
    monkeypatch.setattr(batches, "stacked", lambda e: stacked.append(len(e)) or stack(e))
    iterator = batches.Batch(_mapped(call), 3, True).iterator(base.Context())
    assert _firsts(iterator.next()[0]) == [0.0, 1.0, 2.0]
    with pytest.raises(errors.InvalidArgumentError, match="five"):
        iterator.next()
    found = [_firsts(iterator.next()[0]) for _ in range(5)]
    assert found == [[float(3 * i + k) for k in range(3)] for i in range(2, 7)]
    # Those that were ahead already are put together; the last ones are written where they belong.
    assert len(stacked) < 5


def test_elements_of_other_shapes_do_not_go_into_one_batch() -> None:
    def call(value: Any) -> Any:
        return torch.zeros(5000 + int(value) // 10)

    iterator = batches.Batch(_mapped(call), 10, True).iterator(base.Context())
    assert [iterator.next()[0].shape for _ in range(2)] == [(10, 5000), (10, 5001)]
    iterator = batches.Batch(_mapped(call), 7, True).iterator(base.Context())
    iterator.next()
    with pytest.raises(errors.InvalidArgumentError, match="different shapes"):
        iterator.next()


def test_positions_between_large_elements() -> None:
    dataset = batches.Batch(_mapped(_large), 5, False)
    first = dataset.iterator(base.Context())
    first.next()
    saved = state.decode(state.encode(first.save()))
    second = dataset.iterator(base.Context())
    second.restore(saved)
    for wanted in ([5, 6, 7, 8, 9], [10, 11, 12, 13, 14]):
        assert _firsts(second.next()[0]) == wanted == _firsts(first.next()[0])
