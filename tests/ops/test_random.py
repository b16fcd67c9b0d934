"""Random ops: what is drawn follows its distribution, and seeds do what they promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.ops.random import stateless_random

DRAWS = 20_000
# Seeds are fixed, so a test either always passes or always fails; a right distribution gives a p
# value below this once in a thousand choices of a seed.
RARE = 1e-3


def _run(build: Callable[[], Any], steps: int = 1, seed: int | None = None) -> list[Any]:
    """Values of ``build()`` over the steps of a new session of a new graph."""
    with tf.Graph().as_default():
        if seed is not None:
            tf.set_random_seed(seed)
        tensor = build()
        with tf.Session() as session:
            return [session.run(tensor) for _ in range(steps)]


def _pvalue(values: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray]) -> float:
    return float(scipy.stats.kstest(values.ravel().astype(np.float64), cdf).pvalue)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("build", "law"),
    [
        (lambda t: tf.random_uniform([DRAWS], dtype=t, seed=1), lambda: scipy.stats.uniform),
        (
            lambda t: tf.random_uniform([DRAWS], -2, 3, t, seed=2),
            lambda: scipy.stats.uniform(-2, 5),
        ),
        (lambda t: tf.random_normal([DRAWS], 1, 2, t, seed=3), lambda: scipy.stats.norm(1, 2)),
        (
            lambda t: tf.truncated_normal([DRAWS], -1, 0.5, t, seed=4),
            lambda: scipy.stats.truncnorm(-2, 2, -1, 0.5),
        ),
        (
            lambda t: tf.random_gamma([DRAWS], 0.7, 2, t, seed=5),
            lambda: scipy.stats.gamma(0.7, 0, 0.5),
        ),
        (
            lambda t: stateless_random.stateless_uniform([DRAWS], [7, 8], dtype=t),
            lambda: scipy.stats.uniform,
        ),
        (
            lambda t: stateless_random.stateless_normal([DRAWS], [7, 9], dtype=t),
            lambda: scipy.stats.norm,
        ),
        (
            lambda t: stateless_random.stateless_truncated_normal([DRAWS], [8, 8], dtype=t),
            lambda: scipy.stats.truncnorm(-2, 2),
        ),
    ],
    ids=["uniform", "uniform-range", "normal", "truncated", "gamma", "stateless-uniform",
         "stateless-normal", "stateless-truncated"],
)  # fmt: skip
def test_continuous(build: Any, law: Any, dtype: str) -> None:
    (values,) = _run(lambda: build(tf.as_dtype(dtype)))
    assert values.dtype == dtype
    assert _pvalue(values, law().cdf) > RARE


@pytest.mark.parametrize("dtype", ["float32", "float64", "half", "bfloat16"])
def test_truncated_normal_stays_within_two_deviations(dtype: str) -> None:
    (values,) = _run(lambda: make("TruncatedNormal", [500_000], dtype=dtype, seed=3))
    assert np.abs(values.astype(np.float64)).max() <= 2


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 2.0), (3.0, 5.0), (-9.0, -7.0), (6.0, np.inf), (-np.inf, 0.5)]
)
def test_parameterized_truncated_normal(low: float, high: float) -> None:
    mean, deviation = 0.5, 1.5
    (values,) = _run(
        lambda: make(
            "ParameterizedTruncatedNormal", [DRAWS], *np.float64([mean, deviation, low, high]),
            seed=4,
        )
    )  # fmt: skip
    assert values.min() >= low and values.max() <= high
    bounds = (low - mean) / deviation, (high - mean) / deviation
    assert _pvalue(values, scipy.stats.truncnorm(*bounds, mean, deviation).cdf) > RARE


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_uniform_integers(dtype: str) -> None:
    (values,) = _run(lambda: tf.random_uniform([DRAWS], -3, 7, tf.as_dtype(dtype), seed=1))
    assert values.dtype == dtype
    assert scipy.stats.chisquare(np.bincount(values + 3, minlength=10)).pvalue > RARE


def test_integers_need_an_upper_bound() -> None:
    with pytest.raises(ValueError, match="maxval must be given"):
        tf.random_uniform([2], dtype=tf.int32)
    with pytest.raises(ValueError, match="may not be string"):
        tf.random_uniform([2], dtype=tf.string)


@pytest.mark.parametrize(
    "draw",
    [
        lambda logits: tf.multinomial(logits, DRAWS, seed=1),
        lambda logits: make("StatelessMultinomial", logits, DRAWS, [3, 4]),
    ],
    ids=["Multinomial", "StatelessMultinomial"],
)
def test_classes_by_log_probability(draw: Callable[[np.ndarray], tf.Tensor]) -> None:
    weights = np.array([[1, 2, 3, 4], [5, 0, 1, 0]])
    with np.errstate(divide="ignore"):
        logits = (np.log(weights) + 7).astype(np.float32)
    (values,) = _run(lambda: draw(logits))
    assert values.shape == (2, DRAWS) and values.dtype == np.int64
    for row, weight in zip(values, weights, strict=True):
        counts = np.bincount(row, minlength=4)
        likely = weight > 0
        assert counts[~likely].sum() == 0
        expected = weight[likely] / weight.sum() * DRAWS
        assert scipy.stats.chisquare(counts[likely], expected).pvalue > RARE


def test_poisson() -> None:
    (values,) = _run(lambda: tf.random_poisson([0.5, 4.0], [DRAWS], seed=2))
    assert values.shape == (DRAWS, 2) and values.dtype == np.float32
    for column, rate in ((0, 0.5), (1, 4.0)):
        counts = np.bincount(values[:, column].astype(int), minlength=12)[:12]
        expected = scipy.stats.poisson.pmf(np.arange(12), rate) * DRAWS
        kept = expected > 5
        expected = np.append(expected[kept], DRAWS - expected[kept].sum())
        counts = np.append(counts[kept], DRAWS - counts[kept].sum())
        assert scipy.stats.chisquare(counts, expected).pvalue > RARE


def test_shuffle_is_a_uniform_permutation_of_rows() -> None:
    steps = _run(lambda: tf.random_shuffle(np.arange(8).reshape(4, 2), seed=1), steps=1200)
    orders = [tuple(step[:, 0] // 2) for step in steps]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    np.testing.assert_array_equal(steps[0][:, 1], steps[0][:, 0] + 1)
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 24
    assert scipy.stats.chisquare(counts).pvalue > RARE


def test_crop() -> None:
    value = np.arange(30).reshape(5, 6)
    steps = _run(lambda: tf.random_crop(value, [2, 3], seed=1), steps=60)
    corners = {(step[0, 0] // 6, step[0, 0] % 6) for step in steps}
    for step in steps:
        row, column = step[0, 0] // 6, step[0, 0] % 6
        np.testing.assert_array_equal(step, value[row : row + 2, column : column + 3])
    assert {r for r, _ in corners} == {0, 1, 2, 3} and {c for _, c in corners} == {0, 1, 2, 3}
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need value.shape >= size"):
        _run(lambda: tf.random_crop(value, [6, 3]))


def test_gamma_gradient() -> None:
    """The gradient of E[x^2] = alpha^2 + alpha, from many draws."""
    alpha = 1.7

    def build() -> Any:
        parameter = tf.constant(alpha, tf.float64)
        draws = tf.random_gamma([200_000], parameter, dtype=tf.float64, seed=3)
        return tf.gradients(tf.reduce_mean(draws * draws), parameter)[0]

    (gradient,) = _run(build)
    assert gradient == pytest.approx(2 * alpha + 1, rel=0.02)


# ---- seeds -----------------------------------------------------------------------------------


OPS: dict[str, Callable[[int | None], Any]] = {
    "uniform": lambda seed: tf.random_uniform([3], seed=seed),
    "integers": lambda seed: tf.random_uniform([3], 0, 1 << 30, tf.int32, seed=seed),
    "normal": lambda seed: tf.random_normal([3], seed=seed),
    "truncated": lambda seed: tf.truncated_normal([3], seed=seed),
    "shuffle": lambda seed: tf.random_shuffle(np.arange(30), seed=seed),
    "multinomial": lambda seed: tf.multinomial(np.zeros((1, 1000)), 5, seed=seed),
    "gamma": lambda seed: tf.random_gamma([3], 2.0, seed=seed),
    "poisson": lambda seed: tf.random_poisson(1e6, [3], seed=seed),
}


def _same(one: Any, other: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("name", OPS)
def test_op_seed_repeats_in_a_new_session(name: str) -> None:
    build = OPS[name]
    first, second = (_run(lambda: build(5), steps=3) for _ in range(2))
    assert _same(first, second)
    assert not np.array_equal(first[0], first[1]), "the stream goes on from run to run"
    assert not np.array_equal(first[0], _run(lambda: build(6))[0]), "seeds have their own streams"


@pytest.mark.parametrize("name", OPS)
def test_no_seed_never_repeats(name: str) -> None:
    first, second = (_run(lambda: OPS[name](None), steps=2) for _ in range(2))
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], second[0])


def test_graph_seed_gives_each_op_its_own_stream() -> None:
    def build() -> list[Any]:
        return [tf.random_uniform([4]), tf.random_uniform([4])]

    first, second = (_run(build, steps=2, seed=11) for _ in range(2))
    assert all(_same(a, b) for a, b in zip(first, second, strict=True))
    assert not np.array_equal(first[0][0], first[0][1])
    other = _run(build, seed=12)
    assert not np.array_equal(first[0][0], other[0][0])


def test_graph_seed_and_op_seed_together() -> None:
    def run(graph_seed: int, op_seed: int) -> Any:
        return _run(lambda: tf.random_uniform([4], seed=op_seed), seed=graph_seed)[0]

    assert np.array_equal(run(1, 2), run(1, 2))
    assert not np.array_equal(run(1, 2), run(2, 2))
    assert not np.array_equal(run(1, 2), run(1, 3))
    assert not np.array_equal(run(0, 0), _run(lambda: tf.random_uniform([4]))[0])
    assert np.array_equal(run(0, 0), run(0, 0))


def test_nodes_with_equal_seeds_draw_the_same_numbers_independently() -> None:
    def build() -> list[Any]:
        return [tf.random_normal([4], seed=1), tf.random_normal([4], seed=1)]

    with tf.Graph().as_default():
        one, other = build()
        with tf.Session() as session:
            a, b = session.run([one, other])
            np.testing.assert_array_equal(a, b)
            alone = session.run(one)
            a, b = session.run([one, other])
            np.testing.assert_array_equal(alone, b)
            assert not np.array_equal(a, b), "each node's stream is its own"


def test_a_run_gives_one_draw_to_all_consumers() -> None:
    def build() -> list[Any]:
        draw = tf.random_uniform([4])
        return [draw + 0.0, draw + 0.0]

    a, b = _run(build)[0]
    np.testing.assert_array_equal(a, b)


def test_equal_random_nodes_are_not_merged() -> None:
    a, b = _run(lambda: [make("RandomUniform", [4], dtype="float32") for _ in range(2)])[0]
    assert not np.array_equal(a, b)


def test_stateless_depends_on_the_seed_alone() -> None:
    def build(seed: list[int]) -> Callable[[], Any]:
        return lambda: stateless_random.stateless_uniform([5], seed)

    first, again = _run(build([1, 2]), steps=2)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, _run(build([1, 2]), seed=99)[0])
    for other in ([2, 1], [1, 3], [0, 2], [-1, 2]):
        assert not np.array_equal(first, _run(build(other))[0])


def test_fed_stateless_seed() -> None:
    with tf.Graph().as_default():
        seed = tf.placeholder(tf.int64, [2])
        draw = stateless_random.stateless_uniform([3], seed, 0, 100, tf.int32)
        with tf.Session() as session:
            a, b, c = (session.run(draw, {seed: s}) for s in ([1, 2], [1, 2], [3, 4]))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_threads_share_a_stream_without_repeating_numbers() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with tf.Graph().as_default():
        draw = tf.random_uniform([50], dtype=tf.float64, seed=1)
        with tf.Session() as session, ThreadPoolExecutor(4) as pool:
            values = np.concatenate(list(pool.map(lambda _: session.run(draw), range(100))))
    assert len(np.unique(values)) == len(values)


def test_static_shapes() -> None:
    with tf.Graph().as_default():
        rows = tf.placeholder(tf.int32, [])
        sizes = tf.placeholder(tf.int32, [2])
        assert tf.random_uniform([rows, 3]).shape.as_list() == [None, 3]
        assert tf.random_normal(sizes).shape.as_list() == [None, None]
        assert tf.truncated_normal(tf.TensorShape([2, 3])).shape.as_list() == [2, 3]
        assert tf.multinomial(np.zeros((2, 3)), rows).shape.as_list() == [2, None]
        assert tf.random_gamma([4], np.ones((2, 3), np.float32)).shape.as_list() == [4, 2, 3]
