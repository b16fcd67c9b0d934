"""Graphs whose placement is compared with TensorFlow's: each is built by Penstock and by TF 1.15.

A program makes nodes for a session with four CPU devices.  Its annotations say whether it is
placed softly; a program that must fail says so in its name.
"""

from __future__ import annotations


def reference_variable(tf):
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", [2, 3], initializer=tf.zeros_initializer(), use_resource=False)
    with tf.device("/cpu:2"):
        tf.assign_add(v, tf.ones([2, 3]), name="u")
    y = tf.add(v, tf.constant(1.0, name="c"), name="y")
    with tf.device("/cpu:3"):
        q = tf.exp(y, name="q")
        tf.multiply(q, tf.constant(3.0, name="kk"), name="q3")
    tf.multiply(q, tf.constant(3.0, name="k"), name="q2")


def resource_variable(tf):
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", [2, 3], initializer=tf.zeros_initializer(), use_resource=True)
    with tf.device("/cpu:2"):
        v.assign_add(tf.ones([2, 3]), name="u")
        w = v.read_value()
    tf.exp(w, name="e")


def metadata(tf):
    x = tf.placeholder(tf.float32, name="x")
    with tf.device("/cpu:2"):
        y = tf.exp(x, name="y")
    shape = tf.shape(y, name="shape")
    rank, size = tf.rank(y, name="rank"), tf.size(y, name="size")
    tf.add(shape, rank, name="sum")
    with tf.device("/cpu:3"):
        tf.add(size, rank, name="sum2")


def generators(tf):
    one, two = tf.constant(1.0, name="one"), tf.constant(2.0, name="two")
    with tf.device("/cpu:1"):
        a = tf.exp(one, name="a")
        b = tf.multiply(two, two, name="b")
    with tf.device("/cpu:2"):
        c = tf.multiply(two, a, name="c")
        with tf.control_dependencies([tf.constant(5.0, name="waited")]):
            tf.log(b, name="d")
    shared = tf.constant(4.0, name="shared")
    with tf.device("/cpu:3"):
        tf.add(shared, c, name="e")
        tf.add(shared, b, name="f")
    with tf.device("/cpu:*"):
        any_cpu = tf.constant(7.0, name="any_cpu")
    with tf.device("/device:CPU:3"):
        tf.negative(any_cpu, name="n")
    tf.random_normal([2], name="drawn")


def partial_names(tf):
    names = [
        "/cpu:*", "/device:CPU:*", "/job:localhost", "/job:localhost/task:0", "/cpu:1",
        "/replica:0/cpu:2", "/job:localhost/replica:0/task:0/device:CPU:3", "/device:cpu:2", "",
    ]  # fmt: skip
    for number, name in enumerate(names):
        with tf.device(name):
            tf.exp(tf.constant([1.0, 2.0], name=f"c{number}"), name=f"e{number}")


def nested_devices(tf):
    with tf.device("/job:localhost/cpu:1"):
        a = tf.constant([1.0], name="a")
        with tf.device("/cpu:2"):
            b = tf.exp(a, name="b")
            with tf.device(None):
                c = tf.log(b, name="c")
        with tf.device(lambda op: "/cpu:3" if op.type == "Tanh" else ""):
            tf.tanh(c, name="d")
            tf.sigmoid(c, name="e")


def colocate_with(tf):
    with tf.device("/cpu:3"):
        a = tf.exp([1.0, 2.0], name="a")
    b = tf.log(a, name="b")
    with tf.colocate_with(a.op):
        tf.tanh(b, name="c")
    with tf.colocate_with(b.op):
        tf.sigmoid(a, name="d")
    with tf.device("/cpu:1"), tf.colocate_with(b.op, ignore_existing=True):
        tf.sin(a, name="e")


def soft_gpu(tf):
    with tf.device("/gpu:0"):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=False)
        y = tf.exp(v, name="y")
    with tf.device("/device:GPU:*"):
        tf.log(y, name="z")
    with tf.device("/cpu:7"):
        tf.tanh(y, name="t")
    with tf.device("/device:FOO:1"):
        tf.sin(y, name="s")


def soft_disputed(tf):
    with tf.device("/cpu:1"):
        a = tf.constant(1.0, name="a")
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=True)
    with tf.device("/cpu:2"):
        b = tf.exp(a, name="b")
        v.assign_add([1.0, 1.0], name="u")
    b.op._set_attr("_class", tf.AttrValue(list=tf.AttrValue.ListValue(s=[b"loc:@a"])))


