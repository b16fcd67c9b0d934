"""LeNet: two convolutions with max pooling, two dense layers; Nesterov momentum, counted steps."""


def weights(tf, np, shape, seed):
    draw = np.random.RandomState(seed)
    return tf.Variable((draw.randn(*shape) * 0.1).astype("float32"), name="W")


def build(tf, np):
    draw = np.random.RandomState(6)
    x = tf.placeholder(tf.float32, [None, 256])
    y = tf.placeholder(tf.float32, [None, 10])
    image = tf.reshape(x, [-1, 16, 16, 1])
    with tf.name_scope("conv1"):
        conv1 = tf.nn.conv2d(image, weights(tf, np, [5, 5, 1, 6], 1), [1, 1, 1, 1], "SAME")
        conv1 = tf.nn.relu(tf.nn.bias_add(conv1, tf.Variable(tf.zeros([6]))))
        pool1 = tf.nn.max_pool(conv1, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    with tf.name_scope("conv2"):
        conv2 = tf.nn.conv2d(pool1, weights(tf, np, [5, 5, 6, 16], 2), [1, 1, 1, 1], "VALID")
        conv2 = tf.nn.relu(conv2 + tf.Variable(tf.constant(0.1, shape=[16])))
        pool2 = tf.nn.max_pool(conv2, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    flat = tf.reshape(pool2, [-1, 2 * 2 * 16])
    fc1 = tf.nn.relu(tf.nn.xw_plus_b(flat, weights(tf, np, [64, 24], 3), tf.Variable([0.0] * 24)))
    logits = tf.add(tf.matmul(fc1, weights(tf, np, [24, 10], 4)), tf.Variable(tf.zeros([10])))
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits), name="loss"
    )
    global_step = tf.Variable(0, trainable=False, name="global_step")
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True)
    train = optimizer.minimize(loss, global_step=global_step)
    feeds = []
    for _ in range(6):
        labels = draw.randint(0, 10, 8)
        feeds.append({x: draw.rand(8, 256) * (1 + labels)[:, None] / 5, y: np.eye(10)[labels]})
    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {"step": global_step, "prediction": tf.argmax(logits, 1), "logits": logits},
    }
