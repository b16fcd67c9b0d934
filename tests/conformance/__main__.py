"""Every op, and whole programs, against TensorFlow: ``python -m tests.conformance``.

Three stages.  ``--stage ops`` (``--ops A,B`` for some, ``--out FILE``) is described here, ``--stage
edges`` (``--ops`` too) in ``edges.py``, ``--stage programs`` (``--seeds 500`` or ``--seeds
FIRST:LAST``, ``--modes lowered,dataflow,plain``) in ``programs.py``; all run unless one is named.

Runs the rows of ``tests/ops/cases`` in Penstock and in TensorFlow 2.21 (graph mode, an environment
of its own, with its oneDNN kernels unless ``--onednn off``; see ``builds.py``); in TensorFlow 1.15
the rows that say so, the ops that 2.21 does not have, and those gradients that fail inside 2.21.
Compares values, dtypes, static shapes (with known and with unknown inputs), gradients of first and
second order, updated variables and errors.  Prints a table of ops; writes ``{op: {"status": agree |
differ | not comparable, "reason": ..., "second": ...}}``.
First it prints what the figures come from: the TensorFlows, torch's kernels, the processor.  Exit
status 1 if any differ.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from penstock.foundation.opdef import registry
from tests import provenance
from tests.conformance import builds, edges, peers, programs
from tests.conformance.jobs import run_job
from tests.conformance.judge import Verdict, count_second, fails, judge, lacks_kernel, summarize
from tests.ops.coverage_reasons import WITHOUT_ROW
from tests.ops.engine import BACKEND, sweep
from tests.ops.opcase import Bound, is_complex
from tests.peers import PEERS as TF2, absence

NO_OLD = "not comparable: no Python 3.7 here, so no TensorFlow 1.15"
PRECISION = {"float64": 0, "complex128": 0, "float32": 1, "complex64": 1, "half": 2, "bfloat16": 3}
INTERNAL = "made by passes only: TensorFlow has no such op type"


def _bounds(ops: list[str]) -> list[Bound]:
    return [b for b in sweep() if not ops or b.case.op in ops]


def _second_order(bounds: list[Bound]) -> set[str]:
    """The runs whose gradients are differentiated again: of each row the most precise dtypes.

    One of real numbers and one of complex numbers: what a graph computes does not depend on the
    precision, which would only hide small terms.
    """
    found: dict[tuple[str, bool], str] = {}
    for bound in sorted(bounds, key=lambda b: PRECISION.get(b.dtype, len(PRECISION))):
        found.setdefault((bound.case.id, is_complex(bound.dtype)), bound.id)
    return set(found.values())


def _jobs(bounds: list[Bound]) -> dict[str, Any]:
    jobs, seen = {}, set()
    second = _second_order(bounds)
    for bound in bounds:
        jobs[bound.id] = peers.to_job(
            bound, unknown=bound.case.id not in seen, kinks=True, second=bound.id in second
        )
        seen.add(bound.case.id)
    return jobs


def _needs_old(bound: Bound, result: dict[str, Any] | None) -> bool:
    if bound.case.oracle == "tf1" or result is None:
        return True
    if not result["known_op"]:
        return True
    error = result.get("error")
    if error is not None:
        return not bound.case.raises and lacks_kernel(error)
    return fails(result["grad_error"]) or any(fails(s["error"]) for s in result["second"].values())


def observe(
    bounds: list[Bound], jobs: dict[str, Any], reference: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns what Penstock and what TensorFlow observed, by job id.

    TensorFlow runs in its own process while Penstock runs in this one.
    """
    theirs: dict[str, Any] = {}
    failure: list[BaseException] = []

    def run_new() -> None:
        work = [jobs[b.id] for b in bounds if b.case.oracle == "tf2"]
        try:
            theirs.update(peers.run_jobs(reference, work))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run_new)
    thread.start()
    ours = {name: run_job(BACKEND, job) for name, job in jobs.items()}
    thread.join()
    if failure:
        raise failure[0]
    old = [b for b in bounds if _needs_old(b, theirs.get(b.id))]
    if old and peers.available("tf1"):
        for name, result in peers.run_jobs("tf1", [jobs[b.id] for b in old]).items():
            _take_old(theirs, name, result)
    return ours, theirs


def _take_old(theirs: dict[str, Any], name: str, result: dict[str, Any]) -> None:
    """Uses TensorFlow 1.15's result where 2.21's is missing, or only its gradients."""
    new = theirs.get(name)
    if new is None or not new["known_op"] or "error" in new:
        if new is None or "error" not in result:
            theirs[name] = result
    elif "error" in result or result["grad_error"] is not None:
        return
    elif fails(new["grad_error"]):
        new.update({key: result[key] for key in ("grads", "grad_error", "second")})
    else:
        for number, second in result["second"].items():
            if number in new["second"] and fails(new["second"][number]["error"]):
                new["second"][number] = second


