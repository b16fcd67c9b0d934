"""What ``Session.run`` promises, on a server of this process and from a client without one."""

from __future__ import annotations

import collections
import os
import signal
import threading
import time

import numpy as np
import pytest

import penstock as tf
from penstock.library.control_flow.defun import Defun
from tests.cluster.distributed.server_process import ServerProcess, free_addresses
from tests.suite.clock import PATIENCE, PATIENCE_MS, Clock, wait_until

PS = "/job:ps/task:0"


class Servers:
    """A ps and a worker in processes of their own, and a worker of this process."""

    def __init__(self) -> None:
        ps, other, own = free_addresses(3)
        cluster = {"ps": [ps], "worker": [other, own]}
        self.processes = [ServerProcess(cluster, "ps", 0), ServerProcess(cluster, "worker", 0)]
        self.own = tf.train.Server(cluster, "worker", 1)
        for process in self.processes:
            process.wait_until_up()
        self.targets = {"server": self.own.target, "client": self.processes[1].target}
        self.tasks = {"server": "/job:worker/task:1", "client": "/job:worker/task:0"}

    def end(self) -> None:
        self.own.stop()
        for process in self.processes:
            process.end()


@pytest.fixture(scope="module")
def servers():
    made = Servers()
    yield made
    made.end()


@pytest.fixture(params=["server", "client"])
def where(request, servers):
    tf.Session.reset(servers.targets[request.param])
    with tf.Graph().as_default():
        yield request.param


@pytest.fixture
def target(where, servers):
    return servers.targets[where]


@pytest.fixture
def session(target):
    with tf.Session(target) as made:
        yield made


def _on_ps(value):
    with tf.device(PS):
        return tf.identity(value)


@pytest.mark.long
def test_fetches_nest(session) -> None:
    Pair = collections.namedtuple("Pair", "a b")
    x = _on_ps(tf.constant([1.0, 2.0]))
    y = x * 2.0
    found = session.run({"k": [x, (y, x)], "p": Pair(y, "Identity:0"), "op": x.op, "none": []})
    assert found["k"][0].tolist() == [1, 2]
    assert isinstance(found["k"][1], tuple)
    assert type(found["p"]).__name__ == "Pair" and found["p"].b.tolist() == [1, 2]
    assert found["op"] is None and found["none"] == []
    twice = session.run([x, x])
    assert twice[0].tolist() == twice[1].tolist() == [1, 2]
    twice[0][0] = 9
    assert session.run(x)[0] == 1


def test_sparse_feeds_and_fetches(session) -> None:
    fed = tf.sparse_placeholder(tf.float32)
    with tf.device(PS):
        doubled = tf.SparseTensor(fed.indices, fed.values * 2.0, fed.dense_shape)
    value = tf.SparseTensorValue([[0, 1], [2, 0]], [1.0, 3.0], [3, 2])
    found = session.run(doubled, {fed: value})
    assert isinstance(found, tf.SparseTensorValue)
    assert found.values.tolist() == [2, 6] and found.indices.tolist() == [[0, 1], [2, 0]]
    slices = tf.IndexedSlices(_on_ps(tf.constant([[1.0]])), tf.constant([3]))
    assert session.run(slices).indices.tolist() == [3]


def test_strings(session) -> None:
    x = tf.placeholder(tf.string, [None])
    with tf.device(PS):
        joined = tf.string_join([x, x], "|")
    assert session.run(joined, {x: ["a", b"\xff\x00", "ü" * 3000]}).tolist() == [
        b"a|a", b"\xff\x00|\xff\x00", "ü".encode() * 3000 + b"|" + "ü".encode() * 3000,
    ]  # fmt: skip
    assert session.run(joined, {x: np.empty([0], object)}).shape == (0,)
    assert session.run(_on_ps(tf.constant("one"))) == b"one"
    assert session.run(_on_ps(tf.constant(b"x" * 100_000))) == b"x" * 100_000


@pytest.mark.parametrize("dtype", [
    tf.bool, tf.bfloat16, tf.float16, tf.float64, tf.int8, tf.uint8, tf.uint16, tf.int64,
    tf.complex64, tf.uint32, tf.uint64,
])  # fmt: skip
def test_types(session, dtype) -> None:
    x = tf.placeholder(dtype, None)
    with tf.device(PS):
        y = tf.identity(x)
    for value in (np.array([[1, 0]]), np.zeros([0, 3]), np.array(1), np.ones([3000])):
        value = value.astype(dtype.as_numpy_dtype)
        found = session.run(y, {x: value})
        assert found.dtype == dtype.as_numpy_dtype and np.shape(found) == value.shape
        np.testing.assert_array_equal(found, value)


