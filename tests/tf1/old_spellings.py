"""Programs in the spellings of TensorFlow 0.x, and the same in 1.15's, by the same ``tf``."""

import numpy as np

X = np.arange(12, dtype=np.float32).reshape(3, 4)
M = np.array([[[4.0, 1.0], [1.0, 3.0]]], np.float32)
LABELS = np.array([[0], [2], [1]], np.int64)


def _sampled(tf, name, old):
    rng = np.random.RandomState(0)
    weights, inputs = rng.rand(5, 4).astype(np.float32), rng.rand(3, 4).astype(np.float32)
    sampled = (np.array([1, 3], np.int64), np.full((3, 1), 0.5, np.float32),
               np.full([2], 0.4, np.float32))  # fmt: skip
    labels, inputs = tf.constant(LABELS), tf.constant(inputs)
    order = (inputs, labels) if old else (labels, inputs)
    function = getattr(tf.nn, name)
    return function(weights, np.zeros(5, np.float32), *order, 2, 5, sampled_values=sampled)


def _eye(tf):
    return tf.constant(np.eye(3, 4, dtype=np.float32))


# Name to the old spelling and the new one.
PAIRS = {
    "pack": (lambda tf: tf.pack([X, X]), lambda tf: tf.stack([X, X])),
    "unpack": (lambda tf: tf.unpack(X)[1], lambda tf: tf.unstack(X)[1]),
    "select": (lambda tf: tf.select(X > 4, X, -X), lambda tf: tf.where(X > 4, X, -X)),
    "batch_matmul": (
        lambda tf: tf.batch_matmul(M, M, adj_y=True),
        lambda tf: tf.matmul(M, M, adjoint_b=True),
    ),
    "batch_svd": (lambda tf: tf.batch_svd(M)[0], lambda tf: tf.svd(M)[0]),
    "batch_svd_values": (
        lambda tf: tf.batch_svd(M, False),
        lambda tf: tf.svd(M, compute_uv=False),
    ),
    "batch_cholesky": (lambda tf: tf.batch_cholesky(M), lambda tf: tf.cholesky(M)),
    "complex_abs": (lambda tf: tf.complex_abs(X * 1j), lambda tf: tf.abs(X * 1j)),
    "listdiff": (
        lambda tf: tf.listdiff([1, 2, 3], [2])[0],
        lambda tf: tf.setdiff1d([1, 2, 3], [2])[0],
    ),
    "concat_v2": (lambda tf: tf.concat_v2([X, X], 1), lambda tf: tf.concat([X, X], 1)),
    "concat": (lambda tf: tf.concat(1, [X, X]), lambda tf: tf.concat([X, X], 1)),
    "concat_tensor": (
        lambda tf: tf.concat(tf.constant(1), [X, X]),
        lambda tf: tf.concat([X, X], tf.constant(1)),
    ),
    "concat_names": (
        lambda tf: tf.concat(concat_dim=1, values=[X, X]),
        lambda tf: tf.concat(axis=1, values=[X, X]),
    ),
    "concat_half": (
        lambda tf: tf.concat(1, values=[X, X], name="joined"),
        lambda tf: tf.concat([X, X], 1, name="joined"),
    ),
    "split": (lambda tf: tf.split(1, 2, X)[1], lambda tf: tf.split(X, 2, 1)[1]),
    "split_names": (
        lambda tf: tf.split(split_dim=1, num_split=2, value=X, name="cut")[1],
        lambda tf: tf.split(X, 2, axis=1, name="cut")[1],
    ),
    "split_half": (lambda tf: tf.split(1, 2, value=X)[1], lambda tf: tf.split(X, 2, 1)[1]),
    "split_new": (lambda tf: tf.split(X, [1, 3], 1)[1], lambda tf: tf.split(X, [1, 3], 1)[1]),
    "split_v": (lambda tf: tf.split_v(X, [1, 3], 1)[1], lambda tf: tf.split(X, [1, 3], 1)[1]),
    "whitening": (
        lambda tf: tf.image.per_image_whitening(X.reshape(2, 2, 3)),
        lambda tf: tf.image.per_image_standardization(X.reshape(2, 2, 3)),
    ),
    "deconv2d": (
        lambda tf: tf.nn.deconv2d(X.reshape(1, 3, 4, 1), np.ones((2, 2, 1, 1), np.float32),
                                  [1, 3, 4, 1], [1, 1, 1, 1]),
        lambda tf: tf.nn.conv2d_transpose(X.reshape(1, 3, 4, 1),
                                          np.ones((2, 2, 1, 1), np.float32),
                                          [1, 3, 4, 1], [1, 1, 1, 1]),
    ),
    "nce_loss": (lambda tf: _sampled(tf, "nce_loss", True),
                 lambda tf: _sampled(tf, "nce_loss", False)),
    "sampled_softmax_loss": (lambda tf: _sampled(tf, "sampled_softmax_loss", True),
                             lambda tf: _sampled(tf, "sampled_softmax_loss", False)),
}  # fmt: skip

# What only the version decides.
BEFORE_1 = {
    "softmax": (
        lambda tf: tf.nn.softmax_cross_entropy_with_logits(X, _eye(tf)),
        lambda tf: tf.nn.softmax_cross_entropy_with_logits(logits=X, labels=_eye(tf)),
    ),
    "sparse": (
        lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(X, LABELS[:, 0], "loss"),
        lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
            logits=X, labels=LABELS[:, 0], name="loss"
        ),
    ),
    "sigmoid": (
        lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(X, targets=X),
        lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(logits=X, labels=X),
    ),
    "zeros_initializer": (lambda tf: tf.zeros_initializer([2, 3]), lambda tf: tf.zeros([2, 3])),
    "ones_initializer": (
        lambda tf: tf.ones_initializer(shape=(2,), dtype=tf.int32),
        lambda tf: tf.ones([2], tf.int32),
    ),
    "reverse": (lambda tf: tf.reverse(X, [False, True]), lambda tf: tf.reverse(X, [1])),
}
NEW = {name: new for name, (_, new) in {**PAIRS, **BEFORE_1}.items()}


def values(tf, programs):
    """The value of each program, and the names and types of its nodes."""
    found = {}
    for name, program in programs.items():
        with tf.Graph().as_default() as graph, tf.Session() as session:
            value = np.asarray(session.run(program(tf)))
            nodes = [[op.name, op.type] for op in graph.get_operations()]
        found[name] = [value.tolist(), nodes]
    return found


def main():
    """Prints what the new spellings give, of whichever ``tensorflow`` there is."""
    import json

    import tensorflow as tf

    print(json.dumps(values(tf, NEW)))


if __name__ == "__main__":
    main()
