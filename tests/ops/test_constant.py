"""Constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make


def test_constants_without_elements_take_any_value() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        made = [tf.zeros([0]), tf.ones([2, 0]), tf.constant(1.0, shape=[0, 3])]
        assert [t.shape.as_list() for t in made] == [[0], [2, 0], [0, 3]]
        assert [v.shape for v in sess.run(made)] == [(0,), (2, 0), (0, 3)]


def test_a_placeholder_of_the_second_form_is_fed() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = make("PlaceholderV2", dtype=tf.float32, shape=tf.TensorShape([None, 2]))
        y = x * 2.0
        assert x.shape.as_list() == [None, 2]
        assert sess.run(y, {x: [[1.0, 2.0]]}).tolist() == [[2, 4]]
        with pytest.raises(ValueError, match="shape"):
            sess.run(y, {x: [1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be fed"):
            sess.run(y)
        again = tf.Graph()
        with again.as_default():
            tf.import_graph_def(graph.as_graph_def(), name="")
            assert again.get_operation_by_name(x.op.name).type == "PlaceholderV2"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [([1.1, float("inf")], tf.bfloat16), ([1 + 2j], tf.float32), ([1 + 2j], tf.complex128)],
)
def test_a_casts_constant_value_is_what_a_run_gives(value: list[complex], dtype: tf.DType) -> None:
    made = tf.cast(tf.constant(value), dtype)
    known = tf.get_static_value(made)
    with tf.Session() as session:
        found = session.run(made)
    assert known is not None and known.dtype == found.dtype and known.tolist() == found.tolist()
    assert tf.get_static_value(tf.cast(tf.constant([float("nan")]), tf.int32)) is None


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [(True, tf.int32, 1), ([True, False], tf.float32, [1, 0]), ([True, 2], None, [1, 2]),
     ([1.5, True], None, [1.5, 1]), (True, tf.complex64, 1)],
)  # fmt: skip
def test_python_bools_are_numbers_where_numbers_are_wanted(
    value: object, dtype: tf.DType | None, expected: object
) -> None:
    made = tf.constant(value, dtype)
    assert made.dtype == (dtype or (tf.float32 if 1.5 in value else tf.int32))
    with tf.Session() as session:
        assert session.run(made).tolist() == expected
    with pytest.raises(TypeError):
        tf.constant(1, tf.bool)


_EMPTY = [
    np.empty((2, 0, 5), np.str_),
    np.empty((0, 9), bytes),
    np.empty((0, 1), bytes),
    np.empty((3, 0), object),
    np.empty((0, 2, 0, 1), object),
    np.empty(0, np.str_),
]


@pytest.mark.parametrize("array", _EMPTY, ids=lambda a: f"{a.dtype}{a.shape}")
def test_empty_arrays_of_text_keep_their_dims(array: np.ndarray) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.constant(array)
        assert (made.dtype, made.shape) == (tf.string, array.shape)
        assert session.run(made).shape == array.shape
        assert tf.convert_to_tensor(array).shape == array.shape
        assert tf.constant([array, array]).shape == (2, *array.shape)
        assert tf.Variable(array).shape == array.shape
        assert tf.make_ndarray(tf.make_tensor_proto(array)).shape == array.shape
        assert tf.get_static_value(made).shape == array.shape
        assert tf.data.Dataset.from_tensors(array).output_shapes == array.shape
        assert tf.data.Dataset.from_tensor_slices(array).output_shapes == array.shape[1:]
        fed = tf.placeholder(tf.string)
        assert session.run(tf.identity(fed), {fed: array}).shape == array.shape
        called = tf.py_func(lambda: array, [], tf.string)
        assert session.run(called).shape == array.shape
        nodes = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        (again,) = tf.import_graph_def(nodes, return_elements=[made.name], name="")
        assert again.shape == array.shape


def test_empty_text_joins_and_stacks() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        joined = session.run(tf.reduce_join(np.empty((0, 1), bytes), 0))
        assert joined.tolist() == [b""]
        assert session.run(tf.reduce_join(np.empty(0, bytes), 0)) == b""
        stacked = tf.stack([np.empty((0, 2), np.str_)] * 3)
        assert session.run(stacked).shape == (3, 0, 2)


def test_empty_lists_of_text_have_the_dims_that_they_show() -> None:
    with tf.Graph().as_default():
        for value, shape in (([], (0,)), ([[]], (1, 0)), ([[], []], (2, 0)), ([[[]]], (1, 1, 0))):
            assert tf.constant(value, tf.string).shape == shape


@pytest.mark.parametrize(
    ("value", "dtype", "kept"),
    [
        ([1, 999, -1], tf.uint8, [1, 231, 255]),
        (300000, tf.int16, -27680),
        ([2**40, 1], tf.int32, [0, 1]),
        (-1, tf.uint64, 2**64 - 1),
        (2**31, tf.int32, -(2**31)),
        (True, tf.float32, 1.0),
        ([True, False], tf.int64, [1, 0]),
        (True, tf.complex64, 1 + 0j),
        ([1, True], None, [1, 1]),
    ],
)
def test_values_are_taken_into_the_range_of_the_type(value: Any, dtype: Any, kept: Any) -> None:
    made = tf.constant(value, dtype)
    assert dtype is None or made.dtype is dtype
    with tf.Session() as sess:
        assert sess.run(made).tolist() == kept


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (2**31 - 1, tf.int32), (-(2**31), tf.int32), (2**31, tf.int64), (-(2**31) - 1, tf.int64),
        ([1, 2**40], tf.int64), (2**63 - 1, tf.int64), (-(2**63), tf.int64), (2**63, tf.uint64),
    ],
)  # fmt: skip
def test_ints_are_as_wide_as_they_need(value: Any, dtype: tf.DType) -> None:
    for made in (tf.constant(value), tf.convert_to_tensor(value), tf.identity(value)):
        assert made.dtype is dtype
    with tf.Session() as sess:
        assert sess.run(made).tolist() == value
    assert tf.make_tensor_proto(value).dtype == dtype.as_datatype_enum


@pytest.mark.parametrize(
    "make",
    [
        lambda shape: tf.truncated_normal(shape), lambda shape: tf.random_uniform(shape),
        lambda shape: tf.zeros(shape), lambda shape: tf.ones(tf.TensorShape(shape)),
        lambda shape: tf.random_normal(tf.TensorShape(shape)), lambda shape: tf.fill(shape, 1.0),
        lambda shape: tf.reshape(tf.placeholder(tf.float32), shape),
        lambda shape: tf.get_variable("v", shape),
        lambda shape: tf.zeros_like(tf.placeholder(tf.float32, shape)),
    ],
)  # fmt: skip
def test_dims_beyond_32_bits(make: Callable[[list[int]], Any]) -> None:
    assert make([2**33, 1]).shape.as_list() == [2**33, 1]


def test_a_shape_that_int32_cannot_hold() -> None:
    with pytest.raises(ValueError, match="a dimension is too large"):
        tf.convert_to_tensor(tf.TensorShape([2**33]), tf.int32)


def test_an_operand_that_does_not_fit_the_other_is_an_error() -> None:
    with pytest.raises(TypeError):
        tf.maximum(tf.constant(1), 2**33)


@pytest.mark.parametrize(
    ("value", "dtype", "words"),
    [
        (1.5, tf.int32, "Expected int32, got 1.5 of type 'float' instead"),
        ([[1], [2.5]], tf.uint8, "Expected uint8, got 2.5 of type 'float' instead"),
        (1j, tf.float32, "Expected float32, got 1j of type 'complex' instead"),
        ([1, 0], tf.bool, "Expected bool, got 1 of type 'int' instead"),
        (["a"], tf.int32, "Expected int32, got 'a' of type 'str' instead"),
        (7, tf.string, "Expected string, got 7 of type 'int' instead"),
        ([1, None], tf.int16, "Expected int16, got None of type 'NoneType' instead"),
        (5, tf.qint8, "Expected qint8, got 5 of type 'int' instead"),
        ([[5]], tf.quint8, "Expected quint8, got 5 of type 'int' instead"),
        ([1, "a"], None, "Failed to convert object of type <class 'list'> to Tensor"),
        ([1, None], None, "Failed to convert object of type <class 'list'> to Tensor"),
        (-(2**63) - 1, None, "Failed to convert object of type <class 'int'> to Tensor"),
        ({1}, None, "Failed to convert object of type <class 'set'> to Tensor"),
    ],
)
@pytest.mark.parametrize("take", [tf.constant, tf.make_tensor_proto])
def test_what_no_tensor_of_the_type_holds(
    take: Callable[..., Any], value: Any, dtype: Any, words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        take(value, dtype)


def test_none_is_no_value() -> None:
    for take in (tf.constant, tf.make_tensor_proto):
        with pytest.raises(ValueError, match="None values not supported"):
            take(None)


@pytest.mark.parametrize(
    ("arguments", "field", "values"),
    [
        ((1.0, None, [3]), "float_val", [1.0]),
        ((1, None, [2, 2]), "int_val", [1]),
        (([1.5, 2.5], tf.float64, [3]), "double_val", [1.5, 2.5]),
        (([1.0, 2.0], tf.float16), "half_val", [15360, 16384]),
        (([1, 2], tf.bfloat16), "half_val", [16256, 16384]),
        (([1 + 2j, 3j],), "dcomplex_val", [1.0, 2.0, 0.0, 3.0]),
        (([1 + 2j], tf.complex64, [2]), "scomplex_val", [1.0, 2.0]),
        (([True, False],), "bool_val", [True, False]),
        ((np.array([1, 2], np.uint16),), "int_val", [1, 2]),
        ((["a", b"bc"],), "string_val", [b"a", b"bc"]),
        ((7,), "int_val", [7]),
        (([1, 2],), "tensor_content", b"\1\0\0\0\2\0\0\0"),
        (([1, 999], tf.uint8), "tensor_content", b"\1\xe7"),
    ],
)
def test_messages_are_tensorflows(arguments: Any, field: str, values: Any) -> None:
    message = tf.make_tensor_proto(*arguments)
    named = [found.name for found, _ in message.ListFields()]
    assert named == ["dtype", "tensor_shape", field]
    found = getattr(message, field)
    assert (found if isinstance(found, bytes) else list(found)) == values
    shape = arguments[2] if len(arguments) > 2 else np.shape(arguments[0])
    assert tf.make_ndarray(message).shape == tuple(shape)


def test_sizes_of_messages() -> None:
    with pytest.raises(ValueError, match="Too many elements provided. Needed at most 2"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])
    for arguments in ({"verify_shape": True}, {"allow_broadcast": True}):
        with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(3,\), got \(2,\)"):
            tf.make_tensor_proto([1, 2], shape=[3], **arguments)
    assert tf.make_tensor_proto(1, shape=[3], allow_broadcast=True).int_val == [1]
    assert tf.make_ndarray(tf.make_tensor_proto(1, shape=[0, 3])).shape == (0, 3)
    array = np.array([1, 2], ml_dtypes.bfloat16)
    assert tf.make_ndarray(tf.make_tensor_proto(array)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [([np.float64(0.5)], tf.float32), ([np.float64(0.5), 1.0], tf.float32),
     ([np.float16(5), 1.0], tf.float32), ([np.int64(3)], tf.int32), ([np.int8(5), 1], tf.int32),
     ([np.int64(2**40)], tf.int64), ([np.uint8(5)], tf.uint8), ([np.float16(5)], tf.float16),
     (np.float64(0.5), tf.float64), (np.array([0.5]), tf.float64), (np.int64(3), tf.int64)],
)  # fmt: skip
def test_a_list_of_numpys_scalars_is_as_a_list_of_pythons(value: object, dtype: tf.DType) -> None:
    assert tf.constant(value).dtype == dtype
    assert tf.convert_to_tensor(value).dtype == dtype


def test_a_list_of_numpys_floats_is_no_list_of_integers() -> None:
    with pytest.raises(TypeError):
        tf.constant([np.float64(5)], tf.int32)


def test_stack_of_what_is_one_tensor_already() -> None:
    """TensorFlow 1.15 gives its rows back along axis 0, and takes lists only along others."""
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.ones([2, 3])
        fed = tf.placeholder(tf.float32, [None, 2])
        unknown = tf.placeholder(tf.float32)
        for tensor in (rows, fed, unknown, tf.constant(1.0)):
            assert tf.stack(tensor) is tensor
        assert tf.stack(rows, name="mine") is rows
        number = tf.stack(5)
        assert (number.op.type, number.dtype, session.run(number)) == ("Const", tf.int32, 5)
        variable = tf.Variable([1.0, 2.0])
        session.run(variable.initializer)
        assert session.run(tf.stack(variable)).tolist() == [1.0, 2.0]
        for axis in (1, -1):
            with pytest.raises(TypeError):
                tf.stack(rows, axis=axis)
        with pytest.raises(ValueError, match="axis"):
            tf.stack(rows, axis=5)
