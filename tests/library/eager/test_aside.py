"""``eager_mode``: operations that run at once, within a program of graphs."""

from __future__ import annotations

import penstock as tf
from penstock.python.eager import context


def test_a_block_of_a_program_of_graphs() -> None:
    with tf.Graph().as_default():
        with context.eager_mode():
            assert tf.executing_eagerly()
            kept = tf.Variable([1.0])
            assert (tf.constant([1.0, 2.0]) * 2 + kept).numpy().tolist() == [3.0, 5.0]
        assert not tf.executing_eagerly()
        assert tf.constant(1.0).op.type == "Const"
        with context.eager_mode():
            assert kept.numpy().tolist() == [1.0]
