"""Every op's gradient, checked numerically: each row of the table whose op has a gradient."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.opdef import registry
from tests.conformance.jobs import FLOATING, base_name, build
from tests.conformance.peers import to_job
from tests.ops.cases import all_cases
from tests.ops.engine import BACKEND, precise_dtypes
from tests.ops.gradcheck import Values, check, gradients_of, random_like
from tests.ops.opcase import Bound


def _differentiable() -> list[Bound]:
    ops = registry.all_ops()
    return [
        case.bind(dtype)
        for case in all_cases()
        if case.op in ops and ops[case.op].gradient is not None
        if case.grad is not False and not case.raises and not case.reason
        for dtype in precise_dtypes(case)
    ]


PRECISE = ("float64", "complex128")


class _Function:
    """The row as a function of its floating inputs, in one session."""

    def __init__(self, bound: Bound) -> None:
        self.built = build(BACKEND, to_job(bound))
        self.session = tf.Session()
        wanted = range(len(self.built.tensors)) if bound.case.grad is None else bound.case.grad
        flat = [i for i in bound.flat if i.how != "made"]
        numbers = [n for n in wanted if n in self.built.slots and flat[n].how != "var"]
        floating = [n for n in numbers if flat[n].dtype in FLOATING]
        precise = [n for n in floating if flat[n].dtype in PRECISE]
        self.numbers = precise or [n for n in floating if flat[n].dtype in ("float32", "complex64")]
        self.xs = [self.built.tensors[n] for n in self.numbers]
        self.points: Values = [flat[n].value for n in self.numbers]
        self.ys = [t for t in self.built.op.outputs if base_name(t.dtype) in FLOATING]

    def run(self, fetches: list[Any], points: Values) -> Values:
        for n, value in zip(self.numbers, points, strict=True):
            feeds, key = self.built.slots[n]
            feeds[key] = value
        for op, feeds in self.built.init:
            self.session.run(op, feeds)
        return [np.array(v) for v in self.session.run(fetches, self.built.feeds)]

    def dense(self, gradients: list[Any]) -> list[np.ndarray | None]:
        values = iter(self.run([g for g in gradients if g is not None], self.points))
        return [None if g is None else next(values) for g in gradients]


@pytest.mark.parametrize("bound", _differentiable(), ids=lambda b: b.id)
def test_gradient(bound: Bound) -> None:
    rng = np.random.default_rng(zlib.crc32(bound.id.encode()))
    with tf.Graph().as_default():
        f = _Function(bound)
        if not f.xs or not f.ys:
            pytest.skip("no floating input or output: nothing to differentiate")
        with f.session:
            weights = [random_like(rng, y) for y in f.run(f.ys, f.points)]
            first = gradients_of(BACKEND, f.ys, f.xs, weights)
            wrong = check(lambda p: f.run(f.ys, p), f.points, weights, f.dense(first), rng)
            assert not wrong, "\n".join(wrong)
            if not bound.case.grad2:
                return
            ys = [g for g in first if g is not None]
            weights = [random_like(rng, y) for y in f.run(ys, f.points)]
            second = f.dense(gradients_of(BACKEND, ys, f.xs, weights))
            wrong = check(lambda p: f.run(ys, p), f.points, weights, second, rng)
            assert not wrong, "second order:\n" + "\n".join(wrong)


def _one_of_each_op() -> list[Bound]:
    return list({bound.case.op: bound for bound in reversed(_differentiable())}.values())


@pytest.mark.long
@pytest.mark.parametrize("bound", _one_of_each_op(), ids=lambda b: b.case.op)
def test_gradients_may_arrive_as_slices(bound: Bound) -> None:
    """What a gather behind an op hands back: the same as if it were a tensor."""
    rng = np.random.default_rng(0)
    with tf.Graph().as_default():
        f = _Function(bound)
        ys = [y for y in f.ys if y.shape.ndims and y.shape.is_fully_defined()]
        if not f.xs or not ys:
            pytest.skip("no floating input, or no output of known shape that has rows")
        with f.session:
            weights = [random_like(rng, y) for y in f.run(ys, f.points)]
            dense = [tf.constant(w) for w in weights]
            slices = [
                tf.IndexedSlices(d, tf.range(len(w)), tf.constant(w.shape))
                for d, w in zip(dense, weights, strict=True)
            ]
            expected, found = (
                f.dense([g if g is None else tf.convert_to_tensor(g) for g in gradients])
                for gradients in (
                    tf.gradients(ys, f.xs, grad_ys=dense),
                    tf.gradients(ys, f.xs, grad_ys=slices),
                )
            )
            for one, other in zip(expected, found, strict=True):
                np.testing.assert_array_equal(one, other)


def test_checker_finds_a_wrong_gradient() -> None:
    rng = np.random.default_rng(0)
    x = np.array([1.0, 2.0])
    weights = [np.ones(2)]

    def square(values: Values) -> Values:
        return [values[0] ** 2]

    assert not check(square, [x], weights, [2 * x], rng)
    assert len(check(square, [x], weights, [2.001 * x], rng)) == 2
    assert len(check(square, [x], weights, [None], rng)) == 2


def test_checker_uses_the_convention_for_complex_numbers() -> None:
    rng = np.random.default_rng(0)
    x = np.array([1.0 + 2.0j, -0.5j])
    weights = [random_like(rng, x)]

    def square(values: Values) -> Values:
        return [values[0] ** 2]

    assert not check(square, [x], weights, [np.conj(2 * x) * weights[0]], rng)
    assert check(square, [x], weights, [2 * x * weights[0]], rng)
