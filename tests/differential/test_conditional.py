"""What explains a difference by its call holds of the calls that it names, and of no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.jobs import pack
from tests.differential import conditional
from tests.differential.judge import judge

HUGE = float(np.finfo(np.float32).max)


def _tensor(value: Any, dtype: str = "float32") -> dict[str, Any]:
    return {"k": "const", "static": None, "dtype": dtype, "v": pack(np.array(value, dtype))}


def _case(op: str, *args: dict[str, Any]) -> dict[str, Any]:
    return {"op": op, "args": list(args), "kwargs": {}}


def _option(value: Any) -> dict[str, Any]:
    return {"k": "py", "v": value}


def _sparse(labels: list[int]) -> dict[str, Any]:
    places = [[row, 0] for row in range(len(labels))]
    parts = (places, labels, [len(labels), 3])
    return {"k": "sparse", "parts": [_tensor(part, "int64") for part in parts]}


def _indices(*numbers: int) -> dict[str, Any]:
    return {"k": "list", "parts": [_tensor(list(numbers), "int32")]}


BOX = [0.0, 0.0, 1.0, 1.0]
FAR = [2.0, 2.0, 3.0, 4.0]
SCORES = _tensor([0.9, 0.8])
CASES = {
    "sum of huge": (_case("losses.huber_loss", _tensor([HUGE, 1.0])), True),
    "sum of a huge Python number": (_case("losses.huber_loss", _option([[HUGE], [1.0]])), True),
    "sum": (_case("losses.huber_loss", _tensor([1e3, 1.0]), _option([[1], [1, 2]])), False),
    "best of NaN": (_case("metrics.recall_at_k", _tensor([np.nan, 1.0])), True),
    "best": (_case("metrics.recall_at_k", _tensor([2.0, 1.0])), False),
    "tied boxes": (
        _case("image.non_max_suppression", _tensor([BOX, FAR]), _tensor([0.5, 0.5])), True,
    ),
    "boxes": (_case("image.non_max_suppression", _tensor([BOX, FAR]), SCORES), False),
    "box without area": (
        _case("image.non_max_suppression", _tensor([BOX, [1.0, 2.0, 1.0, 3.0]]), SCORES), True,
    ),
    "half boxes": (
        _case("image.non_max_suppression", _tensor([BOX, FAR], "float16"), SCORES), True,
    ),
    "overlaps": (
        _case("image.non_max_suppression_overlaps", _tensor(np.eye(2)), SCORES, _option(2),
              _option(0.5)), False,
    ),
    "overlaps without their own": (
        _case("image.non_max_suppression_overlaps", _tensor(np.zeros((2, 2))), SCORES, _option(2),
              _option(0.5)), True,
    ),
    "classes": (
        _case("image.combined_non_max_suppression", _tensor([[[BOX], [FAR]]]),
              _tensor([[[0.1, 0.2], [0.3, 0.4]]])), False,
    ),
    "tied classes": (
        _case("image.combined_non_max_suppression", _tensor([[[BOX], [FAR]]]),
              _tensor([[[0.1, 0.2], [0.2, 0.4]]])), True,
    ),
    "labels": (_case("nn.ctc_loss", _sparse([0, 3]), _tensor(np.zeros((4, 2, 5)))), False),
    "no labels": (_case("nn.ctc_loss", _sparse([0, 4]), _tensor(np.zeros((4, 2, 5)))), True),
    "sorted": ({**_case("math.top_k", SCORES), "kwargs": {"sorted": _option(True)}}, False),
    "unsorted": ({**_case("math.top_k", SCORES), "kwargs": {"sorted": _option(False)}}, True),
    "rows": (_case("dynamic_stitch", _indices(2, 0, 1)), False),
    "gaps": (_case("dynamic_stitch", _indices(3, 0, 1)), True),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_calls_are_told_apart(name: str) -> None:
    case, explained = CASES[name]
    assert bool(conditional.why(case, "value: np.float32(nan) at [0], expected 1")) == explained
    assert not conditional.why(case, "dtype: float32, TensorFlow float64")
    assert not conditional.why({**case, "op": "abs"}, "value: np.float32(nan), expected 1")


@pytest.mark.parametrize(("found", "explained"), [("0.5000001", True), ("0.5001", False)])
def test_roundings_of_float32_are_no_more(found: str, explained: bool) -> None:
    text = f"value: np.float64({found}) at [], expected np.float64(0.5) (1 of 1)"
    assert bool(conditional.why(_case("losses.log_loss"), text)) == explained


NAN, ONE = "value: np.float32(nan) at [0], expected ", "value: np.float32(1.0) at [0], expected "
HALF = "value: np.float32(1.001) at [0], expected np.float32(1.0) (1 of 2)"
FILES = "elements: 0: b'a' at [], expected b'b'"
SINGULAR, REGULAR = [[1.0, 2.0], [2.0, 4.0]], [[2.0, 0.0], [0.0, 1.0]]
TEXTS = {
    "no strings": ("fingerprint", [_tensor(np.zeros((1, 0)), "object")], ONE, True),
    "strings": ("fingerprint", [_tensor([b"a"], "object")], ONE, False),
    "mean of nothing": (
        "reduce_mean", [{**_tensor([]), "dtype": "bfloat16"}], NAN + "np.float32(0.0)", True,
    ),
    "mean of nothing else": ("reduce_mean", [_tensor([])], NAN + "np.float32(0.0)", False),
    "arrays": ("operator:pow", [{**_tensor([1.0]), "k": "np"}] * 2, NAN, True),
    "an array": ("operator:add", [{**_tensor([1.0]), "k": "np"}, _tensor([1.0])], NAN, False),
    "root": ("pow", [_tensor([-np.inf]), _tensor(-0.5)], NAN, True),
    "power": ("pow", [_tensor([-np.inf]), _tensor(0.25)], NAN, False),
    "singular": ("linalg.pinv", [_tensor(SINGULAR)], HALF, True),
    "regular": ("linalg.pinv", [_tensor(REGULAR)], HALF, False),
    "large": ("linalg.expm", [_tensor([[1e5]])], HALF, True),
    "not so large": ("linalg.expm", [_tensor([[1e3]])], HALF, False),
    "shuffled": ("data.Dataset.list_files", [_option("a"), _option(None)], FILES, True),
    "in order": ("data.Dataset.list_files", [_option("a"), _option(False)], FILES, False),
    "denormal": ("nn.weighted_moments", [_tensor([1e-38])], ONE, True),
    "normal": ("nn.weighted_moments", [_tensor([1e-30, 0.0])], ONE, False),
    "infinite weight": (
        "nn.weighted_cross_entropy_with_logits", [_option(float("inf"))],
        "value: np.float32(inf) at [0], expected np.float32(nan)", True,
    ),
    "weight": (
        "nn.weighted_cross_entropy_with_logits", [_option(2.0)],
        "value: np.float32(inf) at [0], expected np.float32(nan)", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_differences_are_told_apart(name: str) -> None:
    op, args, text, explained = TEXTS[name]
    assert bool(conditional.why(_case(op, *args), text)) == explained
    assert not conditional.why(_case(op, *args), "dtype: float32, TensorFlow float64")


def test_the_judge_asks() -> None:
    def result(value: float) -> dict[str, Any]:
        array = pack(np.array(value, np.float32))
        output = {"kind": "tensor", "dtype": "float32", "static": [], "constant": None,
                  "shape": [], "value": array}  # fmt: skip
        return {"id": "x", "outputs": [output]}

    for value, explained in ((HUGE, True), (1.0, False)):
        verdict = judge(_case("losses.log_loss", _tensor(value)), result(np.inf), result(np.nan))
        assert bool(verdict.explained) == explained and bool(verdict.differences) != explained
