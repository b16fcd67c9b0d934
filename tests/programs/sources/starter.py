"""The workshop's starter graph: a fed product, printed on the way, added to itself; eval, run."""


def build(tf, np):
    m1 = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], dtype=np.float32)
    m1_input = tf.placeholder(tf.float32, shape=[4, 2])
    with tf.device("/cpu:0"):
        m2 = tf.Variable(tf.random_uniform([2, 3], -1.0, 1.0))
        m3 = tf.matmul(m1_input, m2)
        m3 = tf.Print(m3, [m3], message="m3 is: ")
    m4 = m3 + m3
    loss = tf.reduce_sum(m4**2)
    train = tf.train.ProximalGradientDescentOptimizer(
        0.0005, l1_regularization_strength=0.1
    ).minimize(loss)
    ml_is_fun = tf.constant([6.2, 12.0, 5.9], shape=[1, 3])
    python_is_ok_too = tf.constant([9.3, 1.7, 8.8], shape=[3, 1])
    matrices_omg = tf.matmul(ml_is_fun, python_is_ok_too)
    return {
        "initial": {m2: [[0.1, -0.2, 0.3], [0.5, 0.0, -0.4]]},
        "loss": loss,
        "train": train,
        "feeds": [{m1_input: m1}] * 5,
        "final": {"m3": m3, "m4": m4, "matrices": matrices_omg},
    }
