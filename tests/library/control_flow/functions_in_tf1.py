"""Programs of functional control flow, built and run by TensorFlow 1.15; a process of its own.

Run as ``python functions_in_tf1.py OUT.pickle [OURS.pickle]``.  OUT gets, by name, the program's
GraphDef, its fetches, what is fed in turn, and the values.  OURS holds GraphDefs that Penstock made
with what to feed and fetch; their values go into OUT under ``"ours"``.
"""

import os
import pickle
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import function  # noqa: E402
from tensorflow.python.ops import functional_ops, gen_functional_ops  # noqa: E402

F = tf.float32
I = tf.int32  # noqa: E741
X = np.float32([1, 2])


def place(name, shape=(), dtype=F):
    return tf.placeholder(dtype, shape, name=name)


def if_():
    @function.Defun(F)
    def then(x):
        return x * 2.0, x

    @function.Defun(F)
    def orelse(x):
        return x - 1.0, x + 5.0

    made = functional_ops.If(place("p", (), tf.bool), [place("x", [2])], then, orelse)
    return made, [{"x": X, "p": True}, {"x": X, "p": False}]


def if_of_a_number():
    @function.Defun(F)
    def then(x):
        return x * 2.0

    @function.Defun(F)
    def orelse(x):
        return x - 1.0

    made = functional_ops.If(place("p", None, I), [place("x", [2])], then, orelse)
    return made, [{"x": X, "p": p} for p in (3, 0, [0], np.zeros([0], np.int32))]


def while_():
    @function.Defun(I, I, F)
    def condition(i, n, x):
        return i < n

    @function.Defun(I, I, F)
    def body(i, n, x):
        return i + 1, n, x * 1.5 + tf.cast(i, F)

    made = functional_ops.While(
        [tf.constant(0), place("n", (), I), place("x", [None])], condition, body
    )
    return made, [{"n": 4, "x": X}, {"n": 0, "x": np.float32([1, 2, 3])}]


def while_that_grows():
    @function.Defun(I, I)
    def condition(i, n):
        return tf.size(i) < n

    @function.Defun(I, I)
    def body(i, n):
        return tf.concat([i, [tf.reduce_sum(i) + 1]], 0), n

    return functional_ops.While([tf.constant([1]), place("n", (), I)], condition, body), [{"n": 6}]


def if_in_while():
    @function.Defun(I)
    def half(x):
        return x // 2

    @function.Defun(I)
    def more(x):
        return 3 * x + 1

    @function.Defun(I, I)
    def condition(x, k):
        return x > 1

    @function.Defun(I, I)
    def body(x, k):
        return functional_ops.If(tf.equal(x % 2, 0), [x], half, more)[0], k + 1

    made = functional_ops.While([place("n", (), I), tf.constant(0)], condition, body)
    return made, [{"n": n} for n in (6, 1, 27)]


def for_():
    @function.Defun(I, F, I)
    def body(i, x, same):
        return x + tf.cast(i, F), same

    made = gen_functional_ops._for(
        2, place("n", (), I), place("d", (), I), [tf.constant(0.5), tf.constant(7)], body
    )
    feeds = ((10, 3), (2, 1), (-5, -2), (5, -1), (5, 0))
    return made, [{"n": n, "d": d} for n, d in feeds]


def times(factor):
    @function.Defun(F, func_name=f"times{int(factor)}")
    def branch(x):
        return x * factor

    branch.add_to_graph(tf.get_default_graph())
    return branch


def case():
    branches = [times(factor) for factor in (1.0, 2.0, 3.0, 4.0)]
    made = gen_functional_ops.case(place("i", (), I), [tf.constant([1.0, 2.0])], [F], branches)
    return made, [{"i": k} for k in (0, 1, 2, 3, 4, -1)]


def calls_in_calls():
    @function.Defun(F)
    def square(x):
        return x * x

    @function.Defun(F)
    def outer(x):
        return square(x) + square(x + 1.0)

    x = place("x", [2])
    return [outer(x), functional_ops.partitioned_call([x], outer)[0]], [{"x": X}]


def while_that_writes():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @function.Defun(I, I, tf.resource)
    def condition(i, n, handle):
        return i < n

    @function.Defun(I, I, tf.resource)
    def body(i, n, handle):
        add = tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.cast(i, F) + 2.0)
        with tf.control_dependencies([add]):
            return tf.identity(i) + 1, n, handle

    made = functional_ops.While([tf.constant(0), place("n", (), I), v.handle], condition, body)
    with tf.control_dependencies([made[0]]):
        return [made[0], v.read_value()], [{"n": n} for n in (3, 0, 2)]


