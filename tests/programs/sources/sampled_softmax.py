"""A language model over a wide vocabulary trained with sampled softmax, sharded; Adagrad, sparse.

The samples are given, with repeats of the true classes, so accidental hits are removed.
"""


def build(tf, np):
    draw = np.random.RandomState(12)
    classes, width, batch, sampled = 40, 6, 8, 6
    ids = tf.placeholder(tf.int32, [None], name="ids")
    labels = tf.placeholder(tf.int64, [None, 1], name="labels")
    table = tf.get_variable("table", initializer=draw.randn(classes, width).astype("float32"))
    shards = [
        tf.get_variable(f"w{i}", initializer=draw.randn(20, width).astype("float32"))
        for i in range(2)
    ]
    biases = tf.get_variable("b", [classes], initializer=tf.zeros_initializer())
    hidden = tf.nn.l2_normalize(tf.nn.embedding_lookup(table, ids), 1)
    values = (
        tf.constant(draw.randint(0, classes, sampled).astype("int64")),
        tf.constant(draw.rand(batch, 1).astype("float32")),
        tf.constant(draw.rand(sampled).astype("float32")),
    )
    losses = tf.nn.sampled_softmax_loss(
        shards,
        biases,
        labels,
        hidden,
        sampled,
        classes,
        sampled_values=values,
        partition_strategy="div",
    )
    loss = tf.reduce_mean(losses)
    train = tf.train.AdagradOptimizer(0.5).minimize(loss)
    feeds = []
    for _ in range(8):
        feeds.append(
            {ids: draw.randint(0, classes, batch), labels: draw.randint(0, classes, [batch, 1])}
        )
    full = tf.matmul(hidden, tf.concat(shards, 0), transpose_b=True) + biases
    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {"scores": tf.nn.log_softmax(full)},
    }
