"""Where finds the places of many truths as of few."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf


@pytest.mark.parametrize("shape", [(7,), (5000,), (60, 70), (1, 3000), (3000, 1), (8, 20, 30)])
@pytest.mark.parametrize("share", [0.0, 0.03, 0.6, 1.0])
def test_places(shape: tuple[int, ...], share: float) -> None:
    mask = np.random.RandomState(len(shape)).random_sample(shape) < share
    fed = tf.placeholder(tf.bool, [None] * len(shape))
    with tf.Session() as session:
        known = session.run(tf.where(tf.constant(mask)))
        for found in (known, session.run(tf.where(fed), {fed: mask}), _of_a_part(session, mask)):
            assert found.dtype == np.int64
            np.testing.assert_array_equal(found, np.argwhere(mask))


def _of_a_part(session: tf.Session, mask: np.ndarray) -> np.ndarray:
    """The truths do not lie one after the other in memory."""
    wide = tf.placeholder(tf.bool, [None] * mask.ndim)
    doubled = np.repeat(mask, 2, axis=-1)
    found: np.ndarray = session.run(tf.where(wide[..., ::2]), {wide: doubled})
    return found
