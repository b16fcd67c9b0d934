"""Fractional pools: windows cover the image and are repeatable; values are those of windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

_SIZE = (2, 11, 7, 3)
_RATIO = [1.0, 1.5, 1.25, 1.0]


def _pooled(kind: str, x: np.ndarray, **how: Any) -> list[np.ndarray]:
    function = {"max": tf.nn.fractional_max_pool, "avg": tf.nn.fractional_avg_pool}[kind]
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(function(tf.constant(x), _RATIO, **how))


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo", [False, True])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_values_are_of_the_windows(kind: str, pseudo: bool, overlapping: bool) -> None:
    x = np.random.default_rng(0).normal(size=_SIZE)
    y, rows, columns = _pooled(kind, x, pseudo_random=pseudo, overlapping=overlapping)
    reduce = {"max": np.max, "avg": np.mean}[kind]
    for i, j in np.ndindex(*y.shape[1:3]):
        high, wide = rows[i + 1] + overlapping, columns[j + 1] + overlapping
        window = x[:, rows[i] : high, columns[j] : wide]
        np.testing.assert_allclose(y[:, i, j], reduce(window, axis=(1, 2)))


@pytest.mark.parametrize("pseudo", [False, True])
def test_windows_cover_the_image(pseudo: bool) -> None:
    x = np.zeros(_SIZE)
    for seed in range(1, 30):
        _, rows, columns = _pooled("max", x, pseudo_random=pseudo, seed=seed, deterministic=True)
        for marks, size, ratio in ((rows, 11, 1.5), (columns, 7, 1.25)):
            assert (marks[0], marks[-1], len(marks)) == (0, size, int(size / ratio) + 1)
            assert set(np.diff(marks)) <= {1, 2, 3} and min(np.diff(marks)) >= 1


def test_seeds_repeat_windows() -> None:
    x = np.zeros((1, 101, 101, 1))
    first, again, other = (
        _pooled("max", x, seed=s, seed2=5, deterministic=True)[1] for s in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_gradient_sums_to_the_upstream(kind: str) -> None:
    function = {"max": tf.nn.fractional_max_pool, "avg": tf.nn.fractional_avg_pool}[kind]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.random.default_rng(1).normal(size=_SIZE))
        y = function(x, _RATIO, overlapping=True)[0]
        found, count = session.run([tf.gradients(y, x)[0], tf.size(y)])
    np.testing.assert_allclose(found.sum(), count)


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("seeds", [(0, 0), (1, 2)])
def test_a_deterministic_pool_has_the_same_windows_in_every_run(
    kind: str, seeds: tuple[int, int]
) -> None:
    function = {"max": tf.nn.fractional_max_pool, "avg": tf.nn.fractional_avg_pool}[kind]
    x = np.random.default_rng(1).normal(size=(1, 101, 101, 1))
    with tf.Graph().as_default(), tf.Session() as session:
        made, free = (
            function(x, _RATIO, pseudo_random=True, deterministic=fixed,
                     seed=seeds[0] * fixed, seed2=seeds[1] * fixed)
            for fixed in (True, False)
        )  # fmt: skip
        first, again = session.run(made), session.run(made)
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)
        starts = [session.run(free)[1].tolist() for _ in range(8)]
        assert any(s != starts[0] for s in starts)


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("overlapping", [False, True])
def test_numeric_gradient(kind: str, overlapping: bool) -> None:
    function = {"max": tf.nn.fractional_max_pool, "avg": tf.nn.fractional_avg_pool}[kind]
    value = np.random.default_rng(2).permutation(7 * 9).reshape(1, 7, 9, 1).astype(np.float64)
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        y = function(x, [1.0, 1.6, 1.6, 1.0], overlapping=overlapping, deterministic=True,
                     seed=4, seed2=5)[0]  # fmt: skip
        error = tf.test.compute_gradient_error(
            x, value.shape, y, y.shape.as_list(), x_init_value=value, delta=0.1
        )
    assert error < 1e-6


def test_seeds_of_a_pool_that_is_not_deterministic_are_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Both seed and seed2 should be 0"):
        _pooled("max", np.zeros(_SIZE), seed=1, seed2=2)
