"""Custom gradients, recomputation, pass-through, Hessians."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.library.autodiff import hessians


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as fresh:
        yield fresh


def run(fetches: Any, feed: Any = None) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches, feed)


def test_the_gradient_is_the_users() -> None:
    @tf.custom_gradient
    def log1pexp(x: Any) -> Any:
        e = make("Exp", x)

        def grad(dy: Any) -> Any:
            return make("Mul", dy, make("Sub", 1.0, make("Reciprocal", make("Add", 1.0, e))))

        return make("Log", make("Add", 1.0, e)), grad

    x = tf.constant(100.0)
    y = log1pexp(x)
    value, (slope,) = run([y, tf.gradients(y, x)])
    assert not np.isfinite(value)
    assert slope == 1.0  # without it: nan


def test_the_node_is_an_identity_n_as_in_tensorflow(graph: Any) -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return make("Square", x, name="inner"), lambda dy: dy

    f(tf.constant(2.0, name="x"))
    names = [(op.name, op.type) for op in graph.get_operations()]
    # The lone Identity is TF's as well: it is left over from its search for variables.
    assert names == [
        ("x", "Const"), ("inner", "Square"), ("Identity", "Identity"), ("IdentityN", "IdentityN"),
    ]  # fmt: skip
    node = graph.get_operation_by_name("IdentityN")
    assert [t.name for t in node.inputs] == ["inner:0", "x:0"]
    assert node.attrs["_gradient_op_type"].startswith(b"CustomGradient-")


def test_several_results_and_arguments() -> None:
    @tf.custom_gradient
    def f(x: Any, y: Any) -> Any:
        def grad(da: Any, db: Any) -> Any:
            return [make("Mul", da, 10.0), make("Mul", db, 100.0)]

        return {"a": make("Mul", x, y), "b": (make("Add", x, y),)}, grad

    x, y = tf.constant(2.0), tf.constant(3.0)
    result = f(x, y)
    assert run([result["a"], result["b"][0]]) == [6.0, 5.0]
    grads = tf.gradients([result["a"], result["b"][0]], [x, y], grad_ys=[1.0, 2.0])
    assert run(grads) == [10.0, 200.0]


def test_nothing_flows_through_the_body() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return make("Square", x), lambda dy: None

    x = tf.constant(2.0)
    assert tf.gradients(f(x), x) == [None]


def test_variables() -> None:
    v = tf.Variable(3.0, use_resource=True, name="v")

    @tf.custom_gradient
    def f(x: Any) -> Any:
        def grad(dy: Any, variables: Any) -> Any:
            assert variables == [v]
            return [make("Mul", dy, 5.0)], [make("Mul", dy, 7.0)]

        return make("Mul", x, v), grad

    x = tf.constant(2.0)
    grads = tf.gradients(f(x), [x, v])
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(grads) == [5.0, 7.0]


def test_variables_that_the_gradient_does_not_take() -> None:
    v = tf.Variable(3.0, use_resource=True, name="v")
    f = tf.custom_gradient(lambda x: (make("Mul", x, v), lambda dy: dy))
    with pytest.raises(TypeError, match="uses the variables.*'v:0'.*'variables' keyword"):
        f(tf.constant(2.0))


def test_reference_variables_are_refused() -> None:
    v = tf.Variable(3.0, use_resource=False, name="v")
    f = tf.custom_gradient(lambda x: (make("Mul", x, v), lambda dy: dy))
    with pytest.raises(TypeError, match="'v' is a reference variable"):
        f(tf.constant(2.0))


def test_misuse() -> None:
    f = tf.custom_gradient(lambda x: (tf.identity(x), lambda dy: [dy, dy]))
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="2 gradient.*for 1 argument"):
        tf.gradients(f(x), x)
    with pytest.raises(ValueError, match=r"no keyword arguments; found \['x'\]"):
        f(x=x)


def test_grad_pass_through() -> None:
    x = tf.constant([1.4, 2.6])
    y = tf.grad_pass_through(lambda t: make("Floor", t))(x)
    value, (slope,) = run([y, tf.gradients(y, x)])
    np.testing.assert_array_equal(value, [1.0, 2.0])
    np.testing.assert_array_equal(slope, [1.0, 1.0])


def test_recompute_grad_has_the_same_gradient() -> None:
    def f(x: Any) -> Any:
        return make("Square", make("Sin", x))

    x = tf.constant([0.3, 0.7])
    plain, again = tf.gradients(f(x), x)[0], tf.gradients(tf.recompute_grad(f)(x), x)[0]
    first, second = run([plain, again])
    np.testing.assert_allclose(first, second)
    assert sum(op.type == "Sin" for op in x.graph.get_operations()) == 3


# ---- Hessians ------------------------------------------------------------------------------


def test_hessian_of_a_quadratic_form() -> None:
    a = np.array([[2.0, 1.0], [0.0, 3.0]], np.float32)
    x = tf.constant([1.0, 2.0])
    column = make("Reshape", x, [2, 1])
    form = make("MatMul", make("MatMul", column, a, transpose_a=True), column)
    (hessian,) = tf.hessians(form, x)
    np.testing.assert_allclose(run(hessian), a + a.T)


def test_hessians_of_matrices_have_twice_the_rank() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    (hessian,) = tf.hessians(make("Mul", make("Square", x), x), [x])
    value = run(hessian)
    assert value.shape == (2, 2, 2, 2)
    np.testing.assert_allclose(value.reshape(4, 4), np.diag([6.0, 12.0, 18.0, 24.0]))


def test_hessian_of_a_linear_function_is_zero() -> None:
    x = tf.constant([1.0, 2.0])
    (hessian,) = tf.hessians(make("Mul", x, 3.0), x)
    np.testing.assert_array_equal(run(hessian), np.zeros((2, 2)))


def test_hessians_need_a_dependence() -> None:
    y = tf.constant([1.0])
    with pytest.raises(ValueError, match="no y depends on"):
        tf.hessians(tf.constant(1.0), y)


def test_hessian_vector_product() -> None:
    x = tf.constant([1.0, 2.0])
    y = make("Mul", make("Square", x), x)
    (product,) = hessians.hessian_vector_product(y, [x], [tf.constant([10.0, 100.0])])
    np.testing.assert_allclose(run(product), [60.0, 1200.0])
    with pytest.raises(ValueError, match="same length; found 1 and 0"):
        hessians.hessian_vector_product(y, [x], [])
