"""Hints, names, assertions, variables and mistakes of linear operators."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.api import linalg
from tests.library.linear_operators.programs import Maker, mistakes, outcome, told

ADJOINT, DEFINITE = "is_self_adjoint", "is_positive_definite"


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def test_every_class_is_public() -> None:
    names = [name for name in dir(linalg) if name.startswith("LinearOperator")]
    assert len(names) == 18
    assert all(issubclass(getattr(tf.linalg, name), tf.linalg.LinearOperator) for name in names)


def test_nodes_are_under_the_operators_name() -> None:
    operator = tf.linalg.LinearOperatorDiag([1.0, 2.0], name="scale")
    assert operator.matmul([[1.0], [1.0]]).name.startswith("scale/matmul/")
    assert operator.log_abs_determinant().name.startswith("scale/log_abs_det/")
    assert operator.matvec([1.0, 1.0], name="twice").name.startswith("scale/twice/")


@pytest.mark.parametrize(
    ("name", "hints", "wanted"),
    [
        ("diag", {}, "LinearOperatorDiag[-T-T]LinearOperatorDiag"),
        ("diag", {DEFINITE: True}, "LinearOperatorDiag[TTTT]LinearOperatorDiag"),
        ("full_matrix", {}, "LinearOperatorFullMatrix[---T]LinearOperatorFullMatrix"),
        ("full_matrix", {ADJOINT: False}, "LinearOperatorFullMatrix[-F-T]LinearOperatorFullMatrix"),
        ("householder", {}, "LinearOperatorHouseholder[-TFT]LinearOperatorHouseholder"),
        ("zeros", {}, "LinearOperatorZeros[FTFT]LinearOperatorZeros"),
        ("definite_update", {}, "LinearOperatorLowRankUpdate[TTTT]LinearOperatorLowRankUpdate"),
        (
            "adjoint", {},
            "LinearOperatorAdjoint[---T]LinearOperatorFullMatrix_adjoint"
            "(LinearOperatorFullMatrix[---T]LinearOperatorFullMatrix)",
        ),
    ],
)  # fmt: skip
def test_hints(name: str, hints: dict[str, bool], wanted: str) -> None:
    assert told(Maker(tf).make(name, **hints)) == wanted


def test_products_keep_what_the_classes_know() -> None:
    make = Maker(tf).make
    diag, circulant, identity = make("diag"), make("circulant"), make("identity")
    assert isinstance(diag.matmul(diag), tf.linalg.LinearOperatorDiag)
    assert isinstance(circulant.matmul(circulant), tf.linalg.LinearOperatorCirculant)
    triangular = diag.matmul(make("lower_triangular"))
    assert isinstance(triangular, tf.linalg.LinearOperatorLowerTriangular)
    full = make("full_matrix")
    assert full.matmul(identity) is full
    assert identity.matmul(full) is full
    assert full.inverse().inverse() is full
    assert full.adjoint().adjoint() is full
    assert isinstance(full.matmul(diag), tf.linalg.LinearOperatorComposition)
    assert full.H.operator is full


def test_products_are_the_products() -> None:
    make = Maker(tf, "complex128").make
    names = ("diag", "circulant", "lower_triangular", "scaled_identity", "full_matrix", "identity")
    operators = [make(name) for name in names]
    pairs = [(x, y) for x in operators for y in operators]
    with tf.Session() as session:
        dense = session.run([one.to_dense() for one in operators])
        found = session.run([(x.matmul(y).to_dense(), x.solve(y).to_dense()) for x, y in pairs])
    wanted = [(a, b) for a in dense for b in dense]
    for (product, solution), (a, b) in zip(found, wanted, strict=True):
        np.testing.assert_allclose(product, a @ b, atol=1e-8)
        np.testing.assert_allclose(solution, np.linalg.solve(a, b), atol=1e-8)


ASSERTED = [
    # operator, assertion, whether it holds
    (lambda: tf.linalg.LinearOperatorFullMatrix([[1.0, 1.0], [1.0, 1.0]]), "non_singular", False),
    (lambda: tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 1.0]]), "non_singular", True),
    (lambda: tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [0.0, 1.0]]), "self_adjoint", False),
    (lambda: tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 1.0]]), "self_adjoint", True),
    (
        lambda: tf.linalg.LinearOperatorFullMatrix([[-2.0, 1.0], [1.0, 1.0]], None, True),
        "positive_definite", False,
    ),
    (
        lambda: tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 1.0]], None, True),
        "positive_definite", True,
    ),
    (lambda: tf.linalg.LinearOperatorDiag([0.0, 1.0]), "non_singular", False),
    (lambda: tf.linalg.LinearOperatorDiag([-1.0, 1.0]), "positive_definite", False),
    (lambda: tf.linalg.LinearOperatorDiag([2.0, 1.0]), "positive_definite", True),
    (lambda: tf.linalg.LinearOperatorDiag([2.0 + 1j, 1.0]), "self_adjoint", False),
    (lambda: tf.linalg.LinearOperatorDiag([2.0 + 0j, 1.0]), "self_adjoint", True),
    (lambda: tf.linalg.LinearOperatorScaledIdentity(2, 0.0), "non_singular", False),
    (lambda: tf.linalg.LinearOperatorScaledIdentity(2, -1.0), "positive_definite", False),
    (lambda: tf.linalg.LinearOperatorScaledIdentity(2, 1j), "self_adjoint", False),
    (lambda: tf.linalg.LinearOperatorIdentity(2), "positive_definite", True),
    (lambda: tf.linalg.LinearOperatorZeros(2), "non_singular", False),
    (lambda: tf.linalg.LinearOperatorZeros(2), "self_adjoint", True),
    (lambda: tf.linalg.LinearOperatorHouseholder([1.0, 2.0]), "positive_definite", False),
    (lambda: tf.linalg.LinearOperatorHouseholder([1.0, 2.0]), "non_singular", True),
    (lambda: tf.linalg.LinearOperatorLowerTriangular([[0.0, 1.0], [1.0, 1.0]]), "non_singular",
     False),
    (lambda: tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]), "self_adjoint", False),
    (lambda: tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 2.0]), "self_adjoint", True),
    (lambda: tf.linalg.LinearOperatorCirculant([0.0, 1.0]), "non_singular", False),
    (lambda: tf.linalg.LinearOperatorCirculant([1.0, 1.0]), "positive_definite", True),
    (lambda: tf.linalg.LinearOperatorCirculant([1.0 + 0j, 1j]), "self_adjoint", False),
    (lambda: tf.linalg.LinearOperatorBlockDiag([tf.linalg.LinearOperatorDiag([0.0])]),
     "non_singular", False),
    (lambda: tf.linalg.LinearOperatorAdjoint(tf.linalg.LinearOperatorDiag([0.0])),
     "non_singular", False),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ASSERTED)))
def test_assertions(number: int) -> None:
    build, method, holds = ASSERTED[number]

    def run() -> None:
        operation = getattr(build(), f"assert_{method}")()
        with tf.Session() as session:
            session.run(operation)

    if holds:
        run()
    else:
        with pytest.raises(tf.errors.InvalidArgumentError):
            run()


def test_hermitian_spectra_are_told_from_others() -> None:
    for kernel, dtype in (([1.0, 2.0, 3.0], "float32"), ([1.0, 2j, 3.0], "complex64")):
        spectrum = np.fft.fft(kernel).astype("complex64")
        with tf.Graph().as_default(), tf.Session() as session:
            operator = tf.linalg.LinearOperatorCirculant(spectrum, tf.as_dtype(dtype))
            check = operator.assert_hermitian_spectrum()
            if dtype == "float32":
                session.run(check)
                np.testing.assert_allclose(
                    session.run(operator.convolution_kernel()), kernel, rtol=1e-5
                )
            else:
                with pytest.raises(tf.errors.InvalidArgumentError, match="not Hermitian"):
                    session.run(check)


def test_sizes_that_a_step_checks() -> None:
    rows = tf.placeholder(tf.int32, [])
    operator = tf.linalg.LinearOperatorIdentity(rows, assert_proper_shapes=True)
    product = operator.matmul(tf.placeholder_with_default(np.ones([3, 2], "float32"), None))
    with tf.Session() as session:
        assert session.run(product, {rows: 3}).shape == (3, 2)
        for wrong in (2, -1):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(product, {rows: wrong})


def test_variables_are_found_and_read_in_their_step() -> None:
    variable = tf.Variable([1.0, 2.0], name="diagonal", use_resource=True)
    other = tf.Variable([[1.0, 0.0], [0.0, 1.0]], trainable=False, name="matrix")
    diag = tf.linalg.LinearOperatorDiag(variable)
    both = tf.linalg.LinearOperatorComposition([diag, tf.linalg.LinearOperatorFullMatrix(other)])
    assert diag.diag is variable
    assert diag.variables == diag.trainable_variables == (variable,)
    assert both.variables == (variable, other)
    assert both.trainable_variables == (variable,)
    assert both.submodules[0] is diag
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        trace = both.trace()
        session.run(variable.assign([3.0, 4.0]))
        assert session.run(trace) == 7.0


def test_training_through_a_solution() -> None:
    """A covariance of low rank is learned from what it solves."""
    wanted = np.array([[2.0, 0.5], [0.5, 1.0]])
    x = np.array([[1.0, 0.0], [1.0, 1.0], [0.3, 2.0]]).T
    u = tf.Variable([[0.3], [0.4]], dtype=tf.float64)
    diag = tf.Variable([1.0, 1.0], dtype=tf.float64)
    base = tf.linalg.LinearOperatorDiag(diag, is_positive_definite=True)
    operator = tf.linalg.LinearOperatorLowRankUpdate(base, u)
    assert operator.is_positive_definite
    loss = tf.reduce_mean(tf.square(operator.solve(x) - np.linalg.solve(wanted, x)))
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(400):
            session.run(step)
        np.testing.assert_allclose(session.run(operator.to_dense()), wanted, atol=0.05)


def test_an_operator_of_ones_own() -> None:
    class Shift(tf.linalg.LinearOperator):
        """Moves all elements one down, around the end."""

        def __init__(self, size: int) -> None:
            self._size = size
            super().__init__(tf.float64, is_non_singular=True)

        def _shape(self) -> Any:
            return tf.TensorShape([self._size, self._size])

        def _shape_tensor(self) -> Any:
            return tf.constant([self._size, self._size])

        def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
            x = tf.linalg.adjoint(x) if adjoint_arg else x
            return tf.roll(x, -1 if adjoint else 1, -2)

    operator = Shift(3)
    wanted = np.roll(np.eye(3), 1, 0)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(operator.to_dense()), wanted)
        np.testing.assert_array_equal(session.run(operator.H.to_dense()), wanted.T)
        assert session.run(operator.determinant()) == pytest.approx(1.0)
        np.testing.assert_allclose(session.run(operator.solvevec(np.arange(1.0, 4.0))), [2, 3, 1])
        np.testing.assert_allclose(session.run(operator.inverse().to_dense()), wanted.T)
    assert operator.name == "Shift"


def test_one_factorization_serves_a_batch_of_right_sides() -> None:
    operator = tf.linalg.LinearOperatorFullMatrix(np.eye(3) + 1)
    solved = operator.solve(np.ones([5, 2, 3, 1]))
    solve = next(op for op in solved.graph.get_operations() if op.type == "MatrixSolve")
    assert [t.shape.as_list() for t in solve.inputs] == [[3, 3], [3, 10]]


@pytest.mark.parametrize("label", sorted(mistakes(tf)))
def test_mistakes_are_errors(label: str) -> None:
    found = outcome(mistakes(tf)[label])
    assert isinstance(found, dict), label
    assert found["error"] in (
        "AttributeError", "IndexError", "InvalidArgumentError", "NotImplementedError", "TypeError",
        "ValueError", "MismatchError",
    )  # fmt: skip


def test_errors_say_what_was_found() -> None:
    diag = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    for function, text in (
        (lambda: diag.matmul(np.ones([2, 1])), "float32.*float64"),
        (lambda: tf.linalg.LinearOperatorDiag(1.0), r"diag must have at least 1 dim.*\(\)"),
        (lambda: tf.linalg.LinearOperatorDiag([1.0], is_square=False), "is_square.*False"),
        (lambda: tf.linalg.LinearOperatorIdentity(-2), "num_rows.*-2"),
    ):
        with pytest.raises((TypeError, ValueError), match=re.compile(text)):
            function()


class Doubled(tf.Module):
    """Stands for a tensor: twice a variable."""

    dtype = tf.float32

    def __init__(self, variable: Any) -> None:
        super().__init__()
        self.variable = variable

    @property
    def shape(self) -> tf.TensorShape:
        return self.variable.shape


tf.register_tensor_conversion_function(
    Doubled, lambda value, dtype=None, name=None, as_ref=False: value.variable * 2.0
)


def test_a_module_that_stands_for_a_tensor_stays_one() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        given = Doubled(tf.Variable([1.0, 2.0], use_resource=True))
        operator = tf.linalg.LinearOperatorDiag(given)
        scaled = tf.linalg.LinearOperatorScaledIdentity(2, Doubled(given.variable))
        assert operator.graph_parents == [given]
        assert [v.name for v in operator.trainable_variables] == [given.variable.name]
        assert [v.name for v in scaled.trainable_variables] == [given.variable.name]
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(operator.to_dense())
        (grad,) = tape.gradient(total, tape.watched_variables())
        session.run(given.variable.initializer)
        assert session.run(operator.to_dense()).tolist() == [[2, 0], [0, 4]]
        assert session.run(grad).tolist() == [2, 2]
        with pytest.raises(ValueError, match="must have at least 2 dim"):
            tf.linalg.LinearOperatorLowerTriangular(given)
