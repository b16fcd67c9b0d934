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


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ([None, None, 6, 4], "Inputs .* has undefined dimensions 1"),
        ([2, 7, None, 4], "Inputs .* has undefined dimensions 2"),
        ([2, 7, 6, None], "Inputs .* has undefined channel dimension: 3"),
    ],
    ids=repr,
)
def test_a_group_norm_needs_all_sizes_but_the_batch(shape: list[int | None], words: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        tf.contrib.layers.group_norm(tf.placeholder(tf.float32, shape), groups=2)


def test_what_must_be_known_is_said_in_tensorflows_words() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3, 4, None])
        with pytest.raises(ValueError, match=r"^dimension -1 of shape must be known but is None: "):
            tf.contrib.layers.conv2d_in_plane(x, 2)
        with pytest.raises(ValueError, match="^The num_channels dimension of the inputs to `spat"):
            tf.contrib.layers.spatial_softmax(x)
        with pytest.raises(ValueError, match="^Tried to convert 'shape' to a tensor and failed"):
            tf.contrib.layers.images_to_sequence(x)
