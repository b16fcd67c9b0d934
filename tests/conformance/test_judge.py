"""The judge finds each kind of difference, and does not call an absent kernel one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.jobs import pack, unpack
from tests.conformance.judge import judge, summarize
from tests.ops.opcase import OpCase, real

ROW = OpCase("Square", [real(2)], id="Square_0").bind("float32")
ERROR_ROW = OpCase("Square", [real(2)], id="Square_1", raises=True).bind("float32")


def _result(**changes: Any) -> dict[str, Any]:
    result = {
        "id": ROW.id,
        "dtypes": ["float32"],
        "static": [[2]],
        "static_unknown": [None],
        "outputs": [pack(np.array([1.0, 4.0], np.float32))],
        "vars": {},
        "grads": {0: pack(np.array([2.0, 4.0], np.float32))},
        "grad_error": None,
    }
    return {**result, **changes}


def _error(name: str, message: str = "no", stage: str = "run") -> dict[str, Any]:
    return {"error": {"class": name, "bases": [name], "message": message, "stage": stage}}


def test_equal_results_agree() -> None:
    verdict = judge(ROW, _result(), _result())
    assert not verdict.differences and not verdict.skipped
    assert summarize("Square", [verdict])["status"] == "agree"


@pytest.mark.parametrize(
    "changes",
    [
        {"dtypes": ["float64"]},
        {"static": [[None]]},
        {"static_unknown": [[None]]},
        {"outputs": [pack(np.array([1.0, 4.1], np.float32))]},
        {"outputs": [None]},
        {"grads": {0: pack(np.array([2.0, 4.1], np.float32))}},
        {"grads": {0: None}},
        {"grad_error": {"class": "LookupError", "message": "none"}, "grads": {}},
        {"grad_error": {"class": "TypeError", "message": "bug"}, "grads": {}},
        _error("InternalError"),
    ],
    ids=lambda c: next(iter(c)),
)
def test_each_difference_is_found(changes: dict[str, Any]) -> None:
    verdict = judge(ROW, _result(**changes), _result())
    assert verdict.differences
    assert summarize("Square", [verdict])["status"] == "differ"


def test_a_gradient_that_only_we_have_differs() -> None:
    theirs = _result(grads={}, grad_error={"class": "LookupError", "message": "none"})
    assert judge(ROW, _result(), theirs).differences


def test_a_kernel_they_lack_is_not_comparable() -> None:
    theirs = _error("InvalidArgumentError", "No OpKernel was registered to support Op")
    verdict = judge(ROW, _result(), theirs)
    assert not verdict.differences and "No OpKernel" in verdict.skipped
    assert summarize("Square", [verdict])["status"] == "not comparable"


def test_what_they_reject_we_must_reject() -> None:
    theirs = _error("InvalidArgumentError", "must be positive")
    assert judge(ROW, _result(), theirs).differences
    assert judge(ERROR_ROW, _result(), theirs).differences
    assert judge(ERROR_ROW, _error("InternalError"), theirs).differences
    assert not judge(ERROR_ROW, _error("InvalidArgumentError"), theirs).differences
    assert not judge(ERROR_ROW, _error("ValueError", stage="build"), theirs).differences
    assert judge(ERROR_ROW, _error("ValueError"), theirs).differences


def test_pack_round_trip() -> None:
    text = np.array([[b"a", b"\xff"]], dtype=object)
    for array in (np.arange(6.0).reshape(2, 3), np.zeros((0, 2), np.int8), np.array(True), text):
        np.testing.assert_array_equal(unpack(pack(array)), array)