def test_a_fetched_scalar_is_a_numpy_scalar(session) -> None:
    assert type(session.run(_on_ps(tf.constant(3)))) is np.int32
    assert type(session.run(_on_ps(tf.constant(True)))) is np.bool_


def test_feeding_inner_tensors(session) -> None:
    x = _on_ps(tf.constant(1.0))
    y = _on_ps(x + 1.0)
    z = y * 10.0
    assert session.run([y, z], {y: 5.0}) == [5.0, 50.0]
    assert session.run(y, {y: 7.0}) == 7.0
    assert session.run(z) == 20.0
    with pytest.raises(ValueError, match=r"\(2,\)"):
        session.run(z, {y: [1.0, 2.0]})


def test_large_feeds_and_fetches(session) -> None:
    x = tf.placeholder(tf.float32, [None, 1000])
    value = np.random.RandomState(0).randn(2500, 1000).astype(np.float32)
    found, same = session.run([_on_ps(x), x], {x: value})
    np.testing.assert_array_equal(found, value)
    np.testing.assert_array_equal(same, value)
    found[0] = 0  # memory of its own
    text = tf.placeholder(tf.string, [])
    assert session.run(_on_ps(text), {text: b"z" * 10_000_000}) == b"z" * 10_000_000


def test_variables(session) -> None:
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0], name="v")
        r = tf.Variable([5.0], name="r", use_resource=True)
    with pytest.raises(tf.errors.FailedPreconditionError, match="'v'") as raised:
        session.run(v)
    assert "test_remote_sessions.py" in str(raised.value)
    assert "\\n" not in str(raised.value)
    assert session.run(tf.report_uninitialized_variables()).tolist() == [b"v", b"r"]
    assert session.run(tf.global_variables_initializer()) is None
    assert session.run([v, r, v.assign_add([1.0, 1.0]).op])[1].tolist() == [5]
    assert session.run(v).tolist() == [2, 3]
    v.load([7.0, 8.0], session)
    assert v.eval(session=session).tolist() == [7, 8]
    assert session.run(tf.is_variable_initialized(v))


def test_a_failing_op_names_the_users_line(session) -> None:
    x = tf.placeholder(tf.float32, None, name="x")
    with tf.device(PS):
        y = tf.matmul(x, tf.ones([3, 2]), name="product")
    with pytest.raises(tf.errors.InvalidArgumentError, match="product") as raised:
        session.run(y * 1.0, {x: np.ones([2, 2])})
    assert raised.value.op is y.op
    assert "test_remote_sessions.py" in str(raised.value), str(raised.value)
    assert "\\n" not in str(raised.value)


def test_the_graph_grows_between_runs(session) -> None:
    x = _on_ps(tf.constant(1.0))
    first = x
    for step in range(1, 6):
        x = _on_ps(x + 1.0)
        assert session.run([x, first]) == [1.0 + step, 1.0]


def test_functions_in_a_graph_that_grows(session) -> None:
    @Defun(tf.float32)
    def double(x):
        return x * 2.0

    y = double(_on_ps(tf.constant(3.0)))
    assert session.run(y) == 6.0
    z = double(y)
    assert session.run(z) == 12.0

    @Defun(tf.float32)
    def triple(x):
        return double(x) + x

    assert session.run(triple(z)) == 36.0
    mapped = tf.map_fn(lambda t: t * t, _on_ps(tf.constant([1.0, 2.0, 3.0])))
    assert session.run(mapped).tolist() == [1, 4, 9]


def test_datasets(session) -> None:
    with tf.device(PS):
        data = tf.data.Dataset.range(5).map(lambda x: x * x).filter(lambda x: x > 0).batch(2)
        iterator = data.make_initializable_iterator()
        element = iterator.get_next()
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(element)
    session.run(iterator.initializer)
    assert [session.run(element).tolist() for _ in range(2)] == [[1, 4], [9, 16]]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(element)
    session.run(iterator.initializer)
    assert session.run(element).tolist() == [1, 4]


def test_one_shot_iterator(session) -> None:
    element = tf.data.Dataset.from_tensor_slices([1, 2]).make_one_shot_iterator().get_next()
    assert [session.run(element), session.run(element)] == [1, 2]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(element)


