"""Programs of conditionals and loops: their text, Python numbers, and memory in rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests import golden

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(autouse=True)
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        yield sess


def _counter() -> Any:
    n = tf.placeholder(tf.int32, [], "n")
    _, total = tf.while_loop(
        lambda i, _: i < n, lambda i, total: (i + 1, total + tf.cast(i, tf.float32)), [0, 0.0]
    )
    return [total], [n]


def _choice() -> Any:
    x, p = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.bool, [], "p")
    y = tf.cond(p, lambda: tf.exp(x), lambda: x * x, name="choice")
    return [y, *tf.gradients(y, x)], [x, p]


def _recurrence() -> Any:
    x = tf.placeholder(tf.float32, [4, 3], "x")
    w = tf.placeholder(tf.float32, [3, 3], "w")
    _, y = tf.while_loop(
        lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x], name="rounds"
    )
    return [y, *tf.gradients(y, w)], [x, w]


@pytest.mark.parametrize("model", [_counter, _choice, _recurrence])
def test_golden_programs(session: Any, model: Any) -> None:
    fetches, feeds = model()
    feed = {t: np.zeros([d or 1 for d in t.shape.as_list()], t.dtype.as_numpy_dtype) for t in feeds}
    text = session.explain(fetches, feed)
    golden.check(GOLDEN / f"control_flow{model.__name__}.py.txt", text)


# ---- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0, 5])
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_a_counter_is_a_python_number(session: Any, dtype: Any, start: int) -> None:
    n = tf.placeholder(dtype, [])
    one = tf.constant(1, dtype)
    end = tf.while_loop(lambda i: i < n, lambda i: i + one, [tf.constant(start, dtype)])
    text = session.explain(end, {n: 7})
    assert "torch.add" not in text
    result = session.run(end, {n: 7})
    assert (result, result.dtype) == (7, dtype.as_numpy_dtype)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_arithmetic_wraps_around_as_tensors_do(session: Any, dtype: Any) -> None:
    seed = np.array(12345, dtype.as_numpy_dtype)
    factor = np.array(1103515245, dtype.as_numpy_dtype)

    def body(i: Any, x: Any) -> Any:
        return i + 1, x * tf.constant(factor) + tf.constant(seed)

    _, x = tf.while_loop(lambda i, _: i < 9, body, [0, tf.constant(seed)])
    expected = seed
    with np.errstate(over="ignore"):
        for _ in range(9):
            expected = expected * factor + seed
    assert session.run(x) == expected


def test_a_counter_without_a_limit_wraps_around(session: Any) -> None:
    start = np.iinfo(np.int32).max - 1
    _, x = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x + 1), [0, start])
    assert session.run(x) == np.iinfo(np.int32).min + 1


def test_division_by_zero_names_the_node(session: Any) -> None:
    d = tf.placeholder(tf.int32, [])
    end = tf.while_loop(lambda i: i < 3, lambda i: i + tf.floordiv(6, d, name="per"), [0])
    assert session.run(end, {d: 2}) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="per"):
        session.run(end, {d: 0})


def test_a_number_becomes_a_tensor_where_one_is_wanted(session: Any) -> None:
    def body(i: Any, total: Any) -> Any:
        # Used as a tensor on one side only: what is made there is not there on the other.
        total = tf.cond(tf.equal(i % 2, 0), lambda: total + tf.cast(i, tf.float32), lambda: total)
        return i + 1, total + tf.gather([10.0, 20.0, 30.0, 40.0], i)

    _, total = tf.while_loop(lambda i, _: i < 4, body, [0, 0.0])
    assert session.run(total) == 102.0


# ---- memory --------------------------------------------------------------------------------------


def test_a_running_sum_grows_in_place(session: Any) -> None:
    fetches, (x, w) = _recurrence()
    feed = {x: np.ones([4, 3]), w: np.full([3, 3], 0.1)}
    assert ".addmm_(" in session.explain(fetches, feed)
    first = session.run(fetches, feed)
    again = session.run(fetches, feed)
    # What the sum begins with is a constant of the program, which must stay as it is.
    np.testing.assert_array_equal(first[1], again[1])


def test_a_sum_that_somebody_keeps_is_not_overwritten(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    array = tf.TensorArray(tf.float32, 3)

    def body(i: Any, total: Any, array: Any) -> Any:
        total = total + x
        return i + 1, total, array.write(i, total)

    _, total, array = tf.while_loop(lambda i, *_: i < 3, body, [0, tf.zeros([2]), array])
    parts, last = session.run([array.stack(), total], {x: [1.0, 2.0]})
    np.testing.assert_array_equal(parts, [[1, 2], [2, 4], [3, 6]])
    np.testing.assert_array_equal(last, [3, 6])


def test_what_begins_a_sum_is_copied_when_others_see_it(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    start = tf.exp(x)
    _, total = tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, t + x), [0, start])
    both = session.run([start, total], {x: [0.0, 0.0]})
    np.testing.assert_array_equal(both[0], [1, 1])
    total, fed = session.run([total, x], {x: np.zeros(2, np.float32)})
    np.testing.assert_array_equal(total, [1, 1])
    np.testing.assert_array_equal(fed, [0, 0])


def test_two_sums_that_change_places_stay_apart(session: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    _, a, b = tf.while_loop(
        lambda i, *_: i < 3, lambda i, a, b: (i + 1, b + x, a * 2.0), [0, 1.0, 1.0]
    )
    assert session.run([a, b], {x: 1.0}) == [5.0, 6.0]


def test_a_variable_read_before_a_loop_that_writes_it_keeps_its_value(session: Any) -> None:
    v = tf.Variable([1.0, 2.0])
    session.run(v.initializer)
    before = tf.identity(v)

    def body(i: Any, seen: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(v, [1.0, 1.0])]):
            return i + 1, seen + before

    with tf.control_dependencies([before]):
        _, seen = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([2])])
    total, old = session.run([seen, before])
    np.testing.assert_array_equal(total, [3, 6])
    np.testing.assert_array_equal(old, [1, 2])
    np.testing.assert_array_equal(session.run(v), [4, 5])


def test_a_branch_that_returns_a_variable_returns_what_it_was(session: Any) -> None:
    v = tf.Variable([1.0])
    session.run(v.initializer)
    p = tf.placeholder(tf.bool, [])
    seen = tf.cond(p, lambda: tf.identity(v), lambda: tf.constant([0.0]))
    with tf.control_dependencies([seen]):
        after = tf.assign_add(v, [5.0])
    np.testing.assert_array_equal(session.run([seen, after], {p: True}), [[1.0], [6.0]])


def test_an_error_inside_names_the_node_and_its_line(session: Any) -> None:
    x = tf.placeholder(tf.float32, [None])
    _, y = tf.while_loop(
        lambda i, _: i < 2,
        lambda i, y: (i + 1, tf.reshape(y, [3], name="fit")),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'.*fit'.*\n.*test_control_flow"):
        session.run(y, {x: [1.0, 2.0]})


def test_a_fetch_in_a_branch_that_is_not_taken_is_refused(session: Any) -> None:
    x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [], "p")
    inner: list[Any] = []

    def yes() -> Any:
        inner.append(tf.sin(x, name="inner"))
        return inner[0]

    tf.cond(p, yes, lambda: x)
    inside = tf.import_graph_def(
        tf.get_default_graph().as_graph_def(), {"p": p}, ["cond/inner:0"], name="again"
    )
    feed = {x: 0.0, p: True, "again/Placeholder:0": 1.0}
    np.testing.assert_allclose(session.run(inside, feed), [np.sin(1.0)], rtol=1e-6)
    refused = r"(?s)'again/cond/inner:0' has no value.*the true side of .*made at"
    with pytest.raises(tf.errors.InvalidArgumentError, match=refused):
        session.run(inside, {**feed, p: False})


def test_an_array_from_a_branch_is_none_of_the_variables_that_it_writes(session: Any) -> None:
    x, p = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.bool, [])
    r = tf.get_variable("r", initializer=0.4, use_resource=True)

    def yes() -> Any:
        with tf.control_dependencies([tf.assign(r, 1.0)]):
            return tf.identity(x)

    v = tf.cond(p, yes, lambda: tf.map_fn(tf.tanh, x))
    v = tf.cond(p, lambda: x * 1.0, lambda: v * 1.0)
    (grad,) = tf.gradients(tf.reduce_sum(v), [x])
    session.run(r.initializer)
    fed = np.array([1.0, 2.0, 3.0], np.float32)
    expected = 1 - np.tanh(fed) ** 2
    np.testing.assert_allclose(session.run(grad, {x: fed, p: False}), expected, rtol=1e-5)
    np.testing.assert_array_equal(session.run(grad, {x: fed, p: True}), [1, 1, 1])


def test_a_deadline_ends_an_endless_loop() -> None:
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        end = tf.while_loop(lambda i: i < 1, lambda i: i * 1, [0])
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(end)
