"""Distinct integers by a table or one sort, beside what a dictionary finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from penstock.ops.array import integer_order


def _by_hand(values: list[int]) -> tuple[list[int], list[int]]:
    place: dict[int, int] = {}
    which = [place.setdefault(value, len(place)) for value in values]
    return list(place), which


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("size", [1, 2, 3, 64, 65, 1000])
def test_what_is_found_is_in_the_order_it_came(dtype: torch.dtype, size: int) -> None:
    values = np.random.RandomState(size).randint(-50, 50, size).tolist()
    found: Any = integer_order.first_seen(torch.tensor(values, dtype=dtype))
    assert found[0].dtype == dtype
    assert tuple(part.tolist() for part in found) == _by_hand(values)


@pytest.mark.parametrize("spread", [1, 1 << 20, 1 << 21, 1 << 30])
@pytest.mark.parametrize("low", [-(1 << 30), 0])
def test_near_and_far_numbers(spread: int, low: int) -> None:
    values = (low + np.random.RandomState(5).randint(0, spread, 500)).repeat(3).tolist()
    np.random.RandomState(6).shuffle(values)
    found: Any = integer_order.first_seen(torch.tensor(values, dtype=torch.int32))
    assert tuple(part.tolist() for part in found) == _by_hand(values)


def test_numbers_far_apart() -> None:
    info = torch.iinfo(torch.int32)
    values = [info.max, info.min, 0, info.min]
    found: Any = integer_order.first_seen(torch.tensor(values, dtype=torch.int32))
    assert tuple(part.tolist() for part in found) == _by_hand(values)
    far = torch.tensor([2**62, -(2**62), 2**62])
    assert integer_order.first_seen(far) is None


def test_what_it_is_not_for() -> None:
    for x in (torch.ones(3), torch.ones(2, 2, dtype=torch.int32), torch.ones(0, dtype=torch.int64)):
        assert integer_order.first_seen(x) is None


def test_all_differ() -> None:
    for dtype in (torch.int32, torch.int64):
        assert integer_order.all_differ(torch.tensor([3, 1, 2], dtype=dtype))
        assert not integer_order.all_differ(torch.tensor([3, 1, 3], dtype=dtype))
        assert integer_order.all_differ(torch.tensor([], dtype=dtype))
