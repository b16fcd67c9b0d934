"""Special functions computed by series: what they give, and that they stop when they have it."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.math import special


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rounds of the series that a test computes."""
    counted: list[int] = []

    def counting(*limits: int) -> Iterator[int]:
        for number in builtins.range(*limits):
            counted.append(number)
            yield number

    monkeypatch.setattr(special, "range", counting, raising=False)
    return counted


def _run(function: Any, *values: Any) -> np.ndarray:
    fed = [tf.placeholder(v.dtype, v.shape) for v in values]
    with tf.Session() as session:
        result: np.ndarray = session.run(function(*fed), dict(zip(fed, values, strict=True)))
    return result


def _binomial_tail(a: int, b: int, x: float) -> float:
    """I_x(a, b) of natural a and b: the chance of a or more of a + b - 1."""
    n = a + b - 1
    return math.fsum(math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 3e-7), (np.float64, 1e-13)])
@pytest.mark.parametrize("size", [20, 5000])  # few rounds at once for few elements
def test_betainc(dtype: Any, tolerance: float, size: int, rounds: list[int]) -> None:
    random = np.random.RandomState(0)
    a, b = random.randint(1, 30, (2, size))
    x = random.uniform(0.05, 0.95, size).astype(dtype)
    found = _run(tf.betainc, a.astype(dtype), b.astype(dtype), x)
    wanted = [_binomial_tail(*row) for row in zip(a.tolist(), b.tolist(), x.tolist(), strict=True)]
    np.testing.assert_allclose(found, wanted, tolerance)
    assert len(rounds) <= 40


def test_betainc_of_large_parameters() -> None:
    b = np.array([10.0, 1e3, 1e5, 1e6])
    x = 1 / b
    wanted = -np.expm1(b * np.log1p(-x))
    np.testing.assert_allclose(_run(tf.betainc, np.ones(4), b, x), wanted, 1e-9)


def test_betainc_outside_its_domain(rounds: list[int]) -> None:
    a = np.array([0.0, 1.0, -1.0, 2.0, 2.0, 2.0, 2.0, np.nan, 2.0])
    b = np.array([1.0, 0.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 2.0])
    x = np.array([0.5, 0.5, 0.5, 0.0, 1.0, -0.1, 1.1, 0.5, 0.5])
    nan = np.nan
    wanted = [nan, nan, nan, 0.0, 1.0, nan, nan, nan, 0.5]
    np.testing.assert_allclose(_run(tf.betainc, a, b, x), wanted)
    assert len(rounds) <= 40


def test_gradient_of_igamma_does_not_wait_for_nan(rounds: list[int]) -> None:
    def gradient(a: Any, x: Any) -> Any:
        return tf.gradients(tf.igamma(a, x), a)[0]

    found = _run(gradient, np.array([np.nan, 2.0]), np.array([1.0, np.nan]))
    assert np.isnan(found).all()
    assert len(rounds) <= 10
