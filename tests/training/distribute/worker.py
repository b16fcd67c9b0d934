"""One task of a cluster that trains together, as a process of its own: ``worker.py KIND``."""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np

import penstock as tf
from penstock.training.distribute import ReduceOp
from penstock.training.distribute.experimental import MultiWorkerMirroredStrategy
from tests.suite.clock import PATIENCE_MS, Clock
from tests.training.distribute import training

RANK = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
CPUS = ["/cpu:0", "/cpu:1"]


def tell(**what):
    """A line for the test."""
    print(json.dumps(what), flush=True)


def train(devices, pack, optimizer):
    """Trains the regression; tells losses and variables."""
    strategy = MultiWorkerMirroredStrategy.of_devices(
        CPUS[: int(devices)], bytes_per_pack=int(pack)
    )
    found = training.train(strategy, optimizer)
    tell(
        losses=found.losses,
        step=found.step,
        variables={k: [c.tolist() for c in v] for k, v in found.variables.items()},
        chief=strategy.extended.should_checkpoint,
    )


def _summing(strategy, dtype=tf.float32):
    """A graph that sums a fed value over the tasks."""
    with strategy.scope():
        fed = tf.placeholder(dtype, [None])
        return fed, strategy.reduce(
            ReduceOp.SUM, strategy.experimental_run_v2(lambda: tf.identity(fed))
        )


def faults(until):
    """Sums until step ``until``, trying again what fails because a task was lost."""
    strategy = MultiWorkerMirroredStrategy.of_devices(["/cpu:0"])
    fed, total = _summing(strategy)
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=PATIENCE_MS)) as session:
        step = 0
        while step < int(until):
            try:
                # Everyone learns where everyone is; a task that came back goes on from there.
                own = np.where(np.arange(2) == RANK, step, 0)
                step = int(session.run(total, {fed: own}).max()) + 1
                tell(step=step)
            except tf.errors.UnavailableError as error:
                tell(lost=error.message)
            time.sleep(0.02)


def late():
    """The second task does not come: the wait ends at the step's deadline."""
    strategy = MultiWorkerMirroredStrategy.of_devices(["/cpu:0"])
    fed, total = _summing(strategy)
    with tf.Session() as session:
        for options in (tf.RunOptions(timeout_in_ms=500), None):
            clock = Clock()
            try:
                session.run(total, {fed: [1.0]}, options)
            except tf.errors.OpError as error:
                tell(error=type(error).__name__, text=str(error), took=clock.seconds())


def mismatch():
    """The tasks feed values of different shapes, then equal ones."""
    strategy = MultiWorkerMirroredStrategy.of_devices(["/cpu:0"])
    fed, total = _summing(strategy)
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=PATIENCE_MS)) as session:
        try:
            session.run(total, {fed: np.zeros(RANK + 1, np.float32)})
        except tf.errors.OpError as error:
            tell(error=type(error).__name__, text=str(error))
        tell(total=session.run(total, {fed: [RANK + 1.0]}).tolist())


def kernels():
    """Each collective op on each dtype, told as lists."""
    from penstock.engine.resources import collective
    from penstock.foundation.graph.build import make
    from penstock.training.distribute import cluster

    task = cluster.read()
    collective.configure(collective.Member(task.addresses, task.rank, task.names))
    size, group = len(task.addresses), {"group_size": len(task.addresses), "group_key": 7}
    results, instance = {}, 0
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=PATIENCE_MS)) as session:
        for dtype in ("float32", "float16", "float64", "int32", "int64"):
            own = tf.constant((np.arange(4).reshape(2, 2) + RANK + 1).astype(dtype))
            for merge in ("Add", "Mul", "Min", "Max"):
                for final in ("Id", "Div"):
                    instance += 1
                    results[f"{dtype} {merge} {final}"] = make(
                        "CollectiveReduce", own, instance_key=instance, merge_op=merge,
                        final_op=final, subdiv_offsets=[0], **group,
                    )  # fmt: skip
            instance += 2
            results[f"{dtype} gather"] = make(
                "CollectiveGather", own, instance_key=instance - 1, shape=[2 * size, 2], **group
            )
            attrs = {"instance_key": instance, "shape": [2, 2], **group}
            if RANK == 1:
                made = make("CollectiveBcastSend", own, **attrs)
            else:
                made = make("CollectiveBcastRecv", T=tf.as_dtype(dtype), **attrs)
            results[f"{dtype} broadcast"] = made
        values = session.run(results)
        tell(**{key: [str(value.dtype), value.tolist()] for key, value in values.items()})


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
