"""A profile of this machine: two processes, steps between them, and the costs that explain them.

The costs are those of one worker and one parameter server on one host, all cores theirs. What
several of them do to each other is the simulator's to tell.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from penstock.simulate.profile import Profile, from_mapping
from penstock.simulate.training import simulate
from penstock.simulate.workload import Job, Model

PROBE = Path(__file__).with_name("probe.py")
DEADLINE_SECONDS = 180.0
END_SECONDS = 5.0
_LARGE_BYTES = 4.0 * 4 * 1024 * 1024
_VALUE_BYTES = 4.0
_HALVINGS = 30

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
    """What the probe measures between two processes of its own."""
    ports = _free_ports(2)
    cluster = {job: [f"127.0.0.1:{port}"] for job, port in zip(("ps", "worker"), ports)}
    command = [interpreter, str(PROBE), "--module", module, "--cluster", json.dumps(cluster)]
    command += ["--threads", str(threads)]
    limits = {"OMP_NUM_THREADS": str(threads), "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment = {**os.environ, **limits, "CUDA_VISIBLE_DEVICES": ""}
    started: list[subprocess.Popen[bytes]] = []
    try:
        ps = _start([*command, "--job", "ps"], environment)
        started.append(ps)
        worker = _start([*command, "--job", "worker", "--ps-pid", str(ps.pid)], environment)
        started.append(worker)
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

    CPU time says what a message costs at its ends; what of the elapsed time it does not explain is
    latency. Elapsed time a byte is the link's; CPU time a byte says how much of the cores it takes.

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
    ends = max(0.0, of("read_small", "worker_cpu") - of("local_small", "worker_cpu"))
    ends += of("read_small", "ps_cpu")
    # Four pieces of work in a round trip. Threads of one end may work side by side: then the CPU
    # time is more than the elapsed time, which is what counts.
    message = min(ends, rest) / 4
    link = per_byte("read")
    profile = Profile(
        name,
        source,
        latency=(rest - 4 * message) / 2,
        link_bandwidth=1.0 / link if link else None,
        host_cores=cores,
        send_cpu=message,
        recv_cpu=message,
        send_byte_cpu=per_byte("read", "ps_cpu"),
        recv_byte_cpu=per_byte("read", "worker_cpu"),
        step_cpu=step_cpu,
        update_slots=max(1, int(cores)),
        update_byte=per_byte("apply"),
    )
    sync = [(4.0, of("sync_small")), (_LARGE_BYTES, of("sync_large"))]
    for field, (size, seconds) in zip(("sync_cpu", "accumulate_byte"), sync, strict=True):
        profile = _explain(profile, field, size, seconds)
    return profile


def _with(profile: Profile, field: str, value: float) -> Profile:
    return from_mapping({**asdict(profile), field: value})


def _explain(profile: Profile, field: str, size: float, seconds: float) -> Profile:
    """The profile with the cost ``field`` at which a synchronous step takes ``seconds``.

    Part of that cost may be hidden behind what the worker does meanwhile, so that it is sought by
    halving: a step never gets shorter when it grows. 0 where a step takes longer without it.
    """
    low, high = 0.0, seconds / (size if field.endswith("_byte") else 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tried = _with(profile, field, middle)
        if simulate(Model(dense_bytes=size), Job(steps=3), tried).median < seconds:
            low = middle
        else:
            high = middle
    return _with(profile, field, low)
