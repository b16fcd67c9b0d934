"""Pooling of volumes whose channels come first: TensorFlow 1.15 turns them round."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf


@pytest.mark.parametrize(
    ("name", "pool"),
    [("AvgPool3D", tf.layers.average_pooling3d), ("MaxPool3D", tf.layers.max_pooling3d)],
)
def test_nodes_and_values(name: str, pool) -> None:
    given = np.random.RandomState(0).rand(2, 3, 4, 4, 6).astype(np.float32)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 3, 4, 4, 6])
        first = pool(x, 2, 2, data_format="channels_first")
        types = [op.type for op in graph.get_operations() if op.type != "Const"]
        assert types == ["Placeholder", "Transpose", name, "Transpose"]
        assert first.op.name.endswith("pooling3d/transpose_1")
        assert first.shape == [2, 3, 2, 2, 3]
        last = pool(tf.transpose(x, [0, 2, 3, 4, 1]), 2, 2)
        a, b = session.run([first, last], {x: given})
        np.testing.assert_array_equal(a, b.transpose(0, 4, 1, 2, 3))
