"""The talks' simplest graph: d = b + c; e = c + 2; a = d * e, with values fed to b."""


def build(tf, np):
    b = tf.Variable(2.0, name="b")
    b_in = tf.placeholder(tf.float32, [None, 1], name="b_in")
    const = tf.constant(2.0, name="const")
    c = tf.Variable(1.0, dtype=tf.float32, name="c")
    d = tf.add(b, c, name="d")
    e = tf.add(c, const, name="e")
    a = tf.multiply(d, e, name="a")
    d2 = b_in + c
    e2 = c + 2
    a2 = d2 * e2
    loss = tf.reduce_sum(tf.square(a2 - a))
    train = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
    feed = {b_in: np.arange(0, 10)[:, np.newaxis]}
    return {
        "loss": loss,
        "train": train,
        # Any tensor can be fed, so in the last steps `d` is not computed but given.
        "feeds": [feed] * 3 + [{b_in: [[1.0]], d: 5.0}] * 2,
        "final": {"a": a, "a2": a2, "d": d, "e": e},
        "final_feed": feed,
    }