def if_that_writes():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @function.Defun(tf.resource)
    def then(handle):
        add = tf.raw_ops.AssignAddVariableOp(resource=handle, value=10.0)
        with tf.control_dependencies([add]):
            return tf.constant(1)

    @function.Defun(tf.resource)
    def orelse(handle):
        sub = tf.raw_ops.AssignSubVariableOp(resource=handle, value=1.0)
        with tf.control_dependencies([sub]):
            return tf.constant(2)

    made = functional_ops.If(place("p", (), tf.bool), [v.handle], then, orelse)
    with tf.control_dependencies([made[0]]):
        return [made[0], v.read_value()], [{"p": p} for p in (True, False, True)]


def primitives_in_a_function():
    @function.Defun(F)
    def body(x):
        y = tf.while_loop(lambda a: a < 100.0, lambda a: a * 2.0, [x])
        return tf.cond(y > 128.0, lambda: y - 1.0, lambda: y + 1.0)

    x = place("x")
    return [body(x) + body(x + 1.0)], [{"x": 3.0}, {"x": 65.0}]


def calls_in_primitives():
    @function.Defun(F)
    def step(x):
        return x * 2.0 + 1.0

    x = place("x")
    looped = tf.while_loop(
        lambda i, a: i < 5, lambda i, a: (i + 1, tf.reshape(step(a), [])), [0, x]
    )
    return [looped[1], tf.cond(x > 2.0, lambda: step(x), lambda: x)], [{"x": 3.0}, {"x": 1.0}]


def symbolic_gradient():
    @function.Defun(F, F)
    def body(x, y):
        return tf.reduce_sum(tf.tanh(x) * y), x * y * y

    x = place("x", [2])
    return tf.gradients(list(body(x, x * 2.0)), [x]), [{"x": X / 9}]


def gradient_by_function():
    @function.Defun(F, F)
    def slope(x, dy):
        return 3.0 * dy

    @function.Defun(F, grad_func=slope)
    def square(x):
        return x * x

    x = place("x")
    y = square(x)
    return [y] + tf.gradients(y, x), [{"x": 2.0}]


def failing_assert():
    @function.Defun(F)
    def then(x):
        with tf.control_dependencies([tf.Assert(False, ["bad"], name="inner")]):
            return x * 2.0

    @function.Defun(F)
    def orelse(x):
        return tf.identity(x)

    made = functional_ops.If(place("p", (), tf.bool), [tf.constant(1.0)], then, orelse)
    return made, [{"p": False}, {"p": True}]


def remote_call():
    @function.Defun(F)
    def double(x):
        return x * 2.0

    target = "/job:localhost/replica:0/task:0/cpu:0"
    made = functional_ops.remote_call(args=[place("x")], Tout=[F], f=double, target=target)
    return made, [{"x": 2.0}]


PROGRAMS = (
    if_, if_of_a_number, while_, while_that_grows, if_in_while, for_, case, calls_in_calls,
    while_that_writes, if_that_writes, primitives_in_a_function, calls_in_primitives,
    symbolic_gradient, gradient_by_function, failing_assert, remote_call,
)  # fmt: skip


def run(sess, fetches, feed):
    try:
        return sess.run(fetches, {key + ":0": value for key, value in feed.items()})
    except tf.errors.OpError as error:
        return type(error).__name__


def main():
    out = {}
    for program in PROGRAMS:
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            fetches, feeds = program()
            sess.run(tf.global_variables_initializer())
            values = [run(sess, list(fetches), feed) for feed in feeds]
            names = [tensor.name for tensor in fetches]
            out[program.__name__] = graph.as_graph_def().SerializeToString(), names, feeds, values
    if len(sys.argv) > 2:
        with open(sys.argv[2], "rb") as file:
            ours = pickle.load(file)
        out["ours"] = {}
        for name, (message, fetches, feed) in ours.items():
            with tf.Graph().as_default() as graph, tf.Session() as sess:
                tf.import_graph_def(tf.GraphDef.FromString(message), name="")
                sess.run([op for op in graph.get_operations() if op.name == "init"])
                out["ours"][name] = run(sess, fetches, feed)
    with open(sys.argv[1], "wb") as file:
        pickle.dump(out, file, protocol=2)


if __name__ == "__main__":
    main()
