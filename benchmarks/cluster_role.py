"""One task of a cluster that is measured: started by the driver, ended by the end of its stdin.

Requests and replies are lines of JSON:

    {"serve": {"ps": [...], "worker": [...]}, "job": "ps", "index": 0, "threads": 1}
                                   -> {"ready": "2.21.0"}
    {"prepare": "null_dense", "ps": 4, "workers": 2, "container": "c7"}  -> {}
    {"run": 20}                    -> {"seconds": [0.01, ...], "values": [2.3, ...]} of each step
    {"cpu": true}                  -> {"cpu": CPU seconds of this process so far}
    {"check": true}                -> {"value": 40.0, "counts": true}
    {"release": true}              -> {}
    {"reset": "c7"}                -> {}      state of a container in this task

A failure is answered ``{"error": traceback}``. A thread of its own reads stdin: when that ends,
the process exits at once, even inside a step that waits for a peer which is gone.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import queue
import sys
import threading
import time
import traceback
from typing import Any

from benchmarks import cluster_cases, cluster_job_cases
from benchmarks.cluster_program import Place, Program

CASES = {**cluster_cases.CASES, **cluster_job_cases.CASES}


class Role:
    """A server of this process and the program it holds."""

    def __init__(self, module: str) -> None:
        self.tf = importlib.import_module(module)
        if module == "tensorflow.compat.v1":
            self.tf.disable_v2_behavior()
        self._server: Any = None
        self._index = 0
        self._program: Program | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Does one request; errors come back as a reply, never as an exception."""
        try:
            if "serve" in request:
                return self._serve(request)
            if "prepare" in request:
                return self._prepare(request)
            if "run" in request:
                return self._run(request["run"])
            if "cpu" in request:
                return {"cpu": time.process_time()}
            if "check" in request:
                program = self._prepared()
                return {"value": program.check(), "counts": program.counts}
            if "reset" in request:
                self.tf.Session.reset(self._server.target, [request["reset"]])
                return {}
            if "release" in request:
                self._release()
                return {}
            raise ValueError(f"no such request: {request!r}")
        except Exception:
            return {"error": traceback.format_exc()}

    def _serve(self, request: dict[str, Any]) -> dict[str, Any]:
        threads = request["threads"]
        config = None
        if threads is not None:
            config = self.tf.ConfigProto(
                intra_op_parallelism_threads=threads, inter_op_parallelism_threads=max(2, threads)
            )
        self._index = request["index"]
        self._server = self.tf.train.Server(
            self.tf.train.ClusterSpec(request["serve"]),
            job_name=request["job"],
            task_index=self._index,
            config=config,
        )
        return {"ready": self.tf.__version__}

    def _prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        self._release()
        place = Place(
            self._server.target,
            self._index,
            request["ps"],
            request["workers"],
            request["container"],
        )
        self._program = CASES[request["prepare"]](self.tf, place)
        return {}

    def _prepared(self) -> Program:
        if self._program is None:
            raise RuntimeError("no case is prepared")
        return self._program

    def _run(self, steps: int) -> dict[str, Any]:
        step = self._prepared().step
        seconds, values = [], []
        for _ in range(steps):
            start = time.perf_counter()
            values.append(step())
            seconds.append(time.perf_counter() - start)
        return {"seconds": seconds, "values": values}

    def _release(self) -> None:
        if self._program is not None:
            self._program.close()
        self._program = None


def _read_requests(requests: queue.Queue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        requests.put(json.loads(line))
    os._exit(0)  # nobody asks any more; a server of TensorFlow cannot be stopped otherwise


def main() -> None:
    """Imports the implementation and answers requests until stdin ends."""
    parser = argparse.ArgumentParser(description="A task of a benchmark's cluster.")
    parser.add_argument("--module", default="penstock", help="the TF1 API")
    arguments = parser.parse_args()
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print goes to stderr
    try:
        role: Role | None = Role(arguments.module)
        failure = ""
    except Exception:
        role, failure = None, traceback.format_exc()
    requests: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    while True:
        request = requests.get()
        message = {"error": failure} if role is None else role.answer(request)
        replies.write(json.dumps(message) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
