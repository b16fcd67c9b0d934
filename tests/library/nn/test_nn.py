"""Public functions of tf.nn: values against NumPy, against each other, and errors."""

import os
import sys

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make
from tests.suite import warm

RNG = np.random.default_rng(7)


def draw(*shape, lo=-1.0, hi=1.0):
    return RNG.uniform(lo, hi, shape).astype(np.float32)


def run(build):
    """The values of what ``build()`` makes in a graph of its own."""
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build())


def close(a, b, tol=2e-5):
    np.testing.assert_allclose(a, b, rtol=tol, atol=tol)


def nchw(x):
    return np.ascontiguousarray(np.transpose(x, (0, 3, 1, 2)))


def nhwc(x):
    return np.transpose(x, (0, 2, 3, 1))


# ---- convolutions ------------------------------------------------------------------------------


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_conv2d_and_its_gradients_are_alike_in_both_formats(padding, stride):
    x, w = draw(2, 8, 7, 3), draw(3, 2, 3, 5)

    def build(data_format):
        image = tf.constant(x if data_format == "NHWC" else nchw(x))
        kernel = tf.constant(w)
        y = tf.nn.conv2d(image, kernel, stride, padding, data_format=data_format)
        return [y, *tf.gradients(tf.square(y), [image, kernel])]

    last, first = run(lambda: build("NHWC")), run(lambda: build("NCHW"))
    close(nhwc(first[0]), last[0])
    close(nhwc(first[1]), last[1], 1e-4)
    close(first[2], last[2], 1e-4)


def test_conv2d_of_a_window_as_large_as_the_image_is_a_matrix_product():
    x, w = draw(4, 3, 3, 2), draw(3, 3, 2, 5)
    close(
        run(lambda: tf.nn.conv2d(x, w, 1, "VALID"))[:, 0, 0],
        x.reshape(4, -1) @ w.reshape(-1, 5),
    )


def test_conv2d_with_unknown_image_size_gives_what_a_known_one_gives():
    x, w = draw(2, 9, 8, 3), draw(3, 3, 3, 4)
    with tf.Graph().as_default(), tf.Session() as sess:
        image = tf.placeholder(tf.float32, [None, None, None, 3])
        y = tf.nn.conv2d(image, w, 2, "SAME")
        grad = tf.gradients(y, image)[0]
        found = sess.run([y, grad], {image: x})

    def build():
        image = tf.constant(x)
        y = tf.nn.conv2d(image, w, 2, "SAME")
        return [y, tf.gradients(y, image)[0]]

    for a, b in zip(found, run(build), strict=True):
        close(a, b)


def test_grouped_conv2d_is_a_convolution_of_each_group():
    x, w = draw(2, 6, 6, 4), draw(3, 3, 2, 6)
    halves = zip(np.split(x, 2, -1), np.split(w, 2, -1), strict=True)
    parts = [run(lambda a=a, b=b: tf.nn.conv2d(a, b, 1, "SAME")) for a, b in halves]
    close(run(lambda: tf.nn.conv2d(x, w, 1, "SAME")), np.concatenate(parts, -1))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_atrous_conv2d_is_a_dilated_convolution(padding):
    x, w = draw(2, 9, 8, 3), draw(3, 3, 3, 4)
    close(
        run(lambda: tf.nn.atrous_conv2d(x, w, 2, padding)),
        run(lambda: tf.nn.conv2d(x, w, 1, padding, dilations=2)),
    )


def test_atrous_conv2d_transpose_is_the_gradient_of_atrous_conv2d():
    x, w, g = draw(2, 9, 8, 3), draw(3, 3, 3, 4), draw(2, 9, 8, 4)

    def gradient():
        image = tf.constant(x)
        return tf.gradients(tf.nn.atrous_conv2d(image, w, 2, "SAME"), image, g)[0]

    close(run(lambda: tf.nn.atrous_conv2d_transpose(g, w, x.shape, 2, "SAME")), run(gradient))


