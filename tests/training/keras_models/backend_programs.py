"""Functions of ``tf.keras.backend``, which run with TensorFlow 1.15 and with Penstock alike.

Each entry is made from the backend and from rows of numbers, the same in both; it is a tensor, a
nesting of them, or what is said of an argument that fits not.
"""

import numpy as np

FIRST, LAST = "channels_first", "channels_last"


def numbers(*shape):
    """Numbers around 0, the same for the same shape."""
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype("float32")


def _convolutions(K, c):
    line, plane, space = c(2, 7, 3), c(2, 5, 6, 3), c(1, 4, 5, 4, 2)
    found = {
        "conv1d": K.conv1d(line, c(3, 3, 4), 2),
        "conv1d_causal": K.conv1d(line, c(3, 3, 4), padding="causal", dilation_rate=2),
        "conv1d_first": K.conv1d(c(2, 3, 7), c(2, 3, 4), padding="same", data_format=FIRST),
        "conv2d": K.conv2d(plane, c(2, 3, 3, 4), (2, 1), "same"),
        "conv2d_dilated": K.conv2d(plane, c(2, 3, 3, 4), dilation_rate=(2, 2)),
        "conv2d_first": K.conv2d(c(2, 3, 5, 6), c(2, 2, 3, 4), data_format=FIRST),
        "conv3d": K.conv3d(space, c(2, 2, 2, 2, 3), (1, 2, 1), "same"),
        "conv3d_first": K.conv3d(c(1, 2, 4, 5, 4), c(2, 2, 2, 2, 3), data_format=FIRST),
        "transposed": K.conv2d_transpose(plane, c(2, 2, 4, 3), (2, 10, 12, 4), (2, 2), "same"),
        "transposed_first": K.conv2d_transpose(
            c(2, 3, 5, 6), c(2, 2, 4, 3), (2, 4, 6, 7), data_format=FIRST
        ),
        "transposed_dilated": K.conv2d_transpose(
            plane, c(2, 2, 4, 3), (2, 5, 6, 4), padding="same", dilation_rate=(2, 2)
        ),
        "separable": K.separable_conv2d(plane, c(2, 2, 3, 2), c(1, 1, 6, 4), padding="same"),
        "separable_first": K.separable_conv2d(
            c(2, 3, 5, 6), c(2, 2, 3, 1), c(1, 1, 3, 4), data_format=FIRST, dilation_rate=(2, 1)
        ),
        "local1": K.local_conv1d(line, c(3, 6, 4), (2,), (2,)),
        "local2": K.local_conv2d(plane, c(8, 18, 4), (2, 3), (1, 2), (4, 2)),
        "local2_first": K.local_conv2d(
            c(2, 3, 5, 6), c(20, 12, 4), (2, 2), (1, 1), (4, 5), data_format=FIRST
        ),
    }
    return found


def _images(K, c):
    plane, first, space = c(2, 5, 6, 3), c(2, 3, 5, 6), c(1, 4, 5, 4, 2)
    found = {
        "max": K.pool2d(plane, (2, 3)),
        "average": K.pool2d(plane, (2, 2), (2, 2), "same", pool_mode="avg"),
        "max_first": K.pool2d(first, (2, 2), (2, 1), data_format=FIRST),
        "max3": K.pool3d(space, (2, 2, 2), padding="same"),
        "average3": K.pool3d(space, (2, 2, 2), (1, 2, 1), pool_mode="avg"),
        "average3_first": K.pool3d(c(1, 2, 4, 5, 4), (2, 2, 2), data_format=FIRST, pool_mode="avg"),
        "nearest": K.resize_images(plane, 2, 3, LAST),
        "bilinear": K.resize_images(plane, 2, 2, LAST, interpolation="bilinear"),
        "bilinear_first": K.resize_images(first, 3, 2, FIRST, interpolation="bilinear"),
        "volumes": K.resize_volumes(space, 2, 1, 3, LAST),
        "volumes_first": K.resize_volumes(c(1, 2, 4, 5, 4), 1, 2, 1, FIRST),
        "padded2": K.spatial_2d_padding(plane, ((1, 0), (2, 1))),
        "padded2_first": K.spatial_2d_padding(first, data_format=FIRST),
        "padded3": K.spatial_3d_padding(space, ((1, 0), (0, 1), (2, 2))),
        "padded3_first": K.spatial_3d_padding(c(1, 2, 4, 5, 4), data_format=FIRST),
        "bias": K.bias_add(plane, c(3)),
        "bias_first": K.bias_add(first, c(3), FIRST),
        "bias_all": K.bias_add(plane, c(5, 6, 3)),
        "bias_all_first": K.bias_add(first, c(5, 6, 3), FIRST),
        "bias_line": K.bias_add(c(2, 7, 3), c(3)),
        "bias_line_first": K.bias_add(c(2, 3, 7), c(7, 3), FIRST),
        "bias_space_first": K.bias_add(c(1, 2, 4, 5, 4), c(2), FIRST),
        "bias_flat": K.bias_add(c(4, 3), c(3)),
    }
    return found


