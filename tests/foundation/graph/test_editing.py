"""Nodes that get other inputs: what was inferred and compiled of them is given up."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph import editing


def test_a_session_sees_the_change_and_shapes_follow() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant([1.0, 2.0])
        y = tf.identity(x)
        # Not constants, as those of tf.shape are where a shape is known.
        shape, size = (graph.create_op(kind, [y]).outputs[0] for kind in ("Shape", "Size"))
        assert sess.run([shape, size])[0].tolist() == [2]
        longer = tf.constant([1.0, 2.0, 3.0])
        editing.change_input(y.op, 0, longer)
        assert (y.shape.as_list(), x.consumers(), longer.consumers()) == ([3], [], [y.op])
        found = sess.run([y, shape, size])
        np.testing.assert_array_equal(found[0], [1, 2, 3])
        assert (found[1].tolist(), found[2]) == ([3], 3)


def test_what_was_known_of_a_value_is_forgotten() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        dims = tf.identity(tf.constant([2, 3]))
        filled = tf.fill(dims, 1.0)
        assert filled.shape.as_list() == [2, 3]
        editing.change_input(dims.op, 0, tf.constant([4, 1]))
        assert filled.shape.as_list() == [4, 1]
        assert sess.run(filled).shape == (4, 1)


def test_what_no_longer_fits_fails_when_it_runs() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        y = tf.identity(tf.constant([1.0, 2.0]))
        z = y + tf.constant([1.0, 1.0])
        editing.change_input(y.op, 0, tf.constant([1.0, 2.0, 3.0]))
        assert z.shape.rank is None
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
            sess.run(z)
        editing.change_input(y.op, 0, tf.constant([3.0, 4.0]))
        assert sess.run(z).tolist() == [4.0, 5.0]


def test_cycles_are_refused_when_they_run() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.negative(tf.constant([1.0]), name="a")
        b = tf.exp(a, name="b")
        editing.change_input(a.op, 0, b)
        with pytest.raises(tf.errors.InvalidArgumentError, match="contains a cycle"):
            sess.run(b)


def test_copies_need_no_scopes() -> None:
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"):
            x = tf.negative(tf.constant(1.0), name="x")
        with tf.device("/cpu:1"), tf.name_scope("s"), tf.control_dependencies([x]):
            made = editing.copy_node(x.op, graph, "y", x.op.inputs, [x.op])
        assert (made.name, made.device, made.control_inputs) == ("y", "/device:CPU:0", (x.op,))
        with pytest.raises(ValueError, match="already used"):
            editing.copy_node(x.op, graph, "y", x.op.inputs)
        graph.finalize()
        with pytest.raises(RuntimeError, match="Graph is finalized"):
            editing.copy_node(x.op, graph, "z", x.op.inputs)
