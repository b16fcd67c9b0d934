"""Parallel maps: order, ends, errors and positions, alone and in batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch

from penstock.engine.resources.dataset import base, batches, parallel, sources
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
