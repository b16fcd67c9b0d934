"""Static shapes of array ops, as TensorFlow 1.15 infers them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.foundation.opdef import static
from penstock.ops.array import slicing


def ph(*dims: int | None, dtype: Any = tf.float32) -> tf.Tensor:
    return tf.placeholder(dtype, dims)


def any_rank(dtype: Any = tf.float32) -> tf.Tensor:
    return tf.placeholder(dtype, None)


def at(x: tf.Tensor, *key: Any) -> tf.Tensor:
    return slicing.getitem(x, key)


def scalar() -> tf.Tensor:
    return tf.placeholder(tf.int32, [])


FACTS: list[tuple[Callable[[], Any], list[int | None] | None]] = [
    (lambda: tf.reshape(ph(None, 3), [3, -1]), [3, None]),
    (lambda: tf.reshape(ph(4, 3), [2, -1]), [2, 6]),
    (lambda: tf.reshape(any_rank(), [3, -1]), [3, None]),
    (lambda: tf.reshape(ph(4, 3), [scalar(), 3]), [4, 3]),
    (lambda: tf.reshape(ph(None, 3), tf.shape(ph(None, 5))), [None, 5]),
    (lambda: tf.reshape(ph(4, 3), tf.placeholder(tf.int32, [3])), [None, None, None]),
    (lambda: tf.reshape(ph(4, 3), tf.placeholder(tf.int32, None)), None),
    (lambda: tf.zeros([at(tf.shape(ph(None, 7)), 0), at(tf.shape(ph(None, 7)), 1)]), [None, 7]),
    (lambda: tf.zeros(at(tf.shape(ph(None, 6, 3)), slice(1, None))), [6, 3]),
    (lambda: tf.fill([2, scalar()], 1.0), [2, None]),
    (lambda: tf.concat([ph(2, 3), ph(None, 3)], 0), [None, 3]),
    (lambda: tf.concat([ph(2, None), ph(2, 4)], 0), [4, 4]),
    (lambda: tf.concat([any_rank(), ph(2, 4)], 0), [None, 4]),
    (lambda: tf.concat([ph(2, 3), ph(2, 4)], scalar()), [None, None]),
    (lambda: tf.concat([any_rank(), any_rank()], 1), None),
    (lambda: tf.stack([ph(2, None), ph(None, 3)]), [2, 2, 3]),
    (lambda: tf.stack([ph(2, None), any_rank()], 1), [2, 2, None]),
    (lambda: tf.unstack(ph(2, None, 3), axis=2)[0], [2, None]),
    (lambda: tf.split(ph(3, None), 2, 1)[1], [3, None]),
    (lambda: tf.split(ph(3, 6), 2, scalar())[1], [None, None]),
    (lambda: tf.split(ph(2, 6), [1, -1, 2], 1)[1], [2, 3]),
    (lambda: tf.split(ph(3, None), tf.placeholder(tf.int32, [2]), 1)[0], [3, None]),
    (lambda: tf.slice(ph(None, 6), [0, 1], [-1, -1]), [None, 5]),
    (lambda: tf.slice(ph(4, 6), tf.placeholder(tf.int32, [2]), [1, 2]), [1, 2]),
    (lambda: at(ph(None, 6, 3), scalar()), [6, 3]),
    (lambda: at(ph(None, 6, 3), slice(None), scalar(), slice(None, None, 2)), [None, 2]),
    (lambda: at(ph(None, 6, 3), slice(1, 3)), [None, 6, 3]),
    (lambda: at(ph(4, 6), ..., None), [4, 6, 1]),
    # Parts of shape tensors that are known, also beside parts of unknown rank.
    (lambda: tf.reshape(any_rank(), [any_rank(tf.int32), 37]), [None, 37]),
    (lambda: tf.reshape(any_rank(), tf.stack([any_rank(tf.int32)] * 2 + [3])), [None, None, 3]),
    (lambda: tf.reshape(ph(4, 3), [any_rank(tf.int32), 2]), [6, 2]),
    (lambda: tf.fill([any_rank(tf.int32), 3], 1.0), [None, 3]),
    (lambda: tf.random_normal([any_rank(tf.int32), 3]), [None, 3]),
    (lambda: tf.broadcast_to(any_rank(), [any_rank(tf.int32), 3]), [None, 3]),
    (lambda: tf.tile(ph(4, 4), [any_rank(tf.int32), 7]), [None, 28]),
    (lambda: tf.slice(ph(4, 4), [0, 1], [any_rank(tf.int32), 2]), [None, 2]),
    (lambda: tf.pad(ph(4, 4), [[1, 2], any_rank(tf.int32)]), [7, None]),
    (lambda: tf.pad(ph(4, 4), tf.stack([ph(2, dtype=tf.int32), [1, 2]])), [None, 7]),
    (lambda: tf.pad(ph(4, 4), [[1, scalar()], [0, 1]]), [None, 5]),
    (lambda: tf.pad(ph(4, 4), [[1, scalar()], [0, 1]], "REFLECT"), [None, 5]),
    (lambda: tf.pad(ph(4, 4), [[1, 2], any_rank(tf.int32)], constant_values=3), [7, None]),
    (lambda: tf.pad(ph(None, 4), [[1, 2], [3, scalar()]]), [None, None]),
    (lambda: tf.unsorted_segment_mean(ph(3, 2), [2, 0, 2], any_rank(tf.int32)), [None, 2]),
    (lambda: tf.unsorted_segment_sqrt_n(ph(3, 2), [2, 0, 2], any_rank(tf.int64)), [None, 2]),
    (lambda: tf.bincount([]), [0]),
    (lambda: tf.bincount(tf.constant([], tf.int32), minlength=3), [3]),
    (lambda: tf.signal.frame(ph(2, 9), 4, 2, axis=scalar()), [None, None, None]),
    (lambda: tf.image.resize_image_with_pad(ph(4, 5, 3), tf.constant(3), 7), [3, 7, 3]),
    (lambda: tf.linalg.lstsq(any_rank(), ph(3, 2), fast=False), [None, 2]),
    (lambda: tf.linalg.lstsq(ph(3, 4), any_rank(), fast=False), [4, None]),
    (lambda: tf.linalg.lstsq(ph(None, 3), any_rank()), [3, None]),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(labels=ph(0, 4), logits=ph(None, 4)), [0]),
    (
        lambda: tf.nn.dilation2d(ph(1, 4, 5, 2), ph(0, None, 2), [1] * 4, [1] * 4, "VALID"),
        [1, None, None, 2],
    ),
    (lambda: tf.nn.max_pool2d(ph(1, 4, 5, 2), [1, 1, 1, 2], 1, "SAME"), [1, 4, 5, 2]),
    (
        lambda: tf.extract_volume_patches(ph(1, 4, None, 4, 1), [1, 2, 2, 2, 1], [1] * 5, "VALID"),
        [1, None, None, None, 8],
    ),
    (
        lambda: tf.space_to_batch_nd(ph(8, 6, 4, 3), ph(2, dtype=tf.int32), [[0, 0], [0, 0]]),
        [None, None, None, 3],
    ),
    (
        lambda: tf.space_to_batch_nd(ph(8, 6, 4, 3), ph(1, dtype=tf.int32), [[0, 0]]),
        [None, None, 4, 3],
    ),
    (
        lambda: tf.space_to_batch_nd(ph(8, 6, 4, 3), [2, scalar()], [[0, 0], [0, 0]]),
        [None, None, None, 3],
    ),
    (
        lambda: tf.batch_to_space_nd(ph(8, 6, 4, 3), ph(2, dtype=tf.int32), [[0, 0], [0, 0]]),
        [None, None, None, 3],
    ),
    (lambda: at(ph(4, 6), slice(None, None, -1), 2), [4]),
    (lambda: at(any_rank(), 1), None),
    (lambda: tf.gather(ph(4, 3), tf.placeholder(tf.int64, [None, 2])), [None, 2, 3]),
    (lambda: tf.gather(ph(4, 3), [1, 2], axis=scalar()), [None, None]),
    (lambda: tf.expand_dims(ph(None, 3), 1), [None, 1, 3]),
    (lambda: tf.expand_dims(ph(None, 3), scalar()), None),
    (lambda: tf.squeeze(ph(1, None, 3), [0]), [None, 3]),
    (lambda: tf.squeeze(ph(1, None, 3)), None),
    (lambda: tf.range(scalar()), [None]),
    (lambda: tf.range(1, 10, 4), [3]),
    (lambda: tf.range(at(tf.shape(ph(None, 5)), 1)), [5]),
    (lambda: tf.tile(ph(None, 3), [2, 1]), [None, 3]),
    (lambda: tf.tile(ph(2, 3), [2, scalar()]), [4, None]),
    (lambda: tf.pad(ph(None, 3), [[1, 1], [0, 2]]), [None, 5]),
    (lambda: tf.pad(ph(None, 3), tf.placeholder(tf.int32, [2, 2])), [None, None]),
    (lambda: tf.transpose(ph(None, 3, 2), [0, 2, 1]), [None, 2, 3]),
    (lambda: tf.transpose(any_rank()), None),
    (lambda: tf.transpose(any_rank(), [1, 0]), [None, None]),
    (lambda: tf.one_hot(tf.placeholder(tf.int32, [None]), 3), [None, 3]),
    (lambda: tf.one_hot([1, 2], scalar(), axis=0), [None, 2]),
    (lambda: tf.where(ph(4, 3)), [None, 2]),
    (lambda: make("TopKV2", ph(None, 6), 3)[0], [None, 3]),
    (lambda: tf.shape(any_rank()), [None]),
    (lambda: tf.ensure_shape(ph(None, 3), [2, None]), [2, 3]),
    (lambda: tf.boolean_mask(ph(None, 3, 2), tf.placeholder(tf.bool, [None, 3])), [None, 2]),
]


@pytest.mark.parametrize("row", range(len(FACTS)))
def test_fact(row: int) -> None:
    build, expected = FACTS[row]
    with tf.Graph().as_default():
        shape = build().shape
        assert (None if shape.ndims is None else shape.as_list()) == expected


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: tf.reshape(ph(4, 3), [5, -1]), "cannot be reshaped"),
    (lambda: tf.concat([ph(2, 3), ph(3, 4)], 0), "not compatible"),
    (lambda: tf.concat([ph(2, 3), ph(2)], 0), "rank"),
    (lambda: tf.stack([ph(2), ph(3)]), "not compatible"),
    (lambda: tf.split(ph(3, 5), 2, 1), "evenly"),
    (lambda: tf.split(ph(3, 5), [1, 2], 1), "add up"),
    (lambda: tf.unstack(ph(None, 3)), "Cannot infer num from shape"),
    (lambda: tf.slice(ph(4), [5], [-1]), "Dimension -1 must be >= 0"),
    (lambda: tf.transpose(ph(4, 3), [0, 1, 2]), "3 entries"),
    (lambda: tf.squeeze(ph(2, 3), [0]), "is not 1"),
    (lambda: tf.expand_dims(ph(2), 3), "not in the interval"),
    (lambda: tf.range(0, 5, 0), "must not be 0"),
    (lambda: tf.gather(ph(2), [0], axis=1), "out of range"),
    (lambda: tf.pad(ph(2), [[1, 1], [1, 1]]), "must be the rank of inputs"),
    (lambda: tf.ensure_shape(ph(2, 3), [3, None]), "not compatible"),
]


@pytest.mark.parametrize("row", range(len(REFUSED)))
def test_refused(row: int) -> None:
    build, message = REFUSED[row]
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        build()


def test_values_seen_through_shape_arithmetic() -> None:
    with tf.Graph().as_default():
        shape = tf.shape(ph(None, 3, 4))
        assert static.constant_value(at(shape, 2)) == 4
        assert static.constant_value(at(shape, 0)) is None
        assert static.constant_value_as_shape(at(shape, slice(0, 2))) == (None, 3)
        assert static.constant_value_as_shape(tf.stack([at(shape, 0), 5])) == (None, 5)
        joined = tf.concat([at(shape, slice(0, 1)), [7]], 0)
        assert static.constant_value_as_shape(joined) == (None, 7)
        assert static.constant_value(tf.gather(shape, [2, 1])).tolist() == [4, 3]


@pytest.mark.parametrize("move", [tf.space_to_batch_nd, tf.batch_to_space_nd])
def test_the_rank_of_a_block_must_be_known(move: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="block_shape must have known size"):
        move(ph(8, 6, 4, 3), ph(None, dtype=tf.int32), [[0, 0], [0, 0]])
    with pytest.raises(ValueError, match="block_shape must have rank 1"):
        move(ph(8, 6, 4, 3), any_rank(tf.int32), [[0, 0], [0, 0]])


def test_a_reshape_that_no_value_makes_possible() -> None:
    with pytest.raises(ValueError, match="Dimension size must be evenly divisible by 37 but is 16"):
        tf.reshape(ph(4, 4), [any_rank(tf.int32), 37])
