"""``tf.TensorArray`` as users write it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_write_read_stack(session: Any) -> None:
    array = tf.TensorArray(tf.float32, size=3)
    array = array.write(0, [1.0, 2.0]).write(2, tf.constant([3.0, 4.0]))
    assert array.element_shape.as_list() == [2]
    stacked = array.stack()
    assert stacked.shape.as_list() == [None, 2]
    assert session.run(stacked).tolist() == [[1, 2], [0, 0], [3, 4]]
    assert session.run([array.size(), array.read(2)])[1].tolist() == [3, 4]


def test_unstack_gather_concat_split(session: Any) -> None:
    x = tf.placeholder(tf.int32, [None, 2])
    given = {x: np.arange(6).reshape(3, 2)}
    array = tf.TensorArray(tf.int32, tf.shape(x)[0], clear_after_read=False).unstack(x)
    assert session.run(array.gather([2, 0]), given).tolist() == [[4, 5], [0, 1]]
    assert session.run(array.concat(), given).tolist() == list(range(6))
    parts = tf.TensorArray(tf.int32, 2, infer_shape=False).split(x, [1, 2])
    assert session.run(parts.read(1), given).tolist() == [[2, 3], [4, 5]]
    scattered = tf.TensorArray(tf.int32, 0, dynamic_size=True).scatter([3, 1, 0], x)
    assert session.run(scattered.stack(), given).tolist() == [[4, 5], [2, 3], [0, 0], [0, 1]]


def test_strings(session: Any) -> None:
    array = tf.TensorArray(tf.string, 2).unstack(["a", "bc"])
    assert session.run(array.stack()).tolist() == [b"a", b"bc"]
    assert session.run(array.read(1)) == b"bc"


def test_values_take_the_dtype_of_the_array(session: Any) -> None:
    array = tf.TensorArray(tf.float32, 1).write(0, np.int32(3))
    assert session.run(array.stack()).tolist() == [3.0]
    wrong = tf.TensorArray(tf.float32, 1).write(0, tf.constant(3))
    words = "TensorArray dtype is float but Op is trying to write dtype int32"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(wrong.flow)


def test_shapes_are_checked_while_the_graph_is_built() -> None:
    with tf.Graph().as_default():
        array = tf.TensorArray(tf.float32, 3, name="mine").write(0, [1.0])
        for wrong in (
            lambda: array.write(1, [1.0, 2.0]),
            lambda: array.unstack([[1.0, 2.0]]),
            lambda: array.split([1.0, 2.0, 3.0, 4.0], [2, 2]),
        ):
            with pytest.raises(ValueError, match="(?s)Inconsistent shapes.*'mine'"):
                wrong()
        free = tf.TensorArray(tf.float32, 3, infer_shape=False).write(0, [1.0])
        free.write(1, [1.0, 2.0])


def test_constructor_arguments() -> None:
    with tf.Graph().as_default():
        array = tf.TensorArray(tf.float32, 2)
        handle, flow = array.handle, array.flow
        assert not array.dynamic_size and array.dtype is tf.float32
        same = tf.TensorArray(tf.float32, handle=handle, flow=flow)
        assert same.handle is handle and same.identity().flow is not flow
        with pytest.raises(ValueError, match="Size must be provided"):
            tf.TensorArray(tf.float32)
        with pytest.raises(TypeError, match="Handle must be a Tensor"):
            tf.TensorArray(tf.float32, handle=3, flow=flow)
        with pytest.raises(ValueError, match="flow must not be None"):
            tf.TensorArray(tf.float32, handle=handle)
        for wrong in (
            {"size": 2}, {"element_shape": [2]}, {"dynamic_size": False},
            {"clear_after_read": True}, {"tensor_array_name": "n"},
        ):  # fmt: skip
            with pytest.raises(ValueError, match="both"):
                tf.TensorArray(tf.float32, handle=handle, flow=flow, **wrong)


def test_gradients(session: Any) -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x * x)
    loss = tf.reduce_sum(array.read(0)) * 3.0 + tf.reduce_sum(array.read(0) * array.read(1))
    (found,) = session.run(tf.gradients(loss, x))
    np.testing.assert_allclose(found, [[2 * (3 + 9), 4 * (3 + 16)], [6 * 1, 8 * 4]])


def test_gradients_of_gradients(session: Any) -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    cubes = array.stack() ** 3.0
    (first,) = tf.gradients(cubes, x)
    (second,) = tf.gradients(first, x)
    np.testing.assert_allclose(session.run(second), [6, 12, 18])


def test_gradients_of_sums_of_gradients(session: Any) -> None:
    """TensorFlow 1.15 refuses these."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)
    (first,) = tf.gradients(array.read(0) ** 2.0 * array.read(1) * array.read(0), x)
    (second,) = tf.gradients(first[0], x)
    found = session.run([first, second])
    np.testing.assert_allclose(found[0], [[9, 48], [1, 8]])
    np.testing.assert_allclose(found[1], [[18, 48], [3, 12]])


