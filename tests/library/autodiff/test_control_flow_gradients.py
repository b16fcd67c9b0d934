"""Gradients through conditionals and loops: against differences, and what the graph holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf

X = np.array([0.5, -0.25, 0.75])
W = np.array([0.8, 1.1, -0.6])
STEP = 1e-5


# ---- against differences -----------------------------------------------------------------------


def cond_taken(x: Any, w: Any, n: Any) -> Any:
    return tf.cond(n > 1, lambda: x * x * w, lambda: w)


def cond_of_cond(x: Any, w: Any, n: Any) -> Any:
    return tf.cond(n > 1, lambda: tf.cond(n > 9, lambda: x, lambda: tf.sin(x) * w), lambda: x * 2.0)


def while_power(x: Any, w: Any, n: Any) -> Any:
    return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * a * w), [0, x])[1]


def while_until(x: Any, w: Any, n: Any) -> Any:
    def body(a: Any, b: Any) -> Any:
        return a * 1.5 + w * w, b * a

    return tf.while_loop(lambda a, b: tf.reduce_sum(a) < 30.0, body, [x, w])[1]


def while_in_while(x: Any, w: Any, n: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        b = tf.exp(a * 0.1)
        return i + 1, tf.while_loop(
            lambda j, c: j < i, lambda j, c: (j + 1, tf.sin(c * b) * w), [0, a]
        )[1]

    return tf.while_loop(lambda i, a: i < n, body, [0, x])[1]


def cond_in_while(x: Any, w: Any, n: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * a + x, lambda: tf.sin(a) * w)

    return tf.while_loop(lambda i, a: i < n + 1, body, [0, x])[1]


def while_in_cond(x: Any, w: Any, n: Any) -> Any:
    return tf.cond(n > 1, lambda: while_power(x, w, n), lambda: x)


def gather_in_while(x: Any, w: Any, n: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, a * tf.reduce_sum(tf.gather(x, [i, 0])) + w

    return tf.while_loop(lambda i, a: i < n, body, [0, w])[1]


def gather_in_cond_in_while(x: Any, w: Any, n: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        row = tf.cond(i < 1, lambda: tf.gather(x, [1, 2, 1]), lambda: tf.gather(x, [i]) * 2.0)
        return i + 1, a + tf.reduce_sum(row * row) * w

    return tf.while_loop(lambda i, a: i < n, body, [0, w])[1]


def arrays(x: Any, w: Any, n: Any) -> Any:
    return tf.scan(lambda a, e: tf.sin(a * e) + w, x, initializer=w)


PROGRAMS = [
    cond_taken, cond_of_cond, while_power, while_until, while_in_while, cond_in_while,
    while_in_cond, gather_in_while, gather_in_cond_in_while, arrays,
]  # fmt: skip


def _difference(value: Callable[[dict[str, Any]], float], feeds: dict[str, Any], key: str) -> Any:
    """The derivative of ``value`` in ``feeds[key]`` by central differences."""
    made = np.zeros_like(feeds[key])
    for index in range(made.size):
        moved = []
        for sign in (1, -1):
            other = feeds[key].copy()
            other[index] += sign * STEP
            moved.append(value({**feeds, key: other}))
        made[index] = (moved[0] - moved[1]) / (2 * STEP)
    return made


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_is_what_differences_give(program: Any, known: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        shape = [3] if known else [None]
        x = tf.placeholder(tf.float64, shape, name="x")
        w = tf.placeholder(tf.float64, shape, name="w")
        n = tf.placeholder(tf.int32, [], name="n")
        x.set_shape([None] if not known else [3])
        with _any_shape(known):
            total = tf.reduce_sum(program(x, w, n))
        grads = [tf.convert_to_tensor(g) for g in tf.gradients(total, [x, w])]
        feeds = {"x:0": X, "w:0": W, "n:0": 3}
        found = session.run(grads, feeds)
        for key, grad in zip(("x:0", "w:0"), found, strict=True):
            wanted = _difference(lambda f: session.run(total, f), feeds, key)
            np.testing.assert_allclose(grad, wanted, rtol=1e-5, atol=1e-7, err_msg=key)


class _any_shape:
    """Lets the vectors of a loop be of any length, where theirs is not known."""

    def __init__(self, known: bool) -> None:
        self.known = known

    def __enter__(self) -> None:
        self.loop = tf.while_loop
        if self.known:
            return

        def loosened(cond: Any, body: Any, start: Any) -> Any:
            start = [tf.convert_to_tensor(v) for v in start]
            shapes = [tf.TensorShape([None] * len(v.shape)) for v in start]
            return self.loop(cond, body, start, shape_invariants=shapes)

        tf.while_loop = loosened

    def __exit__(self, *exc: object) -> None:
        tf.while_loop = self.loop


# ---- what the graph holds ----------------------------------------------------------------------


def _types(kind: str) -> list[Any]:
    return [op for op in tf.get_default_graph().get_operations() if op.type == kind]


def _kept() -> list[str]:
    """Types of the nodes whose values the rounds of loops wait to have kept."""
    awaited = {c for op in tf.get_default_graph().get_operations() for c in op.control_inputs}
    return sorted(op.inputs[1].op.type for op in _types("StackPushV2") if op in awaited)


def test_invariants_and_constants_are_not_kept() -> None:
    with tf.Graph().as_default():
        x, w = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        start = [tf.constant(0), x]
        shapes = [tf.TensorShape([]), tf.TensorShape(None)]
        y = tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) * w * 2.0), start, shapes
        )
        tf.gradients(y[1], [x, w])
        # a for the sine, sin(a) for w, and the shapes that broadcasting needs; not w, not the 2.0.
        assert _kept() == ["Identity", "Shape", "Shape", "Sin"]


def test_nothing_is_kept_for_gradients_that_are_not_asked_for() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [3])
        y = tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, tf.identity(a * w) * 2.0), [0, x]
        )
        grad = tf.gradients(y[1], x)
        assert _kept() == []
        assert session.run(grad, {x: X, w: [1, 2, 3]})[0].tolist() == [8, 64, 216]


def test_what_a_loop_keeps_may_be_swapped_when_asked() -> None:
    for asked in (True, False):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [3])
            y = tf.while_loop(
                lambda i, a: i < 3, lambda i, a: (i + 1, a * a), [0, x], swap_memory=asked
            )
            tf.gradients(y[1], x)
            assert [op.get_attr("swap_memory") for op in _types("StackPushV2")] == [asked]


def test_a_branch_keeps_what_it_makes_itself() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])

        def body(i: Any, a: Any) -> Any:
            return i + 1, tf.cond(i < 1, lambda: tf.exp(a), lambda: a)

        y = tf.while_loop(lambda i, a: i < 3, body, [0, x])
        tf.gradients(y[1], x)
        (push,) = [op for op in _types("StackPushV2") if op.inputs[1].op.type == "Exp"]
        assert push._get_control_flow_context().IsCondContext()
        assert push.inputs[0].op.type == "Switch"


def test_each_backward_loop_has_one_condition() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        y = while_in_while(x, x, 3)
        tf.gradients(y, x)
        frames = {op.get_attr("frame_name") for op in _types("Enter")}
        assert len(frames) == len(_types("LoopCond")) == 4


def test_a_loop_without_back_prop_has_no_gradient() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a), [0, x], back_prop=False)
        assert tf.gradients(y[1], x) == [None]


def test_a_gradient_in_the_branch_that_it_is_of_needs_no_other() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        p = tf.placeholder(tf.bool, [])
        tf.cond(p, lambda: tf.gradients(tf.sin(x), x)[0], lambda: x)
        assert len(_types("Merge")) == 1


# ---- errors ------------------------------------------------------------------------------------


def test_gradients_of_a_gradient_loop_are_refused() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        first = tf.gradients(while_power(x, x, 3), x)
        with pytest.raises(TypeError, match="gradients of gradients of tf.while_loop"):
            tf.gradients(first, x)


def test_a_gradient_in_a_body_does_not_reach_what_the_loop_starts_with() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        with pytest.raises(ValueError, match="through the loop variable"):
            tf.while_loop(
                lambda i, a: i < 3, lambda i, a: (i + 1, tf.gradients(a * a, x)[0]), [0, x]
            )


def test_a_loop_of_a_bare_graph_def_has_no_gradient() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3], name="x")
        while_power(x, x, 3)
    with tf.Graph().as_default() as other:
        tf.import_graph_def(graph.as_graph_def(), name="")
        with pytest.raises(ValueError, match="'while/Exit_1' leaves a loop whose context"):
            tf.gradients(
                other.get_tensor_by_name("while/Exit_1:0"), other.get_tensor_by_name("x:0")
            )


def test_through_an_inner_gradient_of_a_scan():
    """TensorFlow 1.15 and 2.21 give other numbers here, which finite differences refute."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = (tf.placeholder(tf.float64, [None]) for _ in range(2))
        start = tf.reduce_sum(x * w) * 0.3
        scanned = tf.identity(tf.scan(lambda a, _: tf.tanh(a * 1.2), x, initializer=start))
        scanned.set_shape(x.shape)
        y = x * 1.5
        inner = tf.tanh(tf.gradients(tf.sin(y) * y * scanned, [y])[0])
        loss = tf.reduce_sum(inner) + start + tf.reduce_sum(x)
        at = [np.array([0.51, -0.18, -0.31]), np.array([0.70, 0.67, 0.57])]
        found = session.run(tf.gradients(loss, [x, w]), dict(zip((x, w), at, strict=True)))
        for which, gradient in enumerate(found):
            for index in range(3):
                step = np.zeros(3)
                step[index] = 1e-6
                ends = []
                for sign in (1, -1):
                    moved = [a + sign * step * (i == which) for i, a in enumerate(at)]
                    ends.append(session.run(loss, dict(zip((x, w), moved, strict=True))))
                np.testing.assert_allclose(gradient[index], (ends[0] - ends[1]) / 2e-6, rtol=1e-6)
