"""``tf.contrib.autograph.stack`` of tensor lists, as TensorFlow 1.15 has it."""

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make


def test_a_tensor_list_is_stacked():
    values = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
    with tf.Graph().as_default(), tf.Session() as sess:
        made = make("TensorListFromTensor", tf.constant(values), [2])
        stacked = tf.contrib.autograph.stack(made, element_dtype=tf.float32)
        assert stacked.op.type == "TensorListStack"
        np.testing.assert_array_equal(sess.run(stacked), values)
        with pytest.raises(ValueError, match="without knowing its element type"):
            tf.contrib.autograph.stack(made)
