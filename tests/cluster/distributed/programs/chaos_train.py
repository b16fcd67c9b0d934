"""A trainer that writes down what it saw, for ``tests.cluster.distributed.chaos``.

Beside the model each parameter server holds a version, to which every training step adds one.  What
a step began and ended at (the machine's monotonic clock), and the versions and the global step that
it saw, go into a file of this process, a JSON line each; the chief's sessions and checkpoints too.
What the process uses goes into another.  Training ends when a file named "stop" appears.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import penstock as tf

INPUTS, BATCH = 8, 16


class Record:
    """Lines of a file that others read while it is written."""

    def __init__(self, directory: Path, task: str) -> None:
        self._task = task
        name = f"history-{task.replace(' ', '-')}-{os.getpid()}.jsonl"
        self._file = (directory / name).open("a", buffering=1)

    def add(self, what: str, begin: float, **seen: Any) -> None:
        line = {"what": what, "task": self._task, "begin": begin, "end": time.monotonic(), **seen}
        self._file.write(json.dumps(line) + "\n")


class TellUsed(threading.Thread):
    """Records every other second what the process uses: memory, and its threads by name.

    A thread that Python did not make has the system's name.
    """

    def __init__(self, directory: Path, task: str) -> None:
        super().__init__(name="tell-used", daemon=True)
        self._file = (directory / f"used-{task}-{os.getpid()}.jsonl").open("a", buffering=1)

    def run(self) -> None:
        while True:
            try:
                used = {"at": time.monotonic(), "kb": self._kb(), "threads": self._threads()}
            except OSError:  # no file can be opened just now
                pass
            else:
                self._file.write(json.dumps(used) + "\n")
            time.sleep(2.0)

    @staticmethod
    def _kb() -> int:
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    @staticmethod
    def _threads() -> Counter[str]:
        names = {each.native_id: each.name for each in threading.enumerate()}
        found: Counter[str] = Counter()
        for task in os.listdir("/proc/self/task"):
            try:
                named = Path(f"/proc/self/task/{task}/comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):  # it has just ended
                continue
            found[names.get(int(task), f"native {named}")] += 1
        return found


class TellSessions(tf.train.SessionRunHook):
    """Records each new session of the chief, with what its variables then are."""

    def __init__(self, record: Record, versions: list[tf.Variable]) -> None:
        self._record, self._versions = record, versions
        self._step = None

    def begin(self) -> None:
        self._step = tf.train.get_global_step()

    def after_create_session(self, session, coord) -> None:
        begin = time.monotonic()
        step, versions = session.run([self._step, self._versions])
        self._record.add("session", begin, step=int(step), versions=[int(v) for v in versions])


class TellCheckpoints(tf.train.CheckpointSaverListener):
    """Records each checkpoint once it is there."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def after_save(self, session, global_step_value) -> None:
        self._record.add("saved", time.monotonic(), step=int(global_step_value))


def model(servers: int):
    """A linear regression, its training step, and the versions with what adds to them."""
    x = tf.placeholder(tf.float32, [BATCH, INPUTS])
    y = tf.placeholder(tf.float32, [BATCH, 1])
    weights = tf.Variable(tf.zeros([INPUTS, 1]), name="weights")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
    versions, add = [], []
    for server in range(servers):
        with tf.device(f"/job:ps/task:{server}"):
            version = tf.Variable(tf.zeros([], tf.int64), name=f"version_{server}", trainable=False)
            versions.append(version)
            # Its value before, taken in the same moment; that of ``assign_add`` is read later.
            add.append(tf.count_up_to(version, 2**62))
    return x, y, step, [train, add, loss], versions


def train(session, nodes, record: Record, stop: Path, pause: float) -> None:
    """Steps, each recorded, until there is the file ``stop``."""
    x, y, step, fetches, _ = nodes
    random = np.random.RandomState(os.getpid())
    while not session.should_stop() and not stop.exists():
        given = random.randn(BATCH, INPUTS).astype(np.float32)
        wanted = given.sum(axis=1, keepdims=True)
        begin = time.monotonic()
        (_, versions, loss), now = session.run([fetches, step], {x: given, y: wanted})
        record.add("step", begin, step=int(now), versions=[int(v) for v in versions])
        assert np.isfinite(loss)
        time.sleep(pause)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cluster", required=True, help="as JSON")
    parser.add_argument("--job", required=True)
    parser.add_argument("--task", type=int, required=True)
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--checkpoints", required=True)
    parser.add_argument("--up", default="up", help="what is printed once the server listens")
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two steps")
    arguments = parser.parse_args()
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(message)s")
    cluster = tf.train.ClusterSpec(json.loads(arguments.cluster))
    server = tf.train.Server(cluster, job_name=arguments.job, task_index=arguments.task)
    TellUsed(arguments.records, f"{arguments.job}-{arguments.task}").start()
    print(arguments.up, flush=True)
    if arguments.job == "ps":
        server.join()
        return
    here = f"/job:{arguments.job}/task:{arguments.task}"
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        nodes = model(cluster.num_tasks("ps"))
    record = Record(arguments.records, f"{arguments.job} {arguments.task}")
    # Savers come after sessions: a session is recorded before anything is saved in it.
    saver = tf.train.CheckpointSaverHook(
        arguments.checkpoints, save_secs=2, listeners=[TellCheckpoints(record)]
    )
    with tf.train.MonitoredTrainingSession(
        server.target,
        is_chief=arguments.job == "chief",
        checkpoint_dir=arguments.checkpoints,
        chief_only_hooks=[TellSessions(record, nodes[4]), saver],
        save_checkpoint_secs=None,
        save_checkpoint_steps=None,
        save_summaries_steps=None,
        log_step_count_steps=None,
    ) as session:
        train(session, nodes, record, arguments.records / "stop", arguments.pause)
    print(f"{arguments.job} {arguments.task} ends well")


if __name__ == "__main__":
    main()
