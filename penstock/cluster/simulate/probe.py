"""What costs are measured with: two ps and a worker that run steps between them.

Run as a file by ``calibrate``, in the environment of whatever TF1 API it measures, so that it
imports nothing of Penstock but what it is told to. A ps serves until its stdin ends; the worker
measures and prints one line of JSON: for each measurement the seconds a step, and the CPU seconds a
step of the worker's process and of those of the ps.

    local   a step that stays in the worker
    read    of a variable on a ps, small and large, consumed on the worker
    apply   an update of which nothing crosses a link
    few, many, large, apart
            a training step of the networks in ``NETWORKS``: with everything on the worker (local),
            asynchronous (async), synchronous with SyncReplicasOptimizer: an update for each
            gradient (sync), for each pair of them (pairs)

Steps that only read and write find everything in the caches and all threads awake: a message in the
middle of a training step costs several times as much (measured: 0.3 ms and 2 ms of CPU a step for
its messages with one ps). Hence the networks.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

# float32 values: 4 bytes, 16 MiB.
SIZES = {"small": 1, "large": 4 * 1024 * 1024}
# By name: how many ps, layers, and units of a layer.
NETWORKS = {"few": (1, 2, 128), "many": (1, 16, 128), "large": (1, 10, 480), "apart": (2, 10, 480)}
MODES = ("local", "async", "sync", "pairs")
BATCH = 256
SECONDS = 1.0
BATCHES = 8


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, all threads (Linux's clock of another process)."""
    return time.clock_gettime((~pid << 3) | 2)


def measure(step: Callable[[], Any], ps_pids: Sequence[int]) -> dict[str, float]:
    """Runs a step for about a second.

    Returns:
        "seconds", "worker_cpu" and "ps_cpu" a step, of the batch whose time is in the middle.
    """
    for _ in range(3):
        step()
    start = time.perf_counter()
    step()
    count = max(2, int(SECONDS / BATCHES / max(time.perf_counter() - start, 1e-6)))
    rows: list[list[float]] = []
    for _ in range(BATCHES):
        begin = _clocks(ps_pids)
        for _ in range(count):
            step()
        end = _clocks(ps_pids)
        rows.append([(b - a) / count for a, b in zip(begin, end)])
    names = ("seconds", "worker_cpu", "ps_cpu")
    return dict(zip(names, sorted(rows)[BATCHES // 2]))


def _clocks(ps_pids: Sequence[int]) -> tuple[float, float, float]:
    return time.perf_counter(), time.process_time(), sum(map(cpu_seconds, ps_pids))


def remote_steps(tf: Any, target: str, size: int) -> dict[str, Callable[[], Any]]:
    """Steps on a variable of so many values on the ps."""
    graph = tf.Graph()
    ps, worker = "/job:ps/task:0", "/job:worker/task:0"
    with graph.as_default():
        prefix = f"calibrate{size}_"
        variables = {}
        for name, device in (("remote", ps), ("beside", ps), ("held", worker)):
            with tf.device(device):
                zeros = tf.zeros_initializer()
                variables[name] = tf.get_variable(prefix + name, [size], initializer=zeros)
        with tf.device(worker):
            local = tf.identity(variables["held"][0])
            read = variables["remote"][size // 2]
        with tf.device(ps):
            apply = tf.assign_add(variables["remote"], variables["beside"]).op
        init = tf.global_variables_initializer()
    session = tf.Session(target, graph=graph)
    session.run(init)
    fetches = {"local": local, "read": read, "apply": apply}
    return {name: functools.partial(session.run, fetch) for name, fetch in fetches.items()}


def training_step(tf: Any, target: str, mode: str, network: str) -> Callable[[], Any]:
    """A step of one worker that trains a network of square layers.

    Args:
        tf: The API.
        target: Of the worker's server.
        mode: Of ``MODES``.
        network: Of ``NETWORKS``.
    """
    ps, layers, units = NETWORKS[network]
    worker = "/job:worker/task:0"
    homes = [worker] if mode == "local" else [f"/job:ps/task:{task}" for task in range(ps)]
    graph = tf.Graph()
    with graph.as_default(), graph.container(f"calibrate_{network}_{mode}"), tf.device(worker):
        with tf.device(homes[0]):
            global_step = tf.train.get_or_create_global_step()
        uniform = tf.random_uniform_initializer(-0.1, 0.1)
        hidden = tf.get_variable("batch", [BATCH, units], initializer=uniform, trainable=False)
        for layer in range(layers):
            with tf.device(homes[layer % len(homes)]):
                weights = tf.get_variable(f"w{layer}", [units, units], initializer=uniform)
            hidden = tf.tanh(tf.matmul(hidden, weights))
        loss = tf.reduce_mean(tf.square(hidden))
        optimizer = tf.train.GradientDescentOptimizer(1e-3)
        synchronous = mode in ("sync", "pairs")
        if synchronous:
            # This worker alone: it makes all gradients of an update, one step after the other.
            gradients = 2 if mode == "pairs" else 1
            optimizer = tf.train.SyncReplicasOptimizer(optimizer, gradients, gradients)
        train = optimizer.minimize(loss, global_step)
        runner = optimizer.get_chief_queue_runner() if synchronous else None
        # The steps before the last gradient of an update need a token, too.
        tokens = optimizer.get_init_tokens_op(gradients - 1) if synchronous else None
        init = tf.global_variables_initializer()
    session = tf.Session(target, graph=graph)
    session.run(init)
    if runner is not None:
        session.run(optimizer.local_step_init_op)
        session.run([optimizer.chief_init_op, tokens])
        runner.create_threads(session, tf.train.Coordinator(), daemon=True, start=True)
    return functools.partial(session.run, [loss, train])


def measure_all(tf: Any, target: str, ps_pids: Sequence[int]) -> dict[str, dict[str, float]]:
    """Every measurement, by "name_size" or "network_mode"."""
    found = {}
    for kind, size in SIZES.items():
        for name, step in remote_steps(tf, target, size).items():
            found[f"{name}_{kind}"] = measure(step, ps_pids)
    for network in NETWORKS:
        for mode in MODES:
            step = training_step(tf, target, mode, network)
            found[f"{network}_{mode}"] = measure(step, ps_pids)
    return found


def _exit_with_stdin() -> None:
    while sys.stdin.read(1):
        pass
    os._exit(0)


def main() -> None:
    """Serves as a task; the worker measures."""
    parser = argparse.ArgumentParser(description="A task of a calibration.")
    parser.add_argument("--module", required=True)
    parser.add_argument("--job", required=True)
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--index", type=int, default=0)
    parser.add_argument("--ps-pids", type=int, nargs="*", default=[])
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print goes to stderr
    tf = importlib.import_module(options.module)
    if options.module == "tensorflow.compat.v1":
        tf.disable_v2_behavior()
    config = tf.ConfigProto(
        intra_op_parallelism_threads=options.threads,
        inter_op_parallelism_threads=max(2, options.threads),
    )
    spec = tf.train.ClusterSpec(json.loads(options.cluster))
    server = tf.train.Server(spec, job_name=options.job, task_index=options.index, config=config)
    threading.Thread(target=_exit_with_stdin, daemon=True).start()
    found = measure_all(tf, server.target, options.ps_pids) if options.job == "worker" else {}
    out.write(json.dumps(found) + "\n")
    out.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
