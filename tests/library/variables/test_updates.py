"""Values of variables over runs: reads, updates, their order, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import penstock as tf

BOTH = pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def started(*variables: Any) -> tf.Session:
    session = tf.Session()
    session.run(tf.variables_initializer(list(variables)))
    return session


def matrix(resource: bool) -> Any:
    return tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3), name="m",
                       use_resource=resource)  # fmt: skip


@BOTH
def test_uninitialized_read_says_what_to_run(resource: bool) -> None:
    v = tf.Variable([1.0], name="weights", use_resource=resource)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.FailedPreconditionError, match="'weights'.*global_variables_init"),
    ):
        session.run(tf.negative(v))


@BOTH
def test_uninitialized_update(resource: bool) -> None:
    v = tf.Variable([1.0], name="weights", use_resource=resource)
    add = v.assign_add([1.0])
    locked = tf.assign_add(v, [1.0], use_locking=True)
    with tf.Session() as session:
        for update in (add, locked):
            with pytest.raises(tf.errors.FailedPreconditionError, match="'weights'"):
                session.run(update)
        session.run(v.initializer)
        assert session.run(add).tolist() == [2.0]


@BOTH
def test_assign_family(resource: bool) -> None:
    v = matrix(resource)
    start = np.arange(12, dtype=np.float32).reshape(4, 3)
    ones = np.ones((4, 3), np.float32)
    with started(v) as session:
        np.testing.assert_array_equal(session.run(v.assign_add(ones)), start + 1)
        np.testing.assert_array_equal(session.run(tf.assign_sub(v, 3 * ones)), start - 2)
        np.testing.assert_array_equal(session.run(tf.assign(v, ones)), ones)
        assert session.run(v.assign(ones, read_value=False)) is None
        v.load(start, session)
        np.testing.assert_array_equal(v.eval(session), start)


@BOTH
def test_scatter_methods(resource: bool) -> None:
    v = matrix(resource)
    delta = tf.IndexedSlices(tf.constant([[2.0, 2, 2], [4, 4, 4]]), tf.constant([1, 1]))
    nd = tf.constant([[1, 2], [3, 0]])
    expected = {
        "scatter_update": [4.0, 4, 4], "scatter_add": [9.0, 10, 11], "scatter_sub": [-3.0, -2, -1],
        "scatter_mul": [24.0, 32, 40], "scatter_div": [0.375, 0.5, 0.625],
        "scatter_min": [2.0, 2, 2], "scatter_max": [4.0, 4, 5],
    }  # fmt: skip
    with started(v) as session:
        for method, row in expected.items():
            session.run(v.initializer)
            value = session.run(getattr(v, method)(delta))
            np.testing.assert_array_equal(value[1], row, method)
            np.testing.assert_array_equal(value[[0, 2, 3]], [[0, 1, 2], [6, 7, 8], [9, 10, 11]])
        for method, pair in (("update", [5, 6]), ("add", [10, 15]), ("sub", [0, 3])):
            session.run(v.initializer)
            value = session.run(getattr(v, f"scatter_nd_{method}")(nd, [5.0, 6.0]))
            assert [value[1, 2], value[3, 0]] == pair


@BOTH
def test_batch_scatter_update_and_reads_of_rows(resource: bool) -> None:
    v = tf.Variable(np.zeros((2, 3), np.float32), use_resource=resource)
    update = tf.batch_scatter_update(v, [[0, 1], [1, 2]], [[1.0, 2.0], [3.0, 4.0]])
    with started(v) as session:
        np.testing.assert_array_equal(session.run(update), [[1, 2, 0], [0, 3, 4]])
        np.testing.assert_array_equal(session.run(v.sparse_read([1])), [[0, 3, 4]])
        np.testing.assert_array_equal(session.run(v.gather_nd([[0, 1]])), [2])


@BOTH
def test_index_out_of_range(resource: bool) -> None:
    v = matrix(resource)
    with started(v) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 7 .*\[0, 4\)"):
            session.run(tf.scatter_add(v, [0, 7], np.ones((2, 3), np.float32)))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1, 3\] is not within"):
            session.run(tf.scatter_nd_update(v, [[1, 3]], [1.0]))


@BOTH
def test_slices_can_be_assigned(resource: bool) -> None:
    v = matrix(resource)
    with started(v) as session:
        value = session.run(v[1:3, ::-2].assign([[1.0, 2.0], [3.0, 4.0]]))
        np.testing.assert_array_equal(value[1:3], [[2, 4, 1], [4, 7, 3]])
        np.testing.assert_array_equal(session.run(v[0].assign([9.0, 9.0, 9.0]))[0], [9, 9, 9])


@BOTH
def test_an_operand_that_is_a_view_of_the_variable(resource: bool) -> None:
    v = tf.Variable(np.arange(9, dtype=np.float32).reshape(3, 3), use_resource=resource)
    start = np.arange(9, dtype=np.float32).reshape(3, 3)
    with started(v) as session:
        for update, expected in (
            (v.assign_add(tf.transpose(v)), start + start.T),
            (v.assign(tf.transpose(v)), start.T),
            (v.assign_sub(v[::-1]), start - start[::-1]),
        ):
            session.run(v.initializer)
            np.testing.assert_array_equal(session.run(update), expected)


def test_a_changed_shape() -> None:
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    assert v.shape.ndims is None
    with started(v) as session:
        longer = tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
        assert session.run(longer).tolist() == [1.0, 2.0, 3.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \[3\].*\[1\]"):
            session.run(tf.assign_add(v, [1.0]))
    w = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="must be the same"):
        tf.assign(w, [1.0, 2.0, 3.0])


@BOTH
def test_count_up_to(resource: bool) -> None:
    v = tf.Variable(0, use_resource=resource)
    count = v.count_up_to(2)
    with started(v) as session:
        assert [session.run(count), session.run(count)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError, match="limit of 2"):
            session.run(count)
        assert session.run(v) == 2


@BOTH
def test_string_variables(resource: bool) -> None:
    v = tf.Variable(["a", "b"], use_resource=resource)
    with started(v) as session:
        assert session.run(v).tolist() == [b"a", b"b"]
        assert session.run(tf.assign(v, ["c", "d"])).tolist() == [b"c", b"d"]
        assert session.run(tf.scatter_update(v, [1], ["e"])).tolist() == [b"c", b"e"]


def test_report_uninitialized_variables() -> None:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b", use_resource=True)
    report = tf.report_uninitialized_variables()
    with tf.Session() as session:
        assert session.run(report).tolist() == [b"a", b"b"]
        session.run(a.initializer)
        assert session.run(report).tolist() == [b"b"]
        with pytest.raises(tf.errors.FailedPreconditionError, match="'b'"):
            session.run(tf.assert_variables_initialized())
        session.run(b.initializer)
        assert session.run(report).tolist() == []
        session.run(tf.assert_variables_initialized())


def test_temporary_variables_live_in_one_step() -> None:
    from penstock.foundation.graph.build import make

    t = make("TemporaryVariable", shape=[2], dtype=tf.float32)
    filled = tf.assign(t, [1.0, 2.0])
    added = tf.assign_add(filled, [1.0, 1.0])
    result = make("DestroyTemporaryVariable", added, var_name="t")
    with tf.Session() as session:
        for _ in range(2):
            assert session.run(result).tolist() == [2.0, 3.0]


@BOTH
def test_dependent_initial_values(resource: bool) -> None:
    v = tf.Variable([1.0, 2.0], name="v", use_resource=resource)
    w = tf.Variable(tf.negative(v.initialized_value()), use_resource=resource)
    x = tf.Variable(tf.negative(v.initialized_value()))
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run(w).tolist() == [-1.0, -2.0]
        session.run(v.initializer)
        session.run(v.assign([3.0, 4.0]))
        session.run(x.initializer)
        assert session.run(x).tolist() == [-3.0, -4.0]


def test_an_initial_value_that_reads_a_variable_directly() -> None:
    v = tf.Variable([1.0, 2.0])
    w = tf.Variable(tf.negative(v))
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run(w).tolist() == [-1.0, -2.0]


@BOTH
def test_proto_round_trip(resource: bool) -> None:
    v = tf.Variable([1.0, 2.0], name="v", trainable=False, use_resource=resource)
    message = v.to_proto()
    assert message.variable_name == "v:0"
    assert message.is_resource is resource
    assert message.snapshot_name == ("v/Read/ReadVariableOp:0" if resource else "v/read:0")
    again = tf.Variable.from_proto(message)
    assert (again.name, again.trainable, again.initializer) == (v.name, False, v.initializer)
    assert v.to_proto(export_scope="other") is None
    with tf.Session() as session:
        session.run(again.initializer)
        assert session.run(again).tolist() == session.run(v).tolist() == [1.0, 2.0]


@BOTH
def test_bad_arguments(resource: bool) -> None:
    with pytest.raises(ValueError, match="^initial_value must be specified"):
        tf.Variable(use_resource=resource)
    with pytest.raises(ValueError, match="collections must be"):
        tf.Variable(1.0, collections=3, use_resource=resource)
    v = tf.Variable([1.0], use_resource=resource)
    with pytest.raises((TypeError, ValueError), match="int32"):
        v.assign(tf.constant([1]))
    with pytest.raises(ValueError, match=r"\(2,\)|\[2\]"):
        v.assign([1.0, 2.0])
    with pytest.raises(TypeError, match="cannot be iterated"):
        iter(v)
    with pytest.raises(TypeError, match="IndexedSlices"):
        v.scatter_add([1.0])


STEPS = st.lists(
    st.tuples(st.sampled_from(["read", "assign", "add", "scatter", "view"]),
              st.integers(-4, 4)),
    min_size=1, max_size=8,
)  # fmt: skip


@BOTH
@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_control_dependencies_give_sequential_semantics(resource: bool, steps: Any) -> None:
    """A chain of reads and updates in one step gives what running them in turn gives."""
    with tf.Graph().as_default() as graph:
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=resource)
        state = np.array([1.0, 2.0, 3.0], np.float32)
        reads, expected, before = [], [], []
        for kind, number in steps:
            with graph.control_dependencies(before):
                if kind in ("read", "view"):
                    made = v.read_value() if kind == "read" else v.read_value()[1:]
                    reads.append(made)
                    expected.append((state if kind == "read" else state[1:]).copy())
                    before = [made.op]
                    continue
                value = np.full(3, number, np.float32)
                if kind == "assign":
                    made, state = v.assign(value), value.copy()
                elif kind == "add":
                    made, state = v.assign_add(value), state + value
                else:
                    row = abs(number) % 3
                    made = tf.scatter_update(v, [row], [float(number)])
                    state = state.copy()
                    state[row] = number
                before = [made.op]
        with graph.control_dependencies(before):
            reads.append(v.read_value())
        expected.append(state)
        init = v.initializer
    with tf.Session(graph=graph) as session:
        session.run(init)
        for got, want in zip(session.run(reads), expected, strict=True):
            np.testing.assert_array_equal(got, want)


@BOTH
def test_scattering_rows_of_the_variable_itself(resource: bool) -> None:
    start = np.arange(6, dtype=np.float32).reshape(3, 2)
    v = tf.Variable(start, use_resource=resource)
    with started(v) as session:
        rows = {"add": [[2, 4], [2, 4], [4, 5]], "mul": [[0, 3], [0, 3], [4, 5]]}
        for verb, expected in rows.items():
            session.run(v.initializer)
            update = getattr(tf, f"scatter_{verb}")(v, [1, 0], v[:2])
            value = session.run(update)
            np.testing.assert_array_equal(value, expected)
