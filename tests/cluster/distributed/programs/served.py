"""A server that tells on SIGUSR1 what its process holds."""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import threading
from pathlib import Path

import penstock as tf


def held(server: tf.train.Server) -> dict[str, int]:
    """What the process holds: memory in kB, and how many of each thing."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    return {
        "rss": int(status.partition("VmRSS:")[2].split()[0]),
        "threads": threading.active_count(),
        "native_threads": int(status.partition("Threads:")[2].split()[0]),
        "files": len(os.listdir("/proc/self/fd")),
        "master_sessions": len(server._master._sessions),
        **server._worker.counts(),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--job_name", required=True)
    parser.add_argument("--task_index", type=int, required=True)
    parser.add_argument("--ps_hosts", required=True)
    parser.add_argument("--worker_hosts", required=True)
    arguments = parser.parse_args()
    cluster = {
        "ps": arguments.ps_hosts.split(","),
        "worker": arguments.worker_hosts.split(","),
    }
    server = tf.train.Server(cluster, job_name=arguments.job_name, task_index=arguments.task_index)
    signal.signal(signal.SIGUSR1, lambda *_: print(f"holds {json.dumps(held(server))}"))
    print("serves")
    server.join()


if __name__ == "__main__":
    main()
