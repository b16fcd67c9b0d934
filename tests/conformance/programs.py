"""Whole programs against TensorFlow 2.21: the second stage of ``python -m tests.conformance``.

Programs of every construct (conditionals, loops, functions over rows, TensorArrays, each with
gradients), graphs of them that TensorFlow runs from Penstock's GraphDef, and random programs.  Each
runs in TensorFlow and in Penstock twice: lowered to ``if`` and ``while``, and by the dataflow
executor.  All must agree.  A program that TensorFlow itself cannot run is counted and named.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import penstock as tf
from tests.conformance import peers, program_jobs, random_programs
from tests.conformance.jobs import describe, unpack
from tests.library.autodiff import control_flow_programs as autodiff
from tests.library.control_flow import programs as graphs

RUNNER = Path(__file__).with_name("program_runner.py")
MODES = ("lowered", "dataflow")
SEQUENCES, GRADIENTS, ROWS = 60, 30, (1, 2, 3, 4)
# Programs of graphs that are not run, and why.
NOT_RUN = {
    "scopes_in_loop": "waits for a queue that nobody fills",
    "while_devices": "asks for a second CPU",
    "cond_devices": "asks for a second CPU",
    "cond_operations": "reads a variable beside what writes it, in no order",
    "cond_resource_variable": "reads a variable beside what writes it, in no order",
    "cond_random_and_names": "random",
    "variable_made_in_cond": "random",
}
# Programs whose gradient TensorFlow (1.15 and 2.21 alike) gets wrong, as finite differences show.
WRONG_IN_TENSORFLOW = {
    "seed 261": "a scan inside an inner gradient; "
    "tests/library/autodiff/test_control_flow_gradients.py::"
    "test_through_an_inner_gradient_of_a_scan has it cut down",
}
FED = {"bool": True, "int32": 2, "float32": 5.0}
Job = dict[str, Any]


@dataclass
class Report:
    """What came of the programs: ids of those that agree, differ, or fail in TensorFlow."""

    agree: list[str] = field(default_factory=list)
    differ: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    wrong_in_tensorflow: dict[str, str] = field(default_factory=dict)

    def line(self) -> str:
        """The counts, and the names of what TensorFlow cannot run."""
        wrong = self.wrong_in_tensorflow
        total = len(self.agree) + len(self.differ) + len(self.failed) + len(wrong)
        text = f"{total} programs: {len(self.agree)} agree, {len(self.differ)} differ"
        if self.failed:
            text += f", {len(self.failed)} that TensorFlow cannot run:"
            text += "".join(f"\n  {name}: {why[:160]}" for name, why in self.failed.items())
        if wrong:
            text += f"\n{len(wrong)} that differ, where finite differences show TensorFlow wrong:"
            text += "".join(f"\n  {name}: {why}" for name, why in wrong.items())
        return text


# ---- jobs ----------------------------------------------------------------------------------------


def random_jobs(seeds: Sequence[int], size: int = random_programs.SIZE) -> list[Job]:
    """Jobs of random programs."""
    return [
        {
            "id": f"seed {seed}", "kind": "text", "source": random_programs.source(seed, size),
            "feeds": random_programs.feeds_of(seed),
        }
        for seed in seeds
    ]  # fmt: skip


def construct_jobs() -> list[Job]:
    """Jobs of the programs of every construct."""
    jobs: list[Job] = []
    for name in autodiff.PROGRAMS:
        if name not in autodiff.BEYOND:
            jobs.append({"id": name, "kind": "autodiff", "name": name})
        jobs.append(_carried_autodiff(name))
    for name in graphs.PROGRAMS:
        job = None if name in NOT_RUN else _carried_graph(name)
        if job is not None:
            jobs.append(job)
    counts = {"sequences": range(SEQUENCES), "gradients": range(GRADIENTS), "functionals": ROWS}
    for kind, numbers in counts.items():
        jobs += [
            {"id": f"arrays, {kind} {n}", "kind": "arrays", "name": kind, "number": n}
            for n in numbers
        ]
    return jobs


def _carried_autodiff(name: str) -> Job:
    with tf.Graph().as_default() as graph, _quiet():
        fetches = [f for f in program_jobs.build_autodiff(tf, name) if f is not None]
        names = {op.name for op in graph.get_operations()}
        feeds = {f"{k}:0": v for k, v in autodiff.FEEDS.items() if k in names}
        return _carried(graph, name, [feeds], [f.name for f in fetches])


def _carried_graph(name: str) -> Job | None:
    """A program that only makes a graph: its ends are fetched, for both values of predicates."""
    with tf.Graph().as_default() as graph, _quiet():
        try:
            graphs.PROGRAMS[name](tf)
        except (TypeError, ValueError):
            return None
        ends = [t.name for op in graph.get_operations() for t in op.outputs if _is_end(t)]
        holders = [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
        if not ends:
            return None
        feeds = [
            {t.name: _value(t, flag) for t in holders if t.op._control_flow_context is None}
            for flag in (True, False)
        ]
        return _carried(graph, name, feeds, ends)


def _carried(graph: Any, name: str, feeds: list[Any], fetches: list[str]) -> Job:
    init = [v.initializer.name for v in tf.global_variables()]
    message = graph.as_graph_def().SerializeToString()
    return {
        "id": f"graph of {name}", "kind": "graph", "graph": message, "init": init,
        "feeds": feeds, "fetches": fetches,
    }  # fmt: skip


def _is_end(tensor: Any) -> bool:
    op = tensor.op
    plain = tensor.dtype in (tf.float32, tf.float64, tf.int32, tf.int64, tf.bool)
    taken = tensor.consumers() or op.type == "Placeholder"
    # An Exit or Merge is outside of its construct, but counts as inside where that is nested.
    return plain and not taken and op._control_flow_context is None


def _value(tensor: Any, flag: bool) -> Any:
    dims = tensor.shape.as_list() if tensor.shape.ndims is not None else [2]
    kind = tensor.dtype.name
    value = flag if kind == "bool" else FED[kind]
    return np.full([2 if d is None else d for d in dims], value, tensor.dtype.as_numpy_dtype)


# ---- running -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _mode(mode: str) -> Iterator[None]:
    before = os.environ.get("PENSTOCK_DATAFLOW")
    os.environ["PENSTOCK_DATAFLOW"] = "1" if mode == "dataflow" else "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PENSTOCK_DATAFLOW"]
        else:
            os.environ["PENSTOCK_DATAFLOW"] = before


def session_of(mode: str) -> Any:
    """Makes a function that makes sessions, as ``program_jobs`` takes it."""

    def make(_: Any) -> Any:
        config = tf.ConfigProto(operation_timeout_in_ms=60000)
        if mode == "plain":
            config.graph_options.optimizer_options.opt_level = -1
        with _mode(mode):
            return tf.Session(config=config)

    return make


def run_ours(job: Job, mode: str) -> dict[str, Any]:
    """What Penstock makes of a job."""
    with _quiet():
        return program_jobs.run_job(tf, session_of(mode), job)


def run_text_ours(job: Job, modes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The same for a text in each mode; its graph is built once."""
    found: dict[str, dict[str, Any]] = {}
    with tf.Graph().as_default(), _quiet():
        try:
            built = program_jobs.build_text(tf, job["source"])
        except Exception as error:
            return {m: {"id": job["id"], "error": describe(error, "build")} for m in modes}
        for mode in modes:
            try:
                with session_of(mode)(tf) as session:
                    values = program_jobs.run_text(tf, session, built, job["feeds"])
                found[mode] = {"id": job["id"], "values": program_jobs.packed(values)}
            except Exception as error:
                found[mode] = {"id": job["id"], "error": describe(error, "run")}
    return found


