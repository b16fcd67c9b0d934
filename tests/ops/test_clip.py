"""Clipping: values against NumPy, nodes against TensorFlow 1.15's, IndexedSlices, errors."""

import numpy as np
import pytest

import penstock as tf
from tests.ops.test_operators import floats, nodes

DATA = np.array([[3.0, -4.0, 0.0], [0.5, 0.25, -0.125]], np.float32)


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build(tf.constant(DATA)))


def test_clip_by_value():
    np.testing.assert_array_equal(run(lambda x: tf.clip_by_value(x, -0.2, 1.0)),
                                  np.clip(DATA, np.float32(-0.2), 1))  # fmt: skip
    assert nodes(lambda: tf.clip_by_value(floats(), 0.0, 1.0)) == [
        ("Const", "clip_by_value/Minimum/y"),
        ("Minimum", "clip_by_value/Minimum", "x", "clip_by_value/Minimum/y"),
        ("Const", "clip_by_value/y"),
        ("Maximum", "clip_by_value", "clip_by_value/Minimum", "clip_by_value/y"),
    ]


def test_clip_by_norm():
    norm = np.linalg.norm(DATA)
    np.testing.assert_allclose(run(lambda x: tf.clip_by_norm(x, 2.0)), DATA * 2 / norm, rtol=1e-5)
    np.testing.assert_array_equal(run(lambda x: tf.clip_by_norm(x, 100.0)), DATA)
    rows = np.linalg.norm(DATA, axis=1, keepdims=True)
    np.testing.assert_allclose(run(lambda x: tf.clip_by_norm(x, 2.0, axes=[1])),
                               DATA * 2 / np.maximum(rows, 2), rtol=1e-5)  # fmt: skip


def test_norm_of_zeros_has_a_gradient_of_zero_not_nan():
    def build(x):
        zeros = tf.zeros_like(x)
        return tf.gradients(tf.clip_by_norm(zeros, 2.0), zeros)[0]

    assert np.all(np.isfinite(run(build)))


def test_clip_by_average_norm():
    average = np.linalg.norm(DATA) / DATA.size
    np.testing.assert_allclose(run(lambda x: tf.clip_by_average_norm(x, 0.5)),
                               DATA * 0.5 / average, rtol=1e-5)  # fmt: skip


def test_clip_by_global_norm():
    def build(x):
        clipped, norm = tf.clip_by_global_norm([x, None, 2 * x], 1.0)
        assert clipped[1] is None
        return clipped[0], clipped[2], norm

    first, second, norm = run(build)
    expected = np.sqrt(5) * np.linalg.norm(DATA)
    np.testing.assert_allclose(norm, expected, rtol=1e-5)
    np.testing.assert_allclose(first, DATA / expected, rtol=1e-5)
    np.testing.assert_allclose(second, 2 * DATA / expected, rtol=1e-5)


def test_nodes_of_clip_by_global_norm():
    made = nodes(lambda: tf.clip_by_global_norm([floats()], 5.0))
    assert [row[:2] for row in made] == [
        ("L2Loss", "global_norm/L2Loss"),
        ("Pack", "global_norm/stack"),
        ("Const", "global_norm/Const"),
        ("Sum", "global_norm/Sum"),
        ("Const", "global_norm/Const_1"),
        ("Mul", "global_norm/mul"),
        ("Sqrt", "global_norm/global_norm"),
        ("Const", "clip_by_global_norm/truediv/x"),
        ("RealDiv", "clip_by_global_norm/truediv"),
        ("Const", "clip_by_global_norm/Const"),
        ("Const", "clip_by_global_norm/truediv_1/y"),
        ("RealDiv", "clip_by_global_norm/truediv_1"),
        ("Minimum", "clip_by_global_norm/Minimum"),
        ("Const", "clip_by_global_norm/mul/x"),
        ("Mul", "clip_by_global_norm/mul"),
        ("IsFinite", "clip_by_global_norm/IsFinite"),
        ("Const", "clip_by_global_norm/Const_1"),
        ("Select", "clip_by_global_norm/Select"),
        ("Mul", "clip_by_global_norm/mul_1"),
        ("Identity", "clip_by_global_norm/clip_by_global_norm/_0"),
    ]


def test_a_norm_that_is_not_finite_shows():
    clipped = run(lambda x: tf.clip_by_global_norm([x / 0.0], 1.0)[0][0])
    assert np.all(np.isnan(clipped))


def test_indexed_slices_stay_indexed_slices():
    def build(x):
        slices = tf.IndexedSlices(x, tf.constant([4, 1]), tf.constant([6, 3]))
        by_value = tf.clip_by_value(slices, 0.0, 1.0)
        by_norm = tf.clip_by_norm(slices, 1.0)
        (in_list,), _ = tf.clip_by_global_norm([slices], 1.0)
        assert all(isinstance(s, tf.IndexedSlices) for s in (by_value, by_norm, in_list))
        assert by_norm.dense_shape is slices.dense_shape
        return by_value.values, by_norm.values, in_list.values, in_list.indices

    by_value, by_norm, in_list, indices = run(build)
    np.testing.assert_array_equal(by_value, np.clip(DATA, 0, 1))
    np.testing.assert_allclose(by_norm, DATA / np.linalg.norm(DATA), rtol=1e-5)
    np.testing.assert_allclose(in_list, by_norm, rtol=1e-6)
    assert indices.tolist() == [4, 1]


def test_errors():
    with tf.Graph().as_default():
        x = floats()
        with pytest.raises(TypeError, match="sequence of tensors"):
            tf.global_norm(x)
        with pytest.raises(ValueError, match="clip_value_min must broadcast"):
            tf.clip_by_value(x, tf.zeros([3, 2]), 1.0)
