"""Programs whose gradient graphs are compared, node by node, with those of TF 1.15.

Each takes the module ``tf`` (Penstock's or TensorFlow's) and builds into the default graph.
"""

from __future__ import annotations

from typing import Any


def softmax_regression(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 784])
    labels = tf.placeholder(tf.float32, [None, 10])
    w = tf.Variable(tf.zeros([784, 10]))
    b = tf.Variable(tf.zeros([10]))
    y = tf.nn.softmax(tf.matmul(x, w) + b)
    loss = tf.reduce_mean(-tf.reduce_sum(labels * tf.log(y), axis=1))
    tf.gradients(loss, [w, b])


def mlp(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 20])
    labels = tf.placeholder(tf.int32, [None])
    w1 = tf.Variable(tf.ones([20, 30]), name="w1")
    b1 = tf.Variable(tf.zeros([30]), name="b1")
    w2 = tf.Variable(tf.ones([30, 5]), name="w2")
    b2 = tf.Variable(tf.zeros([5]), name="b2")
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w1), b1))
    logits = tf.nn.xw_plus_b(hidden, w2, b2, name="logits")
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    tf.gradients(tf.reduce_mean(losses), [w1, b1, w2, b2], gate_gradients=True)


def shared_weights(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [4, 3])
    w = tf.Variable(tf.ones([3, 3]), name="w")
    h = x
    for _ in range(3):
        h = tf.tanh(tf.matmul(h, w))
    tf.gradients(h, w)
    tf.gradients(h, [w, x], aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE, name="tree")


def shared_with_device(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [4, 3])
    with tf.name_scope("layer"), tf.device("/cpu:0"):
        w = tf.identity(x, name="w")
        y = tf.multiply(w, w) + w
    tf.gradients(y, x, colocate_gradients_with_ops=True)


def embedding(tf: Any) -> None:
    ids = tf.placeholder(tf.int32, [None])
    others = tf.placeholder(tf.int32, [7])
    table = tf.Variable(tf.ones([50, 8]), name="table")
    rows = tf.gather(table, ids)
    more = tf.gather(table, others)
    loss = tf.reduce_sum(rows) + tf.reduce_sum(more)
    tf.gradients(loss, table)


def sparse_and_dense(tf: Any) -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = tf.Variable(tf.ones([50, 8]), name="table")
    loss = tf.reduce_sum(tf.gather(table, ids)) + tf.reduce_sum(table)
    tf.gradients(loss, table)


def conv_net(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 28, 28, 1])
    w = tf.Variable(tf.ones([5, 5, 1, 4]), name="w")
    b = tf.Variable(tf.zeros([4]), name="b")
    conv = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME")
    act = tf.nn.relu(tf.nn.bias_add(conv, b))
    pool = tf.nn.max_pool(act, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    flat = tf.reshape(pool, [-1, 14 * 14 * 4])
    w2 = tf.Variable(tf.ones([14 * 14 * 4, 10]), name="w2")
    tf.gradients(tf.reduce_sum(tf.matmul(flat, w2)), [w, b, w2])


def second_order(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [3])
    y = tf.square(x) * x
    first = tf.gradients(y, x)[0]
    tf.gradients(first, x)


def given_and_stopped(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    z = tf.placeholder(tf.float32, [2, 3])
    y = tf.exp(x, name="y")
    product = tf.multiply(y, z, name="product")
    loss = tf.add(product, x, name="loss")
    tf.gradients([loss, product], [x, z], grad_ys=[tf.ones_like(loss), None], stop_gradients=[y])
    tf.gradients(y, [x, z], unconnected_gradients="zero", name="zeros")


def gated_tuple(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/cpu:0"):
        y = tf.identity(x)
    a, b = tf.tuple([x, y])
    tf.group(a, b.op, name="both")
    tf.group(x, y)
    tf.identity_n([a, b])
    tf.no_op()


def assertions(tf: Any) -> None:
    x = tf.placeholder(tf.float32)
    tf.assert_rank(x, 2)
    tf.assert_rank_at_least(tf.placeholder(tf.float32, [2, 3]), 2)
    tf.assert_rank_in(x, [1, 2])
    tf.assert_type(x, tf.float32)
    tf.assert_integer(tf.constant(1))
    tf.Assert(tf.placeholder(tf.bool), ["a", tf.constant(2)])
    tf.Print(x, ["a", x, 2])
    tf.print("x", x, [1, x], {"a": x})
    tf.verify_tensor_all_finite(x, "not finite")


PROGRAMS = [
    softmax_regression, mlp, shared_weights, shared_with_device, embedding, sparse_and_dense,
    conv_net, second_order, given_and_stopped, gated_tuple, assertions,
]  # fmt: skip


def nodes(tf: Any, program: Any) -> list[str]:
    """One line a node: name, type, inputs, controls, colocation."""
    graph = tf.Graph()
    with graph.as_default():
        program(tf)
    return [_line(op) for op in graph.get_operations()]


def _line(op: Any) -> str:
    parts = [t.name for t in op.inputs] + ["^" + c.name for c in op.control_inputs]
    try:
        parts += sorted("@" + c.decode() for c in op.get_attr("_class"))
    except ValueError:
        pass
    return f"{op.name} = {op.type}({', '.join(parts)})"
