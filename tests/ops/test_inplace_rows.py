"""``inplace_ops``: rows changed by number, names of nodes and values as of TensorFlow 1.15."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.python.ops import inplace_ops

X = [[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]]


@pytest.mark.parametrize(
    ("function", "at_one", "at_two", "of_all"),
    [
        ("update", [10, 20, 1, 2, 50, 60], [1, 2, 30, 40, 3, 4], [1, 2, 3, 4, 5, 6]),
        ("add", [10, 20, 31, 42, 50, 60], [11, 22, 30, 40, 53, 64], [11, 22, 33, 44, 55, 66]),
        ("sub", [10, 20, 29, 38, 50, 60], [9, 18, 30, 40, 47, 56], [9, 18, 27, 36, 45, 54]),
    ],
)
def test_rows_are_changed_and_the_tensor_is_not(
    function: str, at_one: list[float], at_two: list[float], of_all: list[float]
) -> None:
    rows = [[1.0, 2.0], [3.0, 4.0]]
    for prefix in ("alias_inplace_", "inplace_"):
        change = getattr(inplace_ops, prefix + function)
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [3, 2])
            changed = [
                change(x, 1, rows[0]),
                change(x, [0, 2], rows),
                change(x, None, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
                x,
            ]
            found = sess.run(changed, {x: X})
        for value, expected in zip(found, [at_one, at_two, of_all, np.ravel(X)], strict=True):
            assert value.shape == (3, 2)
            assert value.ravel().tolist() == list(expected)


def test_nodes_are_named_as_in_tensorflow() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3, 2])
        inplace_ops.alias_inplace_update(x, 1, [1.0, 2.0])
        inplace_ops.inplace_add(x, [1], [[1.0, 2.0]])
        names = [op.name for op in graph.get_operations()]
    assert names == [
        "Placeholder", "Const", "Cast/x", "Reshape/shape", "Reshape", "ExpandDims/dim",
        "ExpandDims", "InplaceUpdate", "DeepCopy", "Const_1", "Cast_1/x", "InplaceAdd",
    ]  # fmt: skip


def test_empty_is_zeros_where_asked() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        like = inplace_ops.empty_like(tf.ones([2, 3]), init=True)
        made = inplace_ops.empty([2], tf.int32, True)
        assert sess.run(made).tolist() == [0, 0] and not sess.run(like).any()
        assert like.dtype == tf.float32 and like.shape == [2, 3]
