"""Gradients of gradients of whole programs, checked by differences of the first order.

``tests.conformance`` compares every op's second order with TensorFlow, one op at a time.  Here ops
stand behind one another: gradients arrive as slices, and as functions of the inputs themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make

SHAPE = (3, 4)


def _values(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).uniform(0.1, 1.0, shape)


def _constant(seed: int, *shape: int) -> Any:
    return tf.constant(_values(seed, *shape) * 2 - 1)


def _definite(x: Any) -> Any:
    """A positive definite matrix made of ``x``."""
    return tf.matmul(x, x, transpose_b=True) + tf.eye(3, dtype=tf.float64) * _constant(1, 3) ** 2


def _tensor_array(x: Any) -> Any:
    array = tf.TensorArray(tf.float64, 3)
    for i in range(3):
        array = array.write(i, x[i] ** 2 * x[0])
    stacked = array.stack()
    stacked.set_shape(SHAPE)
    return tf.exp(stacked)


def _eigenvectors(x: Any) -> Any:
    e, v = tf.self_adjoint_eig(_definite(x))
    return tf.matmul(v, tf.matmul(tf.diag(e**2), v, transpose_b=True))


def _singular_vectors(x: Any) -> Any:
    s, u, v = tf.svd(x)
    return tf.matmul(u, tf.matmul(tf.diag(s**2), v, transpose_b=True))


def _qr(x: Any) -> Any:
    q, r = tf.qr(x)
    return tf.concat([q**2, r**2], 1)


def _convolution(x: Any) -> Any:
    image = tf.reshape(x, [1, 3, 4, 1])
    found = tf.nn.conv2d(image, _constant(1, 2, 2, 1, 3), strides=[1, 1, 1, 1], padding="SAME")
    return tf.nn.max_pool(tf.nn.relu(found), [1, 2, 2, 1], [1, 1, 1, 1], "VALID") ** 2


def _lstm(x: Any) -> Any:
    weights, memory = _constant(1, 6, 8), tf.zeros([3, 2], tf.float64)
    state = memory
    for _ in range(2):
        i, j, f, o = tf.split(tf.matmul(tf.concat([x, state], 1), weights), 4, 1)
        memory = memory * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        state = tf.tanh(memory) * tf.sigmoid(o)
    return state


def _gradient_penalty(x: Any) -> Any:
    critic = tf.reduce_sum(tf.nn.softplus(tf.matmul(x, _constant(1, 4, 5))) ** 2)
    slope = tf.gradients(critic, x)[0]
    return (tf.sqrt(tf.reduce_sum(slope**2, 1)) - 1) ** 2


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda x: tf.cholesky(_definite(x)),
    "cond": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x**3, lambda: tf.sin(x)),
    "convolution": _convolution,
    "cross entropy": lambda x: tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=tf.constant(_values(2, 3, 4)), logits=x * x
    ),
    "eigenvectors": _eigenvectors,
    "gather of atan2": lambda x: tf.gather(tf.atan2(x, x**2), [0, 1, 1]) ** 2,
    "gather of maximum": lambda x: tf.gather(tf.maximum(x**3, 0.1 * x), [0, 1, 1]) ** 2,
    "gather of product of segments": lambda x: (
        tf.gather(tf.unsorted_segment_prod(x**2, [0, 0, 1], 2), [1, 0, 1]) ** 2
    ),
    "gather of tanh": lambda x: tf.gather(tf.tanh(x), [0, 1, 1]) ** 2,
    "gather of tile": lambda x: tf.gather(tf.tile(x**2, [2, 1]), [1, 4, 1, 5]) ** 2,
    "gradient penalty": _gradient_penalty,
    "lookup": lambda x: tf.nn.embedding_lookup([x**2, x**3], [0, 3, 3, 5]) ** 2,
    "lstm": _lstm,
    "qr": _qr,
    "singular vectors": _singular_vectors,
    "sparse cross entropy": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.constant([0, 1, 3]), logits=x * x
    ),
    "sparse cross entropy of many": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.constant([[0, 1], [1, 1], [0, 1]]), logits=tf.reshape(x, [3, 2, 2]) ** 2
    ),
    "tensor array": _tensor_array,
}


def _hessian_along(program: Callable[[Any], Any], dtype: Any) -> tuple[Any, Any, Any]:
    """The input, and what is to be a function and its gradient: <v, gradient of the program>."""
    x = tf.placeholder(dtype, SHAPE)
    y = program(x)
    weights = tf.cast(_constant(3, *y.shape.as_list()), dtype)
    first = tf.convert_to_tensor(tf.gradients(tf.reduce_sum(y * weights), x)[0])
    along = tf.reduce_sum(first * tf.cast(_constant(4, *SHAPE), dtype))
    return x, along, tf.convert_to_tensor(tf.gradients(along, x)[0])


def _check(program: Callable[[Any], Any], dtype: Any, step: float, rtol: float) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, along, second = _hessian_along(program, dtype)
        point, direction = _values(5, *SHAPE), _values(6, *SHAPE) * 2 - 1
        sides = [
            float(session.run(along, {x: point + sign * step * direction})) for sign in (1, -1)
        ]
        found = float(np.sum(session.run(second, {x: point}) * direction))
        np.testing.assert_allclose(found, (sides[0] - sides[1]) / (2 * step), rtol=rtol)


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_order(name: str) -> None:
    _check(PROGRAMS[name], tf.float64, 1e-5, 1e-6)


@pytest.mark.parametrize("is_training", [True, False])
def test_second_order_of_a_fused_normalization_whose_gradient_depends_on_its_input(
    is_training: bool,
) -> None:
    def program(x: Any) -> Any:
        image = tf.reshape(x, [1, 6, 1, 2])
        moments = {} if is_training else {"mean": tf.zeros([2]), "variance": tf.ones([2])}
        y, _, _ = tf.nn.fused_batch_norm(
            image, tf.constant([1.0, 2.0]), tf.zeros([2]), is_training=is_training, **moments
        )
        return y**2 * image

    _check(program, tf.float32, 1e-2, 2e-2)


def test_prevented_gradients_of_others_stay_prevented() -> None:
    logits = tf.placeholder(tf.float32, [2, 3])
    refused = make("PreventGradient", tf.nn.softmax(logits), message="not this")
    with pytest.raises(LookupError, match="not this"):
        tf.gradients(refused, logits)


@pytest.mark.parametrize("shape", [None, [None, 2], [2, None]])
def test_hessians_of_what_is_known_only_when_it_runs(shape: Any) -> None:
    x = tf.placeholder(tf.float64, shape)
    value = np.arange(4.0).reshape(2, 2)
    hessian = tf.hessians(tf.reduce_sum(x * x * x) + tf.reduce_prod(x[0] + 1), x)[0]
    fixed = tf.placeholder(tf.float64, [2, 2])
    expected = tf.hessians(
        tf.reduce_sum(fixed * fixed * fixed) + tf.reduce_prod(fixed[0] + 1), fixed
    )[0]
    with tf.Session() as session:
        found = session.run(hessian, {x: value})
        assert found.shape == (2, 2, 2, 2)
        np.testing.assert_allclose(found, session.run(expected, {fixed: value}))
