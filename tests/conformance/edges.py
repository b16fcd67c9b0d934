"""Edge cases derived from every row: ``python -m tests.conformance --stage edges``.

The rows of ``tests/ops/cases`` are written by hand; this stage makes others of them, mechanically
and the same in every process:

* ``nan inf zero huge denormal mix``: some elements of the floating inputs replaced;
* ``extremes zeros negative``: the same for the integers an op computes with;
* ``empty.*``: a dimension made 0, in one input or in all that share it;
* ``ones.* scalar.* vector.*``: an input made smaller, so that it broadcasts or does not fit;
* ``index.*``: integers that say where (indices, axes, sizes): -1, a size, one more, repeated, huge.

Nobody says what is right: TensorFlow does.  Where it computes, Penstock must give equal values,
shapes and gradients; where it refuses, Penstock must refuse with the same kind of error, name the
node, and go on living.  Both sides run in processes that may die (``edge_runner.py``).  What is
undefined in TensorFlow itself stands in ``EXCEPTIONS``, what is not mended in ``UNFINISHED``.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import re
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from penstock.foundation.opdef import registry
from tests.conformance import builds, peers
from tests.conformance.edge_exceptions import EXCEPTIONS, UNFINISHED
from tests.conformance.judge import NO_KERNEL, Verdict, judge, lacks_kernel
from tests.ops.cases import all_cases
from tests.ops.engine import allowed_dtypes
from tests.ops.opcase import Bound, Input, OpCase, cast, is_floating, numpy_dtype

RUNNER = Path(__file__).with_name("edge_runner.py")
# Rows of an op that are derived from: those that differ in attrs or in the ranks of inputs.
ROWS = 3
# Derived rows of an op and a way of deriving, when all ops are run; named ops are run in full.
LIMIT = 5
# Attrs that give the type of what an op computes with; other integers say where.
VALUE_ATTRS = ("T", "dtype", "SrcT", "Tparams", "Tin", "Tout", "Tvalues", "type", "Tcomponents")
# Their T is an index.
INDEX_OPS = ("InvertPermutation", "Range")
INTEGERS = ("int8", "uint8", "int32", "int64")
_TINY = {"half": 6e-8, "bfloat16": 1e-40, "float32": 1e-40, "float64": 1e-310}
_LARGEST = {"half": 65504.0, "bfloat16": 3.3895314e38, "float32": 3.4028235e38, "float64": 1.7e308}

Change = dict[int, np.ndarray]  # flat input number -> its new value


# ---- what an input is ----------------------------------------------------------------------------


def roles(bound: Bound) -> list[str]:
    """Per flat input: ``real``, ``integer`` (computed with), ``index``, ``other`` or ``made``."""
    found = []
    for arg, entry in zip(registry.lookup(bound.case.op).inputs, bound.inputs, strict=True):
        where = arg.type_attr not in (*VALUE_ATTRS, bound.case.type_attr)
        where = where or bound.case.op in INDEX_OPS
        for item in entry if isinstance(entry, list) else [entry]:
            if item.how == "made":
                found.append("made")
            elif is_floating(item.dtype):
                found.append("real")
            elif item.value.dtype.kind in "iu":
                found.append("index" if where and item.how in ("feed", "const") else "integer")
            else:
                found.append("other")
    return found


def derive(bound: Bound, kind: str, change: Change) -> Bound:
    """The row with some inputs' values replaced; whether it raises is TensorFlow's to say."""
    numbers = iter(range(len(bound.flat)))

    def one(item: Input) -> Input:
        value = change.get(next(numbers))
        return item if value is None else dataclasses.replace(item, value=value)

    inputs = [[one(i) for i in x] if isinstance(x, list) else one(x) for x in bound.inputs]
    grad = False if kind.startswith("index") else bound.case.grad
    case = dataclasses.replace(
        bound.case, id=f"{bound.case.id}/{kind}", raises=False, ref=None, grad=grad,
        grad_reason=bound.case.grad_reason or "edges",
    )  # fmt: skip
    return dataclasses.replace(bound, case=case, inputs=inputs)


def _generator(bound: Bound, kind: str) -> np.random.Generator:
    return np.random.default_rng(_draw(f"{bound.id}/{kind}"))


def _arrays(bound: Bound) -> list[tuple[int, Input]]:
    return [(n, i) for n, i in enumerate(bound.flat) if i.how != "made"]


# ---- values --------------------------------------------------------------------------------------


def _replaced(
    bound: Bound, kind: str, numbers: list[int], special: Callable[[str], list[Any]], share: float
) -> Bound | None:
    """Replaces at least one element of one of the inputs, and about ``share`` of the others."""
    random = _generator(bound, kind)
    flat = bound.flat
    numbers = [n for n in numbers if flat[n].value.size]
    if not numbers:
        return None
    surely = int(random.choice(numbers))
    change = {}
    for number in numbers:
        item = flat[number]
        value = item.value.copy().reshape(-1)
        chosen = random.random(value.size) < share
        if number == surely:
            chosen[random.integers(value.size)] = True
        values = np.array(special(item.dtype), numpy_dtype(item.dtype))
        value[chosen] = random.choice(values, int(chosen.sum()))
        change[number] = cast(value.reshape(item.value.shape), item.dtype)
    return derive(bound, kind, change)


def _floats(dtype: str) -> dict[str, tuple[list[float], float]]:
    largest, tiny = _LARGEST[dtype], _TINY[dtype]
    return {
        "nan": ([np.nan], 0.2),
        "inf": ([np.inf, -np.inf], 0.2),
        "zero": ([0.0, -0.0], 0.4),
        "huge": ([largest, -largest], 0.0),
        "denormal": ([tiny, -tiny], 0.1),
        "mix": ([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], 0.4),
    }


def of_reals(bound: Bound) -> Iterator[Bound | None]:
    """NaN, infinities, zeros of both signs, the largest and the smallest numbers."""
    numbers = [n for n, role in enumerate(roles(bound)) if role == "real"]
    kinds = list(_floats("float32")) if bound.dtype == "float32" else ["mix"]
    for kind in kinds if numbers else ():
        share = _floats("float32")[kind][1]
        yield _replaced(bound, kind, numbers, lambda d, k=kind: _floats(d)[k][0], share)


def of_integers(bound: Bound) -> Iterator[Bound | None]:
    """The least and greatest of the dtype, zeros, negative numbers."""
    numbers = [n for n, role in enumerate(roles(bound)) if role == "integer"]

    def extremes(dtype: str) -> list[int]:
        info = np.iinfo(numpy_dtype(dtype))
        return [int(info.min), int(info.max), int(info.max) - 1, 0, 1]

    def negative(dtype: str) -> list[int]:
        return [0, 2] if numpy_dtype(dtype).kind == "u" else [-1, -2, -3]

    if numbers:
        yield _replaced(bound, "extremes", numbers, extremes, 0.6)
        yield _replaced(bound, "zeros", numbers, lambda _: [0], 0.4)
        yield _replaced(bound, "negative", numbers, negative, 0.6)


# ---- shapes --------------------------------------------------------------------------------------


def _cut(value: np.ndarray, axes: Iterable[int], size: int) -> np.ndarray:
    for axis in axes:
        value = np.take(value, range(min(size, value.shape[axis])), axis)
    return value


def of_shapes(bound: Bound) -> Iterator[Bound | None]:
    """Dimensions of 0 where inputs share them and where not; operands of fewer elements."""
    seen = {tuple(i.value.shape for i in bound.flat)}
    for kind, change in _smaller([(n, i.value) for n, i in _arrays(bound)]):
        found = derive(bound, kind, change)
        shapes = tuple(i.value.shape for i in found.flat)
        if shapes not in seen:
            seen.add(shapes)
            yield found


def _smaller(arrays: list[tuple[int, np.ndarray]]) -> Iterator[tuple[str, Change]]:
    for name, axis in (("first", 0), ("last", -1)):
        sized = [(n, v) for n, v in arrays if v.ndim]
        for size in sorted({v.shape[axis] for _, v in sized} - {0}):
            change = {n: _cut(v, [axis], 0) for n, v in sized if v.shape[axis] == size}
            yield f"empty.{name}{size}", change
    for size in sorted({d for _, v in arrays for d in v.shape} - {0}):
        change = {
            n: _cut(v, [a for a, d in enumerate(v.shape) if d == size], 0)
            for n, v in arrays
            if size in v.shape
        }
        yield f"empty.all{size}", change
    for number, value in arrays:
        if value.ndim:
            yield f"empty.only{number}", {number: _cut(value, [0], 0)}
        if value.ndim and value.size:
            yield f"ones.{number}", {number: _cut(value, range(value.ndim), 1)}
            yield f"scalar.{number}", {number: value.reshape(-1)[0:1].reshape(())}
        if value.ndim > 1 and value.size:
            row = value.reshape(-1, value.shape[-1])[0]
            yield f"vector.{number}", {number: row}


# ---- indices -------------------------------------------------------------------------------------


def of_indices(bound: Bound) -> Iterator[Bound | None]:
    """One index, axis or size out of range, or all of them the same."""
    if registry.lookup(bound.case.op).blocking:
        return  # it would wait for as many elements
    flat = bound.flat
    sizes = next((i.value.shape for i in flat if i.how != "made" and i.value.ndim), ())
    for number, role in enumerate(roles(bound)):
        value = flat[number].value
        if role != "index" or not value.size:
            continue
        random = _generator(bound, f"index{number}")
        at = int(random.integers(value.size))
        info = np.iinfo(value.dtype)
        for name, new in _places(sizes, info):
            changed = value.copy().reshape(-1)
            changed[at] = new
            yield derive(bound, f"index.{number}.{name}", {number: changed.reshape(value.shape)})
        if value.size > 1:
            same = np.full_like(value, value.reshape(-1)[at])
            yield derive(bound, f"index.{number}.same", {number: same})


def _places(sizes: tuple[int, ...], info: Any) -> Iterator[tuple[str, int]]:
    values = {-1, *(s for s in (*sizes[:1], *sizes[-1:])), *(s + 1 for s in sizes[:1])}
    for value in sorted(values):
        if info.min <= value <= info.max:
            yield str(value), value
    yield "least", int(info.min)
    yield "greatest", int(info.max)


# ---- the stage -----------------------------------------------------------------------------------


def _alike(case: OpCase, bound: Bound) -> tuple[Any, ...]:
    return (repr(sorted(case.attrs.items())), *(i.value.ndim for i in bound.flat))


def chosen_rows(ops: list[str]) -> Iterator[tuple[OpCase, bool]]:
    """The rows to derive from, and whether it is the op's first."""
    seen: dict[str, set[Any]] = collections.defaultdict(set)
    known = registry.all_ops()
    for case in all_cases():
        if ops and case.op not in ops:
            continue
        dtypes = allowed_dtypes(case) if case.op in known else ()
        if case.raises or not dtypes or case.id.endswith("_wider"):
            continue
        bound = case.bind(dtypes[0])
        if not any(i.value.size for _, i in _arrays(bound)):
            continue
        alike = _alike(case, bound)
        if alike in seen[case.op] or len(seen[case.op]) >= ROWS:
            continue
        seen[case.op].add(alike)
        yield case, len(seen[case.op]) == 1


