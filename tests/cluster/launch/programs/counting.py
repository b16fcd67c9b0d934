"""A job over plain files and sockets: parameter servers answer, workers count and resume.

Reads ``TF_CONFIG`` and the flags, which must say the same.  A parameter server accepts connections
at its address and answers with its name and its cluster.  A worker counts to ``--steps``, asks
every parameter server in each step, and keeps its count in ``--dir``, from where it goes on when it
is started again.  ``--fail JOB:INDEX:STEP:TIMES`` makes a task exit with 7 at a step.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any


def serve(address: str, name: str, cluster: dict[str, list[str]]) -> None:
    host, port = address.rsplit(":", 1)
    with socket.create_server((host, int(port))) as server:
        print(f"{name} listens", flush=True)
        while True:
            with server.accept()[0] as peer:
                peer.sendall(json.dumps([name, cluster]).encode())


def ask(address: str, patience: float) -> Any:
    """What the parameter server at ``address`` says; waits for it to come (back)."""
    host, port = address.rsplit(":", 1)
    end = time.monotonic() + patience
    while True:
        try:
            with socket.create_connection((host, int(port)), timeout=60) as s:
                return json.loads(s.makefile("rb").read())
        except (OSError, ValueError):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def work(arguments: argparse.Namespace, cluster: dict[str, list[str]], name: str) -> None:
    saved = Path(arguments.dir, f"{name.replace(' ', '-')}.step")
    step = int(saved.read_text()) if saved.exists() else 0
    print(f"{name} starts at {step}", flush=True)
    while step < arguments.steps:
        for index, address in enumerate(cluster.get("ps", [])):
            said, known = ask(address, arguments.patience)
            assert said == f"ps {index}", (said, index)
            assert known == cluster, (known, cluster)
        fail_when_asked(arguments, name, step)
        step += 1
        partial = saved.with_suffix(".partial")
        partial.write_text(str(step))
        partial.rename(saved)
        time.sleep(arguments.pause)
    print(f"{name} counted to {step}", flush=True)


def fail_when_asked(arguments: argparse.Namespace, name: str, step: int) -> None:
    if arguments.fail:
        job, index, at, times = arguments.fail.split(":")
        marks = Path(arguments.dir, "failures")
        done = len(marks.read_text()) if marks.exists() else 0
        if name == f"{job} {index}" and step == int(at) and done < int(times):
            marks.write_text("x" * (done + 1))
            print("failing", file=sys.stderr, flush=True)
            sys.exit(7)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", required=True)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--pause", type=float, default=0.02)
    parser.add_argument("--patience", type=float, default=600.0)
    parser.add_argument("--fail", default="")
    parser.add_argument("--deaf", action="store_true", help="ignore SIGTERM")
    parser.add_argument("--child", action="store_true", help="start a process of its own")
    parser.add_argument("--job_name", default="")
    parser.add_argument("--task_index", type=int, default=0)
    parser.add_argument("--ps_hosts", default="")
    parser.add_argument("--worker_hosts", default="")
    parser.add_argument("--chief_hosts", default="")
    arguments = parser.parse_args()

    config = json.loads(os.environ["TF_CONFIG"])
    cluster, task = config["cluster"], config["task"]
    job, index = task["type"], task["index"]
    if arguments.job_name:
        assert (arguments.job_name, arguments.task_index) == (job, index)
        hosts = {j: getattr(arguments, f"{j}_hosts") for j in ("ps", "worker", "chief")}
        assert {j: h.split(",") for j, h in hosts.items() if h} == cluster
    name = f"{job} {index}"
    if arguments.deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pids = [os.getpid()]
    if arguments.child:
        pids.append(os.spawnvp(os.P_NOWAIT, "sleep", ["sleep", "600"]))
    with Path(arguments.dir, "pids").open("a") as file:
        file.write("".join(f"{name} {pid}\n" for pid in pids))
    with Path(arguments.dir, "clusters").open("a") as file:
        file.write(json.dumps([name, cluster]) + "\n")
    if job == "ps":
        serve(cluster["ps"][index], name, cluster)
    elif job == "evaluator":
        print("evaluated")
    else:
        work(arguments, cluster, name)


if __name__ == "__main__":
    main()
