"""What a converted function still knows: its own name, the names around it."""

from __future__ import annotations

from typing import Any

import penstock as tf


def total(value: Any) -> Any:
    """Calls itself by its global name."""
    if isinstance(value, tuple):
        return sum(total(part) for part in value)
    return value


def test_a_function_of_a_module_calls_itself() -> None:
    converted = tf.autograph.to_graph(total)
    assert converted((1, (2, 3))) == 6
    assert (converted.__name__, converted.__code__.co_name) == ("total", "total")


def test_an_inner_function_calls_itself() -> None:
    def halvings(x: Any, count: int) -> Any:
        if count == 0:
            return x
        return halvings(x if x < 1.0 else x / 2.0, count - 1)

    x = tf.placeholder(tf.float32, [])
    halved = tf.autograph.to_graph(halvings)(x, 3)
    with tf.Session() as sess:
        assert [sess.run(halved, {x: value}) for value in (0.5, 6.0, 80.0)] == [0.5, 0.75, 10.0]