def derived(ops: list[str]) -> list[Bound]:
    """Every derived row of ``ops``; of all ops a selection, ``LIMIT`` of each way of deriving."""
    found: dict[str, Bound] = {}
    ways: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
    for case, first in chosen_rows(ops):
        for way, bound in _of_row(case, first):
            found.setdefault(bound.id, bound)
            ways[case.op, way].add(bound.id)
    if not ops:
        kept = {i for ids in ways.values() for i in sorted(ids, key=_draw)[:LIMIT]}
        found = {i: bound for i, bound in found.items() if i in kept}
    return list(found.values())


def _draw(name: str) -> int:
    return zlib.crc32(name.encode())


def _of_row(case: OpCase, first: bool) -> Iterator[tuple[str, Bound]]:
    dtypes = allowed_dtypes(case)
    for number, dtype in enumerate(dtypes):
        bound = case.bind(dtype)
        makers: list[Callable[[Bound], Iterator[Bound | None]]] = []
        if number == 0:
            makers += [of_shapes, of_indices]
        if (number == 0 or first) and not case.reason:
            makers += [of_reals]
            makers += [of_integers] if number == 0 or dtype in INTEGERS else []
        for maker in makers:
            yield from ((maker.__name__, b) for b in maker(bound) if b is not None)


def to_job(bound: Bound) -> dict[str, Any]:
    """The job of a derived row; half of those about shapes are fed through open placeholders."""
    job = peers.to_job(bound, unknown=False)
    about_values = all(c not in bound.case.id.rsplit("/", 1)[1] for c in ".")
    job["known"] = about_values or _draw(bound.id) % 2 == 0
    return job


