"""The judge sees each kind of difference, and the runner catches what ends a process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance import peers
from tests.conformance.jobs import pack
from tests.differential.__main__ import Tally, beyond
from tests.differential.answers import RUNNER
from tests.differential.calls import all_calls
from tests.differential.conditional import CONDITIONAL
from tests.differential.explained import EXPLAINED, why
from tests.differential.generator import cases
from tests.differential.judge import judge

VALUE = pack(np.array([1.0, 2.0], np.float32))
CASE: dict[str, Any] = {"op": "f", "args": [], "kwargs": {}}
OTHER = pack(np.array([1.0, 2.5], np.float32))


def _result(error: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    output = {"kind": "tensor", "dtype": "float32", "static": [2], "constant": None,
              "shape": [2], "value": VALUE, **changes}  # fmt: skip
    result: dict[str, Any] = {"id": "f/0/0", "outputs": [output]}
    return result if error is None else {"id": "f/0/0", "error": error}


def _error(name: str, stage: str = "build", message: str = "no") -> dict[str, Any]:
    bases = {"InvalidArgumentError": ["InvalidArgumentError", "OpError"]}.get(name, [name])
    return {"class": name, "bases": bases, "stage": stage, "message": message}


def _kinds(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    return [text.split(":")[0] for text in judge(CASE, ours, theirs).differences]


def test_what_is_equal_agrees() -> None:
    for one in (_result(), _result(_error("ValueError"))):
        verdict = judge(CASE, one, one)
        assert not verdict.differences and not verdict.skipped and not verdict.explained


@pytest.mark.parametrize(
    ("ours", "kinds"),
    [
        ({"id": "f/0/0", "absent": True}, ["absent"]),
        (_result(_error("ProcessDied")), ["died"]),
        (_result(_error("ValueError")), ["refuses"]),
        (_result(dtype="float64"), ["dtype"]),
        (_result(static=[None]), ["static"]),
        (_result(static=None), ["static"]),
        (_result(value=OTHER), ["value"]),
        (_result(shape=[3]), ["shape"]),
        (_result(kind="operation"), ["outputs"]),
        (_result(constant=OTHER), ["constant"]),
        (_result(constant={"raises": "TypeError"}), ["constant"]),
        ({"id": "f/0/0", "outputs": []}, ["outputs"]),
    ],
)
def test_each_kind_of_difference_is_found(ours: dict[str, Any], kinds: list[str]) -> None:
    assert _kinds(ours, _result()) == kinds


def test_errors_are_compared_by_class_and_stage() -> None:
    theirs = _result(_error("InvalidArgumentError", "run"))
    assert _kinds(_result(), theirs) == ["accepts"]
    assert _kinds(_result(_error("ValueError", "run")), theirs) == ["class"]
    assert _kinds(_result(_error("InvalidArgumentError")), theirs) == ["stage"]
    narrower = {**_error("KeyError"), "bases": ["KeyError", "LookupError"]}
    assert _kinds(_result(narrower), _result(_error("LookupError"))) == []


def test_a_constant_that_only_penstock_knows_must_be_the_runs() -> None:
    assert _kinds(_result(constant=VALUE), _result()) == []
    assert _kinds(_result(), _result(constant=VALUE)) == ["constant"]


def test_static_shapes_may_say_more_if_the_run_is_as_they_say() -> None:
    less, other = _result(static=[None]), _result(static=[3])
    assert judge(CASE, _result(), less).explained and not _kinds(_result(), less)
    assert judge(CASE, _result(), other).explained  # TensorFlow's own is wrong
    assert _kinds(less, _result()) == ["static"] and _kinds(other, _result()) == ["static"]
    failed = _result(_error("ValueError", "run"))
    less_known, known = (
        {**failed, "outputs": [{"kind": "tensor", "dtype": "float32", "constant": None,
                                "static": static}]} for static in ([None], [2])
    )  # fmt: skip
    assert judge(CASE, known, less_known).explained
    assert _kinds(less_known, known) == ["static"]
    unrun = {**_result(), "outputs": [{**_result()["outputs"][0], "shape": [3]}]}
    assert _kinds(unrun, less) == ["static", "shape"]
    # Where neither comes to a shape, nothing is wrong with knowing more.
    failed = [_result(static=static) for static in ([2], [None])]
    for result in failed:
        del result["outputs"][0]["shape"], result["outputs"][0]["value"]
    assert judge(CASE, *failed).explained and _kinds(*failed[::-1]) == ["static"]


def test_datasets_are_compared_by_element() -> None:
    def dataset(*rows: list[Any]) -> dict[str, Any]:
        output = {"kind": "dataset", "types": ["float32"], "shapes": [[2]], "elements": list(rows)}
        return {"id": "f/0/0", "outputs": [output]}

    assert _kinds(dataset([VALUE], []), dataset([VALUE], [])) == []
    assert _kinds(dataset([VALUE], []), dataset([OTHER], [])) == ["elements"]
    assert _kinds(dataset([]), dataset([VALUE], [])) == ["elements"]


def test_what_tensorflow_cannot_do_is_not_compared() -> None:
    died = _result(_error("ProcessDied"))
    assert judge(CASE, _result(), died).skipped
    none = _result(_error("InvalidArgumentError", "run", "No OpKernel was registered to support"))
    assert judge(CASE, _result(), none).skipped
    assert judge(CASE, _result(), {"id": "f/0/0", "absent": True}).skipped


def test_an_explained_difference_is_counted_as_such() -> None:
    theirs = _result(_error("AttributeError"))
    verdict = judge(CASE, _result(_error("TypeError")), theirs)
    assert verdict.explained and not verdict.differences
    assert why("f", "value: 1 at [0], expected 2") == ""
    conditional = [(names, pattern, reason) for names, pattern, _, reason in CONDITIONAL]
    for names, pattern, reason in (*EXPLAINED, *conditional):
        assert names and pattern.startswith("^") and reason
        assert all(n in all_calls() or "*" in n for n in names.split()), names


def test_a_table_counts() -> None:
    tally = Tally("f")
    for ours, theirs in (
        (_result(), _result()), (_result(value=OTHER), _result()),
        (_result(_error("ValueError")), _result(_error("ValueError"))),
        (_result(), _result(_error("ProcessDied"))),
    ):  # fmt: skip
        tally.add(judge(CASE, ours, theirs), ours)
    assert (tally.calls, tally.agree, tally.refuse, tally.skipped, tally.differ) == (4, 2, 1, 1, 1)
    assert "1 value" in tally.line() and beyond(tally)


@pytest.mark.long
def test_penstock_runs_in_a_process_of_its_own() -> None:
    rows = all_calls()
    work = [case for name in ("reduce_sum", "sparse.add", "data.Dataset.take", "scatter_add")
            for case in cases(rows[name], 0, 3)]  # fmt: skip
    work.append({**work[0], "id": "absent", "op": "no_such_function"})
    found = peers.run_jobs("penstock", work, runner=RUNNER)
    assert list(found) == [case["id"] for case in work]
    assert found["absent"]["absent"]
    first = found["reduce_sum/0/0"]["outputs"][0]
    assert (first["dtype"], first["static"], first["value"]["shape"]) == ("float32", [2, 2], [2, 2])
    (dataset,) = found["data.Dataset.take/0/0"]["outputs"]
    assert dataset["shapes"] == [[2]] and len(dataset["elements"]) == 3
