"""Integers that the operating system draws."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_draws_are_new_and_fill_all_bits(dtype: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        drawn = make("NonDeterministicInts", [4, 500], dtype=tf.as_dtype(dtype))
        assert drawn.shape.as_list() == [4, 500]
        first, second = session.run(drawn), session.run(drawn)
    assert first.dtype == dtype and first.shape == (4, 500)
    assert (first != second).mean() > 0.99
    bits = np.unpackbits(first.reshape(-1).view(np.uint8)).reshape(2000, -1)
    # Each bit is 1 in half of the draws: 2000 of them are off by 9% once in 10^15 times.
    assert np.abs(bits.mean(0) - 0.5).max() < 0.09


def test_of_no_size() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(make("NonDeterministicInts", [0, 3])).shape == (0, 3)
