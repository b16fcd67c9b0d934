"""Which versions are served: decisions alone."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from penstock.cluster.serving.versions import Plan, Policy, plan
from penstock.foundation.base import errors

NUMBERS = st.sets(st.integers(0, 9))


def test_policies() -> None:
    found = [5, 1, 30]
    assert Policy.parse("latest").chosen(found) == [30]
    assert Policy.parse("latest:2").chosen(found) == [5, 30]
    assert Policy.parse("all").chosen(found) == [1, 5, 30]
    assert Policy.parse("5,1,7").chosen(found) == [1, 5]
    assert Policy.parse("latest").chosen([]) == []


@pytest.mark.parametrize("text", ["", "latest:0", "latest:x", "latest:", "-1", "1,", "a", "²"])
def test_what_is_no_policy(text: str) -> None:
    if text == "latest:":
        assert Policy.parse(text) == Policy(latest=1)
        return
    with pytest.raises(errors.InvalidArgumentError, match="no choice of versions"):
        Policy.parse(text)


@given(NUMBERS, NUMBERS)
def test_a_plan_makes_the_loaded_the_chosen(chosen: set[int], loaded: set[int]) -> None:
    todo = plan(chosen, loaded)
    after = (loaded | set(todo.load)) - set(todo.drop)
    assert after == (chosen or loaded)
    assert not set(todo.load) & loaded and set(todo.drop) <= loaded
    assert list(todo.load) == sorted(todo.load, reverse=True)


def test_nothing_found_ends_nothing() -> None:
    assert plan([], [1, 2]) == Plan((), ())
