"""Python indexing of tensors agrees with NumPy, in value, static shape and gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.ops.array import slicing


@st.composite
def indexed(draw: Any) -> tuple[tuple[int, ...], Any]:
    """A shape and a key that NumPy accepts for it: slices, ints, an ellipsis, new axes."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5))
    key = draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    return shape, key


def _array(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(indexed())
def test_slices_agree_with_numpy(case: tuple[tuple[int, ...], Any]) -> None:
    shape, key = case
    array = _array(shape)
    expected = array[key]
    with tf.Graph().as_default(), tf.Session() as session:
        known = tf.placeholder(tf.float32, shape)
        unknown = tf.placeholder(tf.float32, None)
        picked, late = slicing.getitem(known, key), slicing.getitem(unknown, key)
        assert picked.shape.as_list() == list(expected.shape)
        for value in session.run([picked, late], {known: array, unknown: array}):
            np.testing.assert_array_equal(value, expected)


@settings(max_examples=60, deadline=None)
@given(indexed())
def test_shape_of_partly_known_input_is_compatible(case: tuple[tuple[int, ...], Any]) -> None:
    shape, key = case
    with tf.Graph().as_default():
        partly = tf.placeholder(tf.float32, [None, *shape[1:]])
        static = slicing.getitem(partly, key).shape
    assert static.is_compatible_with(_array(shape)[key].shape)


@settings(max_examples=60, deadline=None)
@given(indexed())
def test_strings_slice_alike(case: tuple[tuple[int, ...], Any]) -> None:
    shape, key = case
    array = np.array([b"%d" % i for i in range(int(np.prod(shape)))], object).reshape(shape)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.string, shape)
        value = session.run(slicing.getitem(fed, key), {fed: array})
    np.testing.assert_array_equal(np.asarray(value, object), array[key])


@settings(max_examples=60, deadline=None)
@given(indexed())
def test_grad_op_scatters_to_the_same_places(case: tuple[tuple[int, ...], Any]) -> None:
    shape, key = case
    expected = np.zeros(shape, np.float32)
    picked = _array(shape)[key] + 1
    expected[key] = picked
    with tf.Graph().as_default(), tf.Session() as session:
        node = slicing.getitem(tf.placeholder(tf.float32, shape), key).op
        _, begin, end, strides = node.inputs
        masks = {k: v for k, v in node.attrs.items() if k.endswith("_mask")}
        back = make("StridedSliceGrad", list(shape), begin, end, strides, picked, **masks)
        np.testing.assert_array_equal(session.run(back), expected)


def test_tensor_indices() -> None:
    array = _array((4, 3))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        i = tf.placeholder(tf.int32, [])
        picked = [
            slicing.getitem(x, i),
            slicing.getitem(x, (slice(i, None), -1)),
            slicing.getitem(x, (slice(None), i)),
        ]
        values = session.run(picked, {x: array, i: 2})
    for value, expected in zip(values, [array[2], array[2:, -1], array[:, 2]], strict=True):
        np.testing.assert_array_equal(value, expected)


def test_boolean_mask() -> None:
    array = _array((4, 3))
    mask = array % 2 == 0
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        whole, rows = slicing.boolean_mask(x, mask), slicing.boolean_mask(x, mask[:, 0])
        columns = slicing.boolean_mask(x, [True, False, True], axis=1)
        values = session.run([whole, rows, columns], {x: array})
    expected = [array[mask], array[mask[:, 0]], array[:, [0, 2]]]
    for value, one in zip(values, expected, strict=True):
        np.testing.assert_array_equal(value, one)


@pytest.mark.parametrize("key", [1.0, "a", (0, 1.5), [[1, 2]]])
def test_other_keys_are_refused(key: Any) -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="integers, slices"):
        slicing.getitem(tf.zeros([3, 3]), key)


def test_static_index_out_of_range_names_the_dim() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="slice index 3 of dimension 1"):
        slicing.getitem(tf.placeholder(tf.float32, [None, 3]), (0, 3))
