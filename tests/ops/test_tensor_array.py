"""Stacks and TensorArrays as values of a program; their nodes' static shapes and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.ops.control.tensor_array import gradient_source


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _stack(dtype: Any = tf.float32) -> Any:
    return make("StackV2", tf.constant(-1), elem_type=dtype)


def _push(stack: Any, value: Any, after: list[Any] | None = None) -> Any:
    with tf.control_dependencies(after or []):
        return make("StackPushV2", stack, value)


def _pop(stack: Any, after: list[Any], dtype: Any = tf.float32) -> Any:
    with tf.control_dependencies(after):
        return make("StackPopV2", stack, elem_type=dtype)


def test_a_stack_on_a_stack(session: Any) -> None:
    inner, outer = _stack(), _stack(tf.resource)
    pushed = _push(inner, tf.constant([1.0, 2.0]) * 3.0)
    found = _pop(outer, [_push(outer, inner, [pushed])], tf.resource)
    value = _pop(found, [])
    for _ in range(2):
        assert session.run(value).tolist() == [3, 6]


def test_strings_on_a_stack(session: Any) -> None:
    stack = _stack(tf.string)
    first = _push(stack, tf.constant([b"a", b"bc"]))
    assert session.run(_pop(stack, [first], tf.string)).tolist() == [b"a", b"bc"]


def test_what_a_stack_holds_stays_as_it_was(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    stack = _stack()
    value = tf.exp(x)
    pushed = _push(stack, value)
    with tf.control_dependencies([pushed]):
        changed = tf.negative(value)  # may not be computed in place
    popped = _pop(stack, [changed])
    given = np.array([0.0, 1.0], np.float32)
    more = tf.negative(popped)
    wanted = np.exp(given)
    found = session.run([changed, more, popped], {x: given})
    np.testing.assert_allclose(found, [-wanted, -wanted, wanted], rtol=1e-6)


def test_a_variable_on_a_stack_is_its_value_then(session: Any) -> None:
    variable = tf.Variable([1.0, 2.0])
    stack = _stack()
    pushed = _push(stack, variable._ref())
    with tf.control_dependencies([pushed]):
        write = tf.assign_add(variable, [10.0, 10.0])
    popped = _pop(stack, [write])
    session.run(tf.global_variables_initializer())
    assert session.run(popped).tolist() == [1, 2]
    assert session.run(popped).tolist() == [11, 12]


def test_a_fetched_element_is_the_callers(session: Any) -> None:
    variable = tf.Variable([1.0, 2.0])
    array = tf.TensorArray(tf.float32, 1).write(0, variable._ref())
    value = array.read(0)
    session.run(tf.global_variables_initializer())
    found = session.run(value)
    session.run(tf.assign(variable, [5.0, 5.0]))
    assert found.tolist() == [1, 2]


def test_an_array_holds_a_variable_as_it_was(session: Any) -> None:
    variable = tf.Variable([1.0, 2.0])
    array = tf.TensorArray(tf.float32, 1).write(0, variable._ref())
    with tf.control_dependencies([array.flow]):
        write = tf.assign_add(variable, [10.0, 10.0])
    with tf.control_dependencies([write]):
        value = array.read(0)
    session.run(tf.global_variables_initializer())
    assert session.run(value).tolist() == [1, 2]


def test_static_shapes() -> None:
    with tf.Graph().as_default():
        handle, flow = make(
            "TensorArrayV3",
            2,
            dtype=tf.float32,
            element_shape=[None, 3],
        )
        assert (handle.shape.as_list(), flow.shape.as_list()) == ([2], [])
        read = make("TensorArrayReadV3", handle, 0, flow, dtype=tf.float32)
        gather = make(
            "TensorArrayGatherV3", handle, [1], flow, dtype=tf.float32, element_shape=[5, None]
        )
        gradient = make("TensorArrayGradV3", handle, flow, source="gradients").grad_handle
        back = make("TensorArrayReadV3", gradient, 0, flow, dtype=tf.float32)
        assert [t.shape.as_list() for t in (read, gather, back)] == [
            [None, 3], [1, 5, 3], [None, 3],
        ]  # fmt: skip
        concat = make("TensorArrayConcatV3", handle, flow, dtype=tf.float32)
        assert concat.value.shape.ndims is None and concat.lengths.shape.as_list() == [None]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda handle, flow: make("TensorArrayWriteV3", handle, 0, [1.0, 2.0, 3.0], flow),
        lambda handle, flow: make("TensorArrayWriteV3", handle, [0], [1.0, 2.0], flow),
        lambda handle, flow: make("TensorArrayReadV3", handle, [0], flow, dtype=tf.float32),
        lambda handle, flow: make("TensorArrayGatherV3", handle, 0, flow, dtype=tf.float32),
        lambda handle, flow: make("TensorArrayScatterV3", handle, [0], [[1.0], [2.0]], flow),
        lambda handle, flow: make("TensorArraySplitV3", handle, [1.0], [[1]], flow),
        lambda handle, flow: make("TensorArraySizeV3", handle, [1.0]),
        lambda handle, flow: make("TensorArrayV3", [1], dtype=tf.float32),
    ],
)
def test_shapes_that_cannot_be(wrong: Any) -> None:
    with tf.Graph().as_default():
        made = make("TensorArrayV3", 2, dtype=tf.float32, element_shape=[2])
        with pytest.raises(ValueError, match="TensorArray"):
            wrong(*made)


def test_arrays_by_a_string(session: Any) -> None:
    """The older ops: one output, and the flow begins as any scalar."""
    handle = make("TensorArrayV2", 2, dtype=tf.float32)
    flow = tf.constant(0.0)
    for index in (0, 1):
        flow = make("TensorArrayWriteV2", handle, index, [float(index), 2.0], flow)
    stacked = make("TensorArrayGatherV2", handle, [1, 0], flow, dtype=tf.float32)
    with tf.control_dependencies([stacked]):
        size = make("TensorArraySizeV2", handle, flow)
    assert session.run([stacked, size])[0].tolist() == [[1, 2], [0, 2]]
    gradient = make("TensorArrayGradV2", handle, flow, source="gradients")
    after = make("TensorArrayWriteV2", gradient, 0, [1.0, 1.0], flow)
    after = make("TensorArrayWriteV2", gradient, 0, [1.0, 1.0], after)
    read = make("TensorArrayReadV2", gradient, 0, after, dtype=tf.float32)
    assert session.run(read).tolist() == [2, 2]


def test_a_gradient_array_with_more_dims(session: Any) -> None:
    array = tf.TensorArray(tf.float32, 1).write(0, [1.0, 2.0])
    made = make("TensorArrayGradWithShape", array.handle, array.flow, [3], source="gradients")
    read = make("TensorArrayReadV3", made.grad_handle, 0, made.flow_out, dtype=tf.float32)
    assert session.run(read).shape == (3, 2)


def test_the_source_of_a_gradient() -> None:
    with tf.Graph().as_default():
        array = tf.TensorArray(tf.float32, 1)
        op = array.read(0, name="a/read").op

        def source(scope: str, name: str) -> str:
            with tf.name_scope(f"{scope}/"):
                return gradient_source(op, tf.constant(0.0, name=f"{name}/"))

        assert source("train/gradients_1/a/read_grad", "x") == "train/gradients_1"
        assert source("mine/a/read_grad", "y") == "mine"
        assert source("", "a/gradients_1/b/c") == "a/gradients_1"
        assert source("", "gradients/while/gradients_2/x") == "gradients/while/gradients_2"
        with pytest.raises(ValueError, match="begins with 'gradients'"):
            source("", "train/grads/x")


def test_sources_are_tensorflows() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0, 2.0])
        array = tf.TensorArray(tf.float32, 2).unstack(x)
        tf.gradients(array.stack(), x)
        with tf.name_scope("train"):
            tf.gradients(array.stack(), x)
            tf.gradients(array.stack(), x, name="gradients_of_it")
        found = {
            op.get_attr("source") for op in graph.get_operations()
            if op.type == "TensorArrayGradV3"
        }  # fmt: skip
        assert found == {b"gradients", b"train/gradients", b"train/gradients_of_it"}


def test_two_gradients_in_one_step_do_not_mix(session: Any) -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    array = tf.TensorArray(tf.float32, 2).unstack(x * 1.0)
    product = array.read(0) * array.read(1)
    first, second = tf.gradients(product, x)[0], tf.gradients(product * 10.0, x)[0]
    found = session.run([first, second])
    assert found[0].tolist() == [[3, 4], [1, 2]]
    assert found[1].tolist() == [[30, 40], [10, 20]]


def test_errors_name_array_node_and_line(session: Any) -> None:
    array = tf.TensorArray(tf.float32, 2, tensor_array_name="mine", infer_shape=False)
    value = array.read(1, name="reading")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(value)
    text = str(caught.value)
    for part in ("TensorArrayReadV3 'reading'", "TensorArray 'mine'", "index 1", __file__):
        assert part in text
    assert session.run(tf.TensorArray(tf.float32, 1).write(0, 1.0).read(0)) == 1


def test_a_close_comes_after_a_read_it_depends_on(session: Any) -> None:
    array = tf.TensorArray(tf.float32, 1).write(0, tf.exp([1.0]))
    value = array.read(0)
    with tf.control_dependencies([value]):
        closed = array.close()
    assert session.run([closed, value])[1].shape == (1,)
    with tf.control_dependencies([closed]):
        late = array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="closed"):
        session.run(late)


# ---- the first form ------------------------------------------------------------------------------


def _first(dtype: Any = tf.float32, **attrs: Any) -> Any:
    return make("TensorArray", 3, dtype=dtype, **attrs)


def test_the_first_form_begins_anew_in_each_step(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    array = _first(element_shape=[2])
    assert array.dtype is tf.string._as_ref and array.shape.as_list() == [2]
    flow = tf.constant(0.0)
    for index in range(3):
        flow = make("TensorArrayWrite", array, index, x * float(index + 1), flow)
    read = make("TensorArrayRead", array, 1, flow, dtype=tf.float32)
    with tf.control_dependencies([read]):
        size = make("TensorArraySize", array, flow)
    gathered = make("TensorArrayGather", array, [2, 0], flow, dtype=tf.float32)
    assert [t.shape.as_list() for t in (read, gathered)] == [[2], [2, 2]]
    for given in ([1.0, 2.0], [5.0, 0.0]):
        found = session.run([read, size], {x: given})
        assert (found[0] / 2).tolist() == given and found[1] == 3
        both = session.run(gathered, {x: given})
        assert both.tolist() == [[3 * given[0], 3 * given[1]], given]


def test_rows_in_and_out_of_the_first_form(session: Any) -> None:
    value = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    array = _first(clear_after_read=False)
    flow = make("TensorArrayUnpack", array, value, 0.0)
    packed = make("TensorArrayPack", array, flow, dtype=tf.float32)
    joined = make("TensorArrayConcat", array, flow, dtype=tf.float32)
    assert session.run(packed).tolist() == session.run(value).tolist()
    assert session.run(joined.value).tolist() == [1, 2, 3, 4, 5, 6]
    other = _first(tf.string)
    flow = make("TensorArrayScatter", other, [2, 0, 1], tf.constant(["a", "b", "c"]), 0.0)
    assert session.run(make("TensorArrayPack", other, flow, dtype=tf.string)).tolist() == [
        b"b", b"c", b"a",
    ]  # fmt: skip
    third = _first()
    flow = make("TensorArraySplit", third, tf.constant([1.0, 2.0, 3.0]), [1, 0, 2], 0.0)
    read = make("TensorArrayRead", third, 2, flow, dtype=tf.float32)
    assert session.run(read).tolist() == [2, 3]


def test_a_gradient_array_of_the_first_form_adds(session: Any) -> None:
    array = _first(element_shape=[])
    flow = make("TensorArrayWrite", array, 0, 1.0, 0.0)
    gradient = make("TensorArrayGrad", array, flow, source="gradients")
    with tf.control_dependencies([gradient]):
        after = make("TensorArrayWrite", gradient, 0, 2.0, flow)
        after = make("TensorArrayWrite", gradient, 0, 3.0, after)
    read = make("TensorArrayRead", gradient, 0, after, dtype=tf.float32)
    assert [session.run(read) for _ in range(2)] == [5, 5]


def test_errors_of_the_first_form(session: Any) -> None:
    array = _first(tensor_array_name="mine")
    read = make("TensorArrayRead", array, 0, 0.0, dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="'mine': .*index 0"):
        session.run(read)
    with tf.control_dependencies([make("TensorArrayClose", array)]):
        size = make("TensorArraySize", array, 0.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="closed"):
        session.run(size)
    with pytest.raises(ValueError, match="shape"):
        make("TensorArrayWrite", _first(element_shape=[2]), 0, [1.0], 0.0)


def _array(size: int) -> tf.TensorArray:
    return tf.TensorArray(tf.float32, size=size, dynamic_size=True, infer_shape=False)


def test_a_split_has_the_gradient_of_what_it_has_split(session: Any) -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    joined = _array(2).split(x, [1, 2]).write(2, [7.0]).concat()
    (grad,) = tf.gradients(joined, x)
    assert session.run(joined).tolist() == [1, 2, 3, 7]
    assert session.run(grad).tolist() == [1, 1, 1]


def test_a_split_and_a_write_of_one_tensor(session: Any) -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    joined = _array(2).split(x, [1, 2]).write(2, x * 2.0).concat()
    (grad,) = tf.gradients(joined * joined, x)
    assert session.run(grad).tolist() == [10, 20, 30]


@pytest.mark.parametrize("lengths", [[1, 2], [3, 0], [0, 0, 3]])
def test_the_gradient_of_a_split_that_one_element_is_read_of(
    session: Any, lengths: list[int]
) -> None:
    x, size = tf.constant([1.0, 2.0, 3.0]), len(lengths)
    read = _array(size).split(x, lengths).write(size + 1, [7.0]).read(size - 1)
    (grad,) = tf.gradients(read * read, x)
    first = 3 - lengths[-1]
    assert session.run(grad).tolist() == [0] * first + [2 * (i + 1) for i in range(first, 3)]
