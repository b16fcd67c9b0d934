"""Restoring reads into memory that variables gave up, and only where nobody else holds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from penstock.engine.resources.pending import Pending, Spare
from penstock.engine.resources.variable import Variable

_SIZE = 1 << 18  # float32: 1 MiB


@pytest.fixture(autouse=True)
def _as_in_programs() -> Iterator[None]:
    with torch.inference_mode():
        yield


def _restored(spare: Spare, value: float, dims: tuple[int, ...] = (_SIZE,)) -> Pending:
    return Pending(dims, torch.float32, lambda made: made.fill_(value), spare)


def _variables(count: int) -> list[Variable]:
    made = [Variable(f"v{index}") for index in range(count)]
    for variable in made:
        variable.value = torch.zeros(_SIZE)
    return made


def test_memory_goes_from_one_variable_to_the_next() -> None:
    variables = _variables(3)
    for _ in range(3):  # what was restored is restored again
        before = [variable.value.data_ptr() for variable in variables]
        spare = Spare()
        for index, variable in enumerate(variables):
            variable.assign(_restored(spare, float(index)))
        after = [variable.value.data_ptr() for variable in variables]
        assert after[1:] == before[:-1] and after[0] not in before
        assert [variable.value[-1].item() for variable in variables] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "hold",
    [
        lambda tensor: tensor,
        lambda tensor: tensor.detach(),
        lambda tensor: tensor[5:7],
        lambda tensor: tensor.numpy(),
        lambda tensor: tensor.detach().numpy(),
        lambda tensor: tensor.untyped_storage(),
        lambda tensor: np.from_dlpack(tensor),
    ],
)
def test_memory_that_somebody_holds_is_left_alone(hold: Any) -> None:
    first, second = _variables(2)
    first.value.fill_(-1.0)
    held = hold(first.value)
    address = first.value.data_ptr()
    spare = Spare()
    first.assign(_restored(spare, 1.0))
    second.assign(_restored(spare, 2.0))
    assert second.value.data_ptr() != address
    assert first.value[0].item() == 1.0 and second.value[0].item() == 2.0
    if not isinstance(held, torch.UntypedStorage):
        assert float(held[0]) == -1.0


def test_other_sizes_and_types_get_memory_of_their_own() -> None:
    first, second = _variables(2)
    address = first.value.data_ptr()
    spare = Spare()
    first.assign(_restored(spare, 1.0))
    second.assign(_restored(spare, 2.0, (3, _SIZE)))
    assert second.value.shape == (3, _SIZE) and second.value.data_ptr() != address
    assert second.value.data_ptr() % 64 == 0
    small = Variable("small")
    small.assign(_restored(spare, 3.0, ()))
    assert small.value.item() == 3.0


def test_a_read_that_fails_leaves_the_old_value() -> None:
    first, second = _variables(2)
    second.value.fill_(7.0)

    def fail(made: torch.Tensor) -> torch.Tensor:
        made.fill_(9.0)
        raise OSError("no such luck")

    spare = Spare()
    first.assign(_restored(spare, 1.0))
    with pytest.raises(OSError, match="luck"):
        second.assign(Pending((_SIZE,), torch.float32, fail, spare))
    assert second.value.eq(7.0).all() and first.value.eq(1.0).all()
