"""The first-NaN report: what it names, for the ways in which training goes wrong."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import numpy as np
import pytest

import penstock as tf
from penstock.engine.session.session import BaseSession
from penstock.tools.debug.check_numerics import check_numerics_session
from penstock.tools.debug.ranges import range_of


@pytest.fixture(autouse=True)
def checking() -> Iterator[None]:
    with tf.Graph().as_default():
        tf.debugging.enable_check_numerics()
        try:
            yield
        finally:
            tf.debugging.disable_check_numerics()


def report(fetches, feeds=None) -> str:
    """The report of a step, in a new session with all variables initialized."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return report_of(sess, fetches, feeds)


def report_of(sess, fetches, feeds=None) -> str:
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        sess.run(fetches, feeds)
    return raised.value.message


def here(offset: int = 0) -> str:
    """``file:line`` of the calling line, as reports show it."""
    frame = inspect.currentframe().f_back
    return f"{__file__}:{frame.f_lineno + offset}, in {frame.f_code.co_name}"


def test_log_of_zero_names_node_numbers_ranges_and_line() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.name_scope("loss"):
        bad = tf.log(tf.nn.relu(x), name="entropy")
        line = here(-1)
    text = report(bad, {x: [[0.5, -1.0], [0.0, 2.0]]})
    assert "first NaN or Inf of this step: Log 'loss/entropy' made it, output 0" in text
    assert "float32[2, 2], 0 NaN, 0 +Inf and 2 -Inf of 4 elements" in text
    assert "the finite ones from -0.693147 to 0.693147" in text
    assert "  loss/Relu:0: float32[2, 2], from 0 to 2, all finite" in text
    assert f"made at {line}" in text and "bad = tf.log(tf.nn.relu(x)" in text
    assert "to begin with" not in text


def test_the_error_has_the_users_node() -> None:
    bad = tf.sqrt(tf.constant([-1.0, 4.0]), name="root")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as raised:
        sess.run(bad)
    assert raised.value.op is bad.op
    assert "1 NaN, 0 +Inf and 0 -Inf of 2 elements; the finite ones from 2 to 2" in str(
        raised.value
    )
    assert "Const:0 (a constant): float32[2], from -1 to 4, all finite" in str(raised.value)


def test_zero_by_zero_in_a_gradient_names_the_gradient_and_the_forward_node() -> None:
    v = tf.get_variable("v", initializer=[0.0, 3.0])
    norm = tf.sqrt(tf.square(v), name="norm")
    forward = here(-1)
    grad = tf.gradients(norm, v)
    backward = here(-1)
    text = report(grad)
    assert "SqrtGrad 'gradients/norm_grad/SqrtGrad' made it" in text
    assert "0 NaN, 1 +Inf and 0 -Inf of 2 elements" in text
    assert "norm:0: float32[2], from 0 to 3, all finite" in text
    assert f"made at {backward}" in text
    assert f"for Sqrt 'norm', made at {forward}" in text


def test_nan_from_a_division_of_zeros() -> None:
    x = tf.placeholder(tf.float64, [3], name="x")
    text = report(tf.divide(x, tf.reduce_sum(x), name="share"), {x: [0.0, 0.0, 0.0]})
    assert "RealDiv 'share' made it" in text and "3 NaN, 0 +Inf and 0 -Inf of 3 elements" in text
    assert "none is finite" in text
    assert "x:0 (fed): float64[3], from 0 to 0, all finite" in text


@pytest.mark.parametrize("resource", [False, True])
def test_exploding_training_stops_at_the_step_that_overflows(resource: bool) -> None:
    w = tf.get_variable("w", initializer=[1.0, 1.0], use_resource=resource)
    loss = tf.reduce_sum(w**4)
    train = tf.train.GradientDescentOptimizer(10.0).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            for _ in range(50):
                sess.run([train, loss])
        assert np.isfinite(sess.run(w)).all(), "the step stopped before the update"
    assert "Pow 'pow' made it" in raised.value.message
    assert re.search(r"float32\[2\], from -\d\.\d+e\+\d+ to .*, all finite", raised.value.message)
    assert "loss = tf.reduce_sum(w**4)" in raised.value.message


@pytest.mark.parametrize("resource", [False, True])
def test_an_overflow_inside_an_update_names_the_variable(resource: bool) -> None:
    w = tf.get_variable("w", initializer=[1e38, 3e38], use_resource=resource)
    grad = tf.constant([1.0, -3e38], name="grad")
    train = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(grad, w)])
    line = here(-1)
    text = report(train)
    kind = "ResourceApplyGradientDescent" if resource else "ApplyGradientDescent"
    assert f"{kind} 'GradientDescent/update_w/{kind}' made it" in text
    assert "0 NaN, 1 +Inf and 0 -Inf of 2 elements" in text
    assert "variable w: float32[2], from 1e+38 to 3e+38, all finite" in text
    assert "grad:0 (a constant): float32[2], from -3e+38 to 1, all finite" in text
    assert ("(variable w)" in text) != resource and (
        "variable w, which it updates" in text
    ) == resource
    assert line.partition(":")[0] in text


def test_a_fed_nan_is_traced_back_through_what_only_moves_elements() -> None:
    x = tf.placeholder(tf.float32, [4], name="x")
    square = tf.transpose(tf.reshape(x, [2, 2]))
    text = report(tf.matmul(square, tf.ones([2, 3]), name="mm"), {x: [1.0, 2.0, np.nan, 4.0]})
    assert "MatMul 'mm' computed with one that was there, output 0: float32[2, 3]" in text
    assert "transpose:0: float32[2, 2], 1 NaN, 0 +Inf and 0 -Inf of 4 elements" in text
    path = "mm <- transpose:0 <- Reshape:0 <- x:0 (fed)"
    assert f"x:0 (fed) was not finite to begin with: {path}" in text


