"""Masters and workers of one process: steps over tasks, their errors, and who is told."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import penstock as tf
from penstock.cluster.distributed.worker import Worker
from penstock.compiler.placement.available import local_devices
from tests.cluster.distributed.process_cluster import ProcessCluster
from tests.suite.clock import Clock

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


@pytest.fixture
def cluster():
    with ProcessCluster({"ps": 2, "worker": 2}) as made, tf.Graph().as_default():
        yield made


def _regression():
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(tf.fill([3, 4], 0.5), name="v")
    with tf.device("/job:ps/task:1"):
        w = tf.Variable(tf.fill([4, 2], 0.1), name="w")
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.device(WORKER):
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.matmul(x, v), w) - 1.0))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return x, loss, train


def _losses(session) -> list:
    x, loss, train = _regression()
    session.run(tf.global_variables_initializer())
    batch = np.arange(6, dtype=np.float32).reshape(2, 3) / 6
    return [session.run([loss, train], {x: batch})[0] for _ in range(10)]


def test_training_over_tasks_is_training(cluster) -> None:
    with cluster.session("worker:0") as session:
        found = _losses(session)
    with tf.Graph().as_default(), tf.Session() as session:
        wanted = _alone(session)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found[-1] < 0.5 * found[0]


def _alone(session) -> list:
    v = tf.Variable(tf.fill([3, 4], 0.5))
    w = tf.Variable(tf.fill([4, 2], 0.1))
    x = tf.placeholder(tf.float32, [None, 3])
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.matmul(x, v), w) - 1.0))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session.run(tf.global_variables_initializer())
    batch = np.arange(6, dtype=np.float32).reshape(2, 3) / 6
    return [session.run([loss, train], {x: batch})[0] for _ in range(10)]


def test_sessions_share_the_state_of_tasks(cluster) -> None:
    with tf.device(PS):
        v = tf.Variable(1.0, name="v")
    with cluster.session("worker:0") as first:
        first.run(v.initializer)
        first.run(v.assign_add(2.0))
    with cluster.session("worker:1") as second:
        assert second.run(v) == 3.0


def test_an_isolated_session_has_state_of_its_own(cluster) -> None:
    with tf.device(PS):
        v = tf.Variable(1.0, name="v")
    with cluster.session("worker:0") as shared:
        shared.run(v.initializer)
    config = tf.ConfigProto(isolate_session_state=True)
    with (
        cluster.session("worker:0", config=config) as alone,
        pytest.raises(tf.errors.FailedPreconditionError, match="'v' is used before"),
    ):
        alone.run(v)


def test_closing_a_session_forgets_its_graphs(cluster) -> None:
    with cluster.session("worker:0") as session:
        _losses(session)
        assert cluster.workers["/job:ps/replica:0/task:1"].counts()["graphs"] > 0
    for worker in cluster.workers.values():
        assert worker.counts() == {
            "graphs": 0, "sessions": 0, "open": 0, "early": 0, "failed": 0,
        }  # fmt: skip


def test_an_error_names_node_and_line_of_another_task(cluster) -> None:
    with tf.device(PS):
        x = tf.placeholder(tf.float32, [], name="x")
        checked = tf.check_numerics(tf.log(x), "bad log", name="checked")
    with tf.device(WORKER):
        y = checked + 1.0
    with cluster.session("worker:0") as session:
        assert session.run(y, {x: 1.0}) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad log") as raised:
            session.run(y, {x: -1.0})
        assert raised.value.op is checked.op
        assert "test_master.py" in str(raised.value)
        assert session.run(y, {x: 1.0}) == 1.0


def test_a_lost_task_is_named(cluster) -> None:
    with tf.device(PS):
        v = tf.Variable(1.0)
    with cluster.session("worker:0") as session:
        session.run(v.initializer)
        cluster.peers.down.add("/job:ps/replica:0/task:0")
        with pytest.raises(tf.errors.UnavailableError, match="/job:ps/replica:0/task:0 is down"):
            session.run(v)
        cluster.peers.down.clear()
        assert session.run(v) == 1.0


def _restart(cluster, task: str) -> None:
    cluster.workers[task] = Worker(task, local_devices(task=task), cluster.peers.send)


def test_a_restarted_task_ends_the_session_also_for_new_steps(cluster) -> None:
    with tf.device(PS):
        v = tf.Variable(1.0, name="v")
        more, less = v + 1.0, v - 1.0
    with cluster.session("worker:0") as session, cluster.session("worker:1") as chief:
        session.run(v.initializer)
        _restart(cluster, "/job:ps/replica:0/task:0")
        # The state is missing, and then it is what another session has made.
        with pytest.raises(tf.errors.AbortedError, match="ps/replica:0/task:0 has been restarted"):
            session.run(more)
        chief.run(v.initializer)
        for step in (less, more, v):
            with pytest.raises(tf.errors.AbortedError, match="has been restarted"):
                session.run(step)
    with cluster.session("worker:0") as session:
        assert session.run([more, less]) == [2.0, 0.0]


def test_a_session_minds_only_restarts_of_tasks_that_it_used(cluster) -> None:
    with tf.device("/job:ps/task:1"):
        other = tf.constant(2.0) * 1.0
    with tf.device(PS):
        v = tf.Variable(1.0)
    with cluster.session("worker:0") as session:
        session.run(v.initializer)
        _restart(cluster, "/job:ps/replica:0/task:1")
        assert session.run([v, other]) == [1.0, 2.0]
        _restart(cluster, "/job:ps/replica:0/task:1")
        with pytest.raises(tf.errors.AbortedError, match="task:1"):
            session.run([v, other])


def test_a_task_that_is_not_needed_may_be_down(cluster) -> None:
    cluster.peers.down.add("/job:worker/replica:0/task:1")
    with tf.device(PS):
        v = tf.Variable(1.0)
    with cluster.session("worker:0") as session:
        session.run(v.initializer)
        assert session.run(v) == 1.0
    config = tf.ConfigProto(device_filters=["/job:ps"])
    with cluster.session("worker:0", config=config) as session:
        assert len(session.list_devices()) == 3
    with (
        cluster.session("worker:0") as session,
        pytest.raises(tf.errors.UnavailableError, match="task:1 is down"),
    ):
        session.list_devices()


def test_a_reset_ends_sessions_and_drops_state(cluster) -> None:
    with tf.device(PS):
        v = tf.Variable(1.0)
    with tf.container("kept"), tf.device(PS):
        kept = tf.Variable(2.0)
    with cluster.session("worker:0") as session:
        session.run([v.initializer, kept.initializer])
        tf.Session.reset(cluster.targets["/job:worker/replica:0/task:0"])
        with pytest.raises(tf.errors.AbortedError, match="containers were reset"):
            session.run(v)
    with cluster.session("worker:0") as session:
        assert session.run(kept) == 2.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v)


def test_a_step_that_waits_at_another_task_ends_in_time(cluster) -> None:
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.float32, name="q")
        taken = queue.dequeue()
    with cluster.session("worker:0") as session:
        clock = Clock()
        # The other task is given what is left of the time when the step comes to it.
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"within its 0\.(2|[01]\d+) s"):
            session.run(taken, options=tf.RunOptions(timeout_in_ms=200))
        assert clock.seconds() < 4
        session.run(queue.enqueue(5.0))
        assert session.run(taken) == 5.0


def test_closing_a_session_ends_its_waits(cluster) -> None:
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.float32, name="q")
        taken = queue.dequeue()
    session = cluster.session("worker:0")
    session.run(queue.size())
    found = []

    def wait() -> None:
        try:
            session.run(taken)
        except tf.errors.OpError as error:
            found.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    session.close()
    thread.join()
    assert [type(error) for error in found] == [tf.errors.CancelledError]


def test_loops_and_conditionals_over_tasks(cluster) -> None:
    with tf.device(PS):
        total = tf.Variable(0.0, name="total")
    x = tf.placeholder(tf.float32, [], name="x")

    def body(i, y):
        with tf.device(WORKER):
            y = y * 2.0
        with tf.device(PS), tf.control_dependencies([total.assign_add(y)]):
            return i + 1, tf.identity(y)

    with tf.device(WORKER):
        _, y = tf.while_loop(lambda i, y: y < 100.0, body, [0, x])
        z = tf.cond(y > 150.0, lambda: y * 2.0, lambda: y * 3.0)
    gradient = tf.gradients(y, x)[0]
    with cluster.session("worker:0") as session:
        session.run(total.initializer)
        assert session.run([y, gradient, z], {x: 5.0}) == [160.0, 32.0, 320.0]
        assert session.run(total) == 10.0 + 20 + 40 + 80 + 160


def test_partial_runs_and_callables(cluster) -> None:
    with tf.device(PS):
        a = tf.placeholder(tf.float32, [])
        b = a * 2.0
    with tf.device(WORKER):
        c = tf.placeholder(tf.float32, [])
        d = b + c
    with cluster.session("worker:0") as session:
        handle = session.partial_run_setup([b, d], [a, c])
        first = session.partial_run(handle, b, {a: 3.0})
        assert first == 6.0
        assert session.partial_run(handle, d, {c: first + 1}) == 13.0
        call = session.make_callable(d, [a, c])
        assert call(1.0, 2.0) == 4.0


def test_a_trace_has_the_devices_of_all_tasks(cluster) -> None:
    with tf.device(PS):
        v = tf.Variable(tf.ones([4]), name="v")
    with tf.device(WORKER):
        y = tf.exp(v, name="y")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    with cluster.session("worker:0") as session:
        session.run(v.initializer)
        session.run(y, options=options, run_metadata=metadata)
        text = session.explain(y)
    devices = {d.device: [n.node_name for n in d.node_stats] for d in metadata.step_stats.dev_stats}
    assert set(devices) == {f"/job:{j}/replica:0/task:0/device:CPU:0" for j in ("ps", "worker")}
    assert "y" in devices["/job:worker/replica:0/task:0/device:CPU:0"]
    kinds = [{node.op for node in graph.node} for graph in metadata.partition_graphs]
    assert ["_Send" in kinds[0], "_Recv" in kinds[1]] == [True, True]
    assert "# /job:ps/replica:0/task:0" in text and "v0.exp_()" in text


def test_a_session_may_send_floats_as_16_bits(cluster) -> None:
    with tf.device(PS):
        v = tf.Variable(tf.constant([1.0, 1.001, 1e30]))
    with tf.device(WORKER):
        y = v + 0.0
    config = tf.ConfigProto()
    config.graph_options.enable_bfloat16_sendrecv = True
    with cluster.session("worker:0", config=config) as session:
        session.run(v.initializer)
        found = session.run(y)
        assert "ToFP16" in session.explain(y)
    np.testing.assert_allclose(found, [1.0, 1.0, 1e30], rtol=2**-8)
    assert found[1] != np.float32(1.001)
    with cluster.session("worker:0") as session:
        assert session.run(y)[1] == np.float32(1.001)
