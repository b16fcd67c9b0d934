"""Indices of stretches: what was given they are made of, and what they must be less than."""

from __future__ import annotations

import pytest

from penstock.engine.native import compiling
from penstock.engine.native.tracing import Refused

VALUES = {
    "f0": [[2, 3], [3, 1], "int32"],
    "f1": [[4], [1], "int64"],
    "v0": [[9, 5], [5, 1], "float32"],
    "v1": [[10, 5], [5, 1], "float32"],
}


def bounds_of(text: str) -> dict[str, int]:
    given = list(VALUES)
    *_, bounds = compiling.traced(text, given, [], [], ["v9"], VALUES, {})
    return {given[place]: limit for place, limit in bounds}


def test_what_was_given_is_known_through_moves() -> None:
    assert bounds_of("v9 = torch.embedding(v0, f0)") == {"f0": 9}
    assert bounds_of("v9 = v0.index_select(1, f0.to(torch.int64).reshape([-1])[2:])") == {"f0": 5}
    joined = "v2 = torch.cat([f1, f0.t().reshape(-1)], 0)\n"
    assert bounds_of(joined + "v9 = v1.index_select(0, v2)") == {"f0": 10, "f1": 10}
    twice = "v3 = v1.index_select(0, f1)\nv9 = v3 + v0.index_select(0, f1)"
    assert bounds_of(twice) == {"f1": 9}
    index = "v2 = f1.to(torch.int64).reshape(-1, 1).expand(4, 5)\n"
    assert bounds_of(index + "v9 = v1.clone().scatter_add_(0, v2, v0[:4])") == {"f1": 10}
    bag = "v2 = torch.arange(0, 6, 3, dtype=torch.int32)\n"
    bag += "v9 = torch.embedding_bag(v0, f0.reshape(-1), v2, False, 0)[0]"
    assert bounds_of(bag) == {"f0": 9}
    element = "v9 = v0[:4].gather(1, f1.unsqueeze(1))"
    assert bounds_of(element) == {"f1": 5}


def test_constants_are_known() -> None:
    *_, bounds = compiling.traced(
        "v9 = v0.index_select(0, f1)", ["v0", "v1"], [], ["f1"], ["v9"], VALUES, {}
    )
    assert bounds == [[2, 9]]


@pytest.mark.parametrize(
    "text",
    [
        "v9 = v0.index_select(0, f1 + 1)",
        "v9 = v0.index_select(0, torch.cat([f1, f1 * 2], 0))",
        "v2 = f1.view(2, 2)\nf1.add_(1)\nv9 = v0.index_select(0, v2.view(4))",
        "v2 = f1.clone()\nv2[1:].mul_(2)\nv9 = v0.index_select(0, v2)",
        "v9 = v0.index_select(0, v1[0].to(torch.int64))",
        "v9 = v0.index_select(0, torch.argmax(v1, 1))",
    ],
)
def test_what_is_computed_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="by an index that is computed"):
        bounds_of(text)
