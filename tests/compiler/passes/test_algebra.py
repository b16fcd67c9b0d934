"""Each rule of ``algebra.RULES``, firing in the default pipeline, and held back where it must."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.text import step_text
from tests.compiler.passes.rewriting import agree, rewritten, types

RNG = np.random.RandomState(0)
ONE_PRODUCT = ["ConcatV2", "ConcatV2", "MatMul"]


def _placeholders(*shapes: Any, dtype: Any = tf.float32) -> tuple[list[Any], dict[Any, Any]]:
    """Placeholders and a value for each; unknown dims are fed as 2."""
    made = [tf.placeholder(dtype, shape) for shape in shapes]
    numpy = dtype.as_numpy_dtype
    values = [(9 * RNG.rand(*(2 if d is None else d for d in s))).astype(numpy) for s in shapes]
    return made, dict(zip(made, values, strict=True))


# ---- sums of products ----------------------------------------------------------------------------


def _products(
    count: int = 3, rows: Any = 2, inner: int = 4, dtype: Any = tf.float32
) -> tuple[list[Any], dict[Any, Any]]:
    made, feed = _placeholders(*[(rows, inner)] * count, *[(rows, 5)] * count, dtype=dtype)
    pairs = zip(made[:count], made[count:], strict=True)
    return [tf.matmul(x, y, transpose_a=True) for x, y in pairs], feed


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("count", [3, 5])
def test_a_sum_of_products_is_one_product(dtype: Any, count: int) -> None:
    products, feed = _products(count, dtype=dtype)
    y = tf.add_n(products)
    assert types(rewritten([y], feed)) == ONE_PRODUCT
    agree([y], feed)


def test_the_weight_gradient_of_an_unrolled_network_is_one_product() -> None:
    w = tf.Variable(RNG.rand(6, 6).astype(np.float32))
    steps, feed = _placeholders(*[(2, 6)] * 4)
    state = steps[0]
    for step in steps[1:]:
        state = tf.tanh(tf.matmul(state, w) - step)
    grad = tf.gradients(tf.reduce_sum(state), w)
    found = types(rewritten(grad, feed))
    assert found[-3:] == ONE_PRODUCT and "AddN" not in found
    agree(grad, feed)


def test_golden_text_of_a_sum_of_products() -> None:
    xs = [tf.placeholder(tf.float32, [2, 4], name=f"x{i}") for i in range(3)]
    ys = [tf.placeholder(tf.float32, [2, 5], name=f"y{i}") for i in range(3)]
    products = [tf.matmul(x, y, transpose_a=True) for x, y in zip(xs, ys, strict=True)]
    step = rewritten([tf.add_n(products, name="sum")], [*xs, *ys])
    assert step_text(step).splitlines()[6:] == [
        "sum: int32() = Const() {value=0, dtype=int32}",
        "sum/concatv2: float32(6, 4) = ConcatV2(_feed/x0, _feed/x1, _feed/x2, sum)",
        "sum/concatv2_1: float32(6, 5) = ConcatV2(_feed/y0, _feed/y1, _feed/y2, sum)",
        "sum/matmul: float32(4, 5) = MatMul(sum/concatv2, sum/concatv2_1) {transpose_a=True}",
        "fetch sum/matmul",
    ]


def test_products_that_others_read_are_not_summed_as_one() -> None:
    products, feed = _products()
    y = tf.add_n(products)
    assert types(rewritten([y, products[1]], feed)) == ["MatMul"] * 3 + ["AddN"]
    z = y * tf.exp(products[0])
    assert types(rewritten([z], feed)).count("MatMul") == 3
    agree([y, products[1], z], feed)
    twice = tf.add_n([*products, products[0]])
    assert "ConcatV2" not in types(rewritten([twice], feed))
    agree([twice], feed)


def _few() -> tuple[Any, dict[Any, Any]]:
    products, feed = _products(2)
    return tf.add_n(products), feed


def _of_unknown_length() -> tuple[Any, dict[Any, Any]]:
    products, feed = _products(rows=None)
    return tf.add_n(products), feed


def _long() -> tuple[Any, dict[Any, Any]]:
    # Concatenating these operands moves more than the products' results hold.
    products, feed = _products(rows=50)
    return tf.add_n(products), feed


def _with_another_term() -> tuple[Any, dict[Any, Any]]:
    products, feed = _products()
    return tf.add_n([*products, tf.ones([4, 5])]), feed


def _transposed_otherwise() -> tuple[Any, dict[Any, Any]]:
    xs, feed = _placeholders(*[(4, 2)] * 3)
    return tf.add_n([tf.matmul(x, x, transpose_b=True) for x in xs]), feed


def _waiting() -> tuple[Any, dict[Any, Any]]:
    products, feed = _products()
    counter = tf.Variable(0.0)
    with tf.control_dependencies([tf.assign_add(counter, 1.0)]):
        late = tf.matmul(tf.ones([2, 4]), tf.exp(next(iter(feed)))[:, :1], transpose_a=True)
        late = tf.matmul(next(iter(feed)), tf.ones([2, 5]), transpose_a=True) + 0.0 * late
        y = tf.add_n(products)
    return y + late, feed


@pytest.mark.parametrize(
    "build",
    [_few, _of_unknown_length, _long, _with_another_term, _transposed_otherwise, _waiting],
)
def test_other_sums_stay(build: Callable[[], tuple[Any, dict[Any, Any]]]) -> None:
    y, feed = build()
    assert "ConcatV2" not in types(rewritten([y], feed))
    agree([y], feed)


def test_products_do_not_move_past_a_write_of_their_operand() -> None:
    v = tf.Variable(np.ones((2, 4), np.float32))
    ys, feed = _placeholders(*[(2, 5)] * 3)
    products = [tf.matmul(v, y, transpose_a=True) for y in ys]
    with tf.control_dependencies(products):
        write = tf.assign(v, tf.zeros([2, 4]))
    y = tf.add_n(products)
    assert types(rewritten([y], feed, [write.op])) == ["MatMul"] * 3 + ["Assign", "AddN"]
    (found,) = agree([y, write.op], feed)
    assert found.all()


# ---- sums of paddings ----------------------------------------------------------------------------


def _pads(*intervals: tuple[int, int], width: int = 6) -> tuple[list[Any], dict[Any, Any]]:
    """Paddings to ``width`` columns of tensors that take ``intervals`` of them."""
    made, feed = _placeholders(*[(2, stop - start) for start, stop in intervals])
    paddings = [[[0, 0], [start, width - stop]] for start, stop in intervals]
    return [tf.pad(x, p) for x, p in zip(made, paddings, strict=True)], feed


def test_paddings_that_tile_are_a_concatenation() -> None:
    for intervals in ([(0, 2), (2, 6)], [(2, 6), (0, 2)]):
        (a, b), feed = _pads(*intervals)
        for y in (tf.add(a, b), tf.add_n([a, b])):
            assert types(rewritten([y], feed)) == ["ConcatV2"]
            agree([y], feed)
    pads, feed = _pads((3, 5), (5, 6), (0, 3))
    y = tf.add_n(pads)
    assert types(rewritten([y], feed)) == ["ConcatV2"]
    agree([y], feed)


def test_the_gradient_of_slicing_apart_is_a_concatenation() -> None:
    (x,), feed = _placeholders((2, 6))
    left, right = tf.slice(x, [0, 0], [2, 2]), tf.slice(x, [0, 2], [2, 4])
    grad = tf.gradients([tf.exp(-left), tf.tanh(right)], x)
    found = types(rewritten(grad, feed))
    assert "ConcatV2" in found and "Pad" not in found and "AddN" not in found
    agree(grad, feed)


def test_golden_text_of_a_sum_of_paddings() -> None:
    x, y = (tf.placeholder(tf.float32, [2, n], name=f"x{n}") for n in (1, 3))
    total = tf.add(tf.pad(x, [[0, 0], [3, 0]]), tf.pad(y, [[0, 0], [0, 1]]), name="sum")
    assert step_text(rewritten([total], [x, y])) == (
        "_feed/x1: float32(2, 1) = _Feed() {dtype=float32, shape=(2, 1), index=0}\n"
        "_feed/x3: float32(2, 3) = _Feed() {dtype=float32, shape=(2, 3), index=1}\n"
        "sum: int32() = Const() {value=1, dtype=int32}\n"
        "sum/concatv2: float32(2, 4) = ConcatV2(_feed/x3, _feed/x1, sum)\n"
        "fetch sum/concatv2\n"
    )


@pytest.mark.parametrize(
    "intervals",
    [
        [(0, 3), (2, 6)],  # overlap
        [(0, 2), (3, 6)],  # a gap within
        [(0, 2), (2, 5)],  # a gap at the end
        [(1, 3), (3, 6)],  # a gap at the start
    ],
)
def test_paddings_that_do_not_tile_stay(intervals: Any) -> None:
    pads, feed = _pads(*intervals)
    y = tf.add_n(pads)
    assert types(rewritten([y], feed)) == ["Pad", "Pad", "AddN"]
    agree([y], feed)


def _along_two_axes() -> tuple[Any, dict[Any, Any]]:
    (a, b), feed = _placeholders((1, 2), (2, 2))
    return tf.pad(a, [[1, 0], [0, 2]]) + tf.pad(b, [[0, 0], [2, 0]]), feed


def _along_different_axes() -> tuple[Any, dict[Any, Any]]:
    (a, b), feed = _placeholders((2, 4), (4, 2))
    return tf.pad(a, [[0, 2], [0, 0]]) + tf.pad(b, [[0, 0], [2, 0]]), feed


def _broadcast() -> tuple[Any, dict[Any, Any]]:
    (a, b), feed = _placeholders((1, 2), (3, 2))
    return tf.pad(a, [[0, 0], [0, 2]]) + tf.pad(b, [[0, 0], [2, 0]]), feed


def _with_other_values() -> tuple[Any, dict[Any, Any]]:
    (a, b), feed = _placeholders((2, 2), (2, 2))
    pads = [[[0, 0], [0, 2]], [[0, 0], [2, 0]]]
    return tf.pad(a, pads[0], constant_values=1.0) + tf.pad(b, pads[1]), feed


def _of_unknown_shape() -> tuple[Any, dict[Any, Any]]:
    (a, b), feed = _placeholders((None, 2), (None, 2))
    return tf.pad(a, [[0, 0], [0, 2]]) + tf.pad(b, [[0, 0], [2, 0]]), feed


def _by_fed_amounts() -> tuple[Any, dict[Any, Any]]:
    (a, b), feed = _placeholders((2, 2), (2, 2))
    amounts = tf.placeholder(tf.int32, [2, 2])
    feed[amounts] = [[0, 0], [0, 2]]
    return tf.pad(a, amounts) + tf.pad(b, [[0, 0], [2, 0]]), feed


def _padding_waits() -> tuple[Any, dict[Any, Any]]:
    (a, b), feed = _placeholders((2, 2), (2, 2))
    with tf.control_dependencies([tf.assign_add(tf.Variable(0.0), 1.0)]):
        first = tf.pad(a, [[0, 0], [0, 2]])
    return first + tf.pad(b, [[0, 0], [2, 0]]), feed


@pytest.mark.parametrize(
    "build",
    [
        _along_two_axes, _along_different_axes, _broadcast, _with_other_values,
        _of_unknown_shape, _by_fed_amounts, _padding_waits,
    ],
)  # fmt: skip
def test_other_paddings_stay(build: Callable[[], tuple[Any, dict[Any, Any]]]) -> None:
    y, feed = build()
    assert "ConcatV2" not in types(rewritten([y], feed))
    agree([y], feed)


def test_paddings_that_others_read_stay() -> None:
    (a, b), feed = _pads((0, 2), (2, 6))
    y = tf.add(a, b)
    assert "ConcatV2" not in types(rewritten([y, a], feed))
    assert "ConcatV2" not in types(rewritten([tf.add(a, a)], feed))
    agree([y, a, tf.add(a, a)], feed)


# ---- products with ones --------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [2, None])
def test_a_product_with_a_column_of_ones_is_a_sum(rows: Any) -> None:
    (x,), feed = _placeholders((rows, 3))
    y = tf.matmul(x, tf.ones([3, 1]))
    assert types(rewritten([y], feed)) == ["Sum"]
    agree([y, *tf.gradients(tf.square(y), x)], feed)


def test_a_product_with_a_row_of_ones_is_a_broadcast() -> None:
    (x,), feed = _placeholders((2, 1))
    for y in (tf.matmul(x, tf.ones([1, 3])), tf.matmul(x, tf.ones([3, 1]), transpose_b=True)):
        assert types(rewritten([y], feed)) == ["BroadcastTo"]
        agree([y, y + 1.0, *tf.gradients(tf.square(y), x)], feed)


def test_golden_text_of_a_product_with_ones() -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.matmul(x, tf.ones([3, 1]), name="y")
    assert step_text(rewritten([y], [x])) == (
        "_feed/x: float32(2, 3) = _Feed() {dtype=float32, shape=(2, 3), index=0}\n"
        "y: int32(1,) = Const() {value=[1], dtype=int32}\n"
        "y/sum: float32(2, 1) = Sum(_feed/x, y) {keep_dims=True}\n"
        "fetch y/sum\n"
    )


def _almost_ones() -> tuple[Any, dict[Any, Any]]:
    (x,), feed = _placeholders((2, 3))
    return tf.matmul(x, tf.constant([[1.0], [1.0], [1.0000001]])), feed


def _integers() -> tuple[Any, dict[Any, Any]]:
    (x,), feed = _placeholders((2, 3), dtype=tf.int32)
    return tf.matmul(x, tf.ones([3, 1], tf.int32)), feed


def _fed_ones() -> tuple[Any, dict[Any, Any]]:
    (x, ones), feed = _placeholders((2, 3), (3, 1))
    feed[ones] = np.ones((3, 1), np.float32)
    return tf.matmul(x, ones), feed


def _transposed_left() -> tuple[Any, dict[Any, Any]]:
    (x,), feed = _placeholders((3, 2))
    return tf.matmul(x, tf.ones([3, 1]), transpose_a=True), feed


def _square_ones() -> tuple[Any, dict[Any, Any]]:
    (x,), feed = _placeholders((2, 3))
    return tf.matmul(x, tf.ones([3, 3])), feed


def _row_and_unknown_length() -> tuple[Any, dict[Any, Any]]:
    (x,), feed = _placeholders((None, 1))
    return tf.matmul(x, tf.ones([1, 3])), feed


def _product_waits() -> tuple[Any, dict[Any, Any]]:
    (x,), feed = _placeholders((2, 3))
    with tf.control_dependencies([tf.assign_add(tf.Variable(0.0), 1.0)]):
        return tf.matmul(x, np.ones((3, 1), np.float32)), feed


@pytest.mark.parametrize(
    "build",
    [
        _almost_ones, _integers, _fed_ones, _transposed_left, _square_ones,
        _row_and_unknown_length, _product_waits,
    ],
)  # fmt: skip
def test_other_products_stay(build: Callable[[], tuple[Any, dict[Any, Any]]]) -> None:
    y, feed = build()
    assert "MatMul" in types(rewritten([y], feed))
    agree([y], feed)


def test_a_broadcast_is_of_the_value_before_a_write() -> None:
    v = tf.Variable([[1.0], [-2.0]])
    y = tf.matmul(v, tf.ones([1, 3]))
    with tf.control_dependencies([y]):
        write = tf.assign(v, tf.zeros([2, 1]))
    with tf.control_dependencies([write]):
        late = tf.multiply(y, 2.0)
    assert "BroadcastTo" in types(rewritten([late], (), [write.op]))
    assert agree([late])[0].tolist() == [[2.0] * 3, [-4.0] * 3]
