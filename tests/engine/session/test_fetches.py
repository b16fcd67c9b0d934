"""Fetch plans: what test_session.py does not cover."""

from __future__ import annotations

import collections

import pytest

import penstock as tf
from penstock.engine.session.fetches import (
    FetchPlan,
    fetch_key,
    register_session_run_conversion_functions,
)


def test_a_tensor_fetched_twice_is_one_fetch() -> None:
    c = tf.constant(1.0)
    plan = FetchPlan(tf.get_default_graph(), [c, (c, "Const:0"), c.op, c.op])
    assert plan.tensors == [c] and plan.operations == [c.op]
    assert plan.assemble([5]) == [5, (5, 5), None, None]


def test_empty_nestings_come_back() -> None:
    tf.no_op()
    with tf.Session() as sess:
        assert sess.run([]) == [] and sess.run({}) == {} and sess.run(()) == ()
        assert sess.run({"a": [], "b": ()}) == {"a": [], "b": ()}


def test_dictionaries_keep_kind_and_order() -> None:
    c = tf.constant(1.0)
    with tf.Session() as sess:
        value = sess.run(collections.OrderedDict([("z", c), ("a", c)]))
    assert type(value) is collections.OrderedDict and list(value) == ["z", "a"]


def test_nothing_nested_inside_may_be_none() -> None:
    with tf.Session() as sess, pytest.raises(TypeError, match="None"):
        sess.run([tf.constant(1.0), None])


def test_tensors_may_be_kept_from_being_fetched() -> None:
    c = tf.constant(1.0)
    tf.get_default_graph().prevent_fetching(c.op)
    with tf.Session() as sess, pytest.raises(ValueError, match="may not be fetched"):
        sess.run(c.op)


def test_registered_types_expand_and_contract() -> None:
    class Interval:
        def __init__(self, low: tf.Tensor, high: tf.Tensor) -> None:
            self.ends = [low, high]

    register_session_run_conversion_functions(
        Interval, lambda fetch: (fetch.ends, lambda values: values[1] - values[0])
    )
    with tf.Session() as sess:
        assert sess.run({"d": Interval(tf.constant(2.0), tf.constant(5.0))}) == {"d": 3.0}
    with pytest.raises(ValueError, match="already"):
        register_session_run_conversion_functions(Interval, lambda fetch: ([], None))


def test_keys_tell_nestings_apart() -> None:
    a, b = tf.constant(1.0), tf.constant(2.0)
    assert fetch_key([a, b]) == fetch_key([a, b])
    keys = [[a, b], (a, b), [b, a], [a, [b]], {"a": a, "b": b}, {"a": b, "b": a}]
    assert len({fetch_key(k) for k in keys}) == len(keys)
