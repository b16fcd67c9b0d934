"""AlexNet in small: strided and grouped convolutions, local response normalisation; momentum."""


def conv(tf, np, x, shape, strides, padding, group, seed, name):
    draw = np.random.RandomState(seed)
    with tf.variable_scope(name):
        kernel = tf.get_variable(
            "weights", shape, initializer=tf.constant_initializer(draw.randn(*shape) * 0.1)
        )
        bias = tf.get_variable("biases", [shape[-1]], initializer=tf.zeros_initializer())
        window = [1, strides, strides, 1]
        if group == 1:
            out = tf.nn.conv2d(x, kernel, window, padding=padding)
        else:
            pieces = zip(tf.split(x, group, 3), tf.split(kernel, group, 3))
            parts = [tf.nn.conv2d(piece, k, window, padding=padding) for piece, k in pieces]
            out = tf.concat(parts, 3)
        return tf.nn.relu(tf.nn.bias_add(out, bias), name="relu")


def build(tf, np):
    draw = np.random.RandomState(7)
    x = tf.placeholder(tf.float32, [4, 32, 32, 3], name="images")
    y = tf.placeholder(tf.int32, [4], name="labels")
    net = conv(tf, np, x, [5, 5, 3, 8], 2, "SAME", 1, 1, "conv1")
    net = tf.nn.local_response_normalization(net, depth_radius=2, bias=1.0, alpha=2e-2, beta=0.75)
    net = tf.nn.max_pool(net, [1, 3, 3, 1], [1, 2, 2, 1], padding="VALID", name="pool1")
    net = conv(tf, np, net, [3, 3, 4, 12], 1, "SAME", 2, 2, "conv2")
    net = tf.nn.lrn(net, 2, name="norm2")
    net = tf.nn.max_pool(net, [1, 3, 3, 1], [1, 2, 2, 1], padding="VALID", name="pool2")
    net = conv(tf, np, net, [3, 3, 12, 8], 1, "SAME", 1, 3, "conv3")
    net = tf.nn.avg_pool(net, [1, 2, 2, 1], [1, 1, 1, 1], padding="SAME", name="pool3")
    size = int(np.prod([int(d) for d in net.get_shape()[1:]]))
    net = tf.reshape(net, [-1, size])
    with tf.variable_scope("fc4"):
        w = tf.get_variable("weights", initializer=(draw.randn(size, 16) * 0.1).astype("float32"))
        b = tf.get_variable("biases", [16], initializer=tf.constant_initializer(0.1))
        net = tf.nn.relu_layer(net, w, b)
    with tf.variable_scope("fc5"):
        w = tf.get_variable("weights", initializer=(draw.randn(16, 6) * 0.1).astype("float32"))
        logits = tf.matmul(net, w)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=y))
    train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    feeds = [{x: draw.rand(4, 32, 32, 3), y: draw.randint(0, 6, 4)} for _ in range(5)]
    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {"top": tf.nn.top_k(logits, 3).indices, "logits": logits},
    }
