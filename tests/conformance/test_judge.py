"""The judge finds each kind of difference, and does not call an absent kernel one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance import differentiated
from tests.conformance.__main__ import _second_order, _take_old
from tests.conformance.jobs import pack, projection, run_job, unpack
from tests.conformance.judge import count_second, judge, summarize
from tests.conformance.peers import to_job
from tests.ops.cases import all_cases
from tests.ops.engine import BACKEND
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
        "second": _second([2.0, 2.0], [3.0, 5.0]),
    }
    return {**result, **changes}


def _second(*grads: list[float] | None, error: dict[str, str] | None = None) -> dict[int, Any]:
    """Gradients of the gradient of input 0, by the input and by the output's projection."""
    values = [None if g is None else pack(np.array(g, np.float32)) for g in grads]
    return {0: {"grads": dict(zip(("input 0", "grad_y 0"), values, strict=False)), "error": error}}


NOT_DEFINED = {"class": "LookupError", "message": "no gradient is defined"}
BUG = {"class": "TypeError", "message": "bug"}


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


@pytest.mark.parametrize(
    "second",
    [
        _second([2.0, 2.1], [3.0, 5.0]),
        _second([2.0, 2.0], [3.0, 5.1]),
        _second([2.0], [3.0, 5.0]),
        _second([2.0, 2.0], None),
        _second(error=NOT_DEFINED),
        _second(error=BUG),
    ],
    ids=["input", "grad_y", "shape", "none", "not defined", "raises"],
)
def test_each_difference_of_second_order_is_found(second: dict[int, Any]) -> None:
    verdict = judge(ROW, _result(second=second), _result())
    assert len(verdict.differences) == 1
    assert "gradient of the gradient of input 0" in verdict.differences[0]
    entry = summarize("Square", [verdict])
    assert entry["status"] == "differ"
    assert "differ" in entry["second"]
    assert " 0 agree, 1 differ" in count_second([verdict])


def test_second_order_that_agrees_is_counted() -> None:
    verdict = judge(ROW, _result(), _result())
    assert summarize("Square", [verdict])["second"] == "2 gradients of 1 runs"
    assert "2 gradients of 1 runs compared: 1 agree, 0 differ" in count_second([verdict])


@pytest.mark.parametrize("error", [NOT_DEFINED, BUG])
def test_second_order_that_tensorflow_lacks_is_free(error: dict[str, str]) -> None:
    theirs = _result(second=_second(error=error))
    for second in (_second([1.0, 1.0], None), _second(error=NOT_DEFINED)):
        verdict = judge(ROW, _result(second=second), theirs)
        assert not verdict.differences
        assert error["message"] in summarize("Square", [verdict])["second"]
        assert "1 have none in TensorFlow" in count_second([verdict])


def test_second_order_stands_back_behind_a_wrong_first_order() -> None:
    ours = _result(grads={0: None}, second={})
    verdict = judge(ROW, ours, _result())
    assert verdict.differences == ["gradient of input 0 is None"]
    assert not verdict.second.compared


def test_old_tensorflow_fills_in_what_the_new_one_fails_at() -> None:
    new = _result(known_op=True, second=_second(error=BUG))
    theirs = {ROW.id: new}
    _take_old(theirs, ROW.id, _result(second=_second([7.0, 7.0])))
    assert not new["second"][0]["error"]
    _take_old(theirs, ROW.id, _result(second=_second(error=NOT_DEFINED)))
    assert not new["second"][0]["error"]
    undefined = _result(known_op=True, second=_second(error=NOT_DEFINED))
    _take_old({ROW.id: undefined}, ROW.id, _result())
    assert undefined["second"][0]["error"] == NOT_DEFINED


def test_second_order_is_run_once_for_real_and_once_for_complex_numbers() -> None:
    dtypes = ("half", "float32", "float64", "complex64", "complex128", "int32")
    case = OpCase("Square", [real(2)], id="Square_2", dtypes=dtypes)
    found = _second_order([case.bind(dtype) for dtype in dtypes])
    assert found == {"Square_2-float64", "Square_2-complex128"}


def test_second_order_of_a_job() -> None:
    """y = x^2, L = <w, y>: dL/dx = 2wx; then of <v, 2wx> by x 2wv, by w 2xv."""
    result = run_job(BACKEND, to_job(ROW, second=True))
    (second,) = result["second"].values()
    x = ROW.flat[0].value
    w, v = (projection(seed, (2,), "float32") for seed in (ROW.id, f"{ROW.id}/second/0"))
    np.testing.assert_allclose(unpack(second["grads"]["input 0"]), 2 * w * v, rtol=1e-5)
    np.testing.assert_allclose(unpack(second["grads"]["grad_y 0"]), 2 * x * v, rtol=1e-5)
    assert second["error"] is None
    assert run_job(BACKEND, to_job(ROW))["second"] == {}


def test_pack_round_trip() -> None:
    text = np.array([[b"a", b"\xff"]], dtype=object)
    for array in (np.arange(6.0).reshape(2, 3), np.zeros((0, 2), np.int8), np.array(True), text):
        np.testing.assert_array_equal(unpack(pack(array)), array)


def test_gradients_of_rows_that_cannot_be_checked_numerically() -> None:
    kink = OpCase("Abs", [real(2)], grad=False, grad_reason="a kink", id="Abs_0").bind("float32")
    assert to_job(kink)["grad"] is None
    assert to_job(kink, kinks=True)["grad"] is True
    assert to_job(ERROR_ROW, kinks=True)["grad"] is None
    norm = OpCase("FusedBatchNorm", [real(2)] * 5, id="n").bind("float32")
    job = to_job(norm, kinks=True)
    assert (job["grad"], job["project"]) == ((0, 1, 2), (0,))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_what_is_not_compared_has_a_reason(dtype: str) -> None:
    case = OpCase("MatrixDeterminant", [real(2, 2)], grad=False, grad_reason="no", id="d")
    assert bool(differentiated.why_not(case.bind(dtype))) == (dtype == "complex128")
    checked = OpCase("MatrixDeterminant", [real(2, 2)], id="e").bind(dtype)
    assert not differentiated.why_not(checked)


def test_exceptions_are_about_rows_that_exist() -> None:
    unchecked = {case.op for case in all_cases() if case.grad is False}
    for table in (
        differentiated.UNCOMPARED,
        differentiated.UNCOMPARED_COMPLEX,
        differentiated.SECOND_UNCOMPARED,
    ):
        assert set(table) <= unchecked
    assert set(differentiated.PARTS) <= {case.op for case in all_cases()}