def test_conv2d_transpose_is_the_gradient_of_conv2d():
    x, w, g = draw(2, 8, 7, 3), draw(3, 3, 3, 4), draw(2, 4, 4, 4)

    def gradient():
        image = tf.constant(x)
        return tf.gradients(tf.nn.conv2d(image, w, 2, "SAME"), image, g)[0]

    close(run(lambda: tf.nn.conv2d_transpose(g, w, x.shape, 2, "SAME")), run(gradient))


@pytest.mark.parametrize("data_format", ["NWC", "NCW"])
def test_conv1d(data_format):
    x, w = draw(2, 9, 3), draw(2, 3, 4)
    shown = x if data_format == "NWC" else np.transpose(x, (0, 2, 1))
    y = run(lambda: tf.nn.conv1d(shown, w, 2, "VALID", data_format=data_format))
    y = y if data_format == "NWC" else np.transpose(y, (0, 2, 1))
    expected = np.stack([np.tensordot(x[:, i : i + 2], w, 2) for i in range(0, 7, 2)], 1)
    close(y, expected)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_depthwise_conv2d_is_a_convolution_of_each_channel(data_format):
    x, w = draw(2, 6, 5, 3), draw(3, 3, 3, 2)
    shown = x if data_format == "NHWC" else nchw(x)
    y = run(lambda: tf.nn.depthwise_conv2d(shown, w, [1, 1, 1, 1], "SAME", data_format=data_format))
    parts = [
        run(lambda c=c: tf.nn.conv2d(x[..., c : c + 1], w[:, :, c : c + 1], 1, "SAME"))
        for c in range(3)
    ]
    close(y if data_format == "NHWC" else nhwc(y), np.concatenate(parts, -1))


def test_separable_conv2d():
    x, w, p = draw(2, 6, 5, 3), draw(3, 3, 3, 2), draw(1, 1, 6, 4)
    middle = run(lambda: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME", rate=[2, 2]))
    y = run(lambda: tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], "SAME", rate=[2, 2]))
    close(y, middle @ p[0, 0])


@pytest.mark.parametrize(
    ("image", "kernel", "kwargs", "words"),
    [
        ((1, 4, 4, 3), (2, 2, 2, 4), {"padding": "SAME"}, "multiple"),
        ((1, 2, 2, 3), (3, 3, 3, 4), {"padding": "VALID"}, "does not fit"),
        ((4, 4, 3), (2, 2, 3, 4), {"padding": "SAME"}, "rank 4"),
        ((1, 4, 4, 3), (2, 2, 3, 4), {"padding": "FULL"}, "FULL"),
        ((1, 4, 4, 4), (2, 2, 2, 3), {"padding": "SAME"}, "number of groups"),
    ],
)
def test_conv2d_refuses_what_does_not_fit(image, kernel, kwargs, words):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        tf.nn.conv2d(np.zeros(image, "f"), np.zeros(kernel, "f"), **kwargs)


@pytest.mark.parametrize("function", [tf.nn.conv2d, tf.nn.depthwise_conv2d])
def test_strides_of_the_batch_are_an_error_of_the_step(function):
    with tf.Graph().as_default(), tf.Session() as session:
        y = function(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 4]), [2, 1, 1, 1], "SAME")
        assert y.shape.as_list()[:3] == [1, 4, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="strides in the batch"):
            session.run(y)


@pytest.mark.parametrize("known", [True, False])
def test_a_filter_without_input_channels_is_an_error_of_the_step(known):
    kernel = tf.placeholder(tf.float32, [3, 3, 0, 4] if known else None)
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    grad = make("Conv2DBackpropInput", [2, 6, 5, 0], kernel, tf.ones([2, 6, 5, 4]), **attrs)
    words = "must be evenly divisible by filter depth; found 0 and 0"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(grad, {kernel: np.zeros([3, 3, 0, 4])})