def test_loops(session, where, servers) -> None:
    x = tf.placeholder(tf.float32, [])

    def body(i, y):
        with tf.device(PS):
            y = y * 2.0
        with tf.device(servers.tasks[where]):
            return i + 1, y + 1.0

    _, y = tf.while_loop(lambda i, y: i < 10, body, [0, x])
    grad = tf.gradients(y, x)[0]
    assert session.run([y, grad], {x: 1.0}) == [2047.0, 1024.0]


def test_summaries(session) -> None:
    tf.summary.scalar("loss", _on_ps(tf.constant(3.0)))
    summary = tf.Summary.FromString(session.run(tf.summary.merge_all()))
    assert summary.value[0].tag == "loss" and summary.value[0].simple_value == 3.0


def test_saver(session, tmp_path) -> None:
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(3, name="w")
    saver = tf.train.Saver(sharded=True)
    session.run(tf.global_variables_initializer())
    path = saver.save(session, str(tmp_path / "model"), global_step=3)
    session.run([v.assign([0.0, 0.0]), w.assign(0)])
    saver.restore(session, path)
    assert session.run([v, w])[0].tolist() == [1, 2] and session.run(w) == 3
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    with pytest.raises((tf.errors.NotFoundError, ValueError)):
        saver.restore(session, str(tmp_path / "nothing"))


def test_queue_runners(session) -> None:
    with tf.device(PS):
        names = tf.train.string_input_producer(["a", "b", "c"], shuffle=False, num_epochs=2)
        taken = names.dequeue()
    session.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    found = [session.run(taken) for _ in range(6)]
    assert found == [b"a", b"b", b"c"] * 2
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(taken)
    coordinator.request_stop()
    coordinator.join(threads, stop_grace_period_secs=PATIENCE)


def test_stopping_queue_runners_that_wait(session) -> None:
    with tf.device(PS):
        queue = tf.FIFOQueue(2, tf.float32)
        runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 2)
    tf.train.add_queue_runner(runner)
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    assert session.run(queue.dequeue()) == 1.0
    coordinator.request_stop()
    coordinator.join(threads, stop_grace_period_secs=PATIENCE)


def test_sessions_in_threads(target) -> None:
    with tf.device(PS):
        v = tf.Variable(0.0, name="shared")
        add = v.assign_add(1.0, use_locking=True)
    x = tf.placeholder(tf.float32, [])
    y = _on_ps(x * 2.0)
    graph = tf.get_default_graph()
    with tf.Session(target) as first:
        first.run(v.initializer)
    wrong = []

    def work(number) -> None:
        try:
            with tf.Session(target, graph=graph) as mine:
                for step in range(20):
                    mine.run(add.op)
                    found = mine.run(y, {x: float(number * 100 + step)})
                    if found != 2.0 * (number * 100 + step):
                        wrong.append(found)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    with tf.Session(target) as last:
        assert last.run(v) == 80.0


def test_one_session_in_threads(session) -> None:
    x = tf.placeholder(tf.float32, [])
    y = _on_ps(x * 2.0)
    wrong = []

    def work(number) -> None:
        for step in range(20):
            if session.run(y, {x: float(number * 100 + step)}) != 2.0 * (number * 100 + step):
                wrong.append(step)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_partial_runs_and_callables(session) -> None:
    with tf.device(PS):
        a = tf.placeholder(tf.float32, [])
        b = a * 2.0
    c = tf.placeholder(tf.float32, [])
    d = b + c
    handle = session.partial_run_setup([b, d], [a, c])
    assert session.partial_run(handle, b, {a: 3.0}) == 6.0
    assert session.partial_run(handle, d, {c: 7.0}) == 13.0
    call = session.make_callable([d, b], [a, c])
    assert call(1.0, 2.0) == [4.0, 2.0]


def test_an_interactive_session(target) -> None:
    session = tf.InteractiveSession(target)
    try:
        assert _on_ps(tf.constant(2.0) * 3.0).eval() == 6.0
    finally:
        session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.run(tf.constant(1.0))


def test_devices_are_listed(session) -> None:
    names = [each.name for each in session.list_devices()]
    assert "/job:ps/replica:0/task:0/device:CPU:0" in names and len(names) == 3
    assert all(each.device_type == "CPU" and each.incarnation for each in session.list_devices())


