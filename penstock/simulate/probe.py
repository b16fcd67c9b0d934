"""What costs are measured with: two tasks, a ps and a worker, that run steps between them.

Run as a file by ``calibrate``, in the environment of whatever TF1 API it measures, so that it
imports nothing of Penstock but what it is told to. The ps serves until its stdin ends; the worker
measures and prints one line of JSON: for each measurement the seconds a step, and the CPU seconds a
step of the worker's and the ps's processes.

    local          a step that stays in the worker
    read, update   of a variable on the ps, small and large: a read is consumed on the worker
    apply          an update of which nothing crosses the link
    sync           a synchronous step (SyncReplicasOptimizer) of one worker, small and large
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
from collections.abc import Callable
from typing import Any

# float32 values: 4 bytes, 16 MiB.
SIZES = {"small": 1, "large": 4 * 1024 * 1024}
SECONDS = 1.0
BATCHES = 8


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, all threads (Linux's clock of another process)."""
    return time.clock_gettime((~pid << 3) | 2)


def measure(step: Callable[[], Any], ps_pid: int) -> dict[str, float]:
    """Runs a step for about a second.

    Returns:
        "seconds", "worker_cpu" and "ps_cpu" a step, of the batch that others on the machine
        disturbed the least: the fastest.
    """
    for _ in range(3):
        step()
    start = time.perf_counter()
    step()
    count = max(2, int(SECONDS / BATCHES / max(time.perf_counter() - start, 1e-6)))
    rows: list[list[float]] = []
    for _ in range(BATCHES):
        begin = (time.perf_counter(), time.process_time(), cpu_seconds(ps_pid))
        for _ in range(count):
            step()
        end = (time.perf_counter(), time.process_time(), cpu_seconds(ps_pid))
        rows.append([(b - a) / count for a, b in zip(begin, end)])
    names = ("seconds", "worker_cpu", "ps_cpu")
    return dict(zip(names, min(rows)))


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
            update = tf.assign_add(variables["remote"], variables["held"]).op
            apply = tf.assign_add(variables["remote"], variables["beside"]).op
        init = tf.global_variables_initializer()
    session = tf.Session(target, graph=graph)
    session.run(init)
    fetches = {"local": local, "read": read, "update": update, "apply": apply}
    return {name: functools.partial(session.run, fetch) for name, fetch in fetches.items()}


def sync_step(tf: Any, target: str, size: int) -> Callable[[], Any]:
    """A synchronous step of this one worker: all parameters read, all updated."""
    graph = tf.Graph()
    with graph.as_default(), graph.container(f"calibrate{size}"):
        with tf.device("/job:ps/task:0"):
            global_step = tf.train.get_or_create_global_step()
            variable = tf.get_variable("v", [size], initializer=tf.zeros_initializer())
        with tf.device("/job:worker/task:0"):
            read = variable[size // 2]
            held = tf.get_variable(
                "held", [size], initializer=tf.zeros_initializer(), trainable=False
            )
            with tf.control_dependencies([read]):
                gradient = tf.identity(held)
            optimizer = tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(1e-3), 1, total_num_replicas=1
            )
            train = optimizer.apply_gradients([(gradient, variable)], global_step)
            runner = optimizer.get_chief_queue_runner()
        init = tf.global_variables_initializer()
    session = tf.Session(target, graph=graph)
    session.run(init)
    session.run(optimizer.local_step_init_op)
    session.run(optimizer.chief_init_op)
    runner.create_threads(session, tf.train.Coordinator(), daemon=True, start=True)
    return lambda: session.run([read, train])


def measure_all(tf: Any, target: str, ps_pid: int) -> dict[str, dict[str, float]]:
    """Every measurement, by "name_size"."""
    found = {}
    for kind, size in SIZES.items():
        for name, step in remote_steps(tf, target, size).items():
            found[f"{name}_{kind}"] = measure(step, ps_pid)
        found[f"sync_{kind}"] = measure(sync_step(tf, target, size), ps_pid)
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
    parser.add_argument("--ps-pid", type=int, default=0)
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
    server = tf.train.Server(spec, job_name=options.job, task_index=0, config=config)
    threading.Thread(target=_exit_with_stdin, daemon=True).start()
    found = measure_all(tf, server.target, options.ps_pid) if options.job == "worker" else {}
    out.write(json.dumps(found) + "\n")
    out.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
