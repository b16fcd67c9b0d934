"""``tf.enable_v2_tensorshape``: dims as integers; answers are TensorFlow 1.15's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def plain_dims() -> Iterator[None]:
    tf.enable_v2_tensorshape()
    yield
    tf.disable_v2_tensorshape()


def test_dims_are_integers() -> None:
    shape = tf.TensorShape([1, None, 3])
    assert type(shape[0]) is int and shape[1] is None and shape[-1] == 3
    assert list(shape) == [1, None, 3] and all(not isinstance(d, tf.Dimension) for d in shape)
    assert repr(shape) == "TensorShape([1, None, 3])" and str(shape) == "(1, None, 3)"
    assert repr(shape[1:]) == "TensorShape([None, 3])"
    assert tf.TensorShape(None)[0] is None
    with pytest.raises(ValueError, match="Cannot iterate over a shape with unknown rank"):
        list(tf.TensorShape(None))


def test_what_asks_for_dimensions_has_them() -> None:
    shape = tf.TensorShape([1, None, 3])
    assert [type(d) for d in shape.dims] == [tf.Dimension] * 3
    assert isinstance(tf.dimension_at_index(shape, 2), tf.Dimension)
    assert tf.compat.dimension_value(shape[0]) == 1


def test_they_are_dimensions_again() -> None:
    tf.disable_v2_tensorshape()
    assert isinstance(tf.TensorShape([1])[0], tf.Dimension)
    assert repr(tf.TensorShape([None])) == "TensorShape([Dimension(None)])"


def _ragged() -> tf.Tensor:
    rows = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    return tf.concat([rows.to_tensor(), tf.ragged.map_flat_values(tf.square, rows).to_tensor()], 0)


def _crf() -> tf.Tensor:
    scores, lengths = tf.ones([2, 3, 4]), tf.constant([3, 2])
    return tf.contrib.crf.crf_log_likelihood(scores, tf.zeros([2, 3], tf.int32), lengths)[0]


def _decoded() -> tf.Tensor:
    scores = tf.random.uniform([2, 3, 4], seed=1)
    return tf.contrib.crf.crf_decode(scores, tf.zeros([4, 4]), tf.constant([3, 2]))[1]


def _mixture() -> tf.Tensor:
    d = tf.distributions
    cat = d.Categorical(probs=[0.3, 0.7])
    return tf.contrib.distributions.Mixture(cat, [d.Normal(0.0, 1.0), d.Normal(1.0, 2.0)]).mean()


def _recurrent() -> tf.Tensor:
    cell = tf.nn.rnn_cell.LSTMCell(3, initializer=tf.ones_initializer())
    return tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 4]), dtype=tf.float32)[0]


def _layers() -> tf.Tensor:
    ones = tf.ones_initializer()
    x = tf.layers.conv2d(tf.ones([1, 4, 4, 2]), 3, 2, kernel_initializer=ones)
    x = tf.layers.batch_normalization(tf.layers.flatten(x))
    x = tf.contrib.layers.fully_connected(x, 3, weights_initializer=ones)
    return tf.keras.layers.Dense(2, kernel_initializer="ones")(x)


def _model() -> tf.Tensor:
    labels = tf.constant([[0.0, 1.0]])
    x = tf.constant([[0.2, 0.8]])
    losses = tf.keras.losses
    return losses.CategoricalCrossentropy(label_smoothing=0.1)(labels, x)


@pytest.mark.parametrize(
    "program", [_ragged, _crf, _decoded, _mixture, _recurrent, _layers, _model]
)
def test_the_library_takes_both(program: object) -> None:
    """What it makes of shapes is the same with Dimensions and with integers."""
    found = []
    for choose in (tf.enable_v2_tensorshape, tf.disable_v2_tensorshape):
        choose()
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(1)
            made = program()  # type: ignore[operator]
            session.run(tf.global_variables_initializer())
            found.append(session.run(made))
    np.testing.assert_array_equal(found[0], found[1])


def test_equality_is_by_identity_in_graphs_whatever_was_asked() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.constant([1, 2]), tf.constant([1, 2])
        tf.enable_tensor_equality()
        assert (a == b) is False and a != b and len({a, b}) == 2
        assert session.run(a + 1, {a: [5, 6]}).tolist() == [6, 7]
