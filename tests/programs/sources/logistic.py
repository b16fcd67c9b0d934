"""Sparse logistic regression: dual averaging with a counted step, checked and asserted inputs."""


def build(tf, np):
    draw = np.random.RandomState(18)
    x = tf.placeholder(tf.float32, [None, 12], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    step = tf.train.create_global_step()
    w = tf.get_variable("w", [12, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    with tf.control_dependencies([tf.assert_rank(x, 2), tf.assert_non_negative(y)]):
        logits = tf.check_numerics(tf.matmul(x, w) + b, "bad logits")
    losses = tf.nn.weighted_cross_entropy_with_logits(targets=y, logits=logits, pos_weight=1.5)
    loss = tf.reduce_mean(losses)
    train = tf.train.AdagradDAOptimizer(0.2, step, l1_regularization_strength=0.005).minimize(
        loss, global_step=step
    )
    true = np.zeros([12, 1])
    true[:3] = [[2.0], [-1.0], [1.5]]
    feeds = []
    for _ in range(15):
        data = draw.randn(32, 12)
        feeds.append({x: data, y: (data.dot(true) > 0).astype("float32")})
    right = tf.equal(tf.greater(tf.sigmoid(logits), 0.5), tf.greater(y, 0.5))
    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {
            "accuracy": tf.reduce_mean(tf.cast(right, "float")),
            "zeros": tf.count_nonzero(w),
            "step": step,
        },
    }