STRIDED = """
import numpy as np
import penstock as tf
from penstock.foundation.graph.build import make

draw = np.random.RandomState(0)
image, grad = draw.randn(16, 14, 14, 1).astype("f"), draw.randn(16, 7, 7, 32).astype("f")
image_fed = tf.placeholder(tf.float32, {shape})
node = make(
    "Conv2DBackpropFilter", image_fed, [1, 1, 1, 32], grad, strides=[1, 2, 2, 1], padding="SAME"
)
wanted = np.einsum("nhwi,nhwo->io", image[:, ::2, ::2].astype("d"), grad.astype("d"))[None, None]
with tf.Session() as session:
    for _ in range(20):
        found = session.run(node, {{image_fed: image}})
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-3)
"""


@pytest.mark.long
@pytest.mark.parametrize("shape", [[16, 14, 14, 1], None])
def test_gradient_of_a_strided_1x1_filter_with_avx2_and_two_threads(shape):
    settings = {"ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "2"}
    done = warm.run(
        [sys.executable, "-c", STRIDED.format(shape=shape)],
        env={**os.environ, **settings}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


# ---- pools -------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["max_pool", "avg_pool"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 2), (2, 1), (4, 1), (2, 3)])
def test_pools_and_their_gradients_are_alike_in_both_formats(function, padding, size, stride):
    x = draw(2, 7, 8, 3)

    def build(data_format):
        image = tf.constant(x if data_format == "NHWC" else nchw(x))
        y = getattr(tf.nn, function)(image, size, stride, padding, data_format=data_format)
        return [y, tf.gradients(tf.square(y), image)[0]]

    last, first = run(lambda: build("NHWC")), run(lambda: build("NCHW"))
    for a, b in zip(first, last, strict=True):
        close(nhwc(a), b)


@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 2), (2, 1)])
def test_pooling_with_kept_indices_is_pooling(size, stride):
    x, padding = draw(2, 7, 6, 3), "SAME"
    attrs = {
        "ksize": [1, size, size, 1], "strides": [1, stride, stride, 1], "padding": padding,
    }  # fmt: skip

    def build():
        image = tf.constant(x)
        y, indices = make("_MaxPoolWithIndices", image, **attrs)
        g = tf.square(y)
        plain = tf.nn.max_pool(image, size, stride, padding)
        return [
            y, make("_MaxPoolGradWithIndices", g, image, indices, **attrs),
            plain, make("MaxPoolGrad", image, plain, g, **attrs),
        ]  # fmt: skip

    y, dx, plain, plain_dx = run(build)
    close(y, plain, 0)
    close(dx, plain_dx, 0)


def test_average_does_not_count_padding():
    y = run(lambda: tf.nn.avg_pool(np.ones((1, 5, 5, 2), "f"), 3, 2, "SAME"))
    close(y, np.ones((1, 3, 3, 2)), 1e-6)


