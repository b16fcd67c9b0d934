"""``python -m benchmarks.front_ends``: a TensorFlow client on Penstock's server and on its own.

Both servers are up at once, each in a process of its own; the client, TensorFlow 1.15 in a third,
runs one step on the one, one on the other, and so on.  So other work on the machine meets both
alike.  Printed are, for each step and server, the median time of a step and the steps a second of
all of them, pauses included.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_TENSORFLOW1 = ROOT / ".venv-tf115" / "bin" / "python"
_THEIRS = """
import sys
import tensorflow as tf
server = tf.train.Server({"local": [sys.argv[1]]}, job_name="local", task_index=0)
print("up", flush=True)
sys.stdin.read()
"""
_CLIENT = """
import sys, time
import numpy as np
import tensorflow as tf

names, targets, steps = sys.argv[1].split(","), sys.argv[2].split(","), int(sys.argv[3])
x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.float32, [None, 10])
w, b = tf.Variable(tf.zeros([784, 10])), tf.Variable(tf.zeros([10]))
logits = tf.matmul(x, w) + b
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
dice = np.random.RandomState(1)
feed = {x: dice.rand(100, 784), y: np.eye(10)[dice.randint(0, 10, 100)]}
cases = {"null": (tf.no_op(), None), "constant": (tf.constant(1.0), None),
         "softmax, batch of 100": ([train, loss], feed)}
sessions = [tf.Session(target) for target in targets]
for session in sessions:
    session.run(tf.global_variables_initializer())
for case, (fetches, fed) in cases.items():
    times = [[] for _ in sessions]
    for n in range(steps + 200):
        for session, row in zip(sessions, times):
            begin = time.perf_counter()
            session.run(fetches, fed)
            if n >= 200:
                row.append(time.perf_counter() - begin)
    for name, row in zip(names, times):
        median = sorted(row)[len(row) // 2]
        line = "%-22s %-12s %7.0f us %7.0f steps/s"
        print(line % (case, name, median * 1e6, len(row) / sum(row)), flush=True)
"""


@contextmanager
def _server(command: Sequence[str | Path]) -> Iterator[None]:
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, cwd=ROOT, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise SystemExit(f"a server did not come up: {' '.join(map(str, command))}")
        yield
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--steps", type=int, default=2000, help="of each case on each server")
    parser.add_argument("--port", type=int, default=34300, help="and the one after it are taken")
    args = parser.parse_args()
    theirs = _TENSORFLOW1
    if not theirs.exists():
        raise SystemExit("no .venv-tf115: `make tf115` makes it")
    ours, other = f"localhost:{args.port}", f"localhost:{args.port + 1}"
    server = [sys.executable, "-m", "penstock", "server", "--cluster", f"local|{ours}"]
    with _server(server), _server([theirs, "-W", "ignore", "-c", _THEIRS, other]):
        subprocess.run(
            [theirs, "-W", "ignore", "-c", _CLIENT, "penstock,tensorflow",
             f"grpc://{ours},grpc://{other}", str(args.steps)],
            check=True, stderr=subprocess.DEVNULL, cwd=ROOT,
        )  # fmt: skip


if __name__ == "__main__":
    main()
