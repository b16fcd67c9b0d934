"""An unrolled two-layer LSTM language model: clipped gradients, a decayed learning rate, SGD."""


def cell(tf, x, h, c, width, layer):
    with tf.variable_scope(f"lstm{layer}", reuse=tf.AUTO_REUSE):
        draw = tf.random_uniform_initializer(-0.1, 0.1, seed=layer)
        w = tf.get_variable("w", [2 * width, 4 * width], initializer=draw)
        b = tf.get_variable("b", [4 * width], initializer=tf.zeros_initializer())
    z = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), w), b)
    i, j, f, o = tf.split(value=z, num_or_size_splits=4, axis=1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return tf.tanh(c) * tf.sigmoid(o), c


def build(tf, np):
    draw = np.random.RandomState(13)
    steps, batch, width, words = 6, 4, 8, 30
    inputs = tf.placeholder(tf.int32, [batch, steps])
    targets = tf.placeholder(tf.int32, [batch, steps])
    start = tf.placeholder_with_default(np.zeros([2, 2, batch, width], "float32"), None)
    start.set_shape([2, 2, batch, width])
    with tf.variable_scope("model"):
        embedding = tf.get_variable("embedding", [words, width])
        embedded = tf.nn.embedding_lookup(embedding, inputs)
        state = [tf.unstack(layer) for layer in tf.unstack(start)]
        outputs = []
        for step in range(steps):
            x = embedded[:, step, :]
            for layer in range(2):
                x, c = cell(tf, x, state[layer][0], state[layer][1], width, layer)
                state[layer] = [x, c]
            outputs.append(x)
        output = tf.reshape(tf.concat(outputs, 1), [-1, width])
        softmax_w = tf.get_variable("softmax_w", [width, words])
        softmax_b = tf.get_variable("softmax_b", [words], initializer=tf.zeros_initializer())
        logits = tf.matmul(output, softmax_w) + softmax_b
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        logits=logits, labels=tf.reshape(targets, [-1])
    )
    cost = tf.reduce_sum(losses) / batch
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(2.0, global_step, 3, 0.5, staircase=True)
    variables = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(cost, variables), 1.0)
    optimizer = tf.train.GradientDescentOptimizer(rate)
    train = optimizer.apply_gradients(zip(grads, variables), global_step=global_step)
    text = draw.randint(0, words, [batch, 8 * steps + 1])
    feeds = []
    for i in range(8):
        part = slice(i * steps, (i + 1) * steps)
        feed = {inputs: text[:, part], targets: text[:, 1:][:, part]}
        if i % 2:
            feed[start] = draw.randn(2, 2, batch, width) * 0.1
        feeds.append(feed)
    initial = {}
    for variable in variables:
        initial[variable] = draw.rand(*variable.get_shape().as_list()) * 0.6 - 0.3
    return {
        "initial": initial,
        "loss": cost,
        "train": train,
        "feeds": feeds,
        "final": {"norm": norm, "rate": rate, "state": tf.stack(state)},
    }
