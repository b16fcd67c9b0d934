"""What each kind of store gives out, and that its memory is its own."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from penstock.engine.resources import stores
from penstock.foundation.base import errors

INT = [torch.int64]


def _numbers(*values: int) -> list[Any]:
    return [torch.tensor(values, dtype=torch.int64)]


def _taken(store: stores.Store, count: int) -> list[int]:
    return list(store.many(store.take(count))[0].tolist())


def test_first_in_first_out_across_batches() -> None:
    store = stores.Store(INT, [()])
    store.put(_numbers(1, 2, 3, 4), 1, 3)
    store.put(_numbers(5), 0, 1)
    assert _taken(store, 2) == [2, 3]
    assert _taken(store, 2) == [4, 5]
    assert len(store) == 0


@pytest.mark.parametrize("count", [1, 3, 4])
def test_given_back_elements_come_first(count: int) -> None:
    store = stores.Store(INT, [()])
    store.put(_numbers(1, 2, 3), 0, 3)
    store.put(_numbers(4, 5), 0, 2)
    store.give_back(store.take(count))
    assert len(store) == 5
    assert _taken(store, 5) == [1, 2, 3, 4, 5]


def test_a_batch_of_nothing_has_the_shape() -> None:
    store = stores.PaddingStore([torch.float32, object], [(2, None), ()])
    empty = store.many([])
    assert [list(c.shape) for c in empty] == [[0, 2, 0], [0]]
    assert empty[0].dtype is torch.float32 and empty[1].dtype == object


def test_padding_to_the_largest() -> None:
    store = stores.PaddingStore([torch.int64, object], [(None,), (None,)])
    for width in (1, 3, 0):
        texts = np.array([[b"x"] * width], object).reshape(1, width)
        store.put([torch.ones(1, width, dtype=torch.int64), texts], 0, 1)
    numbers, texts = store.many(store.take(3))
    assert numbers.tolist() == [[1, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert texts.tolist() == [[b"x", b"", b""], [b"x", b"x", b"x"], [b"", b"", b""]]


def test_copied_is_memory_of_its_own() -> None:
    value, text = torch.ones(2), np.array([b"a"], object)
    copies = stores.copied([value, text])
    value.zero_()
    text[0] = b"b"
    assert copies[0].tolist() == [1, 1] and copies[1].tolist() == [b"a"]


def test_elements_given_out_do_not_overlap() -> None:
    store = stores.Store(INT, [()])
    store.put(_numbers(1, 2, 3), 0, 3)
    first = store.one(store.take(1))[0]
    first.fill_(9)
    assert _taken(store, 2) == [2, 3]


@pytest.mark.parametrize("shape", [(), None])
@pytest.mark.parametrize("kind", [torch.int64, object])
def test_shuffled_gives_each_once(shape: Any, kind: Any) -> None:
    store = stores.ShuffledStore([kind], [shape], [1, 2])
    given: Counter[Any] = Counter()
    random = np.random.default_rng(0)
    number = 0
    for _ in range(200):
        count = int(random.integers(0, 9))
        batch = list(range(number, number + count))
        number += count
        if count:
            made = torch.tensor(batch) if kind is torch.int64 else np.array(batch, object)
            store.put([made], 0, count)
        wanted = min(int(random.integers(0, 7)), len(store))
        for piece in store.take(wanted) if wanted else []:
            given.update(piece[0].tolist())
    for piece in store.take(len(store)) if len(store) else []:
        given.update(piece[0].tolist())
    assert given == Counter(range(number))


@pytest.mark.long
def test_shuffled_is_uniform_and_repeats_with_its_seed() -> None:
    def draws(seed: Any, count: int) -> list[int]:
        store = stores.ShuffledStore(INT, [()], seed)
        seen = []
        for _ in range(2000):
            store.put(_numbers(0, 1, 2, 3), 0, 4)
            seen.append(_taken(store, count)[0])
            store.take(4 - count)
        return seen

    for count in (1, 2):
        assert draws([3, 4], count) == draws([3, 4], count)
        frequencies = Counter(draws([3, 4], count))
        assert all(abs(frequencies[i] - 500) < 100 for i in range(4)), frequencies


def test_smallest_priority_first_equals_in_their_order() -> None:
    store = stores.PriorityStore([torch.int64, torch.int64], [(), ()])
    store.put([torch.tensor([3, 1, 2, 1]), torch.tensor([0, 1, 2, 3])], 0, 4)
    pieces = store.take(3)
    assert [int(p[1][0]) for p in pieces] == [1, 3, 2]
    store.give_back(pieces)
    store.put([torch.tensor([1]), torch.tensor([4])], 0, 1)
    assert store.many(store.take(5))[1].tolist() == [1, 3, 4, 2, 0]


def test_wrong_shapes_are_refused() -> None:
    store = stores.Store(INT, [(2,)])
    mismatch = r"component 0. Expected \[2\], got \[3\]"
    with pytest.raises(errors.InvalidArgumentError, match=mismatch):
        store.check([torch.zeros(1, 3)], "a queue")
    with pytest.raises(errors.InvalidArgumentError, match="same size along their first dim"):
        stores.batch_size([torch.zeros(2), torch.zeros(3)], "a queue")
    with pytest.raises(errors.InvalidArgumentError, match="same size along their first dim"):
        stores.batch_size([torch.zeros(())], "a queue")
