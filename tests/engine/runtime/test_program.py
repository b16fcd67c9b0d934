"""Programs at run time: failures become errors that name node, operands and the user's line."""

from __future__ import annotations

import gc
import linecache
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.engine.runtime import program
from penstock.engine.runtime.failures import error_class


def _failing() -> tuple[Any, Any, Any]:
    a = tf.placeholder(tf.float32, [None, None], name="a")
    b = tf.placeholder(tf.float32, [None, None], name="b")
    return a, b, tf.matmul(tf.exp(a), b, name="product")  # the user's line


def test_the_message_has_node_operands_and_the_users_line() -> None:
    a, b, c = _failing()
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as info:
        sess.run(c, {a: np.ones((2, 3)), b: np.ones((4, 5))})
    text = info.value.message
    assert "MatMul 'product'" in text
    assert "float32[2, 3]" in text and "b:0 float32[4, 5]" in text
    assert "test_program.py" in text and "the user's line" in text
    assert info.value.op is c.op and info.value.node_def is None
    # ATen's own complaint has been put into TensorFlow's words.
    assert "mat1" not in text and "inner dims" in text


def test_the_session_survives_and_holds_nothing_of_the_failed_step() -> None:
    a, b, c = _failing()
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(c, {a: np.ones((2, 3)), b: np.ones((4, 5))})
            assert sess.run(c, {a: np.zeros((1, 1)), b: np.ones((1, 1))}) == [[1.0]]


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (MemoryError(), tf.errors.ResourceExhaustedError),
        (RuntimeError("CUDA out of memory"), tf.errors.ResourceExhaustedError),
        (NotImplementedError(), tf.errors.UnimplementedError),
        (RuntimeError("bad"), tf.errors.InvalidArgumentError),
        (IndexError("bad"), tf.errors.InvalidArgumentError),
        (ZeroDivisionError(), tf.errors.InvalidArgumentError),
        (KeyError("odd"), tf.errors.UnknownError),
        (tf.errors.OutOfRangeError(None, None, "end"), tf.errors.OutOfRangeError),
        (KeyboardInterrupt(), tf.errors.OpError),
    ],
)
def test_which_error_an_exception_means(raised: BaseException, kind: type[Exception]) -> None:
    assert error_class(raised) is kind


def test_errors_of_kernels_keep_their_class() -> None:
    v = tf.Variable(3, name="count")
    with tf.Session() as sess:
        sess.run(v.initializer)
        with pytest.raises(tf.errors.OutOfRangeError, match="limit of 3"):
            sess.run(tf.count_up_to(v, 3))


def test_uninitialized_variables_are_named_where_they_are_read() -> None:
    v = tf.Variable(1.0, name="weights")
    y = tf.exp(v, name="y")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="'weights'.*weights/Assign"):
            sess.run(y)
        with pytest.raises(tf.errors.FailedPreconditionError, match="weights"):
            sess.run(tf.assign_add(v, 1.0))


def test_the_text_is_in_linecache_while_the_program_lives() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    sess = tf.Session()
    sess.run(tf.exp(x, name="grown"), {x: [0, 0]})
    (program,) = sess._programs.values()
    assert any("# grown" in line for line in linecache.getlines(program.filename))
    filename = program.filename
    sess.close()
    del program, sess
    gc.collect()
    with tf.Session() as other:
        other.run(tf.log(x), {x: [1, 1]})
    assert filename not in linecache.cache


def test_equal_texts_are_compiled_once_and_stay_programs_of_their_own() -> None:
    compiled = program._compiled.cache_info().misses
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.int32, [2], "only_here")
            asked = tf.floordiv(x, tf.placeholder(tf.int32, [2], "by"), "divided_here")
            with pytest.raises(tf.errors.InvalidArgumentError, match="divided_here"):
                session.run(asked, {x: [1, 2], "by:0": [0, 1]})
    assert program._compiled.cache_info().misses == compiled + 1


def test_a_program_may_end_while_linecache_is_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = tf.placeholder(tf.float32, [2])
    sess = tf.Session()
    sess.run(tf.exp(x), {x: [0, 0]})
    sessions = [sess]
    del sess

    class Ending(dict):
        def keys(self):
            found = list(super().keys())
            sessions.pop().close()
            gc.collect()
            return found

    monkeypatch.setattr(linecache, "cache", Ending(linecache.cache))
    linecache.checkcache()
    assert not sessions


def test_an_exception_from_elsewhere_is_not_ours() -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as sess:
        sess.run(tf.exp(x), {x: [0, 0]})
        (program,) = sess._programs.values()
    assert program.error(ValueError("elsewhere")) is None
