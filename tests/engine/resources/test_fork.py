"""What a forked child may do: compute. Where it would need its parent's threads it is told."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest

from tests.suite import warm

ROOT = Path(__file__).resolve().parents[3]

# The child ends by `os._exit`, as those of multiprocessing do; its last line is what is compared.
_SCRIPT = """
import os, sys, threading
import numpy as np
import penstock as tf

ones = np.ones([700, 700], np.float32)
fed = tf.placeholder(tf.float32, [700, 700])
total = tf.reduce_max(tf.matmul(fed, fed))
session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=THREADS))
PARENT
for _ in range(10):
    session.run(total, {fed: ones})
child = os.fork()
if child == 0:
    status = 1
    try:
        def work():
            CHILD
        work()
        status = 0
    except tf.errors.OpError as error:
        print(type(error).__name__, error.message)
        status = 2
    finally:
        sys.stdout.flush()
        os._exit(status)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print("child ended with", status)
print("parent", session.run(total, {fed: ones}))
"""


def _forked(parent: str, child: str, threads: int = 0) -> list[str]:
    text = _SCRIPT.replace("THREADS", str(threads)).replace("PARENT", textwrap.dedent(parent))
    text = text.replace("CHILD", textwrap.indent(textwrap.dedent(child), " " * 12).strip())
    ended = warm.run(
        [sys.executable, "-c", text], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    *said, last = ended.stdout.splitlines()
    assert last == "parent 700.0"
    return said


@pytest.mark.long
@pytest.mark.parametrize("threads", [0, 2])
def test_a_child_computes(threads: int) -> None:
    said = _forked(
        "",
        """
        for _ in range(20):
            print(session.run(total, {fed: ones}))
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2)) as mine:
            print(mine.run(total, {fed: ones}))
        def beside():
            with tf.Session() as other:
                print(other.run(total, {fed: ones}))
        thread = threading.Thread(target=beside)
        thread.start()
        thread.join()
        """,
        threads,
    )
    assert said == ["700.0"] * 22 + ["child ended with 0"]


@pytest.mark.long
def test_a_child_has_pipelines_of_its_own() -> None:
    pipeline = """
    def numbers():
        data = tf.data.Dataset.range(10).map(lambda i: i * 2, num_parallel_calls=2).prefetch(2)
        return data.make_one_shot_iterator().get_next()
    """
    said = _forked(
        f"{textwrap.dedent(pipeline)}\nprint(session.run(numbers()), flush=True)",
        """
        with tf.Graph().as_default():
            following = numbers()
            with tf.Session() as mine:
                print([int(mine.run(following)) for _ in range(5)])
        """,
    )
    assert said == ["0", "[0, 2, 4, 6, 8]", "child ended with 0"]


@pytest.mark.long
def test_a_wait_for_threads_of_the_parent_is_refused() -> None:
    said = _forked(
        """
        queue = tf.FIFOQueue(5, tf.float32, [])
        taken, put = queue.dequeue(), queue.enqueue(3.0)
        session.run(put)
        """,
        """
        print(session.run(taken))
        session.run(taken)
        """,
    )
    assert said[0] == "3.0"
    assert said[1].startswith("FailedPreconditionError") and "was forked after" in said[1]
    assert said[-1] == "child ended with 2"


@pytest.mark.long
def test_threads_that_read_ahead_stay_in_the_parent() -> None:
    said = _forked(
        """
        data = tf.data.Dataset.range(10**9).map(lambda i: i, num_parallel_calls=2).prefetch(2)
        following = data.make_one_shot_iterator().get_next()
        session.run(following)
        """,
        """
        for _ in range(10):
            session.run(following)
        """,
    )
    assert "was forked after the session was made" in said[0]
    assert said[-1] == "child ended with 2"


@pytest.mark.long
def test_connections_stay_in_the_parent() -> None:
    servers = """
    import socket
    def address():
        with socket.create_server(("localhost", 0)) as found:
            return f"localhost:{found.getsockname()[1]}"
    cluster = tf.train.ClusterSpec({"ps": [address()], "worker": [address()]})
    servers = [tf.train.Server(cluster, job_name=job) for job in ("ps", "worker")]
    remote = tf.Session(servers[0].target)
    print(remote.run(tf.constant(5)), flush=True)
    """
    said = _forked(
        servers,
        """
        for attempt in (
            lambda: remote.run(tf.constant(6)),
            lambda: tf.Session(servers[0].target.replace("localhost", "127.0.0.1")),
            lambda: tf.train.Server({"a": [address()], "b": [address()]}, job_name="a"),
        ):
            try:
                attempt()
            except tf.errors.FailedPreconditionError as error:
                print(error.message.partition(",")[0])
        print(session.run(total, {fed: ones}))
        """,
    )
    assert said[0] == "5"
    assert said[1].startswith("this process was forked")
    refused = "this process was forked from one with servers or sessions of a cluster"
    assert said[2:4] == [refused] * 2
    assert said[4:] == ["700.0", "child ended with 0"]


@pytest.mark.long
def test_a_child_says_no_goodbye_for_its_parent() -> None:
    said = _forked(
        """
        import atexit
        server = tf.train.Server({"ps": ["localhost:0"], "worker": ["localhost:1"]}, job_name="ps")
        from penstock.cluster.distributed import ending
        """,
        """
        print(len(ending._servers))
        """,
    )
    assert said == ["0", "child ended with 0"]
