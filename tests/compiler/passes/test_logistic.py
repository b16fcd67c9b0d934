"""The logistic loss and its gradient: recognized in the default pipeline, and only they."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.text import step_text
from tests.compiler.passes.rewriting import agree, rewritten, types

LOSS, GRADIENT = "_SigmoidXent", "_SigmoidXentGrad"
LOGITS = np.array([-1e4, -100.0, -1.0, -1e-6, 0.0, 1e-6, 1.0, 100.0, 1e4])
LABELS = np.array([0.0, 0.25, 1.0])


def _inputs(dtype: Any = tf.float32, shape: Any = (9, 3)) -> tuple[Any, Any, dict[Any, Any]]:
    """Logits and labels: placeholders, fed with every pair of the values above."""
    x = tf.placeholder(dtype, shape, name="x")
    z = tf.placeholder(dtype, shape, name="z")
    pairs = np.broadcast_arrays(LOGITS[:, None], LABELS)
    return x, z, dict(zip((x, z), (p.astype(dtype.as_numpy_dtype) for p in pairs), strict=True))


def _loss(x: Any, z: Any, name: str | None = None) -> Any:
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x, name=name)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_the_loss_is_one_node(dtype: Any) -> None:
    x, z, feed = _inputs(dtype)
    y = _loss(x, z)
    assert types(rewritten([y], feed)) == [LOSS]
    found = agree([y], feed)[0]
    exact = np.maximum(LOGITS, 0)[:, None] - LOGITS[:, None] * LABELS
    exact = exact + np.log1p(np.exp(-np.abs(LOGITS)))[:, None]
    # A float32 below 1e-38 has few digits.
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-40)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_its_gradient_is_one_node(dtype: Any) -> None:
    x, z, feed = _inputs(dtype)
    y = _loss(x, z)
    incoming = tf.placeholder(dtype, (9, 3))
    (grad,) = tf.gradients(y, x, grad_ys=incoming)
    feed[incoming] = np.linspace(-2, 3, 27).reshape(9, 3)
    assert types(rewritten([grad], feed)) == [GRADIENT]
    assert types(rewritten([y, grad], feed)) == [LOSS, GRADIENT]
    found = agree([y, grad], feed)[1]
    sigmoid = np.exp(-np.logaddexp(0, -LOGITS))[:, None]
    np.testing.assert_allclose(found, (sigmoid - LABELS) * feed[incoming], rtol=1e-6, atol=1e-7)


def test_golden_text_of_the_loss_and_its_gradient() -> None:
    x, z, _ = _inputs(shape=(2, 3))
    g = tf.placeholder(tf.float32, (2, 3), name="g")
    y = _loss(x, z, name="loss")
    (grad,) = tf.gradients(y, x, grad_ys=g)
    assert step_text(rewritten([y, grad], [x, z, g])) == (
        "_feed/x: float32(2, 3) = _Feed() {dtype=float32, shape=(2, 3), index=0}\n"
        "_feed/z: float32(2, 3) = _Feed() {dtype=float32, shape=(2, 3), index=1}\n"
        "_feed/g: float32(2, 3) = _Feed() {dtype=float32, shape=(2, 3), index=2}\n"
        "loss: float32(2, 3) = _SigmoidXent(_feed/x, _feed/z)\n"
        "gradients/AddN: float32(2, 3) = _SigmoidXentGrad(_feed/g, _feed/x, _feed/z)\n"
        "fetch loss, gradients/AddN\n"
    )


def test_training_with_it() -> None:
    w = tf.Variable(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))
    x = tf.placeholder(tf.float32, [4, 2])
    logits = tf.matmul(x, w)
    loss = tf.reduce_mean(_loss(logits, tf.ones([4, 3])))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    found = types(rewritten([loss], [x], [train]))
    assert LOSS in found and GRADIENT in found and "Select" not in found
    agree([loss, train], {x: np.arange(8).reshape(4, 2)}, [w])


def test_open_shapes_are_recognized_once_they_are_known() -> None:
    x, z, feed = _inputs(shape=(None, 3))
    y = _loss(x, z)
    (grad,) = tf.gradients(y, x)
    found = types(rewritten([y, grad], feed))
    assert LOSS not in found and GRADIENT not in found
    known = types(rewritten([y, grad], feed, shapes=[(9, 3), (9, 3)]))
    assert LOSS in known and GRADIENT in known and "Log1p" not in known
    agree([y, grad], feed)


def test_what_lies_between_can_be_fetched() -> None:
    x, z, feed = _inputs()
    y = _loss(x, z)
    (exponential,) = (op for op in tf.get_default_graph().get_operations() if op.type == "Exp")
    step = rewritten([y, exponential.outputs[0]], feed)
    assert types(step)[-1] == LOSS and "Exp" in types(step) and "Log1p" not in types(step)
    agree([y, exponential.outputs[0], *tf.gradients(y, x)], feed)


def test_the_gradient_of_the_labels_is_left() -> None:
    x, z, feed = _inputs()
    (grad,) = tf.gradients(_loss(x, z), z)
    assert GRADIENT not in types(rewritten([grad], feed))
    agree([grad], feed)


def _written_out(
    x: Any, z: Any, condition: Any = tf.greater_equal, bound: Any = tf.zeros_like, other: Any = None
) -> Any:
    """The loss as its composite function writes it, with one part exchanged."""
    positive = condition(x, bound(x))
    clipped = tf.where(positive, x, tf.zeros_like(x))
    below = tf.where(positive, -x, x if other is None else other)
    return tf.add(clipped - x * z, tf.log1p(tf.exp(below)))


def _another_condition(x: Any, z: Any) -> Any:
    return _written_out(x, z, condition=tf.greater)


def _another_bound(x: Any, z: Any) -> Any:
    return _written_out(x, z, bound=tf.ones_like)


def _another_exponent(x: Any, z: Any) -> Any:
    return _written_out(x, z, other=z)


def _another_sign(x: Any, z: Any) -> Any:
    positive = tf.greater_equal(x, tf.zeros_like(x))
    below = tf.where(positive, -x, x)
    return tf.add(tf.where(positive, x, tf.zeros_like(x)) + x * z, tf.log1p(tf.exp(below)))


def _waiting(x: Any, z: Any) -> Any:
    with tf.control_dependencies([tf.assign_add(tf.Variable(0.0), 1.0)]):
        return _loss(x, z)


def _broadcast(x: Any, z: Any) -> Any:
    return _written_out(x, z[:1])


@pytest.mark.parametrize(
    "build",
    [
        _another_condition, _another_bound, _another_exponent, _another_sign, _waiting, _broadcast,
    ],
)  # fmt: skip
def test_what_is_not_quite_it_stays(build: Callable[[Any, Any], Any]) -> None:
    x, z, feed = _inputs()
    y = build(x, z)
    (grad,) = tf.gradients(y, x)
    found = types(rewritten([y, grad], feed))
    assert LOSS not in found and GRADIENT not in found and "Log1p" in found
    agree([y, grad], {x: np.clip(feed[x], -50, 50), z: feed[z]})


def test_the_same_written_out_by_hand_is_recognized() -> None:
    x, z, feed = _inputs()
    y = _written_out(x, z)
    assert types(rewritten([y], feed)) == [LOSS]
    agree([y], feed)


def test_the_gradient_does_not_read_logits_after_a_write() -> None:
    v = tf.Variable([1.0, -2.0, 3.0])
    y = _loss(v, tf.constant([0.0, 1.0, 1.0]))
    with tf.control_dependencies([y]):
        write = tf.assign(v, tf.zeros([3]))
    with tf.control_dependencies([write]):
        (grad,) = tf.gradients(y, v)
    assert GRADIENT not in types(rewritten([grad], (), [write.op]))
    found = agree([grad, write.op])[0]
    np.testing.assert_allclose(found, [0.731059, -0.880797, -0.047426], rtol=1e-5)
