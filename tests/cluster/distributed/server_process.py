"""A server in a process of its own, for tests that use it from outside.

process = ServerProcess({"ps": ["localhost:2222"], ...}, "ps", 0)
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.suite import warm


def free_addresses(count: int) -> list[str]:
    """Addresses of this machine that nobody listens at."""
    held = [socket.create_server(("localhost", 0)) for _ in range(count)]
    found = [f"localhost:{each.getsockname()[1]}" for each in held]
    for each in held:
        each.close()
    return found


class ServerProcess:
    """A process that serves one task until it is ended."""

    def __init__(self, cluster: dict[str, list[str]], job: str, index: int, **env: str) -> None:
        root = str(Path(__file__).resolve().parents[3])
        environ = {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1", **env}
        self.process = warm.Popen(
            [sys.executable, __file__, json.dumps(cluster), job, str(index)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ, cwd=root,
        )  # fmt: skip
        self.target = f"grpc://{cluster[job][index]}"

    def wait_until_up(self) -> None:
        assert self.process.stdout
        assert self.process.stdout.readline() == "up\n"

    def ask(self, what: str) -> Any:
        """What the process answers to a question of ``main``."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            pipe.close()


def main() -> None:
    import threading

    import torch

    import penstock as tf

    torch.set_num_threads(1)
    cluster, job, index = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    server = tf.train.Server(cluster, job, index)
    # What a client's py_func must not reach.
    with tf.Graph().as_default() as kept:
        tf.py_func(lambda x: x - 1000, [tf.constant(1.0)], tf.float32)
    print("up", flush=True)
    for line in sys.stdin:
        if line.strip() == "counts":
            answer: Any = {**server._worker.counts(), "threads": threading.active_count()}
        else:
            answer = [str(op.name) for op in kept.get_operations()]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
