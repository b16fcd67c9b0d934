"""A GoogLeNet-like network: inception blocks joined with concat, batch normalisation fused and
by hand, its averages kept by UPDATE_OPS and by ExponentialMovingAverage; centered RMSProp."""

SEED = [100]


def filters(tf, np, shape):
    SEED[0] += 1
    start = np.random.RandomState(SEED[0]).randn(*shape) * 0.2
    return tf.get_variable("weights", shape, initializer=tf.constant_initializer(start))


def fused_norm(tf, x, training):
    depth = x.get_shape()[-1].value
    beta = tf.get_variable("beta", [depth], initializer=tf.zeros_initializer())
    gamma = tf.get_variable("gamma", [depth], initializer=tf.ones_initializer())
    mean = tf.get_variable(
        "moving_mean", [depth], initializer=tf.zeros_initializer(), trainable=False
    )
    variance = tf.get_variable(
        "moving_variance", [depth], initializer=tf.ones_initializer(), trainable=False
    )
    if not training:
        return tf.nn.fused_batch_norm(x, gamma, beta, mean, variance, is_training=False)[0]
    y, batch_mean, batch_variance = tf.nn.fused_batch_norm(x, gamma, beta, epsilon=0.001)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_sub(mean, (mean - batch_mean) * 0.1))
    tf.add_to_collection(
        tf.GraphKeys.UPDATE_OPS, tf.assign_sub(variance, (variance - batch_variance) * 0.1)
    )
    return y


def conv(tf, np, x, depth, size, stride, name, training):
    with tf.variable_scope(name):
        kernel = filters(tf, np, [size, size, x.get_shape()[3].value, depth])
        x = tf.nn.conv2d(x, kernel, [1, stride, stride, 1], "SAME")
        return tf.nn.relu(fused_norm(tf, x, training))


def block(tf, np, x, name, training):
    with tf.variable_scope(name):
        with tf.variable_scope("branch_0"):
            one = conv(tf, np, x, 4, 1, 1, "conv1x1", training)
        with tf.variable_scope("branch_1"):
            three = conv(tf, np, x, 3, 1, 1, "reduce", training)
            three = conv(tf, np, three, 6, 3, 1, "conv3x3", training)
        with tf.variable_scope("branch_2"):
            five = conv(tf, np, x, 2, 1, 1, "reduce", training)
            five = conv(tf, np, five, 4, 5, 1, "conv5x5", training)
        with tf.variable_scope("branch_3"):
            pool = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 1, 1, 1], "SAME")
            pool = conv(tf, np, pool, 3, 1, 1, "project", training)
        return tf.concat([one, three, five, pool], axis=3)


def network(tf, np, x, training):
    net = conv(tf, np, x, 6, 3, 2, "stem", training)
    net = block(tf, np, net, "mixed_a", training)
    net = block(tf, np, net, "mixed_b", training)
    return tf.reduce_mean(net, [1, 2], name="global_pool")


def hand_norm(tf, x):
    """Batch normalisation with the moments' averages kept by ExponentialMovingAverage."""
    depth = x.get_shape()[-1]
    offset = tf.Variable(tf.constant(0.0, shape=[depth]), name="offset")
    scale = tf.Variable(tf.constant(1.0, shape=[depth]), name="scale")
    mean, variance = tf.nn.moments(x, [0])
    average = tf.train.ExponentialMovingAverage(decay=0.8)
    update = average.apply([mean, variance])
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
    y = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
    kept = average.average(mean), average.average(variance)
    return y, kept, (offset, scale)


def build(tf, np):
    SEED[0] = 100
    draw = np.random.RandomState(9)
    x = tf.placeholder(tf.float32, [None, 12, 12, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("net") as scope:
        features = network(tf, np, x, True)
        scope.reuse_variables()
        SEED[0] = 100
        serving = network(tf, np, x, False)
    normal, (mean, variance), (offset, scale) = hand_norm(tf, features)
    w = tf.Variable((draw.randn(17, 3) * 0.2).astype("float32"), name="logits_w")
    logits = tf.matmul(normal, w)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        optimizer = tf.train.RMSPropOptimizer(0.001, 0.9, 0.1, 0.1, centered=True)
        train = optimizer.minimize(loss, step)
    averages = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    with tf.control_dependencies([train]):
        train = averages.apply(tf.trainable_variables())
    served = tf.nn.batch_normalization(serving, mean, variance, offset, scale, 1e-3)
    feeds = []
    for _ in range(5):
        labels = draw.randint(0, 3, 6)
        images = draw.rand(6, 12, 12, 3) * (1 + labels)[:, None, None, None]
        feeds.append({x: images, y: np.eye(3)[labels]})
    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {"served": tf.sigmoid(tf.matmul(served, w)), "mean": mean},
    }
