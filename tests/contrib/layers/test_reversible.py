"""Reversible layers and normalization where TensorFlow 1.15 itself gives up."""

import numpy as np

import penstock as tf


def test_side_inputs_get_the_gradients_of_the_plain_layers():
    values = np.random.RandomState(0).normal(size=[4, 2, 3])

    def f(x, side):
        return tf.layers.dense(x * side[0], 3, use_bias=False) + side[1]

    def g(x, side):
        return tf.layers.dense(x, 3, activation=tf.tanh, use_bias=False) * side[0]

    def run(is_training):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(3)
            x1, x2, side, other = (tf.constant(v) for v in values)
            y = tf.contrib.layers.rev_block(
                x1, x2, f, g, 2, [side, other], [other], is_training=is_training
            )
            wanted = [x1, x2, side, other, *tf.trainable_variables()]
            grads = tf.gradients([y[0] * y[1]], wanted)
            sess.run(tf.global_variables_initializer())
            for place, variable in enumerate(tf.trainable_variables()):
                variable.load(values[:, 0, :][:3] * (place + 1), sess)
            return sess.run([*y, *grads])

    for found, wanted in zip(run(True), run(False), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_side_inputs_that_a_block_does_not_use_get_no_gradient():
    values = np.random.RandomState(1).normal(size=[4, 2, 3])

    def f(x, side):
        return x * side[0]

    def g(x):
        return tf.tanh(x)

    def run(is_training):
        with tf.Graph().as_default(), tf.Session() as sess:
            x1, x2, side, unused = (tf.constant(v) for v in values)
            y = tf.contrib.layers.rev_block(
                x1, x2, f, g, 2, [side, unused], is_training=is_training
            )
            *grads, of_unused = tf.gradients([y[0] * y[1]], [x1, x2, side, unused])
            assert of_unused is None
            return sess.run([*y, *grads])

    for found, wanted in zip(run(True), run(False), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_gdn_normalizes_channels_that_come_first_alike():
    values = np.random.RandomState(0).normal(size=[2, 3, 4, 4, 5]).astype("float32")
    for rank in (3, 4, 5):
        x = values.reshape([2, 3, *[4, 4, 5, 1][: rank - 3], -1])
        with tf.Graph().as_default(), tf.Session() as sess:
            first = tf.contrib.layers.gdn(tf.constant(x), data_format="channels_first")
            last = tf.contrib.layers.gdn(tf.constant(np.moveaxis(x, 1, -1)))
            sess.run(tf.global_variables_initializer())
            found, wanted = sess.run([first, last])
        np.testing.assert_allclose(found, np.moveaxis(wanted, -1, 1), rtol=1e-5)
