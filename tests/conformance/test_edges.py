"""How rows are derived and judged, and that a job which ends its process ends no other."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.foundation.opdef import registry
from tests.conformance import edge_runner, edges, peers
from tests.conformance.edge_exceptions import EXCEPTIONS, UNFINISHED
from tests.ops.opcase import Bound, OpCase, const, feed, real

MATMUL = OpCase("MatMul", [real(2, 3), real(3, 4)], id="MatMul_0").bind("float32")
ADD = OpCase("Add", [real(2, 3), real(3)], id="Add_0").bind("int8")
GATHER = OpCase(
    "GatherV2", [real(4, 2), feed([0, 1, 3], "int32"), const(0)], id="GatherV2_0"
).bind("float32")  # fmt: skip


def _kinds(found: Any) -> dict[str, Bound]:
    return {b.case.id.rsplit("/", 1)[1]: b for b in found if b is not None}


def _shapes(bound: Bound) -> list[tuple[int, ...]]:
    return [i.value.shape for i in bound.flat]


def test_roles() -> None:
    assert edges.roles(MATMUL) == ["real", "real"]
    assert edges.roles(ADD) == ["integer", "integer"]
    assert edges.roles(GATHER) == ["real", "index", "index"]


def test_derived_rows_are_the_same_each_time() -> None:
    first, second = edges.derived(["MatMul", "Sum"]), edges.derived(["MatMul", "Sum"])
    assert len(first) > 20
    assert [b.id for b in first] == [b.id for b in second]
    assert len({b.id for b in first}) == len(first)
    for one, other in zip(first, second, strict=True):
        for a, b in zip(one.flat, other.flat, strict=True):
            np.testing.assert_array_equal(a.value, b.value)


def test_reals() -> None:
    found = _kinds(edges.of_reals(MATMUL))
    assert set(found) == {"nan", "inf", "zero", "huge", "denormal", "mix"}
    assert np.isnan(np.concatenate([i.value.ravel() for i in found["nan"].flat])).any()
    assert np.isinf(np.concatenate([i.value.ravel() for i in found["inf"].flat])).any()
    assert all(i.value.dtype == np.float32 for b in found.values() for i in b.flat)
    assert not list(edges.of_reals(ADD))


def test_integers() -> None:
    found = _kinds(edges.of_integers(ADD))
    values = np.concatenate([i.value.ravel() for i in found["extremes"].flat])
    assert {-128, 127} & set(values.tolist())
    assert not list(edges.of_integers(MATMUL))


def test_shapes() -> None:
    found = _kinds(edges.of_shapes(MATMUL))
    assert _shapes(found["empty.first2"]) == [(0, 3), (3, 4)]
    assert _shapes(found["empty.first3"]) == [(2, 3), (0, 4)]
    assert _shapes(found["empty.all3"]) == [(2, 0), (0, 4)]
    assert _shapes(found["scalar.0"]) == [(), (3, 4)]
    assert _shapes(found["vector.1"]) == [(2, 3), (4,)]
    assert _shapes(found["ones.1"]) == [(2, 3), (1, 1)]


def test_indices() -> None:
    found = _kinds(edges.of_indices(GATHER))
    values = {k: b.flat[1].value.tolist() for k, b in found.items() if k.startswith("index.1")}
    assert {-1, 4, 5, 2**31 - 1, -(2**31)} <= {v for value in values.values() for v in value}
    assert len(set(values["index.1.same"])) == 1
    assert found["index.2.5"].flat[2].value == 5
    assert all(b.case.grad is False for b in found.values())


def _result(**changes: Any) -> dict[str, Any]:
    result = {"dtypes": [], "static": [], "outputs": [], "vars": {}, "grads": {}, "second": {}}
    return {"id": MATMUL.id, "grad_error": None, "known_op": True, **result, **changes}


def _error(name: str, message: str = "MatMul 'x' failed", **more: Any) -> dict[str, Any]:
    bases = [name, "OpError"] if name.endswith("ArgumentError") else [name]
    error = {"class": name, "bases": bases, "message": message, "stage": "run", **more}
    return _result(error=error)


@pytest.mark.parametrize(
    "ours, theirs",
    [
        (_error("ProcessDied"), _error("InvalidArgumentError")),
        (_error("ProcessDied"), _error("ProcessDied")),
        (_error("InternalError"), _error("InvalidArgumentError")),
        (_error("InvalidArgumentError"), _result()),
        (_error("InvalidArgumentError", "bad"), _error("InvalidArgumentError", "bad")),
        (_result(), _error("InvalidArgumentError")),
        (_result(static=[[1]]), _result()),
    ],
)
def test_differences(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert edges.verdict_of(MATMUL, ours, theirs).differences


def test_agreement() -> None:
    for one in (_result(), _error("InvalidArgumentError")):
        verdict = edges.verdict_of(MATMUL, one, one)
        assert not verdict.differences and not verdict.skipped
    assert edges.verdict_of(MATMUL, _result(), _error("ProcessDied")).skipped
    assert edges.verdict_of(MATMUL, _result(), _result(known_op=False)).skipped


@pytest.mark.long
def test_a_job_that_ends_its_process_ends_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(backend: Any, job: dict[str, Any]) -> dict[str, Any]:
        if job["op"] == "Crash":
            os.kill(os.getpid(), signal.SIGKILL)
        while job["op"] == "Hang":
            pass
        if job["op"] == "Wait":
            time.sleep(600)
        return {"id": job["id"]}

    monkeypatch.setattr(edge_runner, "load", lambda: (None, run, lambda op: True))
    monkeypatch.setattr(edge_runner, "CPU_SECONDS", 0.2)
    monkeypatch.setattr(edge_runner, "SECONDS", 0.5)
    ops = ["Fine", "Crash", "Fine", "Hang", "Crash", "Wait", "Fine"]
    source, target = tmp_path / "jobs", tmp_path / "results"
    source.write_bytes(pickle.dumps([{"id": str(i), "op": op} for i, op in enumerate(ops)]))
    edge_runner.main(str(source), str(target))
    with target.open("rb") as file:
        results = [pickle.load(file) for _ in ops]
    assert [r["id"] for r in results] == [str(i) for i in range(len(ops))]
    died = [r["error"]["message"] if "error" in r else "" for r in results]
    assert [bool(text) for text in died] == [op != "Fine" for op in ops]
    assert "signal 9" in died[1] and "too long" in died[3] and "too long" in died[5]


@pytest.mark.long
def test_waiting_for_a_core_takes_no_job_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(backend: Any, job: dict[str, Any]) -> dict[str, Any]:
        time.sleep(2.5)
        return {"id": job["id"]}

    monkeypatch.setattr(edge_runner, "load", lambda: (None, run, lambda op: True))
    monkeypatch.setattr(edge_runner, "SECONDS", 0.5)
    source, target = tmp_path / "jobs", tmp_path / "results"
    source.write_bytes(pickle.dumps([{"id": "0", "op": "Slow"}]))
    died = []
    for waited in (lambda child: time.monotonic(), lambda child: 0.0):  # all the time, or never
        monkeypatch.setattr(edge_runner, "_starved", waited)
        edge_runner.main(str(source), str(target))
        died.append("error" in pickle.loads(target.read_bytes()))
        target.unlink()
    assert died == [False, True]


@pytest.mark.long
def test_a_process_that_has_no_core_says_so() -> None:
    core = {min(os.sched_getaffinity(0))}
    spin = [
        sys.executable,
        "-c",
        "import time; begin = time.time()\nwhile time.time() < begin + 1: 0",
    ]
    children = [subprocess.Popen(spin, preexec_fn=lambda: os.sched_setaffinity(0, core))
                for _ in range(2)]  # fmt: skip
    try:
        most = 0.0
        while children[0].poll() is None:
            with contextlib.suppress(OSError):  # it has just ended
                most = max(most, edge_runner._starved(children[0].pid))
            time.sleep(0.05)
        assert most > 0.2
    finally:
        for child in children:
            child.wait()


@pytest.mark.long
def test_penstock_runs_in_a_process_of_its_own() -> None:
    results = peers.run_jobs("penstock", [peers.to_job(MATMUL)], runner=edges.RUNNER)
    assert results[MATMUL.id]["static"] == [[2, 4]]


def test_exceptions_name_ops_and_say_why() -> None:
    for ops, kinds, why in EXCEPTIONS:
        assert kinds and why
        assert not [op for op in ops.split() if op not in registry.all_ops()]
    for ops, _ in UNFINISHED:
        assert not [op for op in ops.split() if op not in registry.all_ops()]
