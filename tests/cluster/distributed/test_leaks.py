"""Two clients, one server: 50 sessions at a time, opened and closed, leave nothing behind.

Nor does a burst of calls, be the server called meanwhile or not.

``PENSTOCK_LEAK_SECONDS`` says how long the sessions run (60 for a full run).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any

import pytest

import penstock as tf
from tests.cluster.distributed.jobs import PROGRAMS, SECONDS, Job, Process
from tests.suite.clock import wait_until

pytestmark = pytest.mark.long

RUN_SECONDS = float(os.environ.get("PENSTOCK_LEAK_SECONDS", "15"))
# Threads of pools end after half a minute without work.
IDLE_SECONDS = 35.0
TASKS = ("ps 0", "worker 0")
# Memory that may be taken after the warm-up, whatever the number of sessions: allocators' slack.
GROWTH_KB = 24 << 10
# Calls at a time.
BURST = 30


def held(servers: Job, task: str) -> dict[str, int]:
    """What a server's process holds."""
    mark = servers.mark()
    os.kill(servers.task_pid(task), signal.SIGUSR1)
    found: dict[str, int] = json.loads(servers.wait_for(rf"{task} +\| holds (.*)", mark)[1])
    return found


def held_at_rest(servers: Job) -> dict[str, dict[str, int]]:
    """The same of all tasks, once the threads of the pools have ended."""
    time.sleep(IDLE_SECONDS)
    return {task: held(servers, task) for task in TASKS}


def run_clients(servers: Job, seconds: float) -> list[int]:
    """Runs two clients of 25 sessions each; how many sessions each has had."""
    target = f"grpc://{servers.address('worker 0')}"
    clients: list[Process] = []
    try:
        for name in ("one", "two"):
            words = ["--target", target, "--name", name, "--seconds", str(seconds)]
            command = [sys.executable, str(PROGRAMS / "many_sessions.py"), *words]
            clients.append(Process(command))
        for client in clients:
            code = client.wait(seconds + 2 * SECONDS)
            assert code == 0, f"exit status {code}\n{client.text()}\n{servers.text()}"
        return [int(client.wait_for(r"^(\d+) sessions")[1]) for client in clients]
    finally:
        for client in clients:
            client.stop()


def test_sessions_leave_nothing_behind(record_property: Any) -> None:
    environment = {"MALLOC_ARENA_MAX": "2"}
    with Job("served.py", ps=1, workers=1, restarts=0, environment=environment) as servers:
        for task in TASKS:
            servers.wait_for(rf"{task} +\| serves")
        warm = run_clients(servers, RUN_SECONDS / 3)
        before = held_at_rest(servers)
        counts = run_clients(servers, RUN_SECONDS)
        after = held_at_rest(servers)
        said = f"sessions {warm} then {counts}\nbefore {before}\nafter  {after}"
        print(said)
        record_property("held", said)
        # Each session of the 50 was replaced, or the test shows nothing.
        assert min(counts) >= 25, said
        for task in TASKS:
            old, new = before[task], after[task]
            for what in ("master_sessions", "sessions", "graphs", "open", "early"):
                assert new[what] == 0, said
            for what in ("threads", "native_threads", "files"):
                assert new[what] <= old[what] + 2, said
            assert new["rss"] <= old["rss"] + GROWTH_KB, said
        servers.signal(signal.SIGTERM)
        assert servers.wait() == 128 + signal.SIGTERM


def test_a_burst_leaves_no_threads_while_calls_go_on(record_property: Any) -> None:
    with Job("served.py", ps=1, workers=1, restarts=0) as servers, tf.Graph().as_default():
        for task in TASKS:
            servers.wait_for(rf"{task} +\| serves")
        with tf.device("/job:ps/task:0"):
            gate = tf.FIFOQueue(BURST, tf.float32, shapes=[[]])
            opened, awaited = gate.enqueue_many([tf.zeros([BURST])]), gate.dequeue()
            size = gate.size()
        with tf.Session(f"grpc://{servers.address('worker 0')}") as session:
            session.run(size)
            before = {task: held(servers, task) for task in TASKS}
            calls = [threading.Thread(target=session.run, args=(awaited,)) for _ in range(BURST)]
            for call in calls:
                call.start()
            wait_until(lambda: held(servers, "ps 0")["open"] >= BURST)
            session.run(opened)
            for call in calls:
                call.join()
            burst = {task: held(servers, task) for task in TASKS}
            end = time.monotonic() + IDLE_SECONDS
            # Each thread of the burst would have its turn every other second.
            while time.monotonic() < end:
                session.run(size)
                time.sleep(0.02)
            after = {task: held(servers, task) for task in TASKS}
        said = f"before {before}\nburst  {burst}\nafter  {after}"
        record_property("held", said)
        for task in TASKS:
            # Or the test shows nothing.
            assert burst[task]["threads"] >= before[task]["threads"] + BURST - 5, said
            assert after[task]["threads"] <= before[task]["threads"] + 5, said
        servers.signal(signal.SIGTERM)
        assert servers.wait() == 128 + signal.SIGTERM