@pytest.mark.parametrize("resource", [False, True])
def test_a_nan_in_a_variable_names_the_variable(resource: bool) -> None:
    start = tf.constant([1.0, np.inf, np.nan])
    w = tf.get_variable("w", initializer=start, use_resource=resource)
    text = report(tf.multiply(w, 2.0, name="twice"))
    assert "Mul 'twice' computed with one that was there" in text
    assert "1 NaN, 1 +Inf and 0 -Inf of 3 elements; the finite ones from 1 to 1" in text
    assert "variable w was not finite to begin with: twice <- " in text


def test_a_variable_given_nan_in_the_same_step_is_not_called_bad_from_the_start() -> None:
    w = tf.get_variable("w", initializer=[1.0])
    x = tf.placeholder(tf.float32, [1])
    with tf.control_dependencies([w.assign(x)]):
        y = tf.add(w, 1.0, name="after")
    text = report(y, {x: [np.nan]})
    assert "Add" in text and "'after'" in text
    assert "variable w was given such a value in this step" in text


def test_updates_before_the_failing_node_have_happened() -> None:
    w = tf.get_variable("w", initializer=1.0)
    with tf.control_dependencies([w.assign_add(1.0)]):
        bad = tf.log(tf.constant(0.0))
    with tf.Session() as sess:
        sess.run(w.initializer)
        report_of(sess, bad)
        assert sess.run(w) == 2.0


def test_long_paths_are_cut() -> None:
    tf.debugging.enable_check_numerics(path_length_limit=4)
    x = tf.placeholder(tf.float32, [1], name="x")
    moved = x
    for _ in range(10):
        moved = tf.identity(moved)
    text = report(tf.exp(moved, name="e"), {x: [np.nan]})
    assert "e <- Identity_9:0 <- Identity_8:0 <- (8 more) <- x:0 (fed)" in text


def test_steps_without_nan_give_what_they_give_unchecked() -> None:
    w = tf.get_variable("w", initializer=[1.0, 2.0])
    x = tf.placeholder(tf.float32, [None])
    halves, text = tf.split(w * x, 2), tf.constant(["a"])
    optimizer = tf.train.AdamOptimizer()
    fetches = {"halves": halves, "text": text, "train": optimizer.minimize(tf.reduce_sum(w * w))}

    def result():
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return sess.run(fetches, {x: [3.0]}), sess.run(w)

    checked, moved = result()
    tf.debugging.disable_check_numerics()
    plain, moved_plain = result()
    np.testing.assert_array_equal(checked["halves"], plain["halves"])
    assert checked["text"].tolist() == plain["text"].tolist() == [b"a"]
    assert checked["train"] is None
    np.testing.assert_allclose(moved, moved_plain, rtol=1e-6)


def test_a_nan_that_nothing_computes_with_is_no_error() -> None:
    x = tf.placeholder(tf.float32, [2])
    mask = tf.is_nan(x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        clean, moved = sess.run([tf.where(mask, tf.zeros([2]), x), x[1:]], {x: [1.0, np.nan]})
    assert clean.tolist() == [1.0, 0.0] and np.isnan(moved).all()


def test_callables_are_checked_and_other_errors_stay_as_they_are() -> None:
    x = tf.placeholder(tf.float32, [None])
    with tf.Session() as sess:
        log = sess.make_callable(tf.log(x), [x])
        with pytest.raises(tf.errors.InvalidArgumentError, match="first NaN or Inf"):
            log([0.0])
        w = tf.get_variable("w", initializer=1.0)
        with pytest.raises(tf.errors.FailedPreconditionError, match="w"):
            sess.run(w + 1.0)


def test_switching_off_and_one_session_only() -> None:
    tf.debugging.disable_check_numerics()
    assert BaseSession.inspect is None
    bad = tf.log(tf.constant(0.0))
    with tf.Session() as one, tf.Session() as other:
        assert np.isinf(one.run(bad))
        with check_numerics_session(one):
            with pytest.raises(tf.errors.InvalidArgumentError):
                one.run(bad)
            assert np.isinf(other.run(bad))
        assert np.isinf(one.run(bad))


@pytest.mark.parametrize("limits", [{"stack_height_limit": 0}, {"path_length_limit": 1}])
def test_limits_must_leave_something(limits) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        tf.debugging.enable_check_numerics(**limits)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_ranges_of_every_floating_dtype(dtype: str) -> None:
    import torch

    value = torch.tensor([1.0, float("nan"), float("inf"), -2.0, float("-inf")])
    found = range_of(value.to(getattr(torch, dtype)))
    assert (found.nans, found.positive, found.negative) == (1, 1, 1)
    assert (found.low, found.high) == (-2.0, 1.0)
    assert not found.finite
    fine = range_of(torch.tensor([3.0, -1.0]).to(getattr(torch, dtype)))
    assert fine.finite and (fine.low, fine.high) == (-1.0, 3.0)


def test_ranges_of_other_values() -> None:
    import torch

    assert str(range_of(torch.zeros(0, 3))) == "float32[0, 3], no elements"
    assert str(range_of(torch.tensor([3, -1]))) == "int64[2], from -1 to 3"
    assert range_of(torch.tensor([True])).low is None
    assert range_of(np.array([b"x"], object)) is None
