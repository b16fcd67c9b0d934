"""The state of a variable."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from penstock.engine.resources.variable import Variable


def test_a_new_variable_has_no_value() -> None:
    v = Variable("v", (2,))
    assert not v.initialized
    with pytest.raises(AttributeError):
        v.value
    v.assign(torch.ones(2))
    assert v.initialized


def test_the_assigned_memory_is_not_kept_and_the_own_is() -> None:
    v, given = Variable("v", (2,)), torch.ones(2)
    v.assign(given)
    own = v.value
    given.zero_()
    assert own.tolist() == [1.0, 1.0]
    v.assign(torch.full((2,), 5.0))
    assert v.value is own and own.tolist() == [5.0, 5.0]


def test_shapes_are_checked_unless_told_otherwise() -> None:
    v = Variable("v", (2, None))
    v.assign(torch.ones(2, 7))
    with pytest.raises(ValueError, match=r"'v' has shape \[2, None\].*\[3, 7\]"):
        v.assign(torch.ones(3, 7))
    v.assign(torch.ones(3), validate_shape=False)
    assert v.value.shape == (3,)
    Variable("any").assign(torch.ones(1, 2, 3))


def test_string_values_are_copied() -> None:
    v, given = Variable("v"), np.array([b"a"], object)
    v.assign(given)
    given[0] = b"b"
    assert v.value.tolist() == [b"a"]


def test_a_preferred_layout_changes_memory_and_not_the_value() -> None:
    v = Variable("v", (2, 3))
    value = torch.arange(6.0).reshape(2, 3)
    v.assign(value)
    v.prefer_layout((1, 0))
    assert torch.equal(v.value, value) and v.value.stride() == (1, 2)
    v.assign(value + 1)
    assert torch.equal(v.value, value + 1) and v.value.stride() == (1, 2)
    v.prefer_layout((0, 1))
    assert v.layout == (1, 0), "the first wish is kept"


def test_a_layout_wished_for_before_the_first_value() -> None:
    v = Variable("v")
    v.prefer_layout((2, 0, 1))
    v.assign(torch.arange(24.0).reshape(2, 3, 4))
    assert torch.equal(v.value, torch.arange(24.0).reshape(2, 3, 4))
    assert v.value.permute(2, 0, 1).is_contiguous()
