"""Two replicas of a model on named devices, gradients averaged on the CPU; soft placement.

Annotations are recorded even where the machine lacks the device.
"""


def build(tf, np):
    draw = np.random.RandomState(19)
    start = (draw.randn(5, 2) * 0.5).astype("float32")
    with tf.device("/cpu:0"):
        beta = tf.Variable(start, name="beta")
        offset = tf.Variable(tf.zeros([2]), name="offset")
        rate = tf.constant(0.1)
        optimizer = tf.train.GradientDescentOptimizer(rate)
    feeds = [{} for _ in range(6)]
    losses, tower_grads = [], []
    for i in range(2):
        with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower_{i}"):
            X = tf.placeholder(tf.float32, [None, 5], name="X")
            y = tf.placeholder(tf.float32, [None, 2], name="y")
            y_pred = tf.matmul(X, beta) + offset
            loss = tf.reduce_mean(tf.square(y_pred - y))
            tower_grads.append(optimizer.compute_gradients(loss, [beta, offset]))
            losses.append(loss)
        for feed in feeds:
            feed.update({X: draw.randn(7, 5), y: draw.randn(7, 2)})
    with tf.device("/job:localhost/replica:0/task:0/device:CPU:0"):
        averaged = []
        for pairs in zip(*tower_grads):
            stacked = tf.concat([tf.expand_dims(g, 0) for g, _ in pairs], 0)
            averaged.append((tf.reduce_mean(stacked, 0), pairs[0][1]))
        train = optimizer.apply_gradients(averaged)
        total = tf.add_n(losses) / len(losses)
    with tf.device(lambda op: "/cpu:0" if op.type == "Const" else "/cpu:1"):
        doubled = beta * tf.constant(2.0, name="two")
    with tf.device("/gpu:1"), tf.device(None), tf.colocate_with(beta):
        colocated = tf.negative(offset)
    graph = tf.get_default_graph()
    return {
        "loss": total,
        "train": train,
        "feeds": feeds,
        "final": {"doubled": doubled, "colocated": colocated},
        "config": {"allow_soft_placement": True, "device_count": {"CPU": 2}},
        "facts": {"devices": [op.name + " " + op.device for op in graph.get_operations()]},
    }