def observe(jobs: list[Job], modes: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What Penstock (by id, by mode) and what TensorFlow (by id) make of the jobs."""
    theirs: dict[str, Any] = {}
    failure: list[BaseException] = []

    def run_theirs() -> None:
        try:
            theirs.update(peers.run_jobs("tf2", jobs, runner=RUNNER))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run_theirs)
    thread.start()
    ours = {}
    for job in jobs:
        if job["kind"] == "text":
            ours[job["id"]] = run_text_ours(job, modes)
        else:
            ours[job["id"]] = {mode: run_ours(job, mode) for mode in modes}
    thread.join()
    if failure:
        raise failure[0]
    return ours, theirs


# ---- judging -------------------------------------------------------------------------------------


def difference(ours: Any, theirs: Any, where: str = "", exact: bool = True) -> str | None:
    """How two nestings of packed arrays differ, or None.

    Args:
      ours, theirs: as ``program_jobs`` gives them.
      where: says which part of a nesting this is.
      exact: whether float64 values were computed as such.
    """
    if isinstance(theirs, list):
        if not isinstance(ours, list) or len(ours) != len(theirs):
            return f"{where}: {ours!r:.80} for {theirs!r:.80}"
        pairs = [(o, t, f"{where}[{i}]") for i, (o, t) in enumerate(zip(ours, theirs, strict=True))]
    elif isinstance(theirs, dict) and "array" not in theirs:
        if not isinstance(ours, dict) or set(ours) != set(theirs):
            return f"{where}: {ours!r:.80} for {theirs!r:.80}"
        pairs = [(ours[key], theirs[key], f"{where}[{key!r}]") for key in theirs]
    else:
        return _of_arrays(ours, theirs, where, exact)
    return next((found for pair in pairs if (found := difference(*pair, exact))), None)


def _of_arrays(ours: Any, theirs: Any, where: str, exact: bool) -> str | None:
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return None if ours == theirs else f"{where}: {ours!r:.80} for {theirs!r:.80}"
    one, other = unpack(ours["array"]), unpack(theirs["array"])
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"{where}: {one.dtype}{one.shape} for {other.dtype}{other.shape}"
    wide = exact and one.dtype == np.float64
    tolerance = {"rtol": 1e-7, "atol": 1e-9} if wide else {"rtol": 2e-4, "atol": 1e-5}
    if np.allclose(one, other, equal_nan=True, **tolerance):
        return None
    return f"{where}: {one.tolist()!s:.120} for {other.tolist()!s:.120}"


def judge(jobs: list[Job], ours: dict[str, Any], theirs: dict[str, Any]) -> Report:
    """Holds what Penstock gave against what TensorFlow gave."""
    report = Report()
    for job in jobs:
        name = job["id"]
        other, found = theirs[name], ours[name]
        if "error" in other:
            first = f"{other['error']['class']}: {other['error']['message']}"
            report.failed[name] = first
            continue
        wrong = []
        for mode, one in found.items():
            if "error" in one:
                wrong.append(f"{mode}: {one['error']['class']}: {one['error']['message']}")
                continue
            text = difference(one["values"], other["values"], "", job["kind"] != "arrays")
            if text:
                wrong.append(f"{mode}: {text}")
        if wrong and name in WRONG_IN_TENSORFLOW and len({w.split(": ", 1)[1] for w in wrong}) == 1:
            report.wrong_in_tensorflow[name] = WRONG_IN_TENSORFLOW[name]
        elif wrong:
            report.differ[name] = "\n".join(wrong)
        else:
            report.agree.append(name)
    return report


def compare(jobs: list[Job], modes: Sequence[str] = MODES) -> Report:
    """Runs jobs on both sides and judges them."""
    return judge(jobs, *observe(jobs, modes))


def run(seeds: Sequence[int], *, constructs: bool = True, modes: Sequence[str] = MODES) -> bool:
    """The stage: prints what it finds; returns whether all agree.

    Args:
      seeds: of the random programs.
      constructs: whether the named programs run too.
      modes: of ``lowered``, ``dataflow`` and ``plain`` (lowered, without optimizing passes).
    """
    parts = {"constructs": construct_jobs()} if constructs else {}
    parts["random programs"] = random_jobs(seeds)
    good = True
    for title, jobs in parts.items():
        started = time.monotonic()
        report = compare(jobs, modes)
        sources = {job["id"]: job.get("source", "") for job in jobs}
        for name, text in report.differ.items():
            print(f"\nDIFFERS, {name}:\n{text}\n{sources[name]}")
        print(f"{title}: {report.line()}\n({time.monotonic() - started:.0f} s)")
        good = good and not report.differ
    return good
