"""What distributions are beside their nodes: samples, gradients through them, checks, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

import penstock as tf

d = tf.distributions
DRAWS = 4000
CONTINUOUS = [
    (lambda: d.Normal(1.0, 2.0), stats.norm(1, 2)),
    (lambda: d.Laplace(1.0, 2.0), stats.laplace(1, 2)),
    (lambda: d.StudentT(3.0, 1.0, 2.0), stats.t(3, 1, 2)),
    (lambda: d.Uniform(1.0, 3.0), stats.uniform(1, 2)),
    (lambda: d.Gamma(2.5, 2.0), stats.gamma(2.5, scale=0.5)),
    (lambda: d.Exponential(2.0), stats.expon(scale=0.5)),
    (lambda: d.Beta(2.0, 3.0), stats.beta(2, 3)),
]


def run(tensors: Any) -> Any:
    with tf.Session() as session:
        return session.run(tensors)


@pytest.mark.parametrize("make, wanted", CONTINUOUS)
def test_samples_are_of_the_distribution(make: Any, wanted: Any) -> None:
    drawn = run(make().sample(DRAWS, seed=5))
    assert stats.kstest(drawn, wanted.cdf).pvalue > 1e-3


@pytest.mark.parametrize("make, wanted", CONTINUOUS)
def test_density_and_distribution_function(make: Any, wanted: Any) -> None:
    made, at = make(), np.array([0.125, 0.5, 0.875], "float32")
    density, below, beyond = run([made.prob(at), made.cdf(at), made.survival_function(at)])
    np.testing.assert_allclose(density, wanted.pdf(at), rtol=1e-5)
    np.testing.assert_allclose(below, wanted.cdf(at), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(beyond, wanted.sf(at), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: d.Bernoulli(probs=[0.25, 0.5]),
        lambda: d.Dirichlet([1.0, 2.0, 3.0]),
        lambda: d.Multinomial([3.0, 4.0], probs=[[0.25, 0.75], [0.5, 0.5]]),
        lambda: d.DirichletMultinomial(5.0, [1.0, 2.0, 3.0]),
    ],
)
def test_means_of_samples(make: Any) -> None:
    made = make()
    drawn, mean, variance = run([made.sample(DRAWS, seed=7), made.mean(), made.variance()])
    error = np.sqrt(variance / DRAWS)
    assert (np.abs(drawn.mean(0) - mean) < 5 * error).all()
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.25)


def test_classes_are_drawn_by_their_probabilities() -> None:
    probs = [[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]]
    drawn = run(d.Categorical(probs=probs).sample(DRAWS, seed=3))
    counts = np.stack([np.bincount(row, minlength=3) for row in drawn.T])
    for found, wanted in zip(counts, np.array(probs) * DRAWS, strict=True):
        assert stats.chisquare(found, wanted).pvalue > 1e-3


def test_samples_of_one_seed_are_alike_and_of_another_are_not() -> None:
    made = d.StudentT(3.0, [0.0, 1.0], 1.0)
    first, second, third = (run(made.sample([2, 3], seed=seed)) for seed in (1, 1, 2))
    assert first.shape == (2, 3, 2)
    np.testing.assert_array_equal(first, second)
    assert not np.equal(first, third).any()


@pytest.mark.parametrize("make", [d.Normal, d.Laplace, d.Uniform])
def test_gradients_flow_through_samples(make: Any) -> None:
    low, high = tf.constant([0.0, 1.0]), tf.constant([2.0, 4.0])
    drawn = make(low, high).sample(seed=1)
    by_low, by_high, x = run([*tf.gradients(drawn, [low, high]), drawn])
    if make is d.Uniform:
        np.testing.assert_allclose(by_low + by_high, [1.0, 1.0], rtol=1e-6)
    else:
        np.testing.assert_allclose(by_low, [1.0, 1.0])
        np.testing.assert_allclose(by_high, (x - [0.0, 1.0]) / [2.0, 4.0], rtol=1e-5)


def test_gradients_of_gamma_samples() -> None:
    rate = tf.constant(2.0)
    drawn = d.Gamma(3.0, rate).sample(5, seed=1)
    by_rate, x = run([tf.gradients(drawn, rate)[0], drawn])
    np.testing.assert_allclose(by_rate, -x.sum() / 2.0, rtol=1e-5)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda x: d.Normal(0.0, x, validate_args=True).sample(), "x > 0 did not hold"),
        (lambda x: d.Uniform(1.0, x, validate_args=True).sample(), "not defined when low >= high"),
        (lambda x: d.Gamma(1.0, x, validate_args=True).sample(), "x > 0 did not hold"),
        (lambda x: d.Beta(1.0, x, validate_args=True).sample(), "must be positive"),
        (lambda x: d.Bernoulli(probs=x, validate_args=True).sample(), "x >= 0 did not hold"),
        (lambda x: d.Gamma(1.0, 1.0, validate_args=True).prob(x), "x > 0 did not hold"),
        (lambda x: d.Bernoulli(0.0, validate_args=True).prob(tf.cast(x, tf.int32)), "non-negative"),
        (lambda x: d.StudentT(x, 0.0, 1.0, allow_nan_stats=False).mean(), "mean not defined"),
    ],
)
def test_checks_fail_the_step(make: Any, words: str) -> None:
    made = make(tf.placeholder_with_default(-1.0, []))
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(made)


def test_a_divergence_that_is_not_a_number_fails_the_step() -> None:
    a, b = d.Normal(tf.placeholder_with_default(np.float32(np.nan), []), 1.0), d.Normal(0.0, 1.0)
    assert np.isnan(run(d.kl_divergence(a, b)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="returned NaN values"):
        run(d.kl_divergence(a, b, allow_nan_stats=False))


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: d.Normal(0, 1), ValueError, "Expected floating point type"),
        (lambda: d.Bernoulli(), ValueError, "Must pass probs or logits, but not both"),
        (lambda: d.Bernoulli(0.5, 0.5), ValueError, "Must pass probs or logits, but not both"),
        (lambda: d.Bernoulli(probs=[1]), TypeError, "probs must having floating type"),
        (lambda: d.Categorical([1.0], validate_args=True), ValueError, "at least 2 events"),
        (lambda: d.Categorical(1.0, validate_args=True), ValueError, "at least 1 dimension"),
        (lambda: d.Normal(0.0, 1.0).sample([[2]]), ValueError, "neither scalar nor vector"),
        (lambda: d.Normal(0.0, 1.0).covariance(), NotImplementedError, "covariance is not implem"),
        (lambda: d.Gamma(1.0, 1.0).quantile(0.5), NotImplementedError, "quantile is not implem"),
        (lambda: d.Categorical([1.0, 2.0]).mean(), NotImplementedError, "mean is not implemented"),
        (lambda: d.Beta.param_static_shapes(tf.TensorShape([None])), ValueError, "fully defined"),
        (lambda: d.Beta.param_static_shapes(tf.placeholder("int32")), ValueError, "fully-defined"),
        (lambda: d.Dirichlet.param_shapes([2]), NotImplementedError, "_param_shapes not implem"),
        (lambda: d.RegisterKL(d.Normal, d.Gamma)(3), TypeError, "kl_fn must be callable"),
        (lambda: d.RegisterKL(d.Gamma, d.Gamma)(print), ValueError, "already been registered"),
    ],
)
def test_errors(make: Any, error: Any, words: str) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make()


def test_what_is_shown() -> None:
    with tf.Graph().as_default():
        made = d.Normal([0.0, 1.0], 1.0)
        wanted = '("Normal/", batch_shape=(2,), event_shape=(), dtype=float32)'
        assert str(made) == f"tfp.distributions.Normal{wanted}"
        shown = "'Normal/' batch_shape=(2,) event_shape=() dtype=float32"
        assert repr(made) == f"<tfp.distributions.Normal {shown}>"
        assert (
            repr(made.reparameterization_type) == "<Reparameteriation Type: FULLY_REPARAMETERIZED>"
        )
        assert made.copy(scale=2.0).parameters == {
            "loc": [0.0, 1.0], "scale": 2.0, "validate_args": False, "allow_nan_stats": True,
            "name": "Normal",
        }  # fmt: skip
        assert d.Beta.param_static_shapes([2]) == dict.fromkeys(
            ("concentration1", "concentration0"), tf.TensorShape([2])
        )


def test_a_distribution_of_ones_own() -> None:
    class Point(d.Distribution):
        def __init__(self, at: float) -> None:
            self.at = at
            super().__init__(tf.float32, d.FULLY_REPARAMETERIZED, False, True, locals())

        def _prob(self, value: Any) -> Any:
            return tf.cast(tf.equal(value, self.at), tf.float32)

        def _cdf(self, value: Any) -> Any:
            return tf.cast(value >= self.at, tf.float32)

        def _variance(self) -> Any:
            return tf.constant(4.0)

    class Near(Point):
        pass

    @d.RegisterKL(Point, Point)
    def _divergence(a: Any, b: Any, name: str | None = None) -> Any:
        return tf.abs(tf.constant(a.at) - b.at, name=name)

    made = Near(1.0)
    found = [made.log_prob(1.0), made.log_cdf(2.0), made.survival_function(0.0), made.stddev()]
    found += [made.log_survival_function(0.0), made.kl_divergence(Point(3.0))]
    assert run(found) == [0.0, 0.0, 1.0, 2.0, 0.0, 2.0]
    assert made.parameters == {"at": 1.0}
    with pytest.raises(NotImplementedError, match="sample_n is not implemented: Near"):
        made.sample()


def test_the_mode_of_each_distribution_of_a_batch() -> None:
    mode = run(d.Dirichlet([[2.0, 3.0, 2.0], [0.5, 2.0, 2.0], [2.0, 2.0, 2.0]]).mode())
    np.testing.assert_allclose(mode, [[0.25, 0.5, 0.25], [np.nan] * 3, [1 / 3] * 3], rtol=1e-6)
