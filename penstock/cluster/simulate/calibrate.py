"""A profile of this machine: three processes, steps between them, the costs that explain them.

The costs are those of one worker and one or two parameter servers on one host, all cores theirs.
What several workers do to each other is the simulator's to tell.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from penstock.cluster.simulate.probe import NETWORKS
from penstock.cluster.simulate.profile import Profile
from penstock.cluster.simulate.training import simulate
from penstock.cluster.simulate.workload import Compute, Job, Model

PROBE = Path(__file__).with_name("probe.py")
DEADLINE_SECONDS = 180.0
END_SECONDS = 5.0
_PS = max(ps for ps, _, _ in NETWORKS.values())
_LARGE_BYTES = 4.0 * 4 * 1024 * 1024
_VALUE_BYTES = 4.0
_HALVINGS = 20
# Messages that a ps and a worker send and receive in a step, besides the tensors after the first:
# the request, its reply, the update, its acknowledgement.
_MESSAGE_ENDS = 7

Measured = Mapping[str, Mapping[str, float]]


class CalibrationError(Exception):
    """A process that did not start, failed, or did not answer."""


def calibrate(
    name: str = "local",
    interpreter: str = sys.executable,
    module: str = "penstock",
    threads: int = 1,
) -> Profile:
    """Measures this machine.

    Args:
        name: Of the profile.
        interpreter: Python that has ``module``.
        module: The TF1 API: ``penstock``, or ``tensorflow.compat.v1`` to compare.
        threads: Of each process's kernels.

    Raises:
        CalibrationError: The measuring failed; no process is left.
    """
    measured = run_probe(interpreter, module, threads)
    cores = len(os.sched_getaffinity(0))
    source = f"{module} over loopback, {cores} cores, {threads} threads a process"
    return fit(measured, name, source, cores)


def run_probe(interpreter: str, module: str, threads: int) -> Measured:
    """What the probe measures between processes of its own."""
    addresses = [f"127.0.0.1:{port}" for port in _free_ports(_PS + 1)]
    cluster = {"ps": addresses[:_PS], "worker": addresses[_PS:]}
    command = [interpreter, str(PROBE), "--module", module, "--cluster", json.dumps(cluster)]
    command += ["--threads", str(threads)]
    limits = {"OMP_NUM_THREADS": str(threads), "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment = {**os.environ, **limits, "CUDA_VISIBLE_DEVICES": ""}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for index in range(_PS):
            started.append(_start([*command, "--job", "ps", "--index", str(index)], environment))
        pids = [str(ps.pid) for ps in started]
        worker = _start([*command, "--job", "worker", "--ps-pids", *pids], environment)
        started.append(worker)
        for ps in started[:_PS]:
            _line(ps, DEADLINE_SECONDS)
        measured: Measured = json.loads(_line(worker, DEADLINE_SECONDS))
        return measured
    finally:
        for process in started:
            _end(process)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _start(command: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    # -P: else our modules would hide those of the standard library that are called alike.
    return subprocess.Popen(
        [command[0], "-P", *command[1:]],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """The line that a probe prints; what it says on stderr is read along, and told on failure."""
    out, err = process.stdout, process.stderr
    if out is None or err is None:
        raise CalibrationError("the probe has no output")
    deadline = time.monotonic() + seconds
    texts = {out: b"", err: b""}
    open_streams = [out, err]
    while b"\n" not in texts[out]:
        left = max(0.0, deadline - time.monotonic())
        ready = select.select(open_streams, [], [], left)[0]
        if not ready:
            raise CalibrationError(f"the probe gave no answer within {seconds:.0f} s")
        for stream in ready:
            data = os.read(stream.fileno(), 65536)
            texts[stream] += data
            if not data:
                open_streams.remove(stream)
        if not open_streams:
            said = texts[err].decode(errors="replace").strip().splitlines()
            raise CalibrationError(f"the probe ended: {(said or ['it said nothing'])[-1]}")
    return texts[out]


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def fit(measured: Measured, name: str, source: str, cores: float) -> Profile:
    """The costs that explain what the probe measured.

    CPU time says how much of the host a training step takes: that of all processes together, beyond
    what the same step takes in one. Four networks give four costs: of a message, of a further
    tensor, of a byte, and what is left over. How much of it goes on beside the computing, the
    elapsed time tells.

    Args:
        measured: By name "read_small" and so on: "seconds", "worker_cpu", "ps_cpu" a step.
        name, source: Of the profile.
        cores: Of the host.
    """

    def of(key: str, what: str = "seconds") -> float:
        return measured[key][what]

    def per_byte(key: str, what: str = "seconds") -> float:
        rise = of(f"{key}_large", what) - of(f"{key}_small", what)
        return max(0.0, rise / (_LARGE_BYTES - _VALUE_BYTES))

    step_cpu = of("local_small")
    rest = max(0.0, of("read_small") - step_cpu)
    read = max(0.0, of("read_small", "worker_cpu") - of("local_small", "worker_cpu"))
    read += of("read_small", "ps_cpu")
    # Four pieces of work in a round trip. Threads of one end may work side by side: then the CPU
    # time is more than the elapsed time.
    alone = min(read, rest) / 4
    link, update = per_byte("read"), per_byte("apply")
    remote = {key: _cpu(measured, key, "async") - _cpu(measured, key, "local") for key in NETWORKS}
    for key in NETWORKS:
        # What a worker applies itself when everything is local, it does not when it is remote.
        remote[key] += _bytes(key) * update
    ps, tensor, byte, _ = _shares(remote)
    sync = {key: _cpu(measured, key, "sync") - _cpu(measured, key, "async") for key in NETWORKS}
    sync_ps, sync_tensor, sync_byte, sync_rest = _shares(sync)
    # Half as many updates save half of an update's work a step.
    an_update = 2 * (_cpu(measured, "large", "sync") - _cpu(measured, "large", "pairs"))
    known = sync_rest + sync_ps + _further("large") * sync_tensor
    taken = min(sync_byte, max(0.0, an_update - known) / _bytes("large"))
    message = max(alone, ps / _MESSAGE_ENDS)
    hot = per_byte("read", "ps_cpu") + per_byte("read", "worker_cpu")
    byte_cpu = max(hot / 2, (byte - update) / 4)
    profile = Profile(
        name,
        source,
        latency=(rest - 4 * alone) / 2,
        link_bandwidth=1.0 / link if link else None,
        host_cores=cores,
        send_cpu=message,
        recv_cpu=message,
        send_byte_cpu=byte_cpu,
        recv_byte_cpu=byte_cpu,
        tensor_cpu=tensor / 4,
        step_cpu=step_cpu,
        sync_cpu=sync_rest,
        sync_ps_cpu=sync_ps,
        sync_tensor_cpu=sync_tensor,
        update_slots=max(1, int(cores)),
        update_byte=update,
        accumulate_byte=sync_byte - taken,
        sync_byte=taken,
    )
    return _with_overlap(profile, measured, "apart")


def _with_overlap(profile: Profile, measured: Measured, network: str) -> Profile:
    """The profile with the share of message work beside the computing that the network shows.

    It is sought by halving: a step never gets longer when the share grows.
    """
    ps, layers, _ = NETWORKS[network]
    local, size = measured[f"{network}_local"]["seconds"], _bytes(network)
    compute = max(0.0, local - profile.step_cpu - size * profile.update_byte)
    model = Model(dense_bytes=size, compute=Compute(compute), tensors=layers)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tried = replace(profile, overlap=middle)
        took = simulate(model, Job(ps, 1, "async", steps=3), tried).median
        if took > measured[f"{network}_async"]["seconds"]:
            low = middle
        else:
            high = middle
    return replace(profile, overlap=high)


def _cpu(measured: Measured, network: str, mode: str) -> float:
    """CPU seconds of a step, all processes."""
    found = measured[f"{network}_{mode}"]
    return found["worker_cpu"] + found["ps_cpu"]


def _bytes(network: str) -> float:
    _, layers, units = NETWORKS[network]
    return 4.0 * layers * units * units


def _further(network: str) -> int:
    ps, layers, _ = NETWORKS[network]
    return layers - ps


def _shares(seconds: Mapping[str, float]) -> tuple[float, float, float, float]:
    """What of the seconds of the four networks is each ps's, each tensor's, each byte's, the rest.

    Tensors are counted from each ps's second one: the first comes with the message. Costs below
    zero, which noise would give, are none: of all choices of costs that are left out, the one that
    explains the seconds best is taken.
    """
    counts = [(NETWORKS[key][0], _further(key), _bytes(key), 1.0) for key in NETWORKS]
    matrix, target = np.array(counts), np.array([seconds[key] for key in NETWORKS])
    best, least = np.zeros(4), float(np.square(target).sum())
    for kept in itertools.product((False, True), repeat=4):
        columns = np.flatnonzero(kept)
        if not columns.size:
            continue
        found = np.linalg.lstsq(matrix[:, columns], target, rcond=1e-15)[0]
        error = float(np.square(matrix[:, columns] @ found - target).sum())
        if found.min() >= 0 and error < least:
            best, least = np.zeros(4), error
            best[columns] = found
    each_ps, each_tensor, each_byte, rest = best.tolist()
    return each_ps, each_tensor, each_byte, rest
