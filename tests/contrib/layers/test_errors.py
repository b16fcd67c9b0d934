"""What contrib's layers say of arguments that they cannot take, as TensorFlow 1.15 does."""

import numpy as np
import pytest

import penstock as tf


@pytest.mark.parametrize("width", [np.int64(3), 3.0, "3", None], ids=repr)
def test_a_width_is_an_integer_of_pythons(width: object) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="num_outputs type should be"):
        tf.contrib.layers.fully_connected(tf.ones([2, 3]), width)


@pytest.mark.parametrize("width", [np.int32(3), None], ids=repr)
def test_a_masked_layers_too(width: object) -> None:
    masked = tf.contrib.model_pruning.masked_fully_connected
    with tf.Graph().as_default(), pytest.raises(ValueError, match="should be int or long, got"):
        masked(tf.ones([2, 3]), width)