def test_max_pool_with_argmax_says_where():
    x = draw(2, 6, 4, 3)
    y, where = run(lambda: list(tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")))
    for n in range(2):
        close(x[n].ravel()[where[n]], y[n], 0)


def test_dilated_pool_picks_every_second_element():
    x = draw(1, 5, 5, 2)
    y = run(lambda: tf.nn.pool(x, [2, 2], "MAX", "VALID", dilation_rate=[2, 2]))
    corners = [x[:, i : i + 3, j : j + 3] for i in (0, 2) for j in (0, 2)]
    close(y, np.maximum.reduce(corners), 0)


# ---- normalisation -----------------------------------------------------------------------------


def composed(x, scale, offset, epsilon):
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, epsilon)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_fused_batch_norm_and_gradients_of_two_orders_equal_the_composed_ones(data_format):
    x, g = draw(3, 4, 4, 2), draw(3, 4, 4, 2)
    s, o = draw(2, lo=0.5, hi=2), draw(2)

    def build(fused):
        turn = fused and data_format == "NCHW"
        image, scale, offset = (tf.constant(v) for v in (nchw(x) if turn else x, s, o))
        if fused:
            y = tf.nn.fused_batch_norm(image, scale, offset, epsilon=0.01, data_format=data_format)[
                0
            ]
        else:
            y = composed(image, scale, offset, 0.01)
        grads = tf.gradients(y, [image, scale, offset], nchw(g) if turn else g)
        again = tf.gradients([tf.square(grads[0]), tf.square(grads[1])], [image, scale])
        results = [y, *grads, *again]
        return results

    fused, plain = run(lambda: build(True)), run(lambda: build(False))
    for a, b in zip(fused, plain, strict=True):
        close(nhwc(a) if a.ndim == 4 and data_format == "NCHW" else a, b, 2e-3)


def test_fused_batch_norm_gives_unbiased_variance_and_uses_given_statistics():
    x, s, o = draw(3, 4, 4, 2), draw(2), draw(2)
    y, mean, variance = run(lambda: list(tf.nn.fused_batch_norm(x, s, o)))
    close(mean, x.mean((0, 1, 2)))
    close(variance, x.var((0, 1, 2), ddof=1))
    close(y, (x - mean) / np.sqrt(x.var((0, 1, 2)) + 1e-3) * s + o, 1e-4)
    m, v = draw(2), draw(2, lo=0.5, hi=2)
    y = run(lambda: tf.nn.fused_batch_norm(x, s, o, m, v, is_training=False)[0])
    close(y, (x - m) / np.sqrt(v + 1e-3) * s + o)


def test_batch_norm_with_global_normalization_op():
    t, m, v, b, g = draw(2, 3, 3, 4), draw(4), draw(4, lo=0.5), draw(4), draw(4)
    v = np.abs(v)
    op = "BatchNormWithGlobalNormalization"

    def build():
        operands = [tf.constant(a) for a in (t, m, v, b, g)]
        y = make(op, *operands, variance_epsilon=0.01, scale_after_normalization=True)
        plain = tf.nn.batch_norm_with_global_normalization(*operands, 0.01, True)
        weight = tf.constant(t)
        return [
            y, plain, *tf.gradients(y, operands, weight), *tf.gradients(plain, operands, weight)
        ]  # fmt: skip

    found = run(build)
    close(found[0], found[1])
    for a, b_ in zip(found[2:7], found[7:], strict=True):
        close(a, b_, 2e-4)


def test_local_response_normalization():
    x = draw(2, 2, 3, 7)
    squares = np.pad(x**2, [(0, 0)] * 3 + [(2, 2)])
    sums = sum(squares[..., i : i + 7] for i in range(5))
    expected = x / (1.5 + 0.2 * sums) ** 0.75
    close(run(lambda: tf.nn.lrn(x, 2, bias=1.5, alpha=0.2, beta=0.75)), expected)


@pytest.mark.parametrize("axes", [None, [0, 0]])
def test_moments_over_all_axes_and_over_one_named_twice(axes):
    x = draw(3, 4)
    mean, variance = run(lambda: tf.nn.moments(x, axes))
    close(mean, x.mean(None if axes is None else 0))
    close(variance, x.var(None if axes is None else 0))
    with tf.Graph().as_default(), pytest.raises(TypeError, match="Expected list for 'axis'"):
        tf.nn.moments(x, np.array([0]))


@pytest.mark.parametrize("pool", [tf.nn.max_pool, tf.nn.max_pool2d, tf.nn.max_pool_v2])
def test_numbers_to_be_pooled_are_of_the_type_that_the_op_prefers(pool):
    with tf.Graph().as_default():
        assert pool([[[[1], [2]], [[3], [4]]]], 2, 2, "SAME").dtype == tf.float32
        given = tf.constant([[[[1], [2]], [[3], [4]]]])
        assert pool(given, 2, 2, "SAME").dtype == tf.int32


@pytest.mark.parametrize("known", [True, False])
def test_a_batch_without_images_has_no_argmax(known):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [0, 4, 5, 2] if known else None)
        made = tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        values, places = session.run(list(made), {x: np.zeros([0, 4, 5, 2])})
    assert values.shape == places.shape == (0, 2, 3, 2)
    assert places.dtype == np.int64


def test_a_mean_in_numbers_is_of_the_type_of_the_variance():
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.nn.batch_normalization([[5.0, 7.0]], [1, 2], [4.0, 4.0], [0.5, 0.5], None, 0.0)
        close(session.run(y), [[2.5, 3.0]])


