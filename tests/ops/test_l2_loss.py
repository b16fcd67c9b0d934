"""The sum of squares of many numbers, in float32."""

from __future__ import annotations

import numpy as np

import penstock as tf


def test_a_large_sum_is_as_exact_as_float32() -> None:
    x = np.random.default_rng(0).standard_normal(20_000_003, dtype=np.float32)
    with tf.Session() as session:
        given = tf.placeholder(tf.float32, [None])
        found = session.run(tf.nn.l2_loss(given), {given: x})
    np.testing.assert_allclose(found, np.sum(np.square(x, dtype=np.float64)) / 2, rtol=1e-5)
