"""Programs for a session on a server, run by a real TensorFlow: 1.15, or 2.x by ``compat.v1``.

    python tensorflow_clients.py TARGET

prints a line of JSON for each program: its name, and what it returns.  Nothing here knows which
server is at the target.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import tensorflow
from tensorflow.core.protobuf import config_pb2

tf = tensorflow.compat.v1
tf.disable_eager_execution()

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def raised(call):
    """Class and code of what a call raises."""
    try:
        return ["nothing", call()]
    except tf.errors.OpError as error:
        return [type(error).__name__, error.error_code]
    except (RuntimeError, TypeError, ValueError) as error:
        return [type(error).__name__]


def failed_node(call):
    try:
        call()
    except tf.errors.OpError as error:
        return [type(error).__name__, error.op.name if error.op is not None else None]
    return "nothing"


# ---- training --------------------------------------------------------------------------------


def _batches():
    numbers = np.random.RandomState(1)
    true = numbers.randn(8, 3).astype("f")
    for _ in range(12):
        x = numbers.randn(16, 8).astype("f")
        yield x, np.eye(3, dtype="f")[(x @ true).argmax(1)]


def _train(target, optimizer, resource=False):
    x = tf.placeholder(tf.float32, [None, 8])
    y = tf.placeholder(tf.float32, [None, 3])
    w = tf.get_variable("w", [8, 3], initializer=tf.zeros_initializer(), use_resource=resource)
    b = tf.get_variable("b", [3], initializer=tf.zeros_initializer(), use_resource=resource)
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=tf.matmul(x, w) + b)
    )
    step = optimizer.minimize(loss)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        return [session.run([step, loss], {x: a, y: c})[1] for a, c in _batches()]


@program
def softmax_by_gradient_descent(target):
    return _train(target, tf.train.GradientDescentOptimizer(0.5))


@program
def softmax_by_adam_and_resource_variables(target):
    return _train(target, tf.train.AdamOptimizer(0.05), resource=True)


@program
def softmax_by_momentum(target):
    return _train(target, tf.train.MomentumOptimizer(0.1, 0.9))


@program
def convolution_and_pooling(target):
    x = tf.constant(np.arange(2 * 8 * 8 * 1, dtype="f").reshape(2, 8, 8, 1) / 64)
    k = tf.get_variable("k", initializer=np.ones([3, 3, 1, 2], "f") / 9)
    y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME")), 2, 2, "VALID")
    gradient = tf.gradients(tf.reduce_sum(y * y), k)[0]
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        return session.run([y, gradient])


@program
def a_loop_with_its_gradient(target):
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v * x), [0, x])
    with tf.Session(target) as session:
        return session.run([y, tf.gradients(y, x)[0]], {x: 1.5})


@program
def a_conditional(target):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: x * 2, lambda: -x)
    with tf.Session(target) as session:
        return [session.run([y, tf.gradients(y, x)], {x: v}) for v in (3.0, -4.0)]


@program
def learning_rate_and_global_step(target):
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(1.0, step, 2, 0.5, staircase=True)
    v = tf.Variable(1.0)
    train = tf.train.GradientDescentOptimizer(rate).minimize(v * v, global_step=step)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        return [session.run([train, rate, step])[2] >= 0 for _ in range(3)] + [
            session.run([rate, step])
        ]


# ---- values ----------------------------------------------------------------------------------


@program
def fetches_by_nesting(target):
    a, b = tf.constant([1, 2]), tf.constant(b"text")
    with tf.Session(target) as session:
        made = session.run({"a": [a, (b, a[0])], "s": tf.SparseTensor([[0, 1]], [7], [1, 2])})
        return [made["a"][0], made["a"][1], list(made["s"])]


@program
def every_type_there_and_back(target):
    found = []
    with tf.Session(target) as session:
        for kind in ("float16 float32 float64 int8 int16 int32 int64 uint8 uint16 bool complex64"
                     " complex128").split():  # fmt: skip
            x = tf.placeholder(kind, [2])
            value = session.run(tf.identity(x), {x: np.array([0, 1], kind)})
            found.append([kind, str(value.dtype), [str(each) for each in value]])
        x = tf.placeholder(tf.bfloat16, [2])
        found.append(session.run(tf.cast(tf.identity(x), tf.float32), {
            x: np.array([1, 2]).astype(tf.bfloat16.as_numpy_dtype)}))  # fmt: skip
        x = tf.placeholder(tf.string, [None])
        found.append(session.run(x + "!", {x: [b"a", b"\xff\x00", b""]}))
    return found


@program
def shapes_without_elements(target):
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.Session(target) as session:
        made = session.run([x, tf.reduce_sum(x), tf.shape(x)], {x: np.zeros([0, 3], "f")})
        return [made[0].shape, made[1], made[2]]


@program
def what_is_fed_is_fetched(target):
    x = tf.constant(2.0)
    y = x * 3
    with tf.Session(target) as session:
        return session.run([x, y], {x: 5.0}), session.run(y), session.run(y, {y: 1.0})


@program
def the_graph_grows(target):
    with tf.Session(target) as session:
        found, total = [], tf.constant(1.0)
        for n in range(4):
            total = total + n
            found.append(session.run(total))
        return found


@program
def ops_that_have_got_attrs_since(target):
    x = tf.constant([1.0, 2.0, -3.0, 0.5])
    quantized = tf.quantization.quantize(x, -4.0, 4.0, tf.qint8)
    diagonals = tf.constant([[1.0, 1.0, 0.0], [4.0, 4.0, 4.0], [0.0, 1.0, 1.0]])
    made = [
        tf.abs(tf.signal.rfft(x)), tf.signal.irfft(tf.signal.rfft(x)), quantized,
        tf.quantization.dequantize(quantized.output, -4.0, 4.0),
        tf.quantization.quantize_and_dequantize(x, -4.0, 4.0),
        tf.linalg.tridiagonal_solve(diagonals, tf.ones([3]), diagonals_format="compact"),
    ]  # fmt: skip
    with tf.Session(target) as session:
        return session.run([made[0], made[1], list(made[2]), *made[3:]])


@program
def functions_of_a_library(target):
    function = getattr(tensorflow, "function", None) or tf.function

    @function
    def square(x):
        return x * x + 1

    with tf.Session(target) as session:
        return session.run([square(tf.constant(3.0)), square(tf.constant([1.0, 2.0]))])


@program
def a_dataset(target):
    data = tf.data.Dataset.range(6).map(lambda x: x * x).batch(4)
    element = tf.data.make_one_shot_iterator(data).get_next()
    with tf.Session(target) as session:
        return session.run(element), session.run(element), raised(lambda: session.run(element))


# ---- state -----------------------------------------------------------------------------------


def _counter():
    v = tf.get_variable("counter", initializer=0, dtype=tf.int32, use_resource=False)
    return v, tf.assign_add(v, 1, use_locking=True)


@program
def clients_share_variables(target):
    v, more = _counter()
    with tf.Session(target) as one, tf.Session(target) as two:
        one.run(v.initializer)
        return [one.run(more), two.run(more), one.run(v), two.run(v)]


@program
def clients_add_at_the_same_time(target):
    v, more = _counter()
    graph = tf.get_default_graph()
    with tf.Session(target) as session:
        session.run(v.initializer)

        def work():
            with tf.Session(target, graph=graph) as mine:
                for _ in range(20):
                    mine.run(more.op)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return session.run(v)


@program
def state_outlives_its_session(target):
    v, more = _counter()
    with tf.Session(target) as session:
        session.run(v.initializer)
        session.run(more)
    with tf.Session(target) as session:
        return session.run(v)


@program
def isolated_sessions(target):
    v, more = _counter()
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(target) as shared, tf.Session(target, config=config) as own:
        shared.run(v.initializer)
        own.run(v.initializer)
        shared.run(more)
        return [shared.run(v), own.run(v)]


@program
def containers_are_reset(target):
    with tf.container("kept"):
        a = tf.Variable(1.0, name="a")
    with tf.container("dropped"):
        b = tf.Variable(2.0, name="b")
    session = tf.Session(target)
    session.run(tf.global_variables_initializer())
    tf.Session.reset(target, ["dropped"])
    found = [raised(lambda: session.run(a))]
    with tf.Session(target) as other:
        found += [other.run(a), raised(lambda: other.run(b))]
    return found


@program
def queues_between_clients(target):
    queue = tf.FIFOQueue(4, [tf.int32, tf.string], [[], []], shared_name="between")
    x = tf.placeholder(tf.int32, [])
    put, get, size = queue.enqueue([x, "n"]), queue.dequeue(), queue.size()
    with tf.Session(target) as one, tf.Session(target) as two:
        for n in range(3):
            one.run(put, {x: n})
        found = [two.run(size), two.run(get)]
        one.run(queue.close())
        found += [two.run(get), two.run(get), raised(lambda: two.run(get))]
        return found + [raised(lambda: two.run(put, {x: 9}))]


@program
def queue_runners(target):
    queue = tf.FIFOQueue(8, tf.int32, [])
    source = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(source)]))
    with tf.Session(target) as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(queue.dequeue()) for _ in range(5)]
        found.append(raised(lambda: session.run(queue.dequeue())))
        coordinator.request_stop()
        coordinator.join(threads)
        return found


@program
def a_saver_writes_on_the_server(target):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    w = tf.get_variable("w", initializer=3)
    saver = tf.train.Saver()
    with tempfile.TemporaryDirectory() as folder, tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, os.path.join(folder, "model"), global_step=3)
        session.run([v.assign([0, 0]), w.assign(0)])
        saver.restore(session, path)
        names = sorted(name for name, _ in tf.train.list_variables(path))
        return names, session.run([v, w]), os.path.basename(tf.train.latest_checkpoint(folder))


@program
def monitored_training(target):
    step = tf.train.get_or_create_global_step()
    v = tf.get_variable("v", initializer=1.0)
    train = tf.group(v.assign_add(1.0), step.assign_add(1))
    hooks = [tf.train.StopAtStepHook(last_step=4)]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            with tf.train.MonitoredTrainingSession(
                target, checkpoint_dir=folder, hooks=hooks, save_summaries_steps=None,
                save_checkpoint_steps=2, log_step_count_steps=None,
            ) as session:  # fmt: skip
                while not session.should_stop():
                    session.run(train)
            found.append(tf.train.load_variable(folder, "v"))
    return found


# ---- partial runs and callables ---------------------------------------------------------------


@program
def partial_runs(target):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    v = tf.Variable(0.0)
    with tf.control_dependencies([v.assign_add(1.0)]):
        c = a + 1
    d = c * b
    with tf.Session(target) as session:
        session.run(v.initializer)
        handle = session.partial_run_setup([c, d], [a, b])
        return [
            session.partial_run(handle, c, {a: 2.0}), session.partial_run(handle, d, {b: 4.0}),
            session.run(v), raised(lambda: session.partial_run(handle, d, {b: 4.0})),
        ]  # fmt: skip


@program
def partial_runs_refuse(target):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    c = a + b
    with tf.Session(target) as session:
        handle = session.partial_run_setup([c], [a, b])
        other = tf.constant(1.0)
        return [
            raised(lambda: session.partial_run(handle, other)),
            raised(lambda: session.partial_run_setup([], [])),
        ]


@program
def callables(target):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    wanted = config_pb2.CallableOptions(feed=[a.name, b.name], fetch=[(a - b).name, (a * b).name])
    with tf.Session(target) as session:
        call = session._make_callable_from_options(wanted)
        found = [call(*(np.array(n, "f") for n in pair)) for pair in ((3, 1), (5, 2))]
        plain = session.make_callable(a + b, [a, b])
        found.append(plain(1.0, 2.0))
        del call
        return found


@program
def run_metadata(target):
    a = tf.random_normal([4, 4], seed=1)
    b = tf.matmul(a, a, name="product")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    with tf.Session(target) as session:
        session.run(b, options=options, run_metadata=metadata)
        names = {n.node_name.split(":")[0] for d in metadata.step_stats.dev_stats
                 for n in d.node_stats}  # fmt: skip
        return "product" in names


@program
def devices_are_listed(target):
    with tf.Session(target) as session:
        return [d.name for d in session.list_devices() if d.device_type == "CPU"]


# ---- errors -----------------------------------------------------------------------------------


@program
def errors_of_nodes(target):
    x = tf.placeholder(tf.float32, [None])
    v = tf.get_variable("v", initializer=1.0, use_resource=False)
    r = tf.get_variable("r", initializer=1.0, use_resource=True)
    with tf.Session(target) as session:
        return [
            failed_node(lambda: session.run(tf.check_numerics(x, "bad", name="c"), {x: [np.nan]})),
            failed_node(lambda: session.run(
                tf.reshape(x, [3, -1], name="s"), {x: [1.0, 2.0]})),
            failed_node(lambda: session.run(tf.gather(x, [7], name="g"), {x: [1.0]})),
            failed_node(lambda: session.run(tf.decode_raw(tf.constant("abc"), tf.int32, name="d"))),
            failed_node(lambda: session.run(tf.read_file("/nowhere/at/all", name="f"))),
            raised(lambda: session.run(tf.Assert(x[0] > 9, [x], name="a"), {x: [1.0]})),
            failed_node(lambda: session.run(tf.string_to_number(tf.constant("x"), name="n"))),
            raised(lambda: session.run(v)), raised(lambda: session.run(r)),
            raised(lambda: session.run(x)),
        ]  # fmt: skip


@program
def errors_of_sessions(target):
    x = tf.constant(1.0)
    with tf.device("/job:nowhere/task:7"):
        far = tf.constant(1.0) + x
    session = tf.Session(target)
    found = [raised(lambda: session.run(far))]
    session.close()
    found.append(raised(lambda: session.run(x)))
    return found


@program
def a_timeout(target):
    get = tf.FIFOQueue(1, tf.float32, []).dequeue()
    options = tf.RunOptions(timeout_in_ms=300)
    config = tf.ConfigProto(operation_timeout_in_ms=300)
    with tf.Session(target) as one, tf.Session(target, config=config) as two:
        return [raised(lambda: one.run(get, options=options)), raised(lambda: two.run(get))]


@program
def closing_ends_what_waits(target):
    get = tf.FIFOQueue(1, tf.float32, []).dequeue()
    session = tf.Session(target)
    session.run(tf.constant(1))
    found = []
    thread = threading.Thread(target=lambda: found.append(raised(lambda: session.run(get))))
    thread.start()
    time.sleep(1.0)
    session.close()
    thread.join(20)
    return [found, thread.is_alive()]


@program
def a_client_that_dies(target):
    queue = tf.FIFOQueue(4, tf.int32, [], shared_name="mourned")
    with tf.Session(target) as session:
        session.run(queue.size())
        child = subprocess.Popen(
            [sys.executable, __file__, target, "--wait"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        child.stdout.readline()  # it is about to wait for an element
        time.sleep(1.5)
        child.send_signal(signal.SIGKILL)
        child.wait()
        time.sleep(1.5)
        session.run(queue.enqueue(5))
        return session.run(queue.size()), session.run(queue.dequeue())


def wait_at(target):
    """What the client that dies does."""
    queue = tf.FIFOQueue(4, tf.int32, [], shared_name="mourned")
    with tf.Session(target) as session:
        session.run(queue.size())
        print("waits", flush=True)
        session.run(queue.dequeue())


def plain(value):
    """As JSON has it."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value


def main():
    target = sys.argv[1]
    if sys.argv[2:] == ["--wait"]:
        return wait_at(target)
    for each in PROGRAMS:
        tf.Session.reset(target)
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            try:
                found = plain(each(target))
            except Exception as error:
                found = ["the program failed", type(error).__name__, str(error)[:1000]]
        print(json.dumps([each.__name__, found]), flush=True)
    return None


if __name__ == "__main__":
    main()