def test_placement_is_logged(target, where, capfd) -> None:
    config = tf.ConfigProto(log_device_placement=True)
    with tf.Session(target, config=config) as session:
        session.run(_on_ps(tf.constant(1.0, name="logged")))
    if where == "server":
        assert "logged: (Const): /job:ps/replica:0/task:0/device:CPU:0" in capfd.readouterr().err


def test_a_device_that_is_not_there(session) -> None:
    with tf.device("/job:ps/task:7"):
        x = tf.constant(1.0, name="lost")
    with pytest.raises(tf.errors.InvalidArgumentError, match="/job:ps") as raised:
        session.run(x)
    assert "test_remote_sessions.py" in str(raised.value)
    assert session.run(_on_ps(tf.constant(1.0))) == 1.0


def test_a_task_without_its_job_is_a_device_too(session) -> None:
    with tf.device("/task:0/device:CPU:0"):
        x = tf.constant(1.0) + 1.0
    assert session.run(x) == 2.0


def test_steps_end_in_time(session) -> None:
    with tf.device(PS):
        queue = tf.FIFOQueue(2, tf.float32)
        taken = queue.dequeue()
    clock = Clock()
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(taken, options=tf.RunOptions(timeout_in_ms=300))
    assert clock.seconds() < 4
    session.run(queue.enqueue(5.0))
    assert session.run(taken) == 5.0


def test_a_sessions_own_deadline(target) -> None:
    with tf.device(PS):
        taken = tf.FIFOQueue(2, tf.float32).dequeue()
    with (
        tf.Session(target, config=tf.ConfigProto(operation_timeout_in_ms=300)) as session,
        pytest.raises(tf.errors.DeadlineExceededError),
    ):
        session.run(taken)


@pytest.mark.long
def test_an_interrupted_wait_leaves_nothing_behind(session) -> None:
    with tf.device(PS):
        queue = tf.FIFOQueue(2, tf.float32)
        taken = queue.dequeue()
    session.run(queue.size())
    # A shell's background jobs ignore it.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            session.run(taken)
    finally:
        signal.signal(signal.SIGINT, former)
    time.sleep(1.0)
    session.run(queue.enqueue(5.0))
    assert session.run(queue.size()) == 1


def test_functions_of_another_process_cannot_be_called(session, where) -> None:
    with tf.device(PS):
        y = tf.py_func(lambda x: x + 1, [tf.constant(1.0)], tf.float32, name="mine")
    with pytest.raises(tf.errors.OpError, match="not known in this process") as raised:
        session.run(y)
    assert raised.value.op is y.op


def test_a_py_func_of_the_servers_own_process_is_called(servers) -> None:
    with tf.Graph().as_default(), tf.Session(servers.own.target) as session:
        y = tf.py_func(lambda x: x + 1, [_on_ps(tf.constant(1.0))], tf.float32)
        assert session.run(y) == 2.0


def test_traces(session) -> None:
    with tf.device(PS):
        x = tf.exp(tf.ones([10]), name="there")
    metadata = tf.RunMetadata()
    session.run(x * 2.0, options=tf.RunOptions(trace_level=3), run_metadata=metadata)
    names = {n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats}
    assert any("there" in name for name in names), names
    assert "# /job:ps/replica:0/task:0" in session.explain(x * 2.0)


def test_a_finished_session_leaves_nothing(target, servers) -> None:
    def counts():
        return [process.ask("counts") for process in servers.processes]

    x = tf.placeholder(tf.float32, [None])
    with tf.device(PS):
        bad = tf.check_numerics(tf.log(x), "bad")
        queue = tf.FIFOQueue(2, tf.float32)
        taken = queue.dequeue()
    for _ in range(3):
        with tf.Session(target) as session:
            session.run(bad * 1.0, {x: np.ones(5000)})
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(bad * 1.0, {x: -np.ones(5000)})
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(taken, options=tf.RunOptions(timeout_in_ms=50))
    wait_until(lambda: not any(c["graphs"] for c in counts()), pause=0.1)
    for each in counts():
        assert (each["graphs"], each["sessions"], each["open"], each["early"]) == (0, 0, 0, 0), each


def test_steps_with_nothing_to_run_end(session) -> None:
    with tf.device(PS):
        v = tf.Variable(1.0)
    options = tf.RunOptions(timeout_in_ms=PATIENCE_MS)
    assert session.run(v.op, options=options) is None
    assert session.run([tf.no_op(), tf.group()], options=options) == [None, None]
    x = tf.placeholder(tf.float32, [2])
    assert session.run(x, {x: [1.0, 2.0]}, options=options).tolist() == [1, 2]
