"""``python -m benchmarks.launched``: programs of the workshop by 1 and 2 workers, and by up to 200.

``penstock train`` runs `mnist` (its convolutions) and `word2vec` alone and, through ``penstock
launch``, with one parameter server and 1 or 2 workers, by turns, one thread a task; the rate is
what the first worker says at the end: of all workers. More workers than the machine has cores are
simulated, on machines of the profile ``osdi2016``, asynchronously, with the time of a step and the
bytes that were found here; and so, synchronously, is the figure of a talk whose sizes are known.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import penstock as tf
from penstock.cluster.simulate import PROFILES, Compute, Job, Model, simulate
from penstock.cluster.simulate.paper import INCEPTION, INCEPTION_PS

LAYOUTS = ("alone", "1 worker", "2 workers")
WORKERS = (1, 4, 16, 50, 100, 200)
BATCH = 128


def run(program: list[str], layout: str, logdir: Path) -> float:
    """What a program trains a second."""
    cluster = [] if layout == "alone" else ["--ps", "1", "--workers", layout.split()[0]]
    words = [sys.executable, "-m", "penstock", "train", *program, *cluster, "--logdir", str(logdir)]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    found = re.search(r"trained at ([\d,]+) \w+/s", done.stdout)
    if done.returncode or not found:
        raise RuntimeError(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return float(found[1].replace(",", ""))


def rates(program: list[str], rounds: int, folder: Path) -> dict[str, float]:
    """The medians over rounds, printed with the speed-up."""
    found: dict[str, list[float]] = {layout: [] for layout in LAYOUTS}
    for turn in range(rounds):
        for layout, values in found.items():
            values.append(run(program, layout, folder / f"{layout.replace(' ', '-')}-{turn}"))
    middle = {layout: statistics.median(values) for layout, values in found.items()}
    for layout, rate in middle.items():
        result = json.loads((folder / f"{layout.replace(' ', '-')}-0" / "result.json").read_text())
        told = f"accuracy {result['accuracy']:.4f}" if "accuracy" in result else ""
        print(f"  {layout:10} {rate:10,.0f} a second, {rate / middle['1 worker']:.2f} of one"
              f" worker's  {told}", flush=True)  # fmt: skip
    return middle


def parameter_bytes(logdir: Path) -> int:
    """Of the variables that are trained, in a run's last checkpoint."""
    shapes = tf.train.load_checkpoint(str(logdir)).get_variable_to_shape_map()
    own = [shape for name, shape in shapes.items() if "Adam" not in name and shape]
    return 4 * sum(int(np.prod(shape)) for shape in own)


def simulated(title: str, model: Model, mode: str, ps: int | None = None) -> None:
    """Prints the speed-ups over one worker; a parameter server for four workers by default."""
    print(f"  simulated, {title}: {model.dense_bytes / 1e6:.1f} MB, {model.batch} a step of"
          f" {model.compute.mean * 1e3:.0f} ms")  # fmt: skip
    one = 0.0
    for workers in WORKERS:
        job = Job(ps or max(1, workers // 4), workers, mode, steps=50, seed=1)
        rate = simulate(model, job, PROFILES["osdi2016"]).throughput
        one = one or rate
        print(f"  {workers:4} workers {rate:12,.0f} a second, {rate / one:.1f} of one worker's")


def main() -> None:
    """Prints tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of MNIST; default: 8 by 8 digits")
    parser.add_argument("--epochs", type=int, default=3, help="of mnist")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    mnist = ["mnist", "--network", "cnn", "--batch", str(BATCH), "--epochs", str(args.epochs)]
    mnist += ["--data", str(args.data)] if args.data else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("mnist --network cnn")
        found = rates(mnist, args.rounds, folder / "mnist")
        size = parameter_bytes(folder / "mnist" / "alone-0")
        compute = Compute(BATCH / found["alone"])
        simulated("the same", Model(dense_bytes=size, batch=BATCH, compute=compute), "async")
        print("word2vec")
        rates(["word2vec"], args.rounds, folder / "word2vec")
    print("a talk: Inception, about 40 times as fast by 50 GPUs")
    simulated(f"Inception v3, {INCEPTION_PS} ps, synchronous", INCEPTION, "sync", INCEPTION_PS)


if __name__ == "__main__":
    main()
