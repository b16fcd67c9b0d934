"""VGG in small: stacked 3x3 convolutions in variable scopes, decayed weights; RMSProp."""


def build(tf, np):
    draw = np.random.RandomState(8)
    x = tf.placeholder(tf.float32, [None, 16, 16, 3])
    y = tf.placeholder(tf.float32, [None, 4])
    mean = tf.constant([0.4, 0.5, 0.6], shape=[1, 1, 1, 3], name="mean")
    net = x - mean
    depth = 3
    for block, (layers, width) in enumerate([(2, 8), (2, 12)]):
        with tf.variable_scope(f"block{block + 1}"):
            for layer in range(layers):
                with tf.variable_scope(f"conv{layer + 1}"):
                    start = (draw.randn(3, 3, depth, width) * 0.15).astype("float32")
                    kernel = tf.get_variable("kernel", initializer=tf.constant(start))
                    bias = tf.get_variable("bias", [width], initializer=tf.zeros_initializer)
                    net = tf.nn.conv2d(net, kernel, strides=[1, 1, 1, 1], padding="SAME")
                    net = tf.nn.relu(tf.nn.bias_add(net, bias))
                    tf.add_to_collection("losses", tf.multiply(tf.nn.l2_loss(kernel), 0.001))
                    depth = width
            net = tf.nn.max_pool(net, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    shape = net.get_shape().as_list()
    flat = tf.reshape(net, [tf.shape(net)[0], shape[1] * shape[2] * shape[3]])
    with tf.variable_scope("fc"):
        w = tf.get_variable("w", initializer=(draw.randn(4 * 4 * 12, 4) * 0.1).astype("float32"))
        logits = tf.matmul(flat, w)
    cross = tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=y)
    tf.add_to_collection("losses", tf.reduce_mean(cross))
    loss = tf.add_n(tf.get_collection("losses"), name="total_loss")
    train = tf.train.RMSPropOptimizer(0.002, 0.9, momentum=0.5).minimize(loss)
    feeds = []
    for _ in range(5):
        labels = draw.randint(0, 4, 6)
        feeds.append({x: draw.rand(6, 16, 16, 3), y: np.eye(4)[labels]})
    return {"loss": loss, "train": train, "feeds": feeds, "final": {"logits": logits}}
