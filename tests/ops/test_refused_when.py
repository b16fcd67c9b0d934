"""Calls that the graph refuses, those that only a step refuses, and with which error.

Each was made in TensorFlow 1.15 first; random calls (``tests/differential``) found them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.base import errors

ONES = [1, 1, 1, 1]
IMAGE = np.ones((1, 4, 5, 2), np.float32)
VOLUME = np.ones((1, 4, 4, 4, 1), np.float32)
WORDS = np.array([b"a", b"b"], object)
INVALID, RANGE = errors.InvalidArgumentError, errors.OutOfRangeError
FAILED, MISSING = errors.FailedPreconditionError, errors.UnimplementedError

Ph = Callable[..., Any]


def _patches(image: Any, **changes: Any) -> Any:
    given = {"sizes": [1, 2, 2, 1], "strides": ONES, "rates": ONES, "padding": "VALID", **changes}
    return tf.image.extract_image_patches(image, **given)


def _boxes(volume: Any, ksizes: Any, strides: Any) -> Any:
    return tf.extract_volume_patches(volume, ksizes, strides, "VALID")


def _softmax(axis: Any) -> Any:
    return tf.nn.softmax(np.ones((2, 3), np.float32), tf.constant(axis, tf.int64))


def _sparse() -> Any:
    return tf.sparse_placeholder(tf.float32)


# ``ph(value, shape, dtype)`` is a placeholder that is fed.
AT_BUILD: dict[str, tuple[Callable[[Ph], Any], type[Exception], str]] = {
    "stride 0": (lambda ph: _patches(IMAGE, strides=[1, 0, 1, 1]), ValueError, "Stride must be"),
    "no patch": (
        lambda ph: _patches(ph(np.ones((1, 0, 4, 1)), [1, 0, 4, 1])), ValueError, "be negative",
    ),
    "3-D stride 0": (
        lambda ph: _boxes(VOLUME, [1, 2, 2, 2, 1], [1, 0, 1, 1, 1]), ValueError, "Stride must be",
    ),
    "vectors of 2": (lambda ph: tf.cross([1.0, 2.0], [1.0, 2.0]), ValueError, "3-element"),
    "2 channels": (lambda ph: tf.image.rgb_to_hsv(IMAGE), ValueError, "must have 3 channels"),
    "k of rank 1": (lambda ph: tf.nn.top_k([1.0, 2.0], [1]), ValueError, "must be rank 0"),
    "hits": (
        lambda ph: tf.nn.compute_accidental_hits(ph([[1]], [None, 1], tf.int64), [1, 2], 2),
        ValueError, "Dimension must be 2 but is 1",
    ),
    "overlaps": (
        lambda ph: tf.image.non_max_suppression_overlaps(np.ones((2, 3), "f"), [1.0, 2.0], 2),
        ValueError, "Dimensions must be equal, but are 2 and 3",
    ),
    "batch dims": (
        lambda ph: tf.gather_nd(np.ones((3, 8)), ph([[0]], None, tf.int32), batch_dims=2),
        ValueError, r"must be less than rank\(params\) = 2",
    ),
    "arg_max": (lambda ph: tf.arg_max([[1.0]], None), ValueError, "None values not supported"),
    "arg_min": (lambda ph: tf.arg_min([[1.0]], None), ValueError, "None values not supported"),
    "repeats": (
        lambda ph: tf.repeat(np.ones((2, 3)), [1], axis=0), ValueError, "2 and 1 are not compat",
    ),
    "segments": (
        lambda ph: tf.strings.unsorted_segment_join(WORDS, [0, 1], ph([2], [1], tf.int32)),
        ValueError, "must be rank 0",
    ),
    "pool of no channels": (
        lambda ph: tf.nn.max_pool2d(np.ones((1, 4, 5, 0), "f"), 2, 1, "VALID"), ValueError,
        "Negative dimension size",
    ),
    "no bands": (
        lambda ph: tf.signal.mfccs_from_log_mel_spectrograms(ph(0.5, [])), ValueError,
        "slice index -1",
    ),
    "sparse axis": (
        lambda ph: tf.sparse.expand_dims(_sparse(), np.array(1)), TypeError, "axis must be",
    ),
    "sparse order": (
        lambda ph: tf.sparse.transpose(tf.SparseTensor([[0, 1, 0]], [1.0], [2, 3, 2]), [1, 0]),
        ValueError,
        "Dimensions 2 and 3 are not compatible",
    ),
    "softmax axis": (lambda ph: _softmax(1), TypeError, "int64"),
    "frames": (
        lambda ph: tf.signal.frame(ph(np.ones((2, 9)), [None, 9]), 4, tf.constant(-2)), ValueError,
        "Requires start <= limit",
    ),
    "classes": (
        lambda ph: tf.nn.ctc_loss_v2([[1]], np.ones((2, 1, 0), "f"), [1], [2]), ValueError,
        "must be non-negative",
    ),
    "dilation stride": (
        lambda ph: tf.nn.dilation2d(IMAGE, np.ones((2, 2, 2), "f"), [1, 0, 1, 1], ONES, "SAME"),
        ValueError, "Stride must be > 0, but got 0",
    ),
}  # fmt: skip
AT_RUN: dict[str, tuple[Callable[[Ph], Any], type[Exception], str]] = {
    "stride 0": (lambda ph: _patches(ph(IMAGE), strides=[1, 0, 1, 1]), RANGE, "Stride must be"),
    "ksize 0": (lambda ph: _patches(IMAGE, sizes=[1, 0, 2, 1]), RANGE, "ksizes is out of range"),
    "rate 0": (lambda ph: _patches(IMAGE, rates=[1, 0, 2, 1]), RANGE, "rates is out of range"),
    "ksize of batch": (lambda ph: _patches(IMAGE, sizes=[2, 1, 1, 1]), MISSING, "across space"),
    "no patch": (
        lambda ph: _patches(ph(np.ones((1, 0, 4, 1)), [1, 0, None, 1])), INVALID, "be negative",
    ),
    "3-D stride 0": (
        lambda ph: _boxes(ph(VOLUME), [1, 2, 2, 2, 1], [1, 0, 1, 1, 1]), RANGE, "Stride must be",
    ),
    "3-D ksize 0": (
        lambda ph: _boxes(VOLUME, [1, 0, 2, 2, 1], [1] * 5), RANGE, "ksizes is out of range",
    ),
    "3-D stride of batch": (
        lambda ph: _boxes(VOLUME, [1] * 5, [2, 1, 1, 1, 1]), MISSING, "across space",
    ),
    "vectors of 2": (lambda ph: tf.cross(ph([1.0, 2.0]), ph([1.0, 2.0])), FAILED, "3-element"),
    "2 channels": (lambda ph: tf.image.rgb_to_hsv(ph(IMAGE)), FAILED, "must have 3 channels"),
    "2 channels of hsv": (
        lambda ph: tf.image.hsv_to_rgb(ph(IMAGE, [None, 4, 5, None])), FAILED, "have 3 channels",
    ),
    "k of rank 1": (
        lambda ph: tf.nn.top_k([1.0, 2.0], ph([1], [1], tf.int32)).values, INVALID, "be scalar",
    ),
    "overlaps": (
        lambda ph: tf.image.non_max_suppression_overlaps(
            ph(np.ones((0, 3)), [None, 3]), ph([], [0]), 2
        ), INVALID, "boxes, boxes",
    ),
    "nothing to write": (
        lambda ph: tf.tensor_scatter_sub(
            np.ones(3, "f"), np.zeros((2, 0), "i"), ph(np.ones((2, 3)), [2, 3])
        ), INVALID, "Indices and updates specified for empty output shape",
    ),
    "segments": (
        lambda ph: tf.strings.unsorted_segment_join(ph(b"a", None, tf.string), [0, 1], 2), RANGE,
        "at least rank 1",
    ),
    "size": (
        lambda ph: tf.image.resize_image_with_pad(
            IMAGE, np.array([3]), ph(7, None, tf.int32)
        ), INVALID, "must be rank 1",
    ),
    "least squares": (
        lambda ph: tf.linalg.lstsq(np.eye(2), np.ones((2, 1)), -1.0, fast=False), INVALID,
        "l2_regularizer must be >= 0",
    ),
}  # fmt: skip


def _feeding() -> tuple[Ph, dict[Any, Any]]:
    feeds: dict[Any, Any] = {}

    def ph(value: Any, shape: Any = None, dtype: Any = tf.float32) -> Any:
        made = tf.placeholder(dtype, shape)
        feeds[made] = value
        return made

    return ph, feeds


@pytest.mark.parametrize("name", AT_BUILD)
def test_the_graph_refuses(name: str) -> None:
    call, error, words = AT_BUILD[name]
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        call(_feeding()[0])


@pytest.mark.parametrize("name", AT_RUN)
def test_the_step_refuses(name: str) -> None:
    call, error, words = AT_RUN[name]
    with tf.Graph().as_default(), tf.Session() as session:
        ph, feeds = _feeding()
        made = call(ph)
        with pytest.raises(error, match=words):
            session.run(made, feeds)


TAKEN: dict[str, tuple[Callable[[Ph], Any], Any]] = {
    "ids of rows without elements": (
        lambda ph: tf.unsorted_segment_max(np.ones((3, 0), "f"), [2, 0, 2], 1), [[]],
    ),
    "one number of segments": (
        lambda ph: tf.strings.unsorted_segment_join(WORDS, [0, 0], ph([1], None, tf.int32)),
        [b"ab"],
    ),
    "a pool of no channels": (
        lambda ph: tf.shape(tf.nn.max_pool2d(ph(np.ones((1, 4, 5, 0))), 2, 1, "VALID")),
        [1, 3, 4, 0],
    ),
    "an average of no channels": (
        lambda ph: tf.shape(tf.nn.avg_pool2d(np.ones((1, 4, 5, 0), "f"), 2, 1, "VALID")),
        [1, 3, 4, 0],
    ),
    "a rate of 0": (
        lambda ph: tf.nn.dilation2d(
            [[[[1.0], [5.0]], [[2.0], [3.0]]]], [[[1.0]], [[10.0]]], ONES, [1, 0, 1, 1], "VALID"
        ), [[[[11.0], [15.0]], [[12.0], [13.0]]]],
    ),
    "blanks": (lambda ph: tf.string_to_number(["  ", "0x1F", "-0X10"]), [0.0, 31.0, -16.0]),
    "an array of another type": (
        lambda ph: tf.linalg.tridiagonal_solve(
            tf.constant([[0.0, 0.0], [2.0, 4.0], [0.0, 0.0]]), np.array([[2.0], [8.0]])
        ), [[1.0], [2.0]],
    ),
    "complex offsets": (
        lambda ph: tf.nn.batch_normalization(
            tf.constant([1 + 1j], tf.complex64), tf.constant([1j], tf.complex64),
            tf.constant([1 + 0j], tf.complex64), [2 + 0j], None, 0.0
        ), [3 + 0j],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_what_tensorflow_takes(name: str) -> None:
    call, expected = TAKEN[name]
    with tf.Graph().as_default(), tf.Session() as session:
        ph, feeds = _feeding()
        found = session.run(call(ph), feeds)
        assert np.asarray(found).tolist() == expected


def test_the_sign_of_hexadecimal_0() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.string_to_number(["-0x0", "0x0"], tf.float64))
        assert np.signbit(found).tolist() == [True, False]
        for text in ("", "0x", "0x1.8", "0x 1"):
            with pytest.raises(INVALID, match="correctly convert"):
                session.run(tf.string_to_number(text))
