"""``python -m benchmarks.cluster_prediction``: steps predicted by the simulator, and measured.

1. ``penstock.cluster.simulate.calibrate`` measures one worker with one and two ps: the costs.
2. A cluster of 2 ps and 4 workers is started; the step of one worker with nothing remote says how
   long the computing takes.
3. For 1 to 4 workers, asynchronous and synchronous, the step is measured and simulated.

Nothing of step 3 goes into the costs. Differences above 25% are marked, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, median

from benchmarks.cases import IMPLEMENTATIONS
from benchmarks.cluster_cases import TRAIN_BATCH, TRAIN_BYTES, TRAIN_LAYERS
from benchmarks.cluster_processes import Cluster
from benchmarks.cluster_rows import Row
from benchmarks.cluster_turns import Prepared
from benchmarks.workers import RESULTS, interpreter_of
from penstock.cluster.simulate import Compute, Job, Model, Profile, simulate
from penstock.cluster.simulate.calibrate import calibrate

ALLOWED = 0.25
PS = 2
WARM_UP, STEPS = 5, 30
MODES = ("async", "sync")


def step_seconds(cluster: Cluster, case: str, workers: int, number: int) -> float:
    """What a step of a worker takes, on average over a turn."""
    prepared = Prepared(cluster, Row(case, PS, workers), number)
    prepared.turn(WARM_UP)
    seconds = prepared.turn(STEPS).seconds
    prepared.release()
    return mean(seconds)


def predicted(profile: Profile, compute: float, mode: str, workers: int) -> float:
    """The simulator's average."""
    model = Model(
        dense_bytes=TRAIN_BYTES,
        batch=TRAIN_BATCH,
        compute=Compute(compute),
        tensors=TRAIN_LAYERS,
    )
    return simulate(model, Job(PS, workers, mode, steps=200), profile).mean


def compare(profile: Profile, cluster: Cluster, counts: Sequence[int], rounds: int) -> list[dict]:  # type: ignore[type-arg]
    """A row for each mode and number of workers.

    The computing is measured again before each turn: what else runs on the machine changes how
    fast it is from one minute to the next.
    """
    cases = [(mode, workers) for mode in MODES for workers in counts]
    turns: dict[tuple[str, int], list[tuple[float, float]]] = {case: [] for case in cases}
    number = itertools.count()
    for _ in range(rounds):
        for case in cases:
            local = step_seconds(cluster, "train_local", 1, next(number))
            mode, workers = case
            found = step_seconds(cluster, f"train_{mode}", workers, next(number))
            turns[case].append((local, found))
    return [_row(profile, *case, *map(median, zip(*found))) for case, found in turns.items()]


def _row(profile: Profile, mode: str, workers: int, local: float, found: float) -> dict:  # type: ignore[type-arg]
    compute = max(0.0, local - profile.step_cpu - TRAIN_BYTES * profile.update_byte)
    expected = predicted(profile, compute, mode, workers)
    off = expected / found - 1
    mark = "" if abs(off) <= ALLOWED else "  !"
    print(
        f"{mode:5} {workers} workers: measured {found * 1e3:6.1f} ms,"
        f" predicted {expected * 1e3:6.1f} ms ({local * 1e3:.1f} on one worker alone), {off:+.0%}"
        f"{mark}",
        flush=True,
    )
    return {"mode": mode, "workers": workers, "measured": found, "predicted": expected}


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
