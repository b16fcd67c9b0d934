"""Each rule of ``simplify.RULES``: it fires in the default pipeline, and only where it may."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.foundation.graph.text import step_text
from tests.compiler.passes.rewriting import agree, rewritten, types

ONES = np.arange(6, dtype=np.float32).reshape(2, 3)


def _x(shape: Any = (2, 3), dtype: Any = tf.float32) -> tf.Tensor:
    return tf.placeholder(dtype, shape, name="x")


# Each row: what the rule removes, as a function of x; after it only Exp is left.
REMOVED = {
    "identity": tf.identity,
    "stop_gradient": tf.stop_gradient,
    "same cast": lambda x: make("Cast", x, DstT=tf.float32),
    "same reshape": lambda x: tf.reshape(x, [2, 3]),
    "reshape there and back": lambda x: tf.reshape(tf.reshape(x, [6]), [2, 3]),
    "squeeze of expand": lambda x: tf.squeeze(tf.expand_dims(x, 0), [0]),
    "sum over nothing": lambda x: tf.reduce_sum(x, []),
    "mean over nothing": lambda x: tf.reduce_mean(x, []),
    "max over nothing": lambda x: tf.reduce_max(x, []),
    "unit tile": lambda x: tf.tile(x, [1, 1]),
    "times one": lambda x: tf.multiply(x, 1.0),
    "one times": lambda x: tf.multiply(1.0, x),
    "times ones": lambda x: tf.multiply(x, tf.ones([1, 1])),
    "over one": lambda x: tf.realdiv(x, 1.0),
    "sum of one": lambda x: tf.add_n([tf.identity(x)]),
    "plus zero": lambda x: tf.add(x, 0.0),
    "zeros plus": lambda x: tf.add(tf.zeros([2, 3]), x),
    "minus zeros": lambda x: tf.subtract(x, tf.zeros([3])),
    "sum over one": lambda x: tf.reduce_sum(tf.expand_dims(x, 1), 1),
    "max over ones, kept": lambda x: tf.squeeze(
        tf.reduce_max(tf.reshape(x, [1, 2, 1, 3]), [0, 2], keepdims=True)
    ),
    "mean over one, from the end": lambda x: tf.reduce_mean(tf.expand_dims(x, 2), -1),
    "stack of one": lambda x: tf.squeeze(make("Pack", [x], axis=1), [1]),
    "transposes of dims of one": lambda x: tf.squeeze(
        tf.transpose(tf.expand_dims(x, 0), [1, 0, 2]), [1]
    ),
}


@pytest.mark.parametrize("name", REMOVED)
def test_nodes_that_do_nothing_go(name: str) -> None:
    x = _x()
    y = tf.exp(REMOVED[name](x))
    assert types(rewritten([y], [x])) == ["Exp"]
    agree([y], {x: ONES})


# Each row looks like one above, and does something after all.
KEPT = {
    "ones that broadcast": (lambda x: tf.multiply(x, tf.ones([4, 2, 3])), "Mul"),
    "one over": (lambda x: tf.realdiv(1.0, tf.add(x, 1.0)), "RealDiv"),
    "a real cast": (lambda x: tf.cast(x, tf.float64), "Cast"),
    "another reshape": (lambda x: tf.reshape(x, [3, 2]), "Reshape"),
    "a real tile": (lambda x: tf.tile(x, [1, 2]), "Tile"),
    "a real sum": (lambda x: tf.reduce_sum(x, [1]), "Sum"),
    "zero minus": (lambda x: tf.subtract(0.0, x), "Sub"),
    "zeros that broadcast": (lambda x: tf.add(x, tf.zeros([4, 2, 3])), "Add"),
    "a stack of two": (lambda x: tf.stack([x, x]), "Pack"),
    "a real transpose": (lambda x: tf.transpose(x), "Transpose"),
}


@pytest.mark.parametrize("name", KEPT)
def test_nodes_that_do_something_stay(name: str) -> None:
    x = _x()
    function, op_type = KEPT[name]
    y = function(x)
    assert op_type in types(rewritten([y], [x]))
    agree([y], {x: ONES})


def test_reshapes_of_unknown_shape_stay() -> None:
    x = _x(None)
    y = tf.reshape(x, [2, 3])
    assert types(rewritten([y], [x])) == ["Reshape"]
    rows = _x([None, None])
    assert types(rewritten([tf.reshape(rows, tf.shape(rows))], [rows])) == ["Shape", "Reshape"]


def test_zeros_may_broadcast_dims_that_are_not_known() -> None:
    x = _x([None, 3])
    y = tf.exp(tf.add(x, tf.zeros([2, 3])))
    assert types(rewritten([y], [x])) == ["Add", "Exp"]
    assert agree([y], {x: ONES[:1]})[0].shape == (2, 3)
    assert types(rewritten([y], [x], shapes=[(2, 3)])) == ["Exp"]


def test_a_square_of_what_differs_from_zero() -> None:
    x = _x()
    for y in (tf.squared_difference(x, 0.0), tf.squared_difference(tf.zeros([3]), x)):
        assert types(rewritten([y], [x])) == ["Square"]
        agree([y], {x: ONES})


def test_a_transpose_between_reshapes_moves_no_dims_of_one() -> None:
    """As a solve for a batch of right-hand sides makes them."""
    x = _x()
    moved = tf.transpose(tf.expand_dims(x, -1), [1, 0, 2])
    y = tf.exp(tf.reshape(moved, [3, 2]))
    assert types(rewritten([y], [x])) == ["Transpose", "Exp"]
    back = tf.squeeze(tf.transpose(tf.reshape(y, [3, 2, 1]), [1, 0, 2]), [-1])
    assert types(rewritten([back], [x])) == ["Transpose", "Exp", "Transpose"]
    agree([y, back, moved], {x: ONES})
    deep = _x([1, 2, 1, 3, 4])
    turned = tf.transpose(tf.reshape(deep, [2, 1, 3, 1, 4]), [3, 4, 1, 0, 2])
    assert types(rewritten([turned], [deep])) == ["Reshape", "Transpose", "Reshape"]
    agree([turned], {deep: np.arange(24, dtype=np.float32).reshape(1, 2, 1, 3, 4)})


def test_a_choice_by_a_tiled_condition_broadcasts_it() -> None:
    x = _x()
    rows = tf.greater(x[:, :1], 1.0)
    y = tf.where(tf.tile(rows, [1, 3]), x, tf.negative(x))
    assert types(rewritten([y], [x])) == ["StridedSlice", "Greater", "Neg", "SelectV2"]
    agree([y], {x: ONES})
    repeated = tf.tile(tf.greater(x[:1], 1.0), [2, 1])
    agree([tf.where(repeated, x, tf.negative(x))], {x: ONES})
    halves = _x([2, 4])
    z = tf.where(tf.tile(tf.greater(halves[:, :2], 1.0), [1, 2]), halves, tf.negative(halves))
    assert "Tile" in types(rewritten([z], [halves]))
    agree([z], {halves: np.arange(8, dtype=np.float32).reshape(2, 4)})


def test_integers_are_not_divided_away() -> None:
    x = _x([2], tf.int32)
    y = tf.multiply(x, 1)
    assert types(rewritten([y], [x])) == ["Mul"]


def test_control_inputs_hold_a_node_in_place() -> None:
    x, v = _x(), tf.Variable(0.0)
    for build in REMOVED.values():
        with tf.control_dependencies([tf.assign_add(v, 1.0).op]):
            y = build(x)
        assert "AssignAdd" in types(rewritten([y], [x]))
        assert agree([y], {x: ONES}, [v])[-1] == 1.0


def test_controls_of_nodes_without_effect_are_cut() -> None:
    x, v = _x([]), tf.Variable(0.0, name="v")
    idle = tf.exp(x, name="idle")
    with tf.control_dependencies([idle]):
        y = tf.sin(x, name="y")
    assert types(rewritten([y], [x])) == ["Sin"]
    with tf.control_dependencies([tf.assign(v, x).op]):
        z = tf.sin(x, name="z")
    assert types(rewritten([z], [x])) == ["Assign", "Sin"]


def test_sums_to_an_operands_shape() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    b = tf.placeholder(tf.float32, [None], name="b")
    (grad,) = tf.gradients(tf.reduce_sum(tf.square(tf.add(x, b))), b)
    feed = {x: ONES, b: np.ones(3, np.float32)}
    assert "_SumToShape" in types(rewritten([grad], [x, b]))
    # With all shapes known the axes fold, and what is left is a plain sum.
    known = types(rewritten([grad], [x, b], shapes=[(2, 3), (3,)]))
    assert "_SumToShape" not in known and known[-1] == "Sum"
    agree([grad], feed)
    agree([grad], {x: ONES, b: np.ones(1, np.float32)})


def test_a_read_of_a_variable_does_not_move_past_a_write() -> None:
    for read in (lambda v: tf.multiply(v, 1.0), lambda v: tf.reshape(v, [2])):
        v = tf.Variable([1.0, 2.0])
        old = read(v._ref())
        with tf.control_dependencies([old]):
            write = tf.assign(v, [5.0, 5.0])
        with tf.control_dependencies([write]):
            zero = tf.zeros([2])
        y = tf.add(old, zero)
        assert agree([y], variables=[v])[0].tolist() == [1.0, 2.0]


def test_golden_text() -> None:
    x = _x()
    y = tf.multiply(tf.reshape(tf.identity(x, name="i"), [2, 3]), 1.0, name="m")
    assert step_text(rewritten([tf.exp(y, name="y")], [x])) == (
        "_feed/x: float32(2, 3) = _Feed() {dtype=float32, shape=(2, 3), index=0}\n"
        "y: float32(2, 3) = Exp(_feed/x)\n"
        "fetch y\n"
    )
