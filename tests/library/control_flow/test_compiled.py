"""``tf.xla.experimental.compile``: what it returns, and what runs with it."""

from typing import Any

import pytest

import penstock as tf
from penstock.foundation.graph import nest

compile_: Any = tf.xla.experimental.compile


def test_outputs_have_the_structure_that_tensorflow_gives_them() -> None:
    x = tf.placeholder(tf.float32, [2])
    found = [
        compile_(lambda x: x + 1.0, [x]),
        compile_(lambda x: (x + 1.0, x * 2.0), [x]),
        compile_(lambda x: {"a": x + 1.0}, [x]),
        compile_(lambda x: [x, (x, x)], [x]),
        compile_(lambda: 3.0),
        compile_(lambda pair: pair["b"] - pair["a"], [{"a": x, "b": 1.0}]),
    ]
    with tf.Session() as session:
        values = session.run(found, {x: [1, 2]})
    as_lists = nest.map_structure(lambda value: value.tolist(), values)
    assert as_lists == [
        [[2, 3]],
        [[2, 3], [2, 4]],
        {"a": [2, 3]},
        [[1, 2], ([1, 2], [1, 2])],
        [3],
        [[0, -1]],
    ]
    assert [compile_(lambda: None).type, compile_(tf.no_op).type] == ["NoOp", "NoOp"]


def test_operations_run_with_every_output() -> None:
    v = tf.Variable(1.0)
    one, _ = compile_(lambda x: (x, x + 1.0, v.assign_add(x).op), [5.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(one) == 5 and session.run(v) == 6


def test_what_cannot_be_compiled_is_refused() -> None:
    with pytest.raises(ValueError, match="zero or more Tensor values followed by"):
        compile_(lambda: (tf.no_op(), tf.ones([2])))
    with pytest.raises(TypeError, match="inputs must be a list"):
        compile_(lambda x: x, tf.ones([2]))