def _normalization(K, c):
    mean, var = c(3), K.square(c(3)) + 0.1
    plane = c(2, 5, 6, 3)
    return {
        "given": K.batch_normalization(plane, mean, var, c(3), c(3) + 2.0),
        "given_bare": K.batch_normalization(plane, mean, var, None, None),
        "given_flat": K.batch_normalization(c(4, 3), mean, var, None, c(3), epsilon=0.1),
        "given_as_wide": K.batch_normalization(
            c(2, 5, 6, 3), c(1, 1, 1, 3), K.abs(c(1, 1, 1, 3)), c(1, 1, 1, 3), c(1, 1, 1, 3)
        ),
        "found": K.normalize_batch_in_training(plane, c(3), c(3), [0, 1, 2]),
        "found_bare": K.normalize_batch_in_training(plane, None, None, [0, 1, 2], 0.01),
        "found_first": K.normalize_batch_in_training(c(2, 3, 5, 6), c(3), c(3), [0, 2, 3]),
        "found_flat": K.normalize_batch_in_training(c(4, 3), c(3), c(3), [0]),
        "found_odd": K.normalize_batch_in_training(c(2, 4, 3), c(4), c(4), [0, 2]),
    }


def _products(K, c):
    return {
        "rows": K.batch_dot(c(4, 3), c(4, 3), 1),
        "matrices": K.batch_dot(c(4, 2, 3), c(4, 3, 5)),
        "by_axes": K.batch_dot(c(4, 2, 3), c(4, 5, 2), [1, 2]),
        "both_first": K.batch_dot(c(4, 3, 2), c(4, 3, 5), 1),
        "row_and_matrix": K.batch_dot(c(4, 3), c(4, 3, 5), (1, 1)),
        "matrix_and_row": K.batch_dot(c(4, 2, 3), c(4, 3), (2, 1)),
        "more": K.batch_dot(c(4, 2, 3, 5), c(4, 2, 5, 6)),
        "more_by_axes": K.batch_dot(c(4, 2, 3, 5), c(4, 2, 6, 5), (3, 3)),
    }


def _small(K, c):
    scores = K.softmax(c(2, 6, 4))
    lengths = K.constant([6, 4], dtype="int32")
    taken, chances = K.ctc_decode(scores, lengths)
    beams, beam_chances = K.ctc_decode(scores, lengths, greedy=False, beam_width=8, top_paths=2)
    return {
        "range": [K.arange(4), K.arange(2, 8, 3, "float32"), K.arange(-3)],
        "sums": [K.cumsum(c(3, 4), 1), K.cumprod(c(3, 4))],
        "folds": [
            K.foldl(lambda a, x: a - x, c(4, 2)), K.foldr(lambda a, x: a - x, c(4, 2)),
            K.foldl(lambda a, x: a * 0.5 + x, c(4, 2), c(2)),
        ],
        "mapped": [
            K.map_fn(lambda x: x * 2.0, c(4, 2)),
            K.map_fn(lambda x: K.cast(K.sum(x) > 0, "int32"), c(4, 2), dtype="int32"),
        ],
        "likes": [
            K.ones_like(c(2, 3)), K.zeros_like(c(2, 3), "int32"),
            K.stack([c(2, 3), c(2, 3)], 1), K.reverse(c(2, 3, 2), (0, 2)), K.reverse(c(2, 3), 1),
            K.transpose(c(2, 3)), K.shape(c(2, 3)), K.reshape(x=c(2, 3), shape=(3, 2)),
        ],
        "first_of": K.in_top_k(c(3, 4), K.constant([0, 3, 2], dtype="int32"), 2),
        "ctc": taken + [chances],
        "beams": beams + [beam_chances],
        "shares": K.mean(K.cast(K.equal(K.dropout(K.ones_like(c(40, 50)), 0.0), 1.0), "float32")),
    }  # fmt: skip


