"""Feeds: what test_session.py does not cover."""

from __future__ import annotations

import collections
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import penstock as tf
from penstock.engine.session.feeds import converter, expand


def test_arrays_of_the_right_type_are_not_copied() -> None:
    convert = converter(tf.placeholder(tf.float32, [None]))
    array = np.ones(3, np.float32)
    assert convert(array).data_ptr() == array.ctypes.data
    tensor = torch.ones(3)
    assert convert(tensor).data_ptr() == tensor.data_ptr()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3, dtype=np.float32)[::-1],
        np.arange(3, dtype=">f4"),
        np.arange(3, dtype=np.float64),
        np.arange(6, dtype=np.float32)[::2],
        np.broadcast_to(np.float32(7), (3,)),
        [0, 1.5, 2],
        np.arange(3, dtype=ml_dtypes.bfloat16),
    ],
    ids=["reversed", "big-endian", "float64", "strided", "broadcast", "list", "bfloat16"],
)
def test_anything_that_numpy_reads(array: Any) -> None:
    fed = converter(tf.placeholder(tf.float32, [3]))(array)
    assert fed.dtype is torch.float32
    np.testing.assert_array_equal(fed.numpy(), np.asarray(array, np.float32))


def test_bfloat16_goes_in_and_out() -> None:
    x = tf.placeholder(tf.bfloat16, [2])
    with tf.Session() as sess:
        value = sess.run(tf.add(x, x), {x: [1.5, 2.0]})
    assert value.dtype == ml_dtypes.bfloat16 and value.tolist() == [3.0, 4.0]


def test_strings_are_bytes() -> None:
    x = tf.placeholder(tf.string, [None])
    with tf.Session() as sess:
        assert sess.run(tf.identity(x), {x: ["ä", b"\xff"]}).tolist() == ["ä".encode(), b"\xff"]
        with pytest.raises(TypeError, match="string"):
            sess.run(tf.identity(x), {x: [3]})
        with pytest.raises(ValueError, match="shape"):
            sess.run(tf.identity(x), {x: [["a"]]})


def test_tensors_with_gradients_are_taken_by_value() -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as sess:
        assert sess.run(tf.exp(x), {x: torch.zeros(2, requires_grad=True)}).tolist() == [1.0, 1.0]


def test_open_dims_are_checked() -> None:
    convert = converter(tf.placeholder(tf.float32, [None, 2], name="x"))
    for bad in (np.ones((3, 3)), np.ones(2), np.ones((1, 1, 2))):
        with pytest.raises(ValueError, match=r"x:0.*\(\?, 2\)"):
            convert(bad)


def test_one_tensor_fed_under_two_keys_is_refused() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with pytest.raises(ValueError, match="fed twice"):
        expand(tf.get_default_graph(), {x: 1.0, "x:0": 2.0})


def test_integers_must_fit() -> None:
    convert = converter(tf.placeholder(tf.uint8, [], name="x"))
    assert convert(255).item() == 255
    for bad in (256, -1):
        with pytest.raises(TypeError, match="x:0"):
            convert(bad)


def test_keys_are_nested_as_one_likes() -> None:
    a, b = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [])
    pair = collections.namedtuple("pair", "first second")
    with tf.Session() as sess:
        one = np.array([1.0, 2.0])
        assert sess.run(a * b, {((a,), b): ((one,), 3)}).tolist() == [3.0, 6.0]
        assert sess.run(a * b, {pair(a, b): pair(one, 4)}).tolist() == [4.0, 8.0]
        assert sess.run(a * b, {(a.name, (b,)): [one, [5]]}).tolist() == [5.0, 10.0]
        call = sess.make_callable(a * b, [(a, b)])
        assert call((one, 6)).tolist() == [6.0, 12.0]
        with pytest.raises(ValueError, match="Key had 2 elements, but value had 3 elements"):
            sess.run(a * b, {(a, b): ([1.0, 2.0], 3)})
        with pytest.raises(ValueError, match="twice"):
            sess.run(a * b, {(a, b): (one, 3), b: 4})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
            sess.run(a * b, {(a, 7): (one, 3)})


def _session(level: int) -> tf.Session:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = level
    return tf.Session(config=config)


@pytest.mark.parametrize("level", [0, -1])
def test_what_waits_for_a_fed_placeholder_waits_for_what_is_fed(level: int) -> None:
    with tf.Graph().as_default(), _session(level) as session:
        fed, v = tf.placeholder(tf.int32, []), tf.Variable(1)
        session.run(tf.global_variables_initializer())
        with tf.control_dependencies([fed]):
            five, added = tf.constant(5), tf.assign_add(v, 1)
        assert session.run(fed * five, {fed: 2}) == 10
        assert [session.run(added, {fed: 2}) for _ in range(2)] == [2, 3]
        with pytest.raises(tf.errors.InvalidArgumentError, match="fed"):
            session.run(fed.op, {fed: 2})


@pytest.mark.parametrize("level", [0, -1])
def test_the_default_of_a_fed_placeholder_is_not_made(level: int) -> None:
    made: list[int] = []
    default = tf.py_func(lambda: made.append(1) or np.int32(4), [], tf.int32)
    default.set_shape([])
    fed = tf.placeholder_with_default(default, [])
    with tf.control_dependencies([fed]):
        five = tf.constant(5) + 0
    with _session(level) as session:
        assert session.run(five, {fed: 2}) == 5
        assert not made
        assert session.run(five) == 5
        assert made == [1]


@pytest.mark.parametrize("level", [0, -1])
@pytest.mark.parametrize("default", [False, True])
def test_branches_and_rounds_wait_for_a_fed_placeholder(level: int, default: bool) -> None:
    fed = tf.placeholder_with_default(9, []) if default else tf.placeholder(tf.int32, [])

    def after(x: Any) -> Any:
        with tf.control_dependencies([fed]):
            return x + 1

    branch = tf.cond(fed > 0, lambda: after(tf.constant(5)), lambda: tf.constant(1))
    loop = tf.while_loop(lambda i: i < fed, after, [0])
    with _session(level) as session:
        assert session.run([branch, loop], {fed: 2}) == [6, 2]


def test_fractions_that_are_cut_are_told() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.int32, [2], name="x")
        with pytest.warns(UserWarning, match=r"fed for x:0 is cut.*1 of 2 values.*1\.5 for one"):
            assert sess.run(x, {x: [2.0, 1.5]}).tolist() == [2, 1]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert sess.run(x, {x: np.array([2.0, -3.0])}).tolist() == [2, -3]
