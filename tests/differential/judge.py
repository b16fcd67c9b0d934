"""Compares what Penstock and TensorFlow 1.15 made of one call.

A difference is a text that begins with its kind:

    absent     Penstock has no such function
    died       Penstock ended its process, or took too long
    refuses    only Penstock raises (and at which stage what)
    accepts    only TensorFlow raises
    class      both raise, but who catches TensorFlow's class would not catch Penstock's
    stage      both raise, one by the call, the other by the run
    outputs    another number or kind of outputs
    dtype, static, constant, shape, value, elements    of an output

``explained.py`` and ``conditional.py`` say which of them are right as they are.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tests.conformance.jobs import unpack
from tests.conformance.judge import lacks_kernel
from tests.differential import conditional
from tests.differential.explained import why
from tests.ops.tolerance import difference

Result = dict[str, Any]
# float16 is named "half" in the table of tolerances.
NAMES = {"float16": "half"}


@dataclasses.dataclass
class Verdict:
    """``differences``; else ``skipped`` (why nothing can be compared); else they agree.

    ``explained``: the reasons of those differences that are right as they are.
    """

    case: str
    differences: list[str] = dataclasses.field(default_factory=list)
    explained: list[str] = dataclasses.field(default_factory=list)
    skipped: str = ""


def _said(error: Result) -> str:
    return f"{error['class']} at {error['stage']} ({error['message'][:200]})"


def _of_errors(ours: Result | None, theirs: Result | None) -> str:
    if ours is None:
        assert theirs is not None
        return f"accepts: TensorFlow raises {_said(theirs)}"
    if theirs is None:
        return f"refuses: {_said(ours)}"
    said = f"{_said(ours)}; TensorFlow raises {_said(theirs)}"
    if theirs["class"] not in ours["bases"]:
        return f"class: {said}"
    return f"stage: {said}" if ours["stage"] != theirs["stage"] else ""


def _unlike(what: str, ours: Any, theirs: Any) -> str:
    return "" if ours == theirs else f"{what}: {ours}, TensorFlow {theirs}"


def _arrays(what: str, ours: Result | None, theirs: Result | None, dtype: str) -> str:
    """Compares packed arrays; None and ``{"raises": ...}`` are compared as they are."""
    if ours is None or theirs is None or "raises" in ours or "raises" in theirs:
        found, expected = (
            v if v is None or "raises" in v else f"an array {v['shape']}" for v in (ours, theirs)
        )
        return _unlike(what, found, expected)
    wrong = difference(unpack(theirs), unpack(ours), NAMES.get(dtype, dtype))
    return "" if wrong is None else f"{what}: {wrong}"


def _of_output(ours: Result, theirs: Result) -> list[str]:
    if ours["kind"] != theirs["kind"]:
        return [f"outputs: {ours['kind']}, TensorFlow {theirs['kind']}"]
    kind = ours["kind"]
    if kind == "value":
        return [_unlike("value", ours["value"], theirs["value"])]
    if kind == "array":
        return [_arrays("value", ours["value"], theirs["value"], "")]
    if kind == "dataset":
        return [
            _unlike("dtype", ours["types"], theirs["types"]),
            _unlike("static", ours["shapes"], theirs["shapes"]),
            _elements(ours, theirs),
        ]
    if kind != "tensor":
        return []
    found = [_unlike("dtype", ours["dtype"], theirs["dtype"]), _static(ours, theirs)]
    if found[0]:
        return found
    dtype = ours["dtype"]
    found.append(_constant(ours, theirs, dtype))
    if "shape" in ours and "shape" in theirs:
        found.append(_unlike("shape", ours["shape"], theirs["shape"]))
        if "value" in ours and "value" in theirs and not found[-1]:
            found.append(_arrays("value", ours["value"], theirs["value"], dtype))
    return found


def _fits(static: list[int | None] | None, shape: list[int]) -> bool:
    if static is None:
        return True
    return len(static) == len(shape) and all(
        a is None or a == b for a, b in zip(static, shape, strict=True)
    )


def _knows(one: list[int | None] | None, other: list[int | None] | None) -> bool:
    """Whether ``one`` says all that ``other`` says."""
    if other is None or one is None:
        return other is None
    return len(one) == len(other) and all(
        b is None or a == b for a, b in zip(one, other, strict=True)
    )


def _static(ours: Result, theirs: Result) -> str:
    """Of static shapes: whether Penstock says more, and the run's shape, if there is one, is so."""
    mine, other = ours["static"], theirs["static"]
    text = _unlike("static", mine, other)
    shape = theirs.get("shape")
    if text and shape is None and "shape" not in ours and _knows(mine, other):
        # Neither was run: nothing can tell that it says too much.
        return text.replace("static", "static, and Penstock says more")
    if not text or shape is None or ours.get("shape") != shape:
        return text
    if not _fits(other, shape):
        return text.replace("static", "static, and TensorFlow's is not its run's")
    if _knows(mine, other) and _fits(mine, shape):
        return text.replace("static", "static, and Penstock says more")
    return text


