"""Softmax regression on image-like data, as the talks write it: the log of a softmax, summed."""


def build(tf, np):
    draw = np.random.RandomState(1)
    X = tf.placeholder(tf.float32, [None, 8, 8, 1])
    W = tf.Variable(tf.zeros([64, 10]))
    b = tf.Variable(tf.zeros([10]))
    init = tf.initialize_all_variables()
    Y = tf.nn.softmax(tf.matmul(tf.reshape(X, [-1, 64]), W) + b)
    Y_ = tf.placeholder(tf.float32, [None, 10])
    cross_entropy = -tf.reduce_sum(Y_ * tf.log(Y))
    is_correct = tf.equal(tf.argmax(Y, 1), tf.argmax(Y_, 1))
    accuracy = tf.reduce_mean(tf.cast(is_correct, tf.float32))
    optimizer = tf.train.GradientDescentOptimizer(0.003)
    train_step = optimizer.minimize(cross_entropy)
    feeds = []
    for _ in range(10):
        labels = draw.randint(0, 10, 50)
        images = draw.rand(50, 8, 8, 1) + (labels / 10.0)[:, None, None, None]
        feeds.append({X: images, Y_: np.eye(10)[labels]})
    return {
        "init": init,
        "loss": cross_entropy,
        "train": train_step,
        "feeds": feeds,
        "final": {"accuracy": accuracy, "Y": Y},
    }
