"""``python -m benchmarks.cluster_prediction``: steps predicted by the simulator, and measured.

1. ``penstock.simulate.calibrate`` measures one worker and one ps: the costs.
2. A cluster of 2 ps and 4 workers is started; the step of one worker with nothing remote says how
   long the computing takes.
3. For 1 to 4 workers, asynchronous and synchronous, the step is measured and simulated.

Nothing of step 3 goes into the costs. Differences above 25% are marked, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from benchmarks.cases import IMPLEMENTATIONS
from benchmarks.cluster import Prepared, Row
from benchmarks.cluster_cases import TRAIN_BATCH, TRAIN_BYTES
from benchmarks.cluster_processes import Cluster
from benchmarks.workers import RESULTS, interpreter_of
from penstock.simulate import Compute, Job, Model, Profile, simulate
from penstock.simulate.calibrate import calibrate

ALLOWED = 0.25
PS = 2
STEPS = 20


def measured(cluster: Cluster, case: str, workers: int, number: int, rounds: int) -> float:
    """The median step of the workers, over several turns."""
    prepared = Prepared(cluster, Row(case, PS, workers), number)
    prepared.turn(5)
    seconds = [each for _ in range(rounds) for each in prepared.turn(STEPS)[1]]
    prepared.release()
    return median(seconds)


def predicted(profile: Profile, compute: float, mode: str, workers: int) -> float:
    """The simulator's median."""
    model = Model(dense_bytes=TRAIN_BYTES, batch=TRAIN_BATCH, compute=Compute(compute))
    return simulate(model, Job(PS, workers, mode, steps=200), profile).median


def compare(profile: Profile, cluster: Cluster, counts: Sequence[int], rounds: int) -> list[dict]:  # type: ignore[type-arg]
    """A row for each mode and number of workers."""
    local = measured(cluster, "train_local", 1, 0, rounds)
    compute = max(0.0, local - profile.step_cpu - TRAIN_BYTES * profile.update_byte)
    print(
        f"a step on one worker takes {local * 1e3:.1f} ms, of which computing {compute * 1e3:.1f}"
    )
    rows = []
    for mode in ("async", "sync"):
        for workers in counts:
            found = measured(cluster, f"train_{mode}", workers, len(rows) + 1, rounds)
            expected = predicted(profile, compute, mode, workers)
            rows.append(
                {"mode": mode, "workers": workers, "measured": found, "predicted": expected}
            )
            off = expected / found - 1
            mark = "" if abs(off) <= ALLOWED else "  !"
            print(
                f"{mode:5} {workers} workers: measured {found * 1e3:6.1f} ms,"
                f" predicted {expected * 1e3:6.1f} ms, {off:+.0%}{mark}",
                flush=True,
            )
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Compares; 0 when all predictions are within 25%."""
    parser = argparse.ArgumentParser(description="Predicted and measured steps.")
    names = [each.name for each in IMPLEMENTATIONS if each.kind == "graph"]
    parser.add_argument("--implementation", choices=names, default="penstock")
    parser.add_argument("--workers", default="1,2,3,4")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    counts = [int(part) for part in options.workers.split(",")]
    implementation = next(each for each in IMPLEMENTATIONS if each.name == options.implementation)
    interpreter = str(interpreter_of(implementation))
    profile = calibrate(implementation.name, interpreter, implementation.module, threads=1)
    profile = replace(profile, host_cores=options.cores)
    print(profile.to_json())
    with Cluster(implementation, PS, max(counts), threads=1) as cluster:
        rows = compare(profile, cluster, counts, options.rounds)
    RESULTS.mkdir(parents=True, exist_ok=True)
    found = {"profile": json.loads(profile.to_json()), "rows": rows}
    (RESULTS / f"prediction-{implementation.name}.json").write_text(json.dumps(found, indent=2))
    worst = max(abs(row["predicted"] / row["measured"] - 1) for row in rows)
    print(f"largest difference {worst:.0%}, allowed {ALLOWED:.0%}")
    return 0 if worst <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
