"""Gradients of one's own: custom_gradient, a registered gradient put in place of Sign's and
Identity's, stop_gradient, and a gradient penalty that needs second derivatives; Adam."""


def build(tf, np):
    draw = np.random.RandomState(20)

    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(dy):
            return dy * (1 - 1 / (1 + e))

        return tf.log(1 + e), grad

    try:

        @tf.RegisterGradient("ProgramStraightThrough")
        def straight_through(op, grad):
            return grad * tf.cast(tf.abs(op.inputs[0]) <= 1.0, tf.float32)

        @tf.RegisterGradient("ProgramReverse")
        def reverse(op, grad):
            return -0.1 * grad
    except KeyError:  # built before in this process
        pass

    graph = tf.get_default_graph()
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    w1 = tf.Variable((draw.randn(4, 6) * 0.5).astype("float32"), name="w1")
    w2 = tf.Variable((draw.randn(6, 1) * 0.5).astype("float32"), name="w2")
    w3 = tf.Variable((draw.randn(6, 1) * 0.5).astype("float32"), name="w3")
    with graph.gradient_override_map({"Sign": "ProgramStraightThrough"}):
        binary = tf.sign(w1, name="binary")
    hidden = log1pexp(tf.matmul(x, binary * tf.stop_gradient(tf.reduce_mean(tf.abs(w1)))))
    with graph.gradient_override_map({"Identity": "ProgramReverse"}):
        reversed_hidden = tf.identity(hidden, name="reversed")
    main = tf.reduce_mean(tf.square(tf.matmul(hidden, w2) - y))
    adversary = tf.reduce_mean(tf.square(tf.matmul(reversed_hidden, w3) - x[:, :1]))
    slope = tf.gradients(tf.tanh(tf.matmul(x, w1[:, :1])), x, name="slope")[0]
    penalty = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
    loss = main + adversary + 0.1 * penalty
    optimizer = tf.train.AdamOptimizer(0.05, epsilon=1e-4)
    grads_and_vars = [
        (tf.clip_by_norm(g, 2.0), v) if v is not w3 else (tf.clip_by_value(g, -0.5, 0.5), v)
        for g, v in optimizer.compute_gradients(loss)
    ]
    train = optimizer.apply_gradients(grads_and_vars)
    feeds = [{x: draw.randn(9, 4), y: draw.randn(9, 1)} for _ in range(8)]

    def after(tf, np, session):
        # Not part of the graph compared: TensorFlow makes a loop of it, Penstock unrolls it.
        hessian = tf.hessians(penalty, w1)[0]
        return {"hessian": np.round(session.run(hessian, feeds[0]), 4).tolist()}

    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {"slope": slope},
        "after": after,
    }
