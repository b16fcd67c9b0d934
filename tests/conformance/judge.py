"""Compares what Penstock and TensorFlow observed for one job, and sums up by op.

For each job the verdict is a list of differences, or a reason why nothing could be compared.  An op
differs if any job differs, agrees if none does and the values of at least one were compared, and
else is not comparable.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from tests.conformance import differentiated
from tests.conformance.jobs import unpack
from tests.ops.opcase import Bound, OpCase
from tests.ops.tolerance import GRADIENT_FACTOR, difference

Result = dict[str, Any]
# TensorFlow's words for "this build has no kernel for that dtype".
NO_KERNEL = (
    "No OpKernel was registered",
    "not in list of allowed values",
    "Could not find device for node",
    "Cannot assign a device",
    "Cannot colocate nodes",
    "is not registered",
    "is neither a type of a primitive",
    "has been removed in version",
)
NO_KERNEL_CLASSES = ("UnimplementedError", "NotFoundError", "ProcessDied")
# The gradient of a gradient: twice such a chain.
SECOND_FACTOR = GRADIENT_FACTOR**2
CONSTRUCTION = ("ValueError", "TypeError")


@dataclasses.dataclass
class Second:
    """Second order: how many gradients of a row's gradients were compared, and what differs.

    ``uncompared``: why some were not: what TensorFlow says that has no derivative.
    """

    compared: int = 0
    differences: list[str] = dataclasses.field(default_factory=list)
    uncompared: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Verdict:
    """``differences`` if any; else ``skipped`` says why nothing was compared; else they agree.

    ``other_build``: why they agree with TensorFlow's other build alone (``builds.py``).
    """

    bound: Bound
    differences: list[str] = dataclasses.field(default_factory=list)
    skipped: str = ""
    second: Second = dataclasses.field(default_factory=lambda: Second())
    other_build: str = ""


def lacks_kernel(error: Result) -> bool:
    """True if the error says that this TensorFlow does not have the op for that dtype."""
    return error["class"] in NO_KERNEL_CLASSES or any(m in error["message"] for m in NO_KERNEL)


def _errors(bound: Bound, ours: Result | None, theirs: Result | None) -> Verdict | None:
    verdict = Verdict(bound)
    if theirs is not None and lacks_kernel(theirs) and not bound.case.raises:
        said = f"TensorFlow: {theirs['class']}: {theirs['message'][:120]}"
        verdict.skipped = bound.case.reason or said
        return verdict
    if ours is None and theirs is None:
        if bound.case.raises:
            verdict.differences.append("the row says raises=True, but neither raises")
            return verdict
        return None
    if ours is None and bound.case.reason:
        verdict.skipped = bound.case.reason
    elif ours is None:
        assert theirs is not None
        verdict.differences.append(
            f"TensorFlow raises {theirs['class']} ({theirs['message'][:160]}); Penstock does not"
        )
    elif theirs is None:
        verdict.differences.append(
            f"raises {ours['class']} at {ours['stage']}: {ours['message'][:200]}"
        )
    elif not bound.case.raises:
        verdict.differences.append(f"both raise ({theirs['message'][:120]}): the row is wrong")
    else:
        same = theirs["class"] in ours["bases"]
        early = ours["stage"] == "build" and set(ours["bases"]) & set(CONSTRUCTION)
        if not same and not early:
            verdict.differences.append(f"raises {ours['class']}, TensorFlow {theirs['class']}")
    return verdict


def _values(bound: Bound, what: str, theirs: Any, ours: Any, dtype: str, factor: float) -> str:
    if theirs is None or ours is None:
        return "" if theirs is ours else f"{what} is {'None' if ours is None else 'not None'}"
    case: OpCase = bound.case
    wrong = difference(
        unpack(theirs), unpack(ours), dtype, factor=factor, rtol=case.rtol, atol=case.atol
    )
    return "" if wrong is None else f"{what}: {wrong}"


def _outputs(bound: Bound, ours: Result, theirs: Result) -> Iterable[str]:
    compare = bound.case.compare
    for i, dtype in enumerate(ours["dtypes"]):
        a, b = theirs["outputs"][i], ours["outputs"][i]
        if compare is not None and a is not None and b is not None:
            wrong = difference(
                compare(i, unpack(a)),
                compare(i, unpack(b)),
                dtype,
                rtol=bound.case.rtol,
                atol=bound.case.atol,
            )
            yield "" if wrong is None else f"output {i}: {wrong}"
        else:
            yield _values(bound, f"output {i}", a, b, dtype, 1.0)
    flat = [i for i in bound.flat if i.how != "made"]
    for i, value in theirs["vars"].items():
        yield _values(bound, f"variable {i} afterwards", value, ours["vars"][i], flat[i].dtype, 1.0)


def _has_free_sign(bound: Bound) -> bool:
    return bound.case.compare is not None and bound.case.op not in differentiated.PARTS


def _gradients(bound: Bound, ours: Result, theirs: Result) -> Iterable[str]:
    flat = [i for i in bound.flat if i.how != "made"]
    lookup = theirs["grad_error"] is not None and theirs["grad_error"]["class"] == "LookupError"
    if theirs["grad_error"] is not None and not lookup:
        return  # TensorFlow's own gradient fails: nothing to compare with
    error = ours["grad_error"]
    if error is not None and error["class"] != "LookupError":
        yield f"gradient raises {error['class']}: {error['message'][:200]}"
        return
    numbers = sorted(set(ours["grads"]) | set(theirs["grads"]))
    for i in numbers:
        a, b = theirs["grads"].get(i), ours["grads"].get(i)
        if bound.case.reason and a is not None and b is not None:
            continue
        if _has_free_sign(bound) and a is not None and b is not None:
            continue  # an output's free sign changes the gradient of a random projection
        yield _values(bound, f"gradient of input {i}", a, b, flat[i].dtype, GRADIENT_FACTOR)


def fails(error: Result | None) -> bool:
    """Whether a gradient is defined and yet could not be made or run."""
    return error is not None and error["class"] != "LookupError"


def _second_gradients(bound: Bound, ours: Result, theirs: Result) -> Second:
    """Compares gradients of gradients, wherever TensorFlow gives them."""
    result = Second()
    if bound.case.reason or _has_free_sign(bound) or ours["grad_error"] is not None:
        return result
    if bound.case.grad is False and bound.case.op in differentiated.SECOND_UNCOMPARED:
        return result
    flat = [i for i in bound.flat if i.how != "made"]
    for number, second in theirs["second"].items():
        what = f"gradient of the gradient of input {number}"
        if second["error"] is not None:
            result.uncompared.append(f"{second['error']['class']}: {second['error']['message']}")
            continue
        mine = ours["second"].get(number)
        if mine is None:
            continue  # the first order differs already
        if mine["error"] is not None:
            error = mine["error"]
            text = f"{what}: raises {error['class']}: {error['message'][:200]}"
            result.differences.append(text)
            continue
        for key, value in second["grads"].items():
            kind, _, at = key.rpartition(" ")
            dtype = ours["dtypes"][int(at)] if kind == "grad_y" else flat[int(at)].dtype
            wrong = _values(
                bound, f"{what} by {key}", value, mine["grads"][key], dtype, SECOND_FACTOR
            )
            result.compared += value is not None
            result.differences.extend([wrong] if wrong else [])
    return result


def judge(bound: Bound, ours: Result, theirs: Result) -> Verdict:
    """Compares two results of ``jobs.run_job`` for one row and dtype."""
    verdict = _errors(bound, ours.get("error"), theirs.get("error"))
    if verdict is not None:
        return verdict
    verdict = Verdict(bound)
    found = verdict.differences
    if ours["dtypes"] != theirs["dtypes"]:
        found.append(f"dtypes {ours['dtypes']}, expected {theirs['dtypes']}")
        return verdict
    for key, what in (("static", "known"), ("static_unknown", "unknown")):
        if ours.get(key) != theirs.get(key):
            found.append(
                f"static shape for {what} inputs {ours.get(key)}, expected {theirs.get(key)}"
            )
    if bound.case.reason:
        verdict.skipped = bound.case.reason
    else:
        found.extend(text for text in _outputs(bound, ours, theirs) if text)
    found.extend(text for text in _gradients(bound, ours, theirs) if text)
    verdict.second = _second_gradients(bound, ours, theirs)
    found.extend(verdict.second.differences)
    return verdict


def summarize_second(verdicts: list[Verdict]) -> dict[str, str]:
    """Returns ``{"second": ...}``: what was compared in second order; nothing if nothing was."""
    rows = [v.second for v in verdicts if v.second.compared or v.second.differences]
    if rows:
        text = f"{sum(s.compared for s in rows)} gradients of {len(rows)} runs"
        wrong = sum(len(s.differences) for s in rows)
        return {"second": f"{text}, {wrong} differ" if wrong else text}
    reasons = [reason for v in verdicts for reason in v.second.uncompared]
    return {"second": f"not compared: {reasons[0][:160]}"} if reasons else {}


def count_second(verdicts: list[Verdict]) -> str:
    """One line on all second-order gradients."""
    rows = [v.second for v in verdicts]
    compared = [s for s in rows if s.compared or s.differences]
    differ = sum(bool(s.differences) for s in rows)
    none = sum(bool(s.uncompared) and not (s.compared or s.differences) for s in rows)
    total = sum(s.compared for s in rows)
    return (
        f"second order: {total} gradients of {len(compared)} runs compared: "
        f"{len(compared) - differ} agree, {differ} differ; {none} have none in TensorFlow"
    )


def summarize(op: str, verdicts: list[Verdict]) -> dict[str, str]:
    """Returns ``{"status": ..., "reason": ...}`` of an op, ``"second"`` too if it has gradients."""
    return {**_summarize(verdicts), **summarize_second(verdicts)}


def _summarize(verdicts: list[Verdict]) -> dict[str, str]:
    bad = [v for v in verdicts if v.differences]
    if bad:
        lines = [f"{v.bound.id}: {v.differences[0]}" for v in bad]
        more = f" (and {len(lines) - 3} more)" if len(lines) > 3 else ""
        return {"status": "differ", "reason": "; ".join(lines[:3]) + more}
    # That both refuse something is compared too, but says nothing of values.
    compared = [v for v in verdicts if not v.skipped and not v.bound.case.raises]
    if compared:
        rows = len({v.bound.case.id for v in compared})
        dtypes = ", ".join(dict.fromkeys(v.bound.dtype for v in compared))
        skipped = len(verdicts) - len(compared)
        note = f"; {skipped} runs not comparable" if skipped else ""
        other = [v.other_build for v in compared if v.other_build]
        note += f"; {len(other)} as TensorFlow's other build: {other[0]}" if other else ""
        return {"status": "agree", "reason": f"{rows} rows ({dtypes}){note}"}
    reasons = list(dict.fromkeys(v.skipped or v.bound.case.reason for v in verdicts))
    reasons = [r for r in reasons if r] or ["only errors are compared: no row that runs"]
    errors = "; errors agree" if any(not v.skipped for v in verdicts) else ""
    return {"status": "not comparable", "reason": "; ".join(reasons[:2]) + errors}