def test_a_loop_writes_and_reads(session: Any) -> None:
    x = tf.placeholder(tf.float32, [None])
    count = tf.size(x)
    rows = tf.TensorArray(tf.float32, count).unstack(x)
    made = tf.TensorArray(tf.float32, 0, dynamic_size=True)

    def body(i: Any, total: Any, made: Any) -> Any:
        total = total + rows.read(i)
        return i + 1, total, made.write(i, total * total)

    _, total, made = tf.while_loop(lambda i, *_: i < count, body, (0, 0.0, made))
    squares = made.stack()
    (gradient,) = tf.gradients(squares, x)
    given = {x: [1.0, 2.0, 3.0]}
    assert session.run(total, given) == 6
    assert session.run(squares, given).tolist() == [1, 9, 36]
    assert session.run(gradient, given).tolist() == [20, 18, 12]


def test_an_array_made_in_a_loop_is_new_in_each_round(session: Any) -> None:
    def body(i: Any, total: Any) -> Any:
        array = tf.TensorArray(tf.float32, 2).write(0, total).write(1, tf.cast(i, tf.float32))
        return i + 1, tf.reduce_sum(array.stack())

    x = tf.constant(1.5)
    _, total = tf.while_loop(lambda i, _: i < 4, body, (0, x))
    found = session.run([total, *tf.gradients(total, x)])
    assert found == [7.5, 1.0]


def test_an_array_through_a_conditional(session: Any) -> None:
    pred = tf.placeholder(tf.bool, [])
    array = tf.TensorArray(tf.float32, 2).write(0, [1.0, 1.0])
    array = tf.cond(pred, lambda: array.write(1, [2.0, 2.0]), lambda: array.write(1, [3.0, 3.0]))
    stacked = array.stack()
    assert session.run(stacked, {pred: True}).tolist() == [[1, 1], [2, 2]]
    assert session.run(stacked, {pred: False}).tolist() == [[1, 1], [3, 3]]


def test_what_a_loop_writes_is_not_overwritten_by_later_rounds(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    arrays = [tf.TensorArray(tf.float32, 3, clear_after_read=False) for _ in range(3)]

    def body(i: Any, a: Any, b: Any, before: Any, after: Any, other: Any) -> Any:
        before = before.write(i, a)
        new = tf.negative(tf.add(a, b))
        after = after.write(i, new)
        doubled = b * 2.0
        other = other.write(i, b)
        return i + 1, doubled, new, before, after, other

    _, a, b, *arrays = tf.while_loop(lambda i, *_: i < 3, body, (0, x + 0.0, x * 1.0, *arrays))
    found = session.run([array.stack() for array in arrays] + [a, b], {x: [1.0, 2.0]})
    p = q = np.array([1.0, 2.0])
    wanted: list[list[Any]] = [[], [], []]
    for _ in range(3):
        new = -(p + q)
        for made, value in zip(wanted, (p, new, q), strict=True):
            made.append(value)
        p, q = q * 2, new
    for value, expected in zip(found, [*wanted, p, q], strict=True):
        np.testing.assert_allclose(value, expected)


def test_what_a_loop_reads_is_not_overwritten(session: Any) -> None:
    x = tf.placeholder(tf.float32, [3, 2])
    rows = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)

    def body(i: Any, total: Any) -> Any:
        return i + 1, total + tf.exp(-rows.read(i)) + rows.read(0)

    _, total = tf.while_loop(lambda i, _: i < 3, body, (0, rows.read(0)))
    given = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    kept = given.copy()
    found, again = session.run([total, rows.stack()], {x: given})
    np.testing.assert_allclose(found, 4 * kept[0] + np.exp(-kept).sum(0), rtol=1e-6)
    assert (again == kept).all() and (given == kept).all()


def test_a_variable_that_a_loop_writes_is_its_value_then(session: Any) -> None:
    variable = tf.Variable([1.0, 2.0])
    array = tf.TensorArray(tf.float32, 3)

    def body(i: Any, array: Any) -> Any:
        array = array.write(i, tf.identity(variable._ref()))
        with tf.control_dependencies([array.flow]):
            change = tf.assign_add(variable, [1.0, 1.0], use_locking=True)
        with tf.control_dependencies([change]):
            return tf.identity(i + 1), array.identity()

    _, array = tf.while_loop(lambda i, _: i < 3, body, (0, array), parallel_iterations=1)
    stacked = array.stack()
    session.run(tf.global_variables_initializer())
    assert session.run(stacked).tolist() == [[1, 2], [2, 3], [3, 4]]


def test_spec() -> None:
    with tf.Graph().as_default():
        array = tf.TensorArray(tf.float32, 2, element_shape=[None, 2])
        spec = tf.TensorArraySpec.from_value(array)
        assert spec == tf.TensorArraySpec([None, 2]) and spec.value_type is tf.TensorArray
        assert spec.is_compatible_with(array)
        other = tf.TensorArraySpec([3, 2], infer_shape=False)
        both = spec.most_specific_compatible_type(other)
        assert both == tf.TensorArraySpec([None, 2], infer_shape=False)
        assert not spec.is_compatible_with(tf.TensorArraySpec([3], tf.float32))
        with pytest.raises(ValueError, match="not compatible"):
            spec.most_specific_compatible_type(tf.TensorArraySpec(None, tf.int32))
