"""Scripts that end in odd moments, made of what goes on (``SCENES``) and how it ends (``ENDS``).

What is expected is what Python promises: the status and the output of the end alone, whatever other
threads do, and not a word from those.  ``script(scene, end)`` is the text of one of them.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

_HEAD = """
import atexit, os, signal, socket, sys, tempfile, threading, time
import numpy as np
import penstock as tf

begun = threading.Semaphore(0)

def beside(work, count=1):
    def forever():
        work()
        begun.release()
        while True:
            work()
    for _ in range(count):
        threading.Thread(target=forever, daemon=True).start()
    for _ in range(count):
        begun.acquire()

def once(work):
    def run():
        begun.release()
        work()
    threading.Thread(target=run, daemon=True).start()
    begun.acquire()

def product(size=300):
    x = tf.random.normal([size, size])
    return tf.reduce_sum(tf.matmul(x, x))

def addresses(count):
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    found = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return found
"""

# What goes on in other threads when the script ends; all leave something open.
SCENES = {
    "open_session": """
        session = tf.Session()
        session.run(product())
    """,
    "steps": """
        session, total = tf.Session(), product(500)
        beside(lambda: session.run(total), 3)
    """,
    "callables": """
        session = tf.Session()
        call = session.make_callable(product())
        beside(call, 2)
    """,
    "short_steps": """
        session, count = tf.Session(), tf.Variable(0.0)
        session.run(count.initializer)
        add = count.assign_add(1.0)
        beside(lambda: session.run(add), 4)
    """,
    "compiling": """
        def compile_one():
            with tf.Graph().as_default(), tf.Session() as session:
                session.run(product(20))
        beside(compile_one, 2)
    """,
    "swallowing": """
        session, total = tf.Session(), product()
        def work():
            try:
                session.run(total)
            except BaseException:
                pass
        beside(work, 2)
    """,
    "loop": """
        session, x = tf.Session(), tf.ones([100, 100])
        loop = tf.while_loop(lambda i, m: i >= 0, lambda i, m: (i + 1, tf.matmul(m, m) / 100.0),
                             [0, x])
        once(lambda: session.run(loop))
    """,
    "closed_loop": """
        session, x = tf.Session(), tf.ones([100, 100])
        loop = tf.while_loop(lambda i, m: i >= 0, lambda i, m: (i + 1, tf.matmul(m, m) / 100.0),
                             [0, x])
        def work():
            try:
                session.run(loop)
            except tf.errors.CancelledError:
                pass
        once(work)
        time.sleep(0.3)
        session.close()
    """,
    "dequeue": """
        session, queue = tf.Session(), tf.FIFOQueue(3, tf.float32)
        taken = queue.dequeue() * 2.0
        once(lambda: session.run(taken))
    """,
    "queue_runners": """
        queue = tf.FIFOQueue(10, tf.float32, [])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(product(100))] * 2))
        session, taken = tf.Session(), queue.dequeue()
        tf.train.start_queue_runners(session)
        session.run(taken)
    """,
    "parallel_map": """
        data = tf.data.Dataset.range(10**9).map(lambda i: product(), num_parallel_calls=4)
        session, following = tf.Session(), data.make_one_shot_iterator().get_next()
        beside(lambda: session.run(following))
    """,
    "interleave": """
        def numbers(i):
            return tf.data.Dataset.range(10**9).map(lambda j: product(100))
        data = tf.data.Dataset.range(8).apply(
            tf.data.experimental.parallel_interleave(numbers, cycle_length=3, sloppy=True))
        session, following = tf.Session(), data.prefetch(8).make_one_shot_iterator().get_next()
        session.run(following)
    """,
    "generator": """
        def numbers():
            while True:
                yield np.ones([50, 50], np.float32)
        data = tf.data.Dataset.from_generator(numbers, tf.float32).prefetch(4)
        session, following = tf.Session(), data.make_one_shot_iterator().get_next()
        beside(lambda: session.run(following))
    """,
    "users_function": """
        session = tf.Session()
        def users(x):
            begun.release()
            time.sleep(3600)
            return x
        slow = tf.matmul(tf.py_func(users, [tf.ones([9, 9])], tf.float32), tf.ones([9, 9]))
        threading.Thread(target=lambda: session.run(slow), daemon=True).start()
        begun.acquire()
    """,
    "mapped_function": """
        def users(x):
            time.sleep(0.01)
            return x
        data = tf.data.Dataset.range(10**9).map(
            lambda i: tf.py_func(users, [i], tf.int64), num_parallel_calls=4).batch(8).prefetch(2)
        session, following = tf.Session(), data.make_one_shot_iterator().get_next()
        beside(lambda: session.run(following))
    """,
    "local_server": """
        server = tf.train.Server.create_local_server()
        session, total = tf.Session(server.target), product()
        beside(lambda: session.run(total), 2)
    """,
    "servers": """
        ps, worker = addresses(2)
        cluster = tf.train.ClusterSpec({"ps": [ps], "worker": [worker]})
        servers = [tf.train.Server(cluster, job_name=job) for job in ("ps", "worker")]
        with tf.device("/job:ps/task:0"):
            given = product()
        with tf.device("/job:worker/task:0"):
            taken = given * 2.0
        session = tf.Session(servers[1].target)
        beside(lambda: session.run(taken))
    """,
    "waiting_servers": """
        ps, worker = addresses(2)
        cluster = tf.train.ClusterSpec({"ps": [ps], "worker": [worker]})
        servers = [tf.train.Server(cluster, job_name=job) for job in ("ps", "worker")]
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(3, tf.float32, [], shared_name="never")
            given = queue.dequeue()
        with tf.device("/job:worker/task:0"):
            taken = given * 2.0
        session = tf.Session(servers[1].target)
        once(lambda: session.run(taken))
        time.sleep(0.5)
    """,
    "saving": """
        w = tf.Variable(tf.ones([1000, 1000]))
        session, saver = tf.Session(), tf.train.Saver()
        session.run(w.initializer)
        saver.async_save(session, tempfile.mkdtemp() + "/model")
    """,
    "monitored": """
        step = tf.train.get_or_create_global_step()
        add = tf.assign_add(step, 1)
        queue = tf.FIFOQueue(10, tf.float32, [])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(product(100))]))
        taken = queue.dequeue()
        session = tf.train.MonitoredTrainingSession(
            checkpoint_dir=tempfile.mkdtemp(), log_step_count_steps=None)
        beside(lambda: session.run([add, taken]))
    """,
}


@dataclass(frozen=True)
class End:
    """How a script ends.

    Args:
      code: of the script.
      status: that Python promises; negative is a signal's.
      out: what it prints.
      error: how the last line of its errors begins; empty: there are none.
    """

    code: str
    status: int
    out: str = ""
    error: str = ""


ENDS = {
    "last_line": End("print('over')", 0, "over\n"),
    "exit": End("sys.exit(7)", 7),
    "exit_text": End("sys.exit('so it ends')", 1, error="so it ends"),
    "exception": End("print('half', end=''); raise ValueError('odd')", 1, "half",
                     "ValueError: odd"),
    "failed_step": End(
        """
        with tf.Graph().as_default(), tf.Session() as last:
            last.run(tf.check_numerics(tf.log(tf.zeros([3])), "odd"))
        """, 1, error="odd : Tensor had Inf values"),
    "exit_in_hook": End(
        """
        class Leaves(tf.train.SessionRunHook):
            def after_run(self, context, values):
                print("hook", flush=True)
                sys.exit(4)
        with tf.Graph().as_default():
            x = tf.constant(1.0)
            with tf.train.MonitoredSession(hooks=[Leaves()]) as last:
                last.run(x)
        """, 4, "hook\n"),
    "exit_in_step": End(
        """
        with tf.Graph().as_default(), tf.Session() as last:
            last.run(tf.py_func(lambda: sys.exit(9), [], tf.float32))
        """, 9),
    "terminated": End("print('now', flush=True); os.kill(os.getpid(), signal.SIGTERM)", -15,
                      "now\n"),
    "terminated_handled": End(
        """
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(5))
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(3600)
        """, 5),
    "step_at_exit": End(
        """
        graph = tf.Graph()
        with graph.as_default():
            sum_ = tf.reduce_sum(tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])))
        def at_exit():
            with tf.Session(graph=graph) as last:
                print(last.run(sum_))
        atexit.register(at_exit)
        """, 0, "8.0\n"),
}  # fmt: skip


def script(scene: str, end: str, delay: float) -> str:
    """The text of a script, which ends ``delay`` seconds after all threads have begun."""
    parts = [SCENES[scene], f"time.sleep({delay})", ENDS[end].code]
    body = "\n".join(textwrap.dedent(part).strip() for part in parts)
    return f"{_HEAD}\n{body}\n"
