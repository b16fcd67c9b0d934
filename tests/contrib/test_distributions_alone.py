"""What TensorFlow 1.15 has in ``tf.contrib.distributions``, but fails on."""

import numpy as np

import penstock as tf

ds = tf.contrib.distributions


def test_shares_by_gauss_and_hermite():
    grid, probs = ds.quadrature_scheme_softmaxnormal_gauss_hermite(
        [[0.5], [-1.0]], [[2.0], [1.0]], 4
    )
    assert grid.shape.as_list() == [2, 2, 4]
    found, weights = tf.Session().run([grid, probs])
    points, known = np.polynomial.hermite.hermgauss(4)
    normal = np.array([[0.5], [-1.0]]) + np.sqrt(2.0) * points * np.array([[2.0], [1.0]])
    first = 1 / (1 + np.exp(-normal))
    np.testing.assert_allclose(found[:, 0], first, rtol=1e-5)
    np.testing.assert_allclose(found.sum(1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(weights, known / known.sum(), rtol=1e-5)


def test_vector_diffeomixture_of_its_points():
    scales = [tf.linalg.LinearOperatorScaledIdentity(2, s) for s in (1.0, 3.0)]
    made = ds.VectorDiffeomixture(
        [0.5], [1.0], ds.Normal(0.0, 1.0), [[1.0, 0.0], [0.0, 2.0]], scales, 5,
        ds.quadrature_scheme_softmaxnormal_gauss_hermite,
    )  # fmt: skip
    grid, probs, mean = tf.Session().run([made.grid, made.mixture_distribution.probs, made.mean()])
    share = (grid * probs).sum(-1)
    np.testing.assert_allclose(mean, [share[0], 2 * share[1]], rtol=1e-5)


def test_copies_of_those_whose_parameters_are_others_in_1_15():
    for made in (ds.Kumaraswamy(2.0, 3.0), ds.Deterministic(2.0), ds.VectorDeterministic([2.0])):
        other = made.copy(name="other")
        assert other.name.startswith("other")
        assert type(other) is type(made)


def test_one_hot_events_pass_the_check_of_values():
    made = ds.OneHotCategorical(probs=[0.25, 0.75], validate_args=True)
    assert round(tf.Session().run(made.prob([0, 1])).item(), 4) == 0.75


def test_incomplete_beta_functions_broadcast():
    made = ds.NegativeBinomial(4.0, probs=[0.5, 0.25])
    found = tf.Session().run(made.cdf([[0.0], [2.0]]))
    np.testing.assert_allclose(found[0], [0.5**4, 0.75**4], rtol=1e-5)
    assert found.shape == (2, 2)


def test_wishart_samples_of_a_batch():
    made = ds.WishartFull(5.0, [[[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 3.0]]])
    drawn = made.sample(20000, seed=3)
    assert drawn.shape.as_list() == [20000, 2, 2, 2]
    x, mean, variance = tf.Session().run([drawn, made.mean(), made.variance()])
    assert (np.abs(x.mean(0) - mean) <= 5 * np.sqrt(variance / 20000)).all()


def test_variances_of_a_mixture_of_vectors():
    parts = [
        ds.MultivariateNormalDiag([0.0, 1.0]),
        ds.MultivariateNormalDiag([2.0, 3.0], [2.0, 0.5]),
    ]
    made = ds.Mixture(ds.Categorical(probs=[0.25, 0.75]), parts)
    found = tf.Session().run(made.variance())
    # The mean of variances and the variance of means.
    np.testing.assert_allclose(
        found, [0.25 + 0.75 * 4 + 0.75, 0.25 + 0.75 * 0.25 + 0.75], rtol=1e-5
    )