def observe(bounds: list[Bound], reference: str = "tf2") -> tuple[dict[str, Any], dict[str, Any]]:
    """What Penstock and what TensorFlow observed, by job id; both in other processes."""
    jobs = {b.id: to_job(b) for b in bounds}
    found: dict[str, dict[str, Any]] = {}
    failures: list[BaseException] = []

    def run(peer: str, work: list[dict[str, Any]]) -> None:
        try:
            found[peer] = peers.run_jobs(peer, work, runner=RUNNER)
        except BaseException as error:
            failures.append(error)

    work = {"penstock": list(jobs.values())}
    work[reference] = [jobs[b.id] for b in bounds if b.case.oracle == "tf2"]
    threads = [threading.Thread(target=run, args=item) for item in work.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    theirs = found[reference]
    old = [jobs[b.id] for b in bounds if _needs_old(theirs.get(b.id))]
    if old and peers.available("tf1"):
        theirs.update(peers.run_jobs("tf1", old, runner=RUNNER))
    return found["penstock"], theirs


def _needs_old(result: dict[str, Any] | None) -> bool:
    if result is None or not result["known_op"]:
        return True
    message = result.get("error", {}).get("message", "")
    return any(text in message for text in NO_KERNEL)


def verdict_of(bound: Bound, ours: dict[str, Any], theirs: dict[str, Any] | None) -> Verdict:
    """Holds one derived row's results against each other."""
    error = ours.get("error")
    other = None if theirs is None else theirs.get("error")
    slow = other is not None and (
        other["class"] == "DeadlineExceededError" or "too long" in other["message"]
    )
    if error is not None and error["class"] == "ProcessDied":
        if slow and "too long" in error["message"]:
            return Verdict(bound, skipped="both wait for what does not come")
        return Verdict(bound, [error["message"]])
    if theirs is None or not theirs["known_op"]:
        return Verdict(bound, skipped="no TensorFlow here has this op")
    if slow:
        return Verdict(bound, skipped="TensorFlow takes too long")
    if other is not None and "has constraint on attr" in other["message"]:
        return Verdict(bound, skipped="no kernel of TensorFlow takes these inputs")
    raises = other is not None and not lacks_kernel(other)
    reason = "" if raises else bound.case.reason
    case = dataclasses.replace(bound.case, raises=raises, reason=reason)
    verdict = judge(dataclasses.replace(bound, case=case), ours, theirs)
    if error is not None and raises and _later(error, other):
        verdict.differences.clear()
    if error is not None and not verdict.differences:
        verdict.differences.extend(_unnamed(bound, error))
    return verdict


def _later(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether the step refuses what TensorFlow refuses while the graph is built."""
    if theirs["stage"] != "build" or theirs["class"] != "ValueError":
        return False
    return ours["stage"] == "run" and ours["class"] == "InvalidArgumentError"


def _unnamed(bound: Bound, error: dict[str, Any]) -> Iterator[str]:
    """An error of a step is one of tf.errors, and names the op."""
    if error["stage"] == "run" and "OpError" not in error["bases"]:
        yield f"raises {error['class']}, no tf.errors class: {error['message'][:200]}"
    elif error["class"] == "ResourceExhaustedError":
        return  # a fetch may be what there is no memory for
    elif error["stage"] == "run" and bound.case.op not in error["message"]:
        yield f"the error does not name the op: {error['message'][:200]}"


def _matches(verdict: Verdict, ops: str, pattern: str) -> bool:
    kind = verdict.bound.case.id.rsplit("/", 1)[1]
    text = f"{kind}: {verdict.differences[0]}"
    named = verdict.bound.case.op in ops.split()
    return named and re.fullmatch(f"({pattern})(: .*)?", text, re.S) is not None


def _class_of(verdict: Verdict) -> str:
    """What a difference counts as."""
    if "process died" in verdict.differences[0]:
        return "differ"
    if any(_matches(verdict, ops, pattern) for ops, pattern, _ in EXCEPTIONS):
        return "undefined in TensorFlow"
    known = any(_matches(verdict, ops, pattern) for ops, pattern in UNFINISHED)
    return "differ, as known" if known else "differ"


def compare(bounds: list[Bound], reference: str = "tf2") -> list[tuple[str, Verdict]]:
    """Runs rows and judges them: what became of each (see ``run``), and its verdict.

    What differs from TensorFlow 2.21 is held against its other build (see ``builds``) and against
    1.15 as well: some edges have changed, and either is right.
    """
    ours, theirs = observe(bounds, reference)
    verdicts = {b.id: verdict_of(b, ours[b.id], theirs.get(b.id)) for b in bounds}
    other = builds.settled(
        verdicts.values(),
        reference,
        lambda verdict: to_job(verdict.bound),
        lambda verdict, result: verdict_of(verdict.bound, ours[verdict.bound.id], result),
        runner=RUNNER,
    )
    verdicts |= other
    differ = [b for b in bounds if verdicts[b.id].differences]
    older: dict[str, Any] = {}
    if differ and peers.available("tf1"):
        older = peers.run_jobs("tf1", [to_job(b) for b in differ], runner=RUNNER)
    found = []
    for bound in bounds:
        verdict, result = verdicts[bound.id], theirs.get(bound.id)
        if verdict.differences:
            old = older.get(bound.id)
            again = None if old is None else verdict_of(bound, ours[bound.id], old)
            if again is not None and not (again.differences or again.skipped):
                found.append(("agree with 1.15 only", again))
            else:
                found.append((_class_of(verdict), verdict))
        elif verdict.skipped:
            found.append(("not comparable", verdict))
        elif verdict.other_build:
            found.append(("agree with 2.21's other build only", verdict))
        else:
            refused = result is not None and "error" in result
            found.append(("refused by both" if refused else "agree", verdict))
    return found


def run(ops: list[str], *, verbose: bool = False, out: str = "", reference: str = "tf2") -> bool:
    """The stage: prints what it finds; returns whether none differs.

    Args:
      ops: op types to run; none: all.
      verbose: print every difference, rather than two an op.
      out: a file for the table, as JSON.
      reference: the build of TensorFlow 2.21 that rows are held to.
    """
    started = time.monotonic()
    bounds = derived(ops)
    counts: collections.Counter[str] = collections.Counter()
    different: dict[str, list[str]] = collections.defaultdict(list)
    for became, verdict in compare(bounds, reference):
        counts[became] += 1
        if became == "differ, as known" and not ops:
            print(f"known: {verdict.bound.id}: {verdict.differences[0][:120]}")
        if became == "differ" or (ops and became == "differ, as known"):
            row = verdict.bound
            different[row.case.op].append(f"{row.id}: {verdict.differences[0]}")
    for op, lines in sorted(different.items()):
        print(f"{op}: {len(lines)} differ")
        print("".join(f"    {line}\n" for line in (lines if verbose else lines[:2])), end="")
    text = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"edges: {len(bounds)} derived rows: {text} ({time.monotonic() - started:.0f} s)")
    if out:
        Path(out).write_text(json.dumps({"counts": counts, "differ": different}, indent=1) + "\n")
    return not different
