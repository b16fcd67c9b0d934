"""Ridge regression: in closed form by inverse, solve and Cholesky, and by gradient descent."""


def build(tf, np):
    draw = np.random.RandomState(10)
    rows, columns, penalty = 60, 6, 0.5
    data = draw.randn(rows, columns)
    data = np.hstack([np.ones((rows, 1)), data])
    target = data.dot(np.arange(1.0, columns + 2)[:, None]) + draw.randn(rows, 1) * 0.1
    X = tf.constant(data, dtype=tf.float64, name="X")
    y = tf.constant(target, dtype=tf.float64, name="y")
    lam = tf.constant(penalty, tf.float64)
    gram = tf.matmul(tf.transpose(X), X) + lam * tf.eye(columns + 1, dtype=tf.float64)
    moment = tf.matmul(X, y, transpose_a=True)
    by_inverse = tf.matmul(tf.matrix_inverse(gram), moment)
    by_solve = tf.matrix_solve(gram, moment)
    by_cholesky = tf.cholesky_solve(tf.cholesky(gram), moment)
    by_least_squares = tf.matrix_solve_ls(X, y, l2_regularizer=penalty)

    Xs = tf.placeholder(tf.float32, [None, columns + 1], name="X_batch")
    ys = tf.placeholder(tf.float32, [None, 1], name="y_batch")
    beta = tf.Variable(tf.zeros([columns + 1, 1]), name="beta")
    y_pred = tf.matmul(Xs, beta, name="predictions")
    penalized = tf.reduce_sum(tf.square(ys - y_pred)) + penalty * tf.reduce_sum(tf.square(beta))
    gradient = tf.gradients(penalized, [beta])[0]
    train = tf.assign(beta, beta - 0.005 * gradient)
    distance = tf.norm(tf.cast(beta, tf.float64) - by_solve)
    solved = tf.gradients(tf.reduce_sum(by_solve), lam)[0]
    return {
        "loss": penalized,
        "train": train,
        "feeds": [{Xs: data, ys: target}] * 20,
        "final": {
            "inverse": by_inverse,
            "solve": by_solve,
            "cholesky": by_cholesky,
            "least_squares": by_least_squares,
            "distance": distance,
            "shrinkage": solved,
            "determinant": tf.log(tf.matrix_determinant(gram)),
        },
    }
