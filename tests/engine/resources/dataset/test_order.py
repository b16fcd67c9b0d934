"""Repeated datasets: batches that are slices, and those across two epochs."""

from __future__ import annotations

import pytest
import torch

from penstock.engine.resources.dataset.base import Context, Dataset, EndOfSequence, Iterator
from penstock.engine.resources.dataset.batches import Batch
from penstock.engine.resources.dataset.order import Passing, Repeat
from penstock.engine.resources.dataset.sources import Slices


class _Plain(Passing):
    """The same elements, one at a time."""

    def iterator(self, context: Context) -> Iterator:
        inner = self.source.iterator(context)

        class One(Iterator):
            def next(self):
                return inner.next()

        return One()


def _batches(dataset: Dataset, most: int = 20) -> list[list[int]]:
    iterator = dataset.iterator(Context())
    found = []
    try:
        while len(found) < most:
            found.append(iterator.next()[0].tolist())
    except EndOfSequence:
        return [*found, "end"]
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("epochs", [0, 1, 2, 3, -1])
@pytest.mark.parametrize("count", [0, 1, 4, 6])
def test_batches_of_repeated_slices_are_those_of_single_elements(
    count: int, epochs: int, whole: bool, size: int
) -> None:
    slices = Slices([torch.arange(count)])
    quick = _batches(Batch(Repeat(slices, epochs), size, whole))
    assert quick == _batches(Batch(_Plain(Repeat(slices, epochs)), size, whole))


def test_a_batch_within_an_epoch_is_taken_as_a_slice() -> None:
    iterator = Repeat(Slices([torch.arange(6)]), -1).iterator(Context())
    assert iterator.next_batch(4, True)[0].tolist() == [0, 1, 2, 3]
    assert iterator.next_batch(4, True) is None
    assert iterator.next_batch(2, True)[0].tolist() == [4, 5]


def test_a_batch_is_in_memory_of_its_own() -> None:
    data = torch.arange(4)
    iterator = Batch(Repeat(Slices([data]), -1), 4, True).iterator(Context())
    iterator.next()[0].zero_()
    assert iterator.next()[0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("taken", range(6))
def test_batches_of_repeated_slices_go_on_where_they_were(taken: int) -> None:
    dataset = Batch(Repeat(Slices([torch.arange(6)]), 4), 4, False)
    first = dataset.iterator(Context())
    for _ in range(taken):
        first.next()
    second = dataset.iterator(Context())
    second.restore(first.save())
    left = []
    for iterator in (first, second):
        rest = []
        with pytest.raises(EndOfSequence):
            while True:
                rest.append(iterator.next()[0].tolist())
        left.append(rest)
    assert left[0] == left[1]
    assert len(left[0]) == 6 - taken
