"""``tf.gradients``: values, arguments, errors."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.foundation.opdef.registry import GRADIENTS


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as fresh:
        yield fresh


def run(fetches: Any, feed: Any = None) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches, feed)


def numeric(y: Any, x: Any, at: np.ndarray, step: float = 1e-4) -> np.ndarray:
    """Central differences of sum(y) with respect to x, in float64."""
    result = np.zeros_like(at)
    with tf.Session() as sess:
        for index in np.ndindex(*at.shape):
            moved = [at.copy(), at.copy()]
            moved[0][index] += step
            moved[1][index] -= step
            high, low = (np.sum(sess.run(y, {x: m})) for m in moved)
            result[index] = (high - low) / (2 * step)
    return result


# ---- values --------------------------------------------------------------------------------


def test_a_chain_with_sharing_agrees_with_differences() -> None:
    x = tf.placeholder(tf.float64, [2, 3])
    h = make("Tanh", x)
    y = make("Mul", make("Exp", h), h)
    z = make("Sub", make("Mul", y, x), make("Sin", y))
    at = np.linspace(-1.0, 1.5, 6).reshape(2, 3)
    (grad,) = tf.gradients(z, x)
    np.testing.assert_allclose(run(grad, {x: at}), numeric(z, x, at), rtol=1e-6, atol=1e-8)


def test_several_ys_are_summed() -> None:
    x = tf.constant([1.0, 2.0])
    grads = tf.gradients([make("Square", x), make("Mul", x, 3.0)], [x])
    np.testing.assert_allclose(run(grads[0]), [5.0, 7.0])


def test_an_x_on_the_way_to_another_x() -> None:
    x = tf.constant(3.0)
    y = make("Square", x)
    z = make("Mul", y, 2.0)
    gx, gy, gz = tf.gradients(z, [x, y, z])
    assert run([gx, gy, gz]) == [12.0, 2.0, 1.0]


def test_the_gradient_of_x_with_respect_to_itself_is_one() -> None:
    x = tf.constant([3.0, 4.0])
    np.testing.assert_array_equal(run(tf.gradients(x, x)[0]), [1.0, 1.0])


def test_grad_ys_are_what_is_started_from() -> None:
    x = tf.constant([1.0, 2.0])
    y = make("Square", x)
    grads = tf.gradients([y, y], x, grad_ys=[[10.0, 100.0], None])
    np.testing.assert_allclose(run(grads[0]), [22.0, 404.0])


def test_unknown_shapes() -> None:
    x = tf.placeholder(tf.float32)
    (grad,) = tf.gradients(make("Square", x), x)
    np.testing.assert_allclose(run(grad, {x: [[1.0, 2.0]]}), [[2.0, 4.0]])


def test_only_the_path_asked_for_is_built(graph: Any) -> None:
    x, z = tf.constant(1.0, name="x"), tf.constant(2.0, name="z")
    side = make("Exp", z, name="side")
    before = len(graph.get_operations())
    tf.gradients(make("Mul", x, side), x)
    assert not [op for op in graph.get_operations()[before:] if "side_grad" in op.name]


def test_integers_and_strings_carry_no_gradient() -> None:
    x = tf.constant([1.5, 2.5])
    whole = make("Cast", x, DstT=tf.int32)
    y = make("Cast", whole, DstT=tf.float32)
    assert tf.gradients(y, x) == [None]


def test_second_order() -> None:
    x = tf.constant([1.0, 2.0])
    y = make("Mul", make("Square", x), x)
    (first,) = tf.gradients(y, x)
    (second,) = tf.gradients(first, x)
    (third,) = tf.gradients(second, x)
    np.testing.assert_allclose(run([first, second, third]), [[3, 12], [6, 12], [6, 6]])


def test_variables_of_both_kinds() -> None:
    for use_resource in (False, True):
        v = tf.Variable([1.0, 2.0], use_resource=use_resource)
        (grad,) = tf.gradients(make("Square", v), v)
        with tf.Session() as sess:
            sess.run(v.initializer)
            np.testing.assert_allclose(sess.run(grad), [2.0, 4.0])


def test_original_op_is_the_forward_one() -> None:
    x = tf.constant(2.0)
    y = make("Exp", x)
    (grad,) = tf.gradients(y, x)
    assert grad.op._original_op is y.op


# ---- arguments -----------------------------------------------------------------------------


def test_stop_gradients_are_constants() -> None:
    x = tf.constant(2.0)
    y = make("Square", x)
    z = make("Mul", y, x)
    assert run(tf.gradients(z, x)) == [12.0]
    assert run(tf.gradients(z, x, stop_gradients=[y])) == [4.0]
    assert tf.gradients(y, x, stop_gradients=y) == [None]


def test_stop_gradient_and_prevent_gradient() -> None:
    x = tf.constant(2.0)
    y = make("Mul", x, tf.stop_gradient(make("Square", x)))
    assert run(tf.gradients(y, x)) == [4.0]
    with pytest.raises(LookupError, match="because of the tests"):
        tf.gradients(make("PreventGradient", x, message="because of the tests"), x)


def test_unconnected() -> None:
    x, z = tf.constant([1.0, 2.0]), tf.constant(1.0)
    assert tf.gradients(z, x) == [None]
    assert tf.gradients(z, x, unconnected_gradients=tf.UnconnectedGradients.NONE) == [None]
    np.testing.assert_array_equal(
        run(tf.gradients(z, x, unconnected_gradients="zero")[0]), [0.0, 0.0]
    )
    with pytest.raises(ValueError, match="'none' or 'zero'; found 'some'"):
        tf.gradients(z, x, unconnected_gradients="some")


def test_unconnected_zeros_of_large_and_unknown_shapes() -> None:
    big, free = tf.constant(np.ones((40, 50), np.float32)), tf.placeholder(tf.float32)
    grads = tf.gradients(tf.constant(1.0), [big, free], unconnected_gradients="zero")
    first, second = run(grads, {free: [1.0, 2.0]})
    assert first.shape == (40, 50) and not first.any()
    np.testing.assert_array_equal(second, [0.0, 0.0])


def test_unconnected_zeros_of_variables() -> None:
    plain = tf.Variable([1.0, 2.0], use_resource=False)
    handle = tf.Variable([1.0, 2.0], use_resource=True)
    grads = tf.gradients(tf.constant(1.0), [plain, handle], unconnected_gradients="zero")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for value in sess.run(grads):
            np.testing.assert_array_equal(value, [0.0, 0.0])


def test_an_output_without_a_gradient_gets_zeros() -> None:
    x = tf.constant([1.0, 2.0])
    first, _ = tf.identity_n([x, make("Exp", x)])
    np.testing.assert_array_equal(run(tf.gradients(first, x)[0]), [1.0, 1.0])


@pytest.mark.parametrize("method", ["ADD_N", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N"])
def test_aggregation_methods_agree(method: str) -> None:
    x = tf.constant([1.0, 2.0])
    y = make("Mul", make("Mul", x, x), make("Mul", x, x))
    (grad,) = tf.gradients(y, x, aggregation_method=getattr(tf.AggregationMethod, method))
    np.testing.assert_allclose(run(grad), [4.0, 32.0])


def test_an_unknown_aggregation_method_is_refused() -> None:
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="Invalid aggregation_method specified 7; allowed"):
        tf.gradients(x, x, aggregation_method=7)


def test_gated_gradients_wait_for_each_other(graph: Any) -> None:
    x, y = tf.constant(1.0), tf.constant(2.0)
    z = make("Mul", x, y, name="z")
    gx, gy = tf.gradients(z, [x, y], gate_gradients=True)
    assert [gx.op.name, gy.op.name] == [
        "gradients/z_grad/tuple/control_dependency",
        "gradients/z_grad/tuple/control_dependency_1",
    ]
    gate = graph.get_operation_by_name("gradients/z_grad/tuple/group_deps")
    assert gx.op.control_inputs == (gate,)
    assert run([gx, gy]) == [2.0, 1.0]


def test_gradients_are_colocated_when_asked() -> None:
    x = tf.constant(1.0)
    with tf.device("/cpu:0"):
        y = make("Exp", x, name="y")
    (grad,) = tf.gradients(y, x, colocate_gradients_with_ops=True)
    assert grad.op.colocation_groups() == [b"loc:@y"]
    assert grad.op.device == y.op.device


# ---- sparse gradients ----------------------------------------------------------------------


def _table() -> Any:
    return tf.constant(np.arange(12.0, dtype=np.float32).reshape(4, 3))


def test_a_gather_gives_indexed_slices() -> None:
    table = _table()
    (grad,) = tf.gradients(make("GatherV2", table, [1, 1, 3], 0), table)
    assert isinstance(grad, tf.IndexedSlices)
    value = run(grad)
    np.testing.assert_array_equal(value.indices, [1, 1, 3])
    np.testing.assert_array_equal(value.values, np.ones((3, 3)))
    np.testing.assert_array_equal(value.dense_shape, [4, 3])


def test_sparse_gradients_are_concatenated() -> None:
    table = _table()
    first = make("GatherV2", table, [1], 0)
    second = make("GatherV2", table, [1, 2], 0)
    (grad,) = tf.gradients([first, second], table, grad_ys=[[[1.0] * 3], [[2.0] * 3, [3.0] * 3]])
    dense = tf.convert_to_tensor(grad)
    np.testing.assert_array_equal(sorted(run(grad).indices), [1, 1, 2])
    np.testing.assert_array_equal(run(dense)[:, 0], [0, 3, 3, 0])


def test_indices_of_two_types_become_int64() -> None:
    table = _table()
    first = make("GatherV2", table, [1], 0)
    second = make("GatherV2", table, tf.constant([2], tf.int64), 0)
    (grad,) = tf.gradients([first, second], table)
    assert grad.indices.dtype == tf.int64
    np.testing.assert_array_equal(sorted(run(grad).indices), [1, 2])


def test_sparse_and_dense_add_up_densely() -> None:
    table = _table()
    (grad,) = tf.gradients([make("GatherV2", table, [2, 2], 0), make("Square", table)], table)
    assert isinstance(grad, tf.Tensor)
    expected = 2 * np.arange(12.0).reshape(4, 3)
    expected[2] += 2
    np.testing.assert_allclose(run(grad), expected)


def test_sparse_gradients_flow_on_through_an_op() -> None:
    table = _table()
    (grad,) = tf.gradients(make("GatherV2", make("Mul", table, 2.0), [0], 0), table)
    np.testing.assert_allclose(run(grad)[:, 0], [2, 0, 0, 0])


def test_indexed_slices_as_grad_ys() -> None:
    x = _table()
    slices = tf.IndexedSlices(tf.constant([[1.0] * 3]), tf.constant([2]), tf.constant([4, 3]))
    (grad,) = tf.gradients(tf.identity(x), x, grad_ys=slices)
    assert grad.values.op.name == "gradients/grad_ys_0_values"
    np.testing.assert_array_equal(run(grad).indices, [2])


def test_a_dense_shape_is_needed_to_become_dense() -> None:
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]))
    with pytest.raises(ValueError, match="no dense_shape"):
        tf.convert_to_tensor(slices)


def test_large_conversions_warn() -> None:
    values, where = tf.constant([[1.0]]), tf.constant([2])
    with pytest.warns(UserWarning, match="with 1000000000 elements"):
        tf.convert_to_tensor(tf.IndexedSlices(values, where, tf.constant([10**9, 1])))
    with pytest.warns(UserWarning, match="of unknown shape"):
        shape = tf.placeholder(tf.int32, [2])
        tf.convert_to_tensor(tf.IndexedSlices(values, where, shape))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.convert_to_tensor(tf.IndexedSlices(values, where, tf.constant([10, 1])))


def test_convert_to_tensor_or_indexed_slices_keeps_slices() -> None:
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]))
    assert tf.convert_to_tensor_or_indexed_slices(slices) is slices
    assert tf.convert_to_tensor_or_indexed_slices([1.0]).dtype == tf.float32
    with pytest.raises(ValueError, match="is float32; int32 is wanted"):
        tf.convert_to_tensor_or_indexed_slices(slices, tf.int32)


# ---- overrides and errors ------------------------------------------------------------------


def test_gradient_override_map(graph: Any) -> None:
    name = "TestTripled"
    if name not in GRADIENTS:
        tf.RegisterGradient(name)(lambda op, grad: make("Mul", grad, 3.0))
    x = tf.constant(2.0)
    with graph.gradient_override_map({"Exp": name}):
        y = make("Exp", x)
    assert run(tf.gradients(y, x)) == [3.0]
    assert run(tf.gradients(make("Exp", x), x)) == [pytest.approx(np.exp(2.0))]


def test_an_override_that_is_not_registered(graph: Any) -> None:
    x = tf.constant(2.0)
    with graph.gradient_override_map({"Exp": "NobodyWroteThis"}):
        y = make("Exp", x, name="y")
    with pytest.raises(LookupError, match="'y'.*Exp.*overridden by 'NobodyWroteThis'"):
        tf.gradients(y, x)


def test_registering_twice_is_refused() -> None:
    with pytest.raises(KeyError, match="'Exp' is already registered"):
        tf.RegisterGradient("Exp")(lambda op, grad: grad)
    with pytest.raises(TypeError, match="must be a string; found int"):
        tf.RegisterGradient(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a string; found int"):
        tf.NotDifferentiable(3)  # type: ignore[arg-type]


def test_an_op_without_any_gradient_says_where_it_was_made(monkeypatch: Any) -> None:
    x = tf.constant(2.0)
    y = make("Exp", x, name="culprit")  # this very line is in the message
    monkeypatch.delitem(GRADIENTS._items, "Exp")
    with pytest.raises(LookupError) as caught:
        tf.gradients(y, x)
    text = str(caught.value)
    assert "'culprit'" in text and "op type: Exp" in text
    assert "this very line is in the message" in text


def test_not_differentiable_gives_none() -> None:
    x = tf.constant([1.5])
    assert GRADIENTS["StopGradient"] is None
    assert tf.gradients(tf.stop_gradient(x), x) == [None]


def _with_gradient(graph: Any, name: str, function: Any) -> Any:
    if name not in GRADIENTS:
        tf.RegisterGradient(name)(function)
    x = tf.constant([2.0, 3.0])
    with graph.gradient_override_map({"Exp": name}):
        return x, make("Exp", x, name="odd")


def test_a_gradient_of_a_wrong_count(graph: Any) -> None:
    x, y = _with_gradient(graph, "TestTwo", lambda op, grad: [grad, grad])
    with pytest.raises(ValueError, match="'odd'.*returned 2 gradient.*has 1 input"):
        tf.gradients(y, x)


def test_a_gradient_of_a_wrong_shape(graph: Any) -> None:
    x, y = _with_gradient(graph, "TestShape", lambda op, grad: tf.constant([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match=r"input 0 of 'odd'.*\(3,\).*\(2,\)"):
        tf.gradients(y, x)


def test_a_gradient_that_is_no_tensor(graph: Any) -> None:
    x, y = _with_gradient(graph, "TestNumber", lambda op, grad: 1.0)
    with pytest.raises(TypeError, match="returned 1.0 for input 0"):
        tf.gradients(y, x)


def test_bad_grad_ys() -> None:
    x = tf.constant(2.0)
    y = make("Exp", x)
    with pytest.raises(ValueError, match="2 grad_ys were given for 1 ys"):
        tf.gradients(y, x, grad_ys=[None, None])
    with pytest.raises(TypeError, match=r"grad_ys\[0\].*is bool"):
        tf.gradients(y, x, grad_ys=tf.constant(True))
    with pytest.raises(TypeError, match="complex128; gradients of complex ys need grad_ys"):
        tf.gradients(tf.constant(1j), tf.constant(1j))


def test_elements_of_two_graphs_are_refused() -> None:
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    with pytest.raises(ValueError, match="not in the same graph"):
        tf.gradients(x, other)


# ---- size ----------------------------------------------------------------------------------


def _calls(length: int) -> int:
    """How many Python calls the gradient of a chain of ``length`` ops takes."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    with tf.Graph().as_default():
        x = tf.constant([1.0])
        y = x
        for _ in range(length):
            y = make("Mul", y, make("Tanh", y))
        sys.setprofile(profile)
        try:
            tf.gradients(y, x)
        finally:
            sys.setprofile(None)
    return count


def test_the_work_is_linear_in_the_number_of_ops() -> None:
    assert _calls(400) < 4.2 * _calls(100)


def test_a_long_chain_needs_no_recursion() -> None:
    x = tf.constant(1.0)
    y = x
    for _ in range(3 * sys.getrecursionlimit()):
        y = make("Neg", y)
    (grad,) = tf.gradients(y, x)
    assert run(grad) == (1.0 if sys.getrecursionlimit() % 2 == 0 else -1.0)
