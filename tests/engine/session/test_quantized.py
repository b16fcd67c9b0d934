"""Quantized tensors at the edges: constants, feeds, fetches, variables, queues, checkpoints.

What is expected here is what TensorFlow 1.15 gives.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.base import dtypes
from penstock.storage.checkpoint import snapshot

QUANTIZED = [tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32]
each = pytest.mark.parametrize("dtype", QUANTIZED, ids=lambda d: str(d.name))


def integers(dtype: Any) -> np.dtype:
    return np.dtype(dtypes.stored_as(dtype).as_numpy_dtype)


def extremes(dtype: Any) -> np.ndarray:
    info = np.iinfo(integers(dtype))
    return np.array([info.min, 0, 1, info.max], integers(dtype))


def check(found: Any, expected: np.ndarray) -> None:
    assert found.dtype == expected.dtype and found.dtype.names is None
    np.testing.assert_array_equal(found, expected)


@each
def test_constants_take_integers_and_structured_arrays(dtype: Any) -> None:
    values = extremes(dtype)
    structured = values.view(dtype.as_numpy_dtype)
    with tf.Session() as sess:
        for made in (
            tf.constant(values, dtype),
            tf.constant([(v,) for v in values.tolist()], dtype),
            tf.constant(structured),
            tf.constant(structured, dtype),
        ):
            assert made.dtype is dtype
            check(sess.run(made), values)
            check(sess.run(tf.identity(made)), values)
        scalar = sess.run(tf.constant((3,), dtype))
        assert scalar == 3 and scalar.dtype == integers(dtype)
        assert sess.run(tf.constant((3,), dtype, [2, 2])).tolist() == [[3, 3], [3, 3]]
    for wrong in ([1.5], [True], [3], 3, [1 << 33]):
        with pytest.raises(TypeError, match=str(dtype.name)):
            tf.constant(wrong, dtype)


@each
def test_what_is_fed(dtype: Any) -> None:
    x = tf.placeholder(dtype, [None])
    values = extremes(dtype)
    with tf.Session() as sess:
        for fed in (values, values.tolist(), values.view(dtype.as_numpy_dtype), values[::-1][::-1]):
            check(sess.run(tf.identity(x), {x: fed}), values)
        empty = sess.run(tf.identity(x), {x: np.zeros(0, dtype.as_numpy_dtype)})
        assert empty.shape == (0,) and empty.dtype == integers(dtype)


@each
def test_messages(dtype: Any) -> None:
    values = extremes(dtype)
    for array in (values, values[:1], values[0]):
        proto = tf.make_tensor_proto(array, dtype)
        assert proto.dtype == dtype.as_datatype_enum
        back = tf.make_ndarray(proto)
        assert back.dtype == dtype.as_numpy_dtype and back.shape == array.shape
        np.testing.assert_array_equal(back.view(integers(dtype)), array)


@each
def test_a_graph_goes_through_its_message(dtype: Any) -> None:
    values = extremes(dtype)
    with tf.Graph().as_default() as graph:
        tf.identity(tf.constant(values, dtype), name="y")
        tf.identity(tf.constant(values[:1], dtype), name="one")
        message = graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as sess:
        found = tf.import_graph_def(message, return_elements=["y:0", "one:0"], name="")
        assert found[0].dtype is dtype
        check(sess.run(found[0]), values)
        check(sess.run(found[1]), values[:1])


@each
@pytest.mark.parametrize("resource", [False, True])
def test_variables_and_checkpoints(dtype: Any, resource: bool, tmp_path: Path) -> None:
    values = extremes(dtype)
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(tf.constant(values, dtype), name="v", use_resource=resource)
        sess.run(v.initializer)
        check(sess.run(v), values)
        for version in (tf.train.SaverDef.V1, tf.train.SaverDef.V2):
            saver = tf.train.Saver([v], write_version=version)
            path = saver.save(sess, str(tmp_path / f"model{version}"))
            reader = tf.train.load_checkpoint(path)
            assert reader.get_variable_to_dtype_map() == {"v": dtype}
            sess.run(tf.assign(v, tf.constant([(1,)] * 4, dtype)))
            check(sess.run(v), np.ones(4, integers(dtype)))
            saver.restore(sess, path)
            check(sess.run(v), values)


def test_a_checkpoint_saved_in_the_background_has_the_types(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(tf.constant([(-3,), (4,)], tf.qint8), name="v")
        sess.run(v.initializer)
        saver = tf.train.Saver([v])
        path = saver.save(sess, str(tmp_path / "model"))
        later = snapshot.take(sess, saver.saver_def).write(str(tmp_path / "later"))
        for each_path in (path, later):
            reader = tf.train.load_checkpoint(each_path)
            assert reader.get_variable_to_dtype_map() == {"v": tf.qint8}


@each
def test_ops_that_move_elements(dtype: Any) -> None:
    values = np.resize(extremes(dtype), (2, 3))
    x = tf.placeholder(dtype, [2, 3])
    pairs = [
        (tf.reshape(x, [3, 2]), values.reshape(3, 2)),
        (tf.concat([x, x], 1), np.concatenate([values, values], 1)),
        (tf.transpose(x), values.T),
        (tf.gather(x, [1, 0]), values[::-1]),
        (x[:, ::2], values[:, ::2]),
        (tf.stack([x, x]), np.stack([values, values])),
        (tf.unstack(x)[1], values[1]),
        (tf.split(x, 3, 1)[1], values[:, 1:2]),
        (tf.tile(x, [1, 2]), np.tile(values, (1, 2))),
        (tf.expand_dims(x, 0), values[None]),
        (tf.zeros_like(x), np.zeros_like(values)),
        (tf.cond(tf.placeholder_with_default(True, []), lambda: x, lambda: x), values),
    ]
    with tf.Session() as sess:
        for tensor, expected in pairs:
            assert tensor.dtype is dtype
            check(sess.run(tensor, {x: values}), expected)


@each
def test_queues_and_arrays(dtype: Any) -> None:
    values = extremes(dtype)
    x = tf.constant(values, dtype)
    with tf.Session() as sess:
        queue = tf.FIFOQueue(2, [dtype], [[4]])
        sess.run(queue.enqueue(x))
        check(sess.run(queue.dequeue()), values)
        array = tf.TensorArray(dtype, 2).write(0, x).write(1, x)
        check(sess.run(array.stack()), np.stack([values, values]))
        element = tf.data.Dataset.from_tensors(x).batch(1).make_one_shot_iterator().get_next()
        check(sess.run(element), values[None])


def test_bits_and_numbers_to_plain_types_and_back() -> None:
    with tf.Session() as sess:
        for dtype in QUANTIZED:
            plain = dtypes.stored_as(dtype)
            values = extremes(dtype)
            made = tf.bitcast(tf.constant(values), dtype)
            assert made.dtype is dtype
            back = tf.bitcast(made, plain)
            assert back.dtype is plain
            check(sess.run(back), values)
