"""Siamese towers that share variables through scopes, with regularizers and a custom getter.

Resource variables; the penalties come from the REGULARIZATION_LOSSES collection; ProximalAdagrad.
"""


def tower(tf, np, x):
    with tf.variable_scope("layer1"):
        start = np.linspace(-0.5, 0.5, 8 * 6).reshape(8, 6)
        w = tf.get_variable("w", [8, 6], initializer=tf.constant_initializer(start))
        b = tf.get_variable("b", [6], initializer=tf.ones_initializer(), regularizer=None)
        x = tf.nn.softsign(tf.matmul(x, w) + b)
    with tf.variable_scope("layer2", regularizer=lambda v: tf.reduce_sum(tf.abs(v)) * 0.002):
        start = np.linspace(0.4, -0.4, 6 * 3).reshape(6, 3)
        w = tf.get_variable("w", [6, 3], initializer=tf.constant_initializer(start))
        return tf.matmul(x, w)


def build(tf, np):
    draw = np.random.RandomState(16)
    left = tf.placeholder(tf.float32, [None, 8], name="left")
    right = tf.placeholder(tf.float32, [None, 8], name="right")
    same = tf.placeholder(tf.float32, [None], name="same")
    made = []

    def getter(getter, name, *args, **kwargs):
        made.append(name)
        return getter(name, *args, **kwargs)

    def penalty(v):
        return 0.01 * tf.nn.l2_loss(v)

    with tf.variable_scope(
        "siamese", regularizer=penalty, custom_getter=getter, use_resource=True
    ) as scope:
        a = tower(tf, np, left)
    with tf.variable_scope(scope, reuse=True):
        b = tower(tf, np, right)
    with tf.variable_scope("head", reuse=tf.AUTO_REUSE, use_resource=True):
        for _ in range(2):
            margin = tf.get_variable("margin", [], initializer=tf.constant_initializer(1.0))
    distance = tf.reduce_sum(tf.squared_difference(a, b), 1)
    apart = tf.square(tf.maximum(margin - tf.sqrt(distance + 1e-6), 0.0))
    contrastive = tf.reduce_mean(same * distance + (1.0 - same) * apart)
    loss = contrastive + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    optimizer = tf.train.ProximalAdagradOptimizer(
        0.1, l1_regularization_strength=0.001, l2_regularization_strength=0.001
    )
    train = optimizer.minimize(loss)
    feeds = []
    for _ in range(8):
        feed = {left: draw.randn(6, 8), right: draw.randn(6, 8)}
        feed[same] = (draw.rand(6) > 0.5).astype("float32")
        feeds.append(feed)
    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {"distance": distance},
        "facts": {
            "getter": made,
            "scope": [scope.name, scope.original_name_scope],
            "penalties": [t.name for t in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)],
            "trainable": [v.name for v in tf.trainable_variables(scope="siamese")],
        },
    }