def _constant(ours: Result, theirs: Result, dtype: str) -> str:
    """Of constant values; to know more than TensorFlow is fine where it is what a run gives."""
    mine = ours["constant"]
    if theirs["constant"] is None and mine is not None and "raises" not in mine:
        wrong = _arrays("constant", mine, ours["value"], dtype) if "value" in ours else ""
        return f"{wrong}, which is a run's" if wrong else ""
    return _arrays("constant", mine, theirs["constant"], dtype)


def _elements(ours: Result, theirs: Result) -> str:
    rows, expected = ours.get("elements"), theirs.get("elements")
    if rows is None or expected is None:
        return ""
    if len(rows) != len(expected):
        return f"elements: {len(rows)}, TensorFlow {len(expected)}"
    for number, (row, other) in enumerate(zip(rows, expected, strict=True)):
        for one, two, dtype in zip(row, other, ours["types"], strict=False):
            wrong = _arrays(f"elements: {number}", one, two, dtype)
            if wrong:
                return wrong
    return ""


def _found(ours: Result, theirs: Result) -> list[str]:
    found = []
    mine, other = ours.get("error"), theirs.get("error")
    if mine is not None or other is not None:
        found.append(_of_errors(mine, other))
    if "outputs" in ours and "outputs" in theirs:
        if len(ours["outputs"]) != len(theirs["outputs"]):
            counts = [len(side["outputs"]) for side in (ours, theirs)]
            return [*found, f"outputs: {counts[0]}, TensorFlow {counts[1]}"]
        for one, two in zip(ours["outputs"], theirs["outputs"], strict=True):
            found += _of_output(one, two)
    return list(dict.fromkeys(text for text in found if text))


def judge(case: Result, ours: Result, theirs: Result) -> Verdict:
    """Compares the results of ``runner.py`` for a case."""
    name = case["op"]
    verdict = Verdict(ours["id"])
    mine, other = ours.get("error"), theirs.get("error")
    if theirs.get("absent"):
        verdict.skipped = "TensorFlow 1.15 has no such function"
    elif ours.get("absent"):
        verdict.differences.append("absent")
    elif mine is not None and mine["class"] == "ProcessDied":
        verdict.differences.append(f"died: {mine['message']}")
    elif other is not None and other["class"] == "ProcessDied":
        verdict.skipped = f"TensorFlow: {other['message']}"
    elif other is not None and mine is None and lacks_kernel(other):
        verdict.skipped = f"TensorFlow: {other['message'][:120]}"
    else:
        found = _found(ours, theirs)
        if other is not None and lacks_kernel(other):
            # What has no kernel there may fail in another way here; what is known before still is
            # the same.
            found = [f for f in found if not f.startswith(("class", "stage", "refuses"))]
        for text in found:
            reason = why(name, text) or conditional.why(case, text)
            if reason:
                verdict.explained.append(reason)
            else:
                verdict.differences.append(text)
    return verdict
