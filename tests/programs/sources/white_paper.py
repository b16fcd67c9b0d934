"""The white paper's first snippet: b, W, x, relu, a cost C; ten steps in a loop."""


def build(tf, np):
    draw = np.random.RandomState(17)
    b = tf.Variable(tf.zeros([100]))  # 100-d vector, init to zeroes
    W = tf.Variable(tf.random_uniform([784, 100], -1, 1))  # 784x100 matrix w/rnd vals
    x = tf.placeholder(tf.float32, name="x")  # Placeholder for input
    relu = tf.nn.relu(tf.matmul(W, x) + b)  # ReLU(Wx+b)
    C = tf.reduce_mean(relu)  # Cost computed as a function of ReLU
    db, dW, dx = tf.gradients(C, [b, W, x])
    step = tf.group(b.assign_sub(10 * db), W.assign_sub(100 * dW))
    return {
        "initial": {W: draw.rand(784, 100) * 2 - 1},
        "loss": C,
        "train": step,
        "feeds": [{x: draw.rand(100, 100) / 10} for _ in range(10)],
        "final": {"dx": dx, "dW": dW},
    }