def queues(tf):
    with tf.device("/cpu:1"):
        q = tf.FIFOQueue(10, [tf.float32], name="q")
    with tf.device("/cpu:2"):
        q.enqueue(tf.constant(1.0, name="one"), name="en")
        tf.exp(q.dequeue(name="de"), name="e")
    q.size(name="size")


def tables(tf):
    with tf.device("/cpu:2"):
        table = tf.contrib.lookup.HashTable(
            tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64),
            -1,
        )
    table.lookup(tf.constant(["a"], name="keys"), name="found")


def training(tf):
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", [2, 3], initializer=tf.zeros_initializer(), use_resource=False)
    with tf.device("/cpu:2"):
        w = tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer(), use_resource=False)
    x = tf.placeholder(tf.float32, [5, 2], name="x")
    with tf.device("/cpu:3"):
        y = tf.matmul(x, v + w, name="y")
    loss = tf.reduce_sum(tf.square(y, name="squared"), name="loss")
    tf.train.AdamOptimizer(0.1).minimize(loss)
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, colocate_gradients_with_ops=True)
    tf.global_variables_initializer()


def embedding_shards(tf):
    shards = []
    for i in range(3):
        with tf.device(f"/cpu:{i + 1}"):
            shards.append(
                tf.get_variable(f"s{i}", [4, 2], initializer=tf.ones_initializer(),
                                use_resource=False)
            )  # fmt: skip
    rows = tf.nn.embedding_lookup(shards, tf.constant([1, 5, 7], name="ids"), name="rows")
    loss = tf.reduce_sum(rows, name="loss")
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def saver(tf):
    for i in range(3):
        with tf.device(f"/cpu:{i + 1}"):
            tf.get_variable(f"v{i}", [4], initializer=tf.zeros_initializer(), use_resource=i == 1)
    tf.train.Saver(sharded=True)
    tf.train.Saver(name="whole")


def conditional(tf):
    with tf.device("/cpu:1"):
        p, x = tf.constant(True, name="p"), tf.constant(2.0, name="x")
    with tf.device("/cpu:2"):
        y = tf.exp(x, name="y")
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)

    def on_three():
        with tf.device("/cpu:3"):
            return tf.exp(y, name="t") + v

    r = tf.cond(p, on_three, lambda: tf.log(y, name="f"))
    tf.exp(r, name="after")


def loop(tf):
    with tf.device("/cpu:2"):
        x = tf.constant([[2.0]], name="x")
        w = tf.get_variable("w", [1, 1], initializer=tf.ones_initializer(), use_resource=False)
    with tf.device("/cpu:1"):
        end = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.matmul(a, w)), [0, x])
    tf.exp(end[1], name="after")


def recurrent(tf):
    with tf.device("/cpu:1"):
        cell = tf.nn.rnn_cell.BasicRNNCell(4)
        x = tf.placeholder(tf.float32, [2, 5, 3], name="x")
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        loss = tf.reduce_sum(outputs)
        tf.gradients(loss, x)


def dataset(tf):
    with tf.device("/cpu:2"):
        data = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).batch(2)
        it = tf.data.make_initializable_iterator(data)
        tf.exp(it.get_next(), name="e")


def refused_gpu(tf):
    with tf.device("/gpu:0"):
        tf.exp([1.0], name="e")


def refused_number(tf):
    with tf.device("/cpu:7"):
        tf.exp([1.0], name="e")


def refused_job(tf):
    with tf.device("/job:worker"):
        tf.exp([1.0], name="e")


def refused_task(tf):
    with tf.device("/task:3/cpu:0"):
        tf.exp([1.0], name="e")


def refused_soft_job(tf):
    with tf.device("/job:worker/gpu:0"):
        tf.exp([1.0], name="e")


def _together(tf, first, second):
    with tf.device(first):
        tf.exp([1.0], name="a")
    with tf.device(second):
        b = tf.exp([1.0], name="b")
    b.op._set_attr("_class", tf.AttrValue(list=tf.AttrValue.ListValue(s=[b"loc:@a"])))


def refused_ids(tf):
    _together(tf, "/cpu:1", "/cpu:2")


def refused_types(tf):
    _together(tf, "/cpu:1", "/gpu:1")


def refused_jobs(tf):
    _together(tf, "/job:localhost", "/job:ps")


PROGRAMS = {
    name: made
    for name, made in list(globals().items())
    if callable(made) and not name.startswith("_") and getattr(made, "__module__", "") == __name__
}
DEVICES = 4
