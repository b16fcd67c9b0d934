"""A process with links, for tests that kill, stop or measure one.

Started by ``start``; speaks JSON lines: what it is told on standard input, what happens to it on
standard output.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.suite import warm
from tests.suite.clock import PATIENCE
from tests.suite.stopping import stop


class Peer:
    """The other process, as a test sees it."""

    def __init__(self, task: str, port: int = 0, env: dict[str, str] | None = None) -> None:
        root = str(Path(__file__).resolve().parents[3])
        environ = {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1", **(env or {})}
        self.process = warm.Popen(
            [sys.executable, __file__, task, str(port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ, cwd=root,
        )  # fmt: skip
        self.task = task
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.address = self.expect("up")["address"]

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.events.put(json.loads(line))

    def tell(self, **order: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def expect(self, what: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """The next event, which must be of this kind."""
        event = self.events.get(timeout=seconds)
        assert event["what"] == what, event
        return event

    def stop(self) -> None:
        stop(self.process.pid)

    def signal(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            pipe.close()


def report(what: str, **more: Any) -> None:
    print(json.dumps({"what": what, "at": time.time(), **more}), flush=True)


def main() -> None:
    import torch

    from penstock.cluster.distributed import links as links_module, rpc
    from penstock.cluster.distributed.links import Links
    from penstock.cluster.distributed.security import Security
    from penstock.engine.runtime.memory import keep_freed_memory
    from penstock.foundation.base import errors

    torch.set_num_threads(1)
    keep_freed_memory()
    task, port = sys.argv[1], int(sys.argv[2])
    links_module.LOST_SECONDS = float(os.environ.get("LOST", links_module.LOST_SECONDS))
    security = Security.from_environment()
    addresses: dict[str, str] = {}

    def deliver(source: str, header: bytes, value: Any) -> None:
        if header.startswith(b"echo"):
            made.send(source, b"back" + header[4:], value)
        elif header.startswith(b"take"):
            return
        else:
            report("message", task=source, header=header.decode(),
                   sum=None if value is None else float(value.double().sum()))  # fmt: skip

    made = Links(
        task,
        lambda peer: rpc.Stub(addresses[peer], "Links", peer, security),
        deliver,
        lambda peer, error: report("lost", task=peer, error=type(error).__name__, text=str(error)),
        security,
        incarnation=int.from_bytes(os.urandom(8), "little"),
    )
    server = rpc.serve(f"localhost:{port}", {"Links": made}, security, task=task)
    report("up", address=server.address)
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "know":
            addresses[order["task"]] = order["address"]
        elif order["do"] == "send":
            try:
                made.send(order["task"], order["header"].encode(), torch.ones(order["size"]))
                report("sent")
            except errors.OpError as error:
                report("failed", error=type(error).__name__, text=str(error))
        elif order["do"] == "stop":
            made.close()
            server.stop(0)
            report("stopped", threads=[t.name for t in threading.enumerate()])


if __name__ == "__main__":
    main()
