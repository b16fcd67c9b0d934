"""Blocks of control dependencies: what they take, in which order they are left."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf


@pytest.mark.parametrize("first", [None, []])
def test_blocks_are_left_in_the_reverse_order(first: Any) -> None:
    outer, inner = tf.control_dependencies(first), tf.control_dependencies([])
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(AssertionError, match="reverse"):
        outer.__exit__(None, None, None)


def test_a_block_may_be_entered_again() -> None:
    first = tf.constant(1)
    block = tf.control_dependencies([first])
    for _ in range(2):
        with block:
            node = tf.constant(2).op
        assert node.control_inputs == (first.op,)
    assert tf.constant(3).op.control_inputs == ()


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ([5], TypeError),
        (["nothing of this name"], KeyError),
        (5, TypeError),
        (lambda: None, TypeError),
    ],
)
def test_what_is_no_node_is_refused_where_it_is_given(asked: Any, error: type) -> None:
    with pytest.raises(error):
        tf.control_dependencies(asked)


def test_an_inner_block_of_none_clears_the_outer_ones() -> None:
    with tf.control_dependencies([tf.constant(1)]), tf.control_dependencies(None):
        node = tf.constant(2).op
    assert node.control_inputs == ()
