"""A multilayer perceptron with dropout off, then on, through a fed keep probability; Adam.

The random numbers that dropout draws are fed by name, so that every system drops the same units.
"""


def dense(tf, np, x, inputs, outputs, seed, name):
    draw = np.random.RandomState(seed)
    with tf.name_scope(name):
        W = tf.Variable((draw.randn(inputs, outputs) * 0.1).astype("float32"), name="weights")
        b = tf.Variable(tf.constant(0.1, shape=[outputs]), name="biases")
        return tf.matmul(x, W) + b


def build(tf, np):
    draw = np.random.RandomState(2)
    x = tf.placeholder(tf.float32, [None, 20], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    keep_prob = tf.placeholder(tf.float32, name="keep_prob")
    h1 = tf.nn.relu(dense(tf, np, x, 20, 32, 3, "hidden1"))
    h1 = tf.nn.dropout(h1, keep_prob)
    h2 = tf.nn.tanh(dense(tf, np, h1, 32, 16, 4, "hidden2"))
    h2 = tf.nn.dropout(h2, keep_prob, name="drop2")
    logits = dense(tf, np, h2, 16, 5, 5, "output")
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses, name="loss")
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    correct = tf.nn.in_top_k(logits, labels, 1)
    accuracy = tf.reduce_mean(tf.to_float(correct))
    graph = tf.get_default_graph()
    drawn = [
        graph.get_tensor_by_name(op.name + ":0")
        for op in graph.get_operations()
        if op.type == "Add" and op.name.endswith("random_uniform")
    ]
    feeds = []
    for step in range(12):
        feed = {x: draw.randn(24, 20), labels: draw.randint(0, 5, 24), keep_prob: 1.0}
        feed[drawn[0]] = draw.rand(24, 32)
        feed[drawn[1]] = draw.rand(24, 16)
        if step % 2:
            feed[keep_prob] = 0.5
        feeds.append(feed)
    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {"accuracy": accuracy, "probabilities": tf.nn.softmax(logits)},
    }
