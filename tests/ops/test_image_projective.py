"""ImageProjectiveTransformV2 refuses what it has no kernel for; TensorFlow does not survive it."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf


def test_an_unknown_interpolation_is_refused() -> None:
    # TensorFlow 1.15 ends the process here; 2.21 logs it and gives what is in memory.
    with tf.Graph().as_default(), tf.Session() as session:
        images, moves = tf.zeros([2, 4, 5, 3]), tf.constant(np.eye(2, 8), tf.float32)
        moved = tf.contrib.image.transform(images, moves)
        moved.op._set_attr("interpolation", tf.AttrValue(s=b"CUBIC"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid interpolation CUBIC"):
            session.run(moved)
