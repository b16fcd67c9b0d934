"""Quantized tensors: what goes there comes back, layers agree with those of floats, errors.

The integers themselves are compared with TensorFlow's in the rows of ``cases/quantized.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make  # for what only tools that quantize graphs make

QUANTIZED = [tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32]
RANGES = [(-3.0, 5.0), (0.0, 6.0), (-4.0, 0.0), (-100.0, 0.5)]


def steps(dtype: Any) -> float:
    return 2.0 ** (8 * dtype.size) - 1


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


def in_range(low: float, high: float, *shape: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(low, high, shape).astype(np.float32)


@pytest.mark.parametrize("dtype", QUANTIZED, ids=lambda d: str(d.name))
@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
@pytest.mark.parametrize("low, high", RANGES)
def test_there_and_back_is_within_a_step(dtype: Any, mode: str, low: float, high: float) -> None:
    x = in_range(low, high, 40)
    made = tf.quantize(x, low, high, dtype, mode=mode)
    back, first, last = run([tf.dequantize(*made, mode=mode), made.output_min, made.output_max])
    # float32 has 24 bits, and errors of the scale add up.
    step = max((last - first) / steps(dtype), 4e-7 * (last - first))
    if mode == "SCALED" and "u" in dtype.name:
        assert first == 0  # unsigned integers times a factor are never negative
    assert np.abs(back - x.clip(first, last)).max() <= 1.01 * step


@pytest.mark.parametrize("dtype", QUANTIZED, ids=lambda d: str(d.name))
def test_what_is_beyond_the_range_is_cut_off(dtype: Any) -> None:
    info = np.iinfo(f"{'u' if 'u' in dtype.name else ''}int{8 * dtype.size}")
    found = run(tf.quantize([-9.0, 9.0], -1.0, 1.0, dtype, mode="MIN_FIRST").output)
    assert found[0] == info.min
    assert found[1] >= info.max - 127  # the nearest float32 below


def floats(made: Any) -> Any:
    return tf.dequantize(made[0], made[1], made[2], mode="MIN_FIRST")


def eight_bits(x: Any, low: float, high: float) -> Any:
    return tf.quantize(x, low, high, tf.quint8, mode="MIN_FIRST")


def test_a_quantized_network_computes_what_floats_do() -> None:
    image, weights = in_range(-1, 3, 2, 9, 9, 3), in_range(-0.5, 0.5, 3, 3, 3, 4)
    bias = in_range(-0.5, 0.5, 4)
    x, w = eight_bits(image, -1.0, 3.0), eight_bits(weights, -0.5, 0.5)
    conv = tf.nn.quantized_conv2d(x[0], w[0], *x[1:], *w[1:], [1, 1, 1, 1], "SAME")
    pools: dict[str, Any] = {
        "max": (tf.nn.quantized_max_pool, tf.nn.max_pool),
        "mean": (tf.nn.quantized_avg_pool, tf.nn.avg_pool),
    }
    window: Any = ([1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    shrunk = make("QuantizeDownAndShrinkRange", *conv, out_type=tf.quint8)
    b = eight_bits(bias, -0.5, 0.5)
    summed = make("QuantizedBiasAdd", shrunk[0], b[0], *shrunk[1:], *b[1:], out_type=tf.qint32)
    ends = make("RequantizationRange", *summed)
    again = make("Requantize", *summed, *ends, out_type=tf.quint8)
    relu = make("QuantizedRelu", *again)
    plain = tf.nn.conv2d(image, weights, [1, 1, 1, 1], "SAME") + bias
    width = float(np.ptp(run(plain)))
    for quantized, exact in pools.values():
        found, expected = run([
            floats(quantized(*relu, *window)), exact(tf.nn.relu(plain), *window),
        ])  # fmt: skip
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() < 0.02 * width
        assert np.ptp(expected) > 0.2 * width


def test_parts_are_joined_in_a_common_range() -> None:
    one, other = in_range(-1, 1, 2, 3), in_range(0, 4, 2, 3)
    parts = [eight_bits(one, -1.0, 1.0), eight_bits(other, 0.0, 4.0)]
    joined = tf.quantized_concat(1, *zip(*parts, strict=True))
    found, low, high = run([floats(joined), joined.output_min, joined.output_max])
    assert (low, high) == (-1.0, 4.0)
    assert np.abs(found - np.concatenate([one, other], 1)).max() <= 1.5 * 5 / 255


def test_products_of_steps_of_a_matrix() -> None:
    a, b = in_range(-1, 3, 5, 400), in_range(-2, 1, 400, 6)
    x, y = eight_bits(a, -1.0, 3.0), eight_bits(b, -2.0, 1.0)
    product = make("QuantizedMatMul", x[0], y[0], *x[1:], *y[1:])
    found, exact = run([floats(product), tf.matmul(floats(x), floats(y))])
    # The ranges of x and y have moved a little, so that 0.0 is a step: by less than a step.
    assert np.abs(found - exact).max() < 1e-3 * np.abs(exact).max() + 400 * 0.5 * 4 / 255 * 3 / 255


@pytest.mark.parametrize(
    "low, high, mode, rounding, text",
    [
        (2.0, 1.0, "MIN_COMBINED", "HALF_AWAY_FROM_ZERO", "must be larger"),
        (0.0, 1.0, "MIN_FIRST", "HALF_TO_EVEN", "HALF_TO_EVEN"),
    ],
)
def test_ranges_and_modes_that_are_refused(
    low: float, high: float, mode: str, rounding: str, text: str
) -> None:
    made = tf.quantize([0.5], low, high, tf.quint8, mode=mode, round_mode=rounding)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(made.output)


def test_types_and_shapes_that_are_refused() -> None:
    with pytest.raises(TypeError, match="float32"):
        tf.quantize([0.5], 0.0, 1.0, tf.float32)
    with pytest.raises(ValueError, match="scalar"):
        tf.quantize([0.5], [0.0, 0.0], 1.0, tf.quint8)
    with pytest.raises(TypeError, match="int8"):
        tf.dequantize(tf.constant([1], tf.int8), 0.0, 1.0)
    with pytest.raises(ValueError, match="channels"):
        x = tf.placeholder(tf.quint8, [1, 4, 4, 3])
        w = tf.placeholder(tf.quint8, [2, 2, 2, 1])
        tf.nn.quantized_conv2d(x, w, 0.0, 1.0, 0.0, 1.0, [1, 1, 1, 1], "SAME")
    with pytest.raises(ValueError, match="bitcast"):
        tf.serialize_tensor(tf.constant([(1,)], tf.qint8))


def test_gradient_by_args_has_the_shape_of_the_gradients() -> None:
    """As in TensorFlow, whether the inputs have it too is for the run to say."""
    unknown = tf.placeholder(tf.float32)
    made = tf.quantization.fake_quant_with_min_max_args_gradient
    assert made(tf.ones([2, 3]), unknown).shape.as_list() == [2, 3]
    assert made(unknown, tf.ones([2, 3])).shape.ndims is None
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="same size"):
        session.run(made(tf.ones([1, 3]), tf.ones([2, 3])))


def test_gradient_by_vars_knows_what_either_knows() -> None:
    made = tf.quantization.fake_quant_with_min_max_vars_gradient
    left, right = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [2, None])
    assert made(left, right, -1.0, 1.0)[0].shape.as_list() == [2, 3]
