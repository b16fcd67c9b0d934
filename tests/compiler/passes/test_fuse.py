"""Each rule of ``fuse.RULES``, firing in the default pipeline, and held back where it must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.foundation.graph.text import step_text
from tests.compiler.passes.rewriting import agree, rewritten, types

RNG = np.random.RandomState(0)


def _dense(dtype: Any = tf.float32, rows: Any = 2) -> tuple[Any, Any, Any, Any]:
    x = tf.placeholder(dtype, [rows, 3], name="x")
    w = tf.Variable(RNG.rand(3, 4).astype(dtype.as_numpy_dtype), name="w")
    b = tf.Variable(RNG.rand(4).astype(dtype.as_numpy_dtype), name="b")
    return x, b, tf.matmul(x, w, name="product"), {x: RNG.rand(2, 3)}


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_bias_and_relu_move_into_the_product(dtype: Any) -> None:
    x, b, product, feed = _dense(dtype)
    sums = [tf.nn.bias_add(product, b), tf.add(product, b), tf.add(b, product)]
    for y in sums:
        assert types(rewritten([y], [x])) == ["_Linear"]
        assert types(rewritten([tf.nn.relu(y)], [x])) == ["_Linear"]
        agree([tf.nn.relu(tf.subtract(y, 1.0))], feed)


def test_golden_text_of_a_layer() -> None:
    x, b, product, _ = _dense()
    y = tf.nn.relu(tf.nn.bias_add(product, b), name="y")
    assert step_text(rewritten([y], [x])) == (
        "_feed/x: float32(2, 3) = _Feed() {dtype=float32, shape=(2, 3), index=0}\n"
        "w: float32_ref(3, 4) = VariableV2() {shape=(3, 4), dtype=float32}\n"
        "b: float32_ref(4,) = VariableV2() {shape=(4,), dtype=float32}\n"
        "y: float32(2, 4) = _Linear(_feed/x, w, b) {activation='relu'}\n"
        "fetch y\n"
    )


def test_products_that_others_read_stay() -> None:
    x, b, product, feed = _dense()
    y = tf.nn.bias_add(product, b)
    assert types(rewritten([y, product], [x])) == ["MatMul", "BiasAdd"]
    twice = tf.multiply(y, tf.concat([product, product], 0)[:2])
    assert "MatMul" in types(rewritten([twice], [x]))
    assert types(rewritten([y, tf.nn.relu(y)], [x])) == ["_Linear", "Relu"]
    agree([y, product, twice, tf.nn.relu(y)], feed)


def test_biases_that_may_not_be_rows_stay() -> None:
    x, _, product, feed = _dense()
    unknown = tf.placeholder(tf.float32, name="b")
    for bias in (unknown, tf.placeholder(tf.float32, [1]), tf.placeholder(tf.float32, [2, 1])):
        y = tf.add(product, bias)
        assert types(rewritten([y], [x, bias])) == ["MatMul", "Add"]
        agree([y], {**feed, bias: np.ones([1] * (bias.sizes is None or len(bias.sizes)) + [1])[0]
                    if bias.sizes != (2, 1) else np.ones((2, 1))})  # fmt: skip


def test_integers_and_control_inputs_stay() -> None:
    x = tf.placeholder(tf.int32, [2, 2])
    y = tf.add(tf.matmul(x, x), tf.constant([1, 2]))
    assert types(rewritten([y], [x])) == ["MatMul", "Add"]
    x, b, product, _ = _dense()
    v = tf.Variable(0.0)
    with tf.control_dependencies([tf.assign_add(v, 1.0).op]):
        y = tf.nn.bias_add(product, b)
    assert "_Linear" not in types(rewritten([y], [x]))


def test_a_product_does_not_move_past_a_write_of_its_operand() -> None:
    w = tf.Variable(np.ones((2, 2), np.float32))
    x = tf.placeholder(tf.float32, [1, 2])
    product = tf.matmul(x, w)
    with tf.control_dependencies([product]):
        write = tf.assign(w, tf.zeros([2, 2]))
    y = tf.nn.bias_add(product, tf.constant([1.0, 1.0]))
    assert agree([y, write.op], {x: [[1, 1]]})[0].tolist() == [[3.0, 3.0]]


def _convolution(data_format: str = "NHWC") -> tuple[Any, Any, Any]:
    x = tf.placeholder(tf.float32, [1, 5, 5, 2], name="x")
    w = tf.constant(RNG.rand(3, 3, 2, 4).astype(np.float32))
    return x, tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), {x: RNG.rand(1, 5, 5, 2)}


def test_bias_moves_into_a_convolution() -> None:
    x, conv, feed = _convolution()
    bias = tf.constant([1.0, 2.0, 3.0, 4.0])
    for y in (tf.nn.bias_add(conv, bias), tf.add(conv, bias), tf.add(bias, conv)):
        assert types(rewritten([y], [x])) == ["_ConvBias"]
        agree([y], feed)
    kept = tf.nn.bias_add(conv, bias)
    assert types(rewritten([kept, conv], [x])) == ["Conv2D", "BiasAdd"]
    other = tf.add(conv, tf.constant(RNG.rand(5, 4).astype(np.float32)))
    assert types(rewritten([other], [x])) == ["Conv2D", "Add"]


def _pooled() -> tuple[Any, Any, Any]:
    x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
    y = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    return x, y, {x: RNG.rand(1, 4, 4, 2)}


def test_pooling_keeps_places_for_its_gradient() -> None:
    x, y, feed = _pooled()
    (grad,) = tf.gradients(tf.square(y), x)
    found = types(rewritten([grad], [x]))
    assert "_MaxPoolWithIndices" in found and "_MaxPoolGradWithIndices" in found
    agree([grad], feed)
    assert types(rewritten([y], [x])) == ["MaxPool"]


def test_gradients_of_other_pooling_are_left() -> None:
    x, y, feed = _pooled()
    other = make(
        "MaxPoolGrad", tf.identity(tf.exp(x)), y, tf.ones_like(y),
        ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID",
    )  # fmt: skip
    assert "_MaxPoolGradWithIndices" not in types(rewritten([other, y], [x]))


def _descent(resource: bool, locking: bool = False, rows: int = 2) -> tuple[Any, Any, Any]:
    x = tf.placeholder(tf.float32, [rows, 3], name="x")
    v = tf.Variable(RNG.rand(3, 4).astype(np.float32), use_resource=resource)
    optimizer = tf.train.GradientDescentOptimizer(0.5, use_locking=locking)
    train = optimizer.minimize(tf.reduce_sum(tf.square(tf.matmul(x, v))))
    return x, v, train


@pytest.mark.parametrize("resource", [False, True])
def test_a_product_is_added_to_its_variable_as_it_is_computed(resource: bool) -> None:
    x, v, train = _descent(resource)
    fused = "_ResourceDescendAlongProduct" if resource else "_DescendAlongProduct"
    assert fused in types(rewritten([], [x], [train]))
    agree([train], {x: RNG.rand(2, 3)}, [v])


def test_locked_and_long_products_are_not() -> None:
    x, _, train = _descent(False, locking=True)
    assert "_DescendAlongProduct" not in types(rewritten([], [x], [train]))
    x = tf.placeholder(tf.float32, [100, 50])
    v = tf.Variable(tf.zeros([50, 40]))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.matmul(x, v)))
    assert "_DescendAlongProduct" not in types(rewritten([], [x], [train]))


@pytest.mark.parametrize("resource", [False, True])
def test_factorization_takes_both_gradients_before_either_update(resource: bool) -> None:
    u = tf.Variable(RNG.rand(4, 3).astype(np.float32), use_resource=resource)
    v = tf.Variable(RNG.rand(3, 5).astype(np.float32), use_resource=resource)
    loss = tf.reduce_sum(tf.square(tf.matmul(u, v)))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    agree([train], variables=[u, v])


@pytest.mark.parametrize("resource", [False, True])
def test_a_product_of_the_variable_itself_is_not_added_to_it(resource: bool) -> None:
    v = tf.Variable(RNG.rand(3, 3).astype(np.float32), use_resource=resource)
    a = tf.constant(RNG.rand(3, 3).astype(np.float32))
    for operand in (v, tf.transpose(v)):
        gradient = tf.matmul(a, operand)
        train = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(gradient, v)])
        agree([train], variables=[v])


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("other", [0.0, -np.inf, 2.5])
def test_a_choice_of_what_is_finite(dtype: Any, other: float) -> None:
    x = tf.placeholder(dtype, [5], name="x")
    y = tf.where(tf.is_finite(x), x, tf.fill([5], tf.constant(other, dtype)))
    assert types(rewritten([y], [x])) == ["_FiniteOr"]
    values = np.array([1.5, np.inf, -np.inf, np.nan, -0.0], dtype.as_numpy_dtype)
    found = agree([y], {x: values})[0]
    np.testing.assert_array_equal(found, [1.5, other, other, other, -0.0])


def test_other_choices_stay() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    test = tf.is_finite(x)
    for y in (
        tf.where(test, tf.zeros([2]), x),
        tf.where(test, x, tf.constant([1.0, 2.0])),
        tf.where(tf.is_nan(x), x, tf.zeros([2])),
    ):
        assert "_FiniteOr" not in types(rewritten([y], [x]))


def test_the_logarithm_of_a_sum_of_exponentials() -> None:
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    y = tf.reduce_logsumexp(x, 1)
    assert "_FiniteOr" in types(rewritten([y], [x]))
    one = tf.reduce_logsumexp(tf.expand_dims(x, 1), 1)
    assert not {"Max", "Sum"} & set(types(rewritten([one], [x])))
    agree([y, one], {x: [[1.0, 2.0], [-np.inf, -np.inf], [np.inf, 3.0]]})