def verdicts(bounds: list[Bound], reference: str = "tf2") -> list[Verdict]:
    """Runs rows on both sides and judges each."""
    jobs = _jobs(bounds)
    ours, theirs = observe(bounds, jobs, reference)
    result = []
    for bound in bounds:
        other = theirs.get(bound.id)
        if other is None or not other["known_op"]:
            why = "no TensorFlow here has this op" if peers.available("tf1") else NO_OLD
            result.append(Verdict(bound, skipped=why))
        else:
            result.append(judge(bound, ours[bound.id], other))
    settled = builds.settled(
        result,
        reference,
        lambda verdict: jobs[verdict.bound.id],
        lambda verdict, other: judge(verdict.bound, ours[verdict.bound.id], other),
    )
    return [settled.get(verdict.bound.id, verdict) for verdict in result]


def table(
    bounds: list[Bound], ops: list[str], *, verbose: bool = False, reference: str = "tf2"
) -> dict[str, Any]:
    """Returns status and reason of every registered op (or of ``ops``)."""
    by_op = collections.defaultdict(list)
    found = verdicts(bounds, reference)
    for verdict in found:
        by_op[verdict.bound.case.op].append(verdict)
        if verbose:
            for text in verdict.differences:
                print(f"{verdict.bound.id}: {text}")
    print(count_second(found))
    summary = {op: summarize(op, mine) for op, mine in by_op.items()}
    for name, definition in registry.all_ops().items():
        if name not in summary and (not ops or name in ops):
            reason = (
                INTERNAL if definition.internal else WITHOUT_ROW.get(name, "no row in the table")
            )
            summary[name] = {"status": "not comparable", "reason": reason}
    return dict(sorted(summary.items()))


def main(argv: list[str] | None = None) -> int:
    """Command line; see the module docstring."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--ops", default="", help="op types, separated by commas (default: all)")
    parser.add_argument("--out", default="benchmarks/results/conformance.json")
    parser.add_argument("--verbose", action="store_true", help="print every difference")
    parser.add_argument("--stage", choices=["ops", "edges", "programs", "all"], default="all")
    parser.add_argument("--seeds", default="500", help="random programs: a number, or FIRST:LAST")
    parser.add_argument("--modes", default=",".join(programs.MODES))
    parser.add_argument(
        "--onednn", choices=list(builds.REFERENCES), default="on",
        help="which kernels of TensorFlow 2.21 rows of ops and edges are held to",
    )  # fmt: skip
    options = parser.parse_args(argv)
    if not peers.available("tf2"):
        print(absence(TF2), file=sys.stderr)
        return 2
    reference = builds.REFERENCES[options.onednn]
    print("\n".join(_header(reference)), flush=True)
    good = True
    if options.stage in ("ops", "all"):
        good = _ops(options, parser.get_default("out"))
    if options.stage in ("edges", "all"):
        named = [op for op in options.ops.split(",") if op]
        good = edges.run(named, verbose=options.verbose, reference=reference) and good
    if options.stage in ("programs", "all") and not options.ops:
        first, colon, last = options.seeds.partition(":")
        seeds = range(int(first), int(last)) if colon else range(int(first))
        good = programs.run(seeds, modes=options.modes.split(",")) and good
    return 0 if good else 1


def _header(reference: str) -> list[str]:
    """What the figures come from; the TensorFlows are asked at the same time."""
    asked = [peer for peer in (reference, "tf1") if peers.available(peer)]
    with ThreadPoolExecutor() as pool:
        lines = list(pool.map(peers.about, asked))
    return [*lines, f"Penstock: {provenance.kernels()}", *provenance.header()]


def _ops(options: argparse.Namespace, usual_out: str) -> bool:
    """The stage of ops: prints its table; returns whether none differs."""
    started = time.monotonic()
    ops = [op for op in options.ops.split(",") if op]
    bounds = _bounds(ops)
    reference = builds.REFERENCES[options.onednn]
    summary = table(bounds, ops, verbose=options.verbose, reference=reference)
    order = {"agree": 0, "not comparable": 1, "differ": 2}
    for op, entry in sorted(summary.items(), key=lambda e: (order[e[1]["status"]], e[0])):
        print(f"{op:36s} {entry['status']:15s} {entry['reason'][:400]}")
    counts = collections.Counter(entry["status"] for entry in summary.values())
    text = ", ".join(f"{counts[status]} {status}" for status in order)
    print(f"\n{len(summary)} ops, {len(bounds)} runs: {text} ({time.monotonic() - started:.0f} s)")
    if not ops or options.out != usual_out:
        out = Path(options.out)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(summary, indent=1) + "\n")
        print(f"written to {out}")
    return not counts["differ"]


if __name__ == "__main__":
    sys.exit(main())