def test_moments_of_sums_are_moments():
    x = draw(5, 3, lo=2, hi=4)

    def build():
        stats = tf.nn.sufficient_statistics(tf.constant(x), [0], shift=3.0)
        weights = tf.constant(np.ones((5, 1), "f"))
        return [
            *tf.nn.normalize_moments(*stats), *tf.nn.moments(tf.constant(x), [0]),
            *tf.nn.weighted_moments(tf.constant(x), [0], weights),
        ]  # fmt: skip

    found = run(build)
    for mean, variance in zip(found[::2], found[1::2], strict=True):
        close(mean, x.mean(0))
        close(variance, x.var(0), 1e-4)


def test_l2_normalize_and_zero_fraction():
    x = draw(4, 3)
    close(run(lambda: tf.nn.l2_normalize(x, 1)), x / np.linalg.norm(x, axis=1, keepdims=True))
    assert run(lambda: tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0])) == 0.5


# ---- softmax and losses ------------------------------------------------------------------------


def np_softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_softmax_along_any_axis(axis):
    x = draw(3, 4, 5)
    close(run(lambda: tf.nn.softmax(x, axis)), np_softmax(x, axis))
    close(run(lambda: tf.nn.log_softmax(x, axis)), np.log(np_softmax(x, axis)))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_cross_entropy_along_any_axis(axis):
    x, labels = draw(3, 4, 5), np_softmax(draw(3, 4, 5), axis).astype("f")
    expected = -(labels * np.log(np_softmax(x, axis))).sum(axis)

    def build():
        logits, given = tf.constant(x), tf.constant(labels)
        both = tf.nn.softmax_cross_entropy_with_logits_v2(given, logits, axis)
        old = tf.nn.softmax_cross_entropy_with_logits(labels=given, logits=logits, dim=axis)
        return [both, old, *tf.gradients(both, [logits, given]), tf.gradients(old, logits)[0]]

    both, old, grad, label_grad, old_grad = run(build)
    close(both, expected)
    close(old, expected)
    close(grad, np_softmax(x, axis) - labels)
    close(old_grad, grad, 0)
    close(label_grad, -np.log(np_softmax(x, axis)))


def test_the_first_softmax_cross_entropy_stops_gradients_to_labels():
    with tf.Graph().as_default():
        labels, logits = tf.placeholder("float32", [2, 3]), tf.placeholder("float32", [2, 3])
        loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        assert tf.gradients(loss, labels) == [None]
        with pytest.raises(ValueError, match="with named arguments"):
            tf.nn.softmax_cross_entropy_with_logits(labels, logits)


def test_second_derivative_of_softmax_cross_entropy():
    x, labels = draw(2, 3), np_softmax(draw(2, 3)).astype("f")

    def build():
        logits = tf.constant(x)
        loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits)
        first = tf.gradients(loss, logits)[0]
        return tf.gradients(first[:, 0], logits)[0]

    p = np_softmax(x)
    close(run(build), p[:, :1] * (np.eye(3)[0] - p))


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_sparse_softmax_cross_entropy(shape):
    x = draw(*shape, 4)
    labels = RNG.integers(0, 4, shape)
    one_hot = np.eye(4)[labels]

    def build():
        logits = tf.constant(x)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return [loss, tf.gradients(loss, logits)[0]]

    loss, grad = run(build)
    close(loss, -(one_hot * np.log(np_softmax(x))).sum(-1))
    close(grad, np_softmax(x) - one_hot)


def test_a_label_that_is_no_class_is_an_error_and_the_session_goes_on():
    with tf.Graph().as_default(), tf.Session() as sess:
        labels = tf.placeholder("int32", [2])
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=draw(2, 3))
        for wrong in ([0, 3], [-1, 0]):
            with pytest.raises(tf.errors.OpError):
                sess.run(loss, {labels: wrong})
        assert sess.run(loss, {labels: [0, 2]}).shape == (2,)