GROUPS = {
    "convolutions": _convolutions,
    "images": _images,
    "normalization": _normalization,
    "products": _products,
    "small": _small,
}


def values(tf, group):
    """What a group's tensors are."""
    K = tf.keras.backend
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(GROUPS[group](K, lambda *shape: tf.constant(numbers(*shape))))


def refused(tf):
    """The errors of arguments that fit not."""
    K, c = tf.keras.backend, lambda *shape: tf.constant(numbers(*shape))
    plane = numbers(2, 5, 6, 3)  # calls have graphs of their own
    calls = {
        "format": lambda: K.conv2d(plane, c(2, 3, 3, 4), data_format="middle"),
        "padding": lambda: K.conv2d(plane, c(2, 3, 3, 4), padding="full"),
        "format1": lambda: K.conv1d(c(2, 7, 3), c(3, 3, 4), data_format="middle"),
        "format3": lambda: K.conv3d(c(1, 4, 5, 4, 2), c(2, 2, 2, 2, 3), data_format="middle"),
        "mode": lambda: K.pool2d(plane, (2, 2), pool_mode="min"),
        "mode3": lambda: K.pool3d(c(1, 4, 5, 4, 2), (2, 2, 2), pool_mode="min"),
        "pool_format": lambda: K.pool2d(plane, (2, 2), data_format="middle"),
        "pool_size": lambda: K.pool2d(plane, (2,)),
        "pool_strides": lambda: K.pool2d(plane, (2, 2), (1,)),
        "resize_format": lambda: K.resize_images(plane, 2, 2, "middle"),
        "interpolation": lambda: K.resize_images(c(2, 5, 6, 3), 2, 2, LAST, interpolation="cubic"),
        "volume_format": lambda: K.resize_volumes(c(1, 4, 5, 4, 2), 1, 2, 1, "middle"),
        "bias": lambda: K.bias_add(c(2, 5, 6, 3), c(2, 3)),
        "bias_format": lambda: K.bias_add(plane, c(3), "middle"),
        "separable_strides": lambda: K.separable_conv2d(
            plane, c(2, 2, 3, 2), c(1, 1, 6, 4), strides=(1,)
        ),
        "batch_dot": lambda: K.batch_dot(c(3), c(3)),
        "batch_dot_axes": lambda: K.batch_dot(c(4, 2, 3), c(4, 3, 5), [[1], [2]]),
        "pad_format": lambda: K.spatial_2d_padding(plane, data_format="middle"),
    }
    found = {}
    for name, call in calls.items():
        with tf.Graph().as_default():
            try:
                found[name] = ["none", str(call().shape)]
            except Exception as error:
                found[name] = [type(error).__name__, str(error)]
    return found


def beneath(tf, B):
    """Functions of ``tensorflow.python.keras.backend`` that are not public."""

    def c(*shape):
        return tf.constant(numbers(*shape))

    with tf.Graph().as_default(), tf.Session() as session:
        made = {
            "volumes": B.conv3d_transpose(c(1, 4, 5, 4, 2), c(2, 2, 2, 3, 2), (1, 5, 6, 5, 3)),
            "volumes_first": B.conv3d_transpose(
                c(1, 2, 4, 5, 4), c(2, 2, 2, 3, 2), (1, 3, 8, 5, 8), (2, 1, 2), "same", FIRST
            ),
            "by_channel": B.depthwise_conv2d(c(2, 5, 6, 3), c(2, 2, 3, 2), (2, 2), "same"),
            "logsumexp": B.logsumexp(c(2, 3, 4), 1, keepdims=True),
            "identity": B.identity(c(2, 3)),
        }
        known = [B.is_placeholder(tf.placeholder("float32")), B.is_placeholder(c(2))]
        return {**session.run(made), "known": known}
