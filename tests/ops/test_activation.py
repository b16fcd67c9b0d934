"""Activations of float16 are rounded as TensorFlow 1.15 rounds them: after each operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

# x, and what TensorFlow 1.15 gives for it.
_ELU = [(-0.9, -0.59375), (-8.0, -0.99951171875), (0.0, 0.0), (1.5, 1.5)]


@pytest.mark.parametrize("fed", [True, False])
def test_elu_of_half(fed: bool) -> None:
    x = np.array([x for x, _ in _ELU], np.float16)
    operand = tf.placeholder(tf.float16, [None]) if fed else tf.constant(x)
    with tf.Session() as session:
        # What is added dies in elu, which could work in its memory.
        found = session.run(tf.nn.elu(operand + 0), {operand: x} if fed else None)
    assert found.dtype == np.float16
    assert found.tolist() == [y for _, y in _ELU]


def _rounded(function: Any, x: Any) -> Any:
    return function(x.astype(np.float32)).astype(np.float16)


def test_selu_of_half() -> None:
    x = np.linspace(-4, 4, 801).astype(np.float16)
    scale, alpha = np.float16(1.0507009873554805), np.float16(1.7580993408473769)
    below = _rounded(np.exp, x) - np.float16(1)
    with tf.Session() as session:
        found = session.run(tf.nn.selu(x))
    np.testing.assert_array_equal(found, np.where(x < 0, alpha * below, scale * x))