def test_logistic_losses():
    x, z = draw(3, 4, lo=-8, hi=8), draw(3, 4, lo=0, hi=1)
    p = 1 / (1 + np.exp(-x.astype("d")))
    plain = -z * np.log(p) - (1 - z) * np.log(1 - p)
    weighted = -3 * z * np.log(p) - (1 - z) * np.log(1 - p)
    close(run(lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x)), plain)
    close(run(lambda: tf.nn.weighted_cross_entropy_with_logits(z, x, 3.0)), weighted)
    close(run(lambda: tf.nn.log_poisson_loss(z, x)), np.exp(x) - z * x, 1e-4)


def test_losses_refuse_shapes_that_differ():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="same shape"):
            tf.nn.sigmoid_cross_entropy_with_logits(labels=draw(2, 3), logits=draw(2, 4))
        with pytest.raises(ValueError, match="should equal rank of logits minus 1"):
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1]], logits=draw(2, 4))


# ---- activations, biases, dropout --------------------------------------------------------------


def test_composed_activations():
    x = draw(3, 4, lo=-3, hi=3)
    sigmoid = 1 / (1 + np.exp(-x))
    close(run(lambda: tf.nn.crelu(x)), np.maximum(np.concatenate([x, -x], -1), 0))
    close(run(lambda: tf.nn.swish(tf.constant(x))), x * sigmoid)

    def gradient():
        features = tf.constant(x)
        return tf.gradients(tf.nn.swish(features), features)[0]

    close(run(gradient), sigmoid + x * sigmoid * (1 - sigmoid))
    assert run(lambda: tf.nn.leaky_relu([-10, 10])).tolist() == [-2.0, 10.0]


def test_linear_layers():
    x, w, b = draw(2, 3), draw(3, 4), draw(4)
    close(run(lambda: tf.nn.xw_plus_b(x, w, b)), x @ w + b)
    close(run(lambda: tf.nn.relu_layer(x, w, b)), np.maximum(x @ w + b, 0))


def test_dropout_keeps_the_expected_sum_and_its_gradient_the_same_mask():
    x = np.ones((200, 100), np.float32)

    def build():
        image = tf.constant(x)
        y = tf.nn.dropout(image, keep_prob=0.8, seed=3)
        return [y, tf.gradients(y, image)[0]]

    y, grad = run(build)
    assert set(np.unique(y)) == {np.float32(0), np.float32(1.25)}
    assert abs(y.mean() - 1) < 0.02
    close(grad, y, 0)


def test_dropout_of_whole_rows():
    y = run(lambda: tf.nn.dropout(np.ones((50, 8), "f"), rate=0.5, noise_shape=[50, 1], seed=1))
    assert (y == y[:, :1]).all()
    assert 0 < (y[:, 0] == 0).mean() < 1


def test_dropout_arguments():
    x = tf.constant([1.0, 2.0])
    assert tf.nn.dropout(x, 1.0) is x
    for kwargs in ({}, {"rate": 0.5, "keep_prob": 0.5}, {"rate": 1.0}, {"keep_prob": 0.0}):
        with pytest.raises(ValueError, match="rate"):
            tf.nn.dropout(x, **kwargs)
    with pytest.raises(ValueError, match="floating"):
        tf.nn.dropout([1, 2], rate=0.5)


def test_mean_iou_and_pairwise_errors_have_tensorflows_order_of_nodes() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3])
        tf.losses.mean_pairwise_squared_error(x, x)
        tf.metrics.mean_iou(tf.constant([0, 1]), tf.constant([1, 0]), 2)
        names = [op.name for op in graph.get_operations()]
    square, pairs = (names.index(f"mean_pairwise_squared_error/{n}") for n in ("Square_1", "Mul_1"))
    assert square < pairs
    assert names.index("mean_iou/Greater_1") < names.index("mean_iou/mean_iou")


def test_one_threshold_makes_no_area() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value, update = tf.metrics.auc([True, False], [0.9, 0.2], num_thresholds=1)
        session.run(tf.local_variables_initializer())
        assert session.run(update) == 0.0 == session.run(value)
