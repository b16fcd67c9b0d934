"""TensorFlow Probability's distributions: what each is, of equal arguments, and how its draws lie.

Draws are told by the mean of their arctangents, which any distribution has, and by mean and
deviation where the fourth moment is finite.
"""

import functools
import json

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions
DRAWS = 2000
HEAVY = (
    "Cauchy",
    "HalfCauchy",
    "Horseshoe",
    "GeneralizedPareto",
    "Pareto",
    "Zipf",
    "StudentT",
    "GammaGamma",
    "InverseGamma",
    "MultivariateStudentTLinearOperator",
    "StudentTProcess",
    "LogNormal",
    "InverseGaussian",
    "PoissonLogNormalQuadratureCompound",
)


def f(*v):
    return np.array(v, np.float32)


L = f([1.0, 0.0], [0.5, 2.0])
CASES = {
    "Autoregressive": lambda: (
        tfd.Autoregressive(
            lambda x: tfd.Independent(
                tfd.Normal(tf.concat([tf.zeros([1]), 0.5 * x[:-1]], 0), 1.0), 1
            ),
            f(0.0, 0.0, 0.0),
            3,
        ),
        f(0.1, 0.2, 0.3),
    ),
    "BatchReshape": lambda: (
        tfd.BatchReshape(tfd.Normal(f(0, 1, 2, 3), f(1, 2, 3, 4)), [2, 2]),
        f([1, 2], [3, 4]),
    ),
    "Bernoulli": lambda: (tfd.Bernoulli(logits=f(-1, 0.5)), np.array([1, 0], np.int32)),
    "Beta": lambda: (tfd.Beta(f(1, 2), f(3, 0.5)), f(0.2, 0.7)),
    "Binomial": lambda: (tfd.Binomial(f(5, 6), probs=f(0.2, 0.6)), f(2, 3)),
    "Blockwise": lambda: (
        tfd.Blockwise([tfd.Normal(0.0, 1.0), tfd.MultivariateNormalTriL(f(0, 1), L)]),
        f(0.5, 0.1, 0.2),
    ),
    "Categorical": lambda: (
        tfd.Categorical(logits=f([1, 2, 3], [0, 1, 0])),
        np.array([2, 1], np.int32),
    ),
    "Cauchy": lambda: (tfd.Cauchy(f(0, 1), f(1, 2)), f(0.5, 4)),
    "Chi": lambda: (tfd.Chi(f(2, 3)), f(0.5, 4)),
    "Chi2": lambda: (tfd.Chi2(f(2, 3)), f(0.5, 4)),
    "Deterministic": lambda: (tfd.Deterministic(f(2, 3)), f(2, 4)),
    "Dirichlet": lambda: (tfd.Dirichlet(f(2, 3, 1)), f(0.2, 0.5, 0.3)),
    "DirichletMultinomial": lambda: (tfd.DirichletMultinomial(4.0, f(2, 3, 1)), f(1, 2, 1)),
    "DoublesidedMaxwell": lambda: (tfd.DoublesidedMaxwell(f(0, 1), f(1, 2)), f(0.5, 3)),
    "Empirical": lambda: (tfd.Empirical(f(1, 2, 2, 5)), np.float32(2)),
    "Exponential": lambda: (tfd.Exponential(f(1, 2)), f(0.5, 3)),
    "FiniteDiscrete": lambda: (tfd.FiniteDiscrete(f(1, 2, 4), probs=f(0.2, 0.3, 0.5)), f(2, 4)),
    "Gamma": lambda: (tfd.Gamma(f(1, 2), f(3, 0.5)), f(0.5, 3)),
    "GammaGamma": lambda: (tfd.GammaGamma(f(2, 3), f(3, 2), f(1, 2)), f(0.5, 3)),
    "GaussianProcess": lambda: (
        tfd.GaussianProcess(tfp.math.psd_kernels.ExponentiatedQuadratic(), f([0.0], [1.0], [2.0])),
        f(0.1, 0.2, -0.3),
    ),
    "GaussianProcessRegressionModel": lambda: (
        tfd.GaussianProcessRegressionModel(
            tfp.math.psd_kernels.MaternFiveHalves(),
            f([0.5], [1.5]),
            f([0.0], [1.0], [2.0]),
            f(0.1, 0.2, -0.3),
            0.1,
        ),
        f(0.1, 0.2),
    ),
    "GeneralizedPareto": lambda: (tfd.GeneralizedPareto(f(0, 1), f(1, 2), f(0.3, -0.2)), f(0.5, 3)),
    "Geometric": lambda: (tfd.Geometric(probs=f(0.3, 0.5)), f(2, 3)),
    "Gumbel": lambda: (tfd.Gumbel(f(0, 1), f(1, 2)), f(0.5, 3)),
    "HalfCauchy": lambda: (tfd.HalfCauchy(f(0, 1), f(1, 2)), f(0.5, 3)),
    "HalfNormal": lambda: (tfd.HalfNormal(f(1, 2)), f(0.5, 3)),
    "HiddenMarkovModel": lambda: (
        tfd.HiddenMarkovModel(
            tfd.Categorical(probs=f(0.8, 0.2)),
            tfd.Categorical(probs=f([0.7, 0.3], [0.2, 0.8])),
            tfd.Normal(f(0, 15), f(5, 10)),
            4,
        ),
        f(1, 2, 10, 20),
    ),
    "Horseshoe": lambda: (tfd.Horseshoe(f(1, 2)), f(0.5, 3)),
    "Independent": lambda: (tfd.Independent(tfd.Normal(f(0, 1), f(1, 2)), 1), f(0.5, 3)),
    "InverseGamma": lambda: (tfd.InverseGamma(f(3, 4), f(3, 0.5)), f(0.5, 3)),
    "InverseGaussian": lambda: (tfd.InverseGaussian(f(1, 2), f(3, 0.5)), f(0.5, 3)),
    "JointDistributionSequential": lambda: (
        tfd.JointDistributionSequential([tfd.Normal(0.0, 1.0), lambda a: tfd.Normal(a, 2.0)]),
        (np.float32(0.5), np.float32(1.5)),
    ),
    "JointDistributionNamed": lambda: (
        tfd.JointDistributionNamed({"a": tfd.Normal(0.0, 1.0), "b": lambda a: tfd.Normal(a, 2.0)}),
        {"a": np.float32(0.5), "b": np.float32(1.5)},
    ),
    "Kumaraswamy": lambda: (tfd.Kumaraswamy(f(1, 2), f(3, 0.5)), f(0.2, 0.7)),
    "LKJ": lambda: (tfd.LKJ(3, np.float32(1.5)), f([1, 0.2, 0.1], [0.2, 1, -0.3], [0.1, -0.3, 1])),
    "Laplace": lambda: (tfd.Laplace(f(0, 1), f(1, 2)), f(0.5, 3)),
    "LinearGaussianStateSpaceModel": lambda: (
        tfd.LinearGaussianStateSpaceModel(
            4,
            tf.linalg.LinearOperatorFullMatrix(f([1, 1], [0, 1])),
            tfd.MultivariateNormalDiag(scale_diag=f(0.1, 0.2)),
            tf.linalg.LinearOperatorFullMatrix(f([1, 0])),
            tfd.MultivariateNormalDiag(scale_diag=f(0.5)),
            tfd.MultivariateNormalDiag(scale_diag=f(1, 1)),
        ),
        np.array([[0.1], [0.4], [0.6], [1.0]], np.float32),
    ),
    "LogNormal": lambda: (tfd.LogNormal(f(0, 1), f(1, 0.5)), f(0.5, 3)),
    "LogitNormal": lambda: (tfd.LogitNormal(f(0, 1), f(1, 0.5)), f(0.2, 0.7)),
    "Logistic": lambda: (tfd.Logistic(f(0, 1), f(1, 2)), f(0.5, 3)),
    "Mixture": lambda: (
        tfd.Mixture(
            tfd.Categorical(probs=f(0.3, 0.7)), [tfd.Normal(0.0, 1.0), tfd.Normal(3.0, 2.0)]
        ),
        f(0.5, 3),
    ),
    "MixtureSameFamily": lambda: (
        tfd.MixtureSameFamily(tfd.Categorical(probs=f(0.3, 0.7)), tfd.Normal(f(0, 3), f(1, 2))),
        f(0.5, 3),
    ),
    "Multinomial": lambda: (tfd.Multinomial(4.0, probs=f(0.2, 0.3, 0.5)), f(1, 2, 1)),
    "MultivariateNormalDiag": lambda: (tfd.MultivariateNormalDiag(f(0, 1), f(1, 2)), f(0.5, 3)),
    "MultivariateNormalDiagPlusLowRank": lambda: (
        tfd.MultivariateNormalDiagPlusLowRank(
            f(0, 1), f(1, 2), scale_perturb_factor=f([1.0], [0.5])
        ),
        f(0.5, 3),
    ),
    "MultivariateNormalFullCovariance": lambda: (
        tfd.MultivariateNormalFullCovariance(f(0, 1), f([2, 0.5], [0.5, 1])),
        f(0.5, 3),
    ),
    "MultivariateNormalLinearOperator": lambda: (
        tfd.MultivariateNormalLinearOperator(f(0, 1), tf.linalg.LinearOperatorLowerTriangular(L)),
        f(0.5, 3),
    ),
    "MultivariateNormalTriL": lambda: (tfd.MultivariateNormalTriL(f(0, 1), L), f(0.5, 3)),
    "MultivariateStudentTLinearOperator": lambda: (
        tfd.MultivariateStudentTLinearOperator(
            np.float32(5), f(0, 1), tf.linalg.LinearOperatorLowerTriangular(L)
        ),
        f(0.5, 3),
    ),
    "NegativeBinomial": lambda: (tfd.NegativeBinomial(f(3, 4), probs=f(0.3, 0.5)), f(2, 3)),
    "Normal": lambda: (tfd.Normal(f(0, 1), f(1, 2)), f(0.5, 3)),
    "OneHotCategorical": lambda: (tfd.OneHotCategorical(logits=f(1, 2, 3)), f(0, 1, 0)),
    "Pareto": lambda: (tfd.Pareto(f(3, 4), f(1, 2)), f(1.5, 3)),
    "PERT": lambda: (tfd.PERT(f(0, 1), f(1, 2), f(3, 5), 4.0), f(0.5, 3)),
    "PlackettLuce": lambda: (tfd.PlackettLuce(f(1, 2, 3)), np.array([2, 0, 1], np.int32)),
    "Poisson": lambda: (tfd.Poisson(f(1, 2)), f(2, 3)),
    "PoissonLogNormalQuadratureCompound": lambda: (
        tfd.PoissonLogNormalQuadratureCompound(f(0, 1), f(1, 0.5), 8),
        f(2, 3),
    ),
    "ProbitBernoulli": lambda: (tfd.ProbitBernoulli(probs=f(0.2, 0.7)), np.array([1, 0], np.int32)),
    "QuantizedDistribution": lambda: (
        tfd.QuantizedDistribution(tfd.Normal(f(0, 1), f(1, 2)), -5.0, 5.0),
        f(0, 3),
    ),
    "RelaxedBernoulli": lambda: (
        tfd.RelaxedBernoulli(np.float32(0.5), logits=f(-1, 0.5)),
        f(0.2, 0.7),
    ),
    "RelaxedOneHotCategorical": lambda: (
        tfd.RelaxedOneHotCategorical(np.float32(0.5), logits=f(1, 2, 3)),
        f(0.2, 0.5, 0.3),
    ),
    "ExpRelaxedOneHotCategorical": lambda: (
        tfd.ExpRelaxedOneHotCategorical(np.float32(0.5), logits=f(1, 2, 3)),
        np.log(f(0.2, 0.5, 0.3)),
    ),
    "Sample": lambda: (tfd.Sample(tfd.Normal(0.0, 1.0), 3), f(0.1, 0.2, 0.3)),
    "SinhArcsinh": lambda: (tfd.SinhArcsinh(f(0, 1), f(1, 2), f(0.1, -0.2), f(1, 1.5)), f(0.5, 3)),
    "StudentT": lambda: (tfd.StudentT(f(3, 5), f(0, 1), f(1, 2)), f(0.5, 3)),
    "StudentTProcess": lambda: (
        tfd.StudentTProcess(
            np.float32(5), tfp.math.psd_kernels.ExponentiatedQuadratic(), f([0.0], [1.0], [2.0])
        ),
        f(0.1, 0.2, -0.3),
    ),
    "TransformedDistribution": lambda: (
        tfd.TransformedDistribution(tfd.Normal(f(0, 1), f(1, 2)), tfp.bijectors.Softplus()),
        f(0.5, 3),
    ),
    "Triangular": lambda: (tfd.Triangular(f(0, 1), f(4, 5), f(2, 3)), f(0.5, 3)),
    "TruncatedNormal": lambda: (
        tfd.TruncatedNormal(f(0, 1), f(1, 2), f(-1, -2), f(2, 5)),
        f(0.5, 3),
    ),
    "Uniform": lambda: (tfd.Uniform(f(0, 1), f(2, 5)), f(0.5, 3)),
    "VariationalGaussianProcess": lambda: (
        tfd.VariationalGaussianProcess(
            tfp.math.psd_kernels.ExponentiatedQuadratic(),
            f([0.0], [1.0]),
            f([0.5], [1.5]),
            f(0, 1),
            L * 0.3,
            observation_noise_variance=0.1,
        ),
        f(0.1, 0.2),
    ),
    "VectorDeterministic": lambda: (tfd.VectorDeterministic(f(2, 3)), f(2, 3)),
    "VectorDiffeomixture": lambda: (
        tfd.VectorDiffeomixture(
            f([0.4], [0.0])[..., 0:1],
            [1.0],
            distribution=tfd.Normal(0.0, 1.0),
            loc=[None, f(2, 3)],
            scale=[
                tf.linalg.LinearOperatorScaledIdentity(2, np.float32(1.1)),
                tf.linalg.LinearOperatorDiag(f(1.5, 2.5)),
            ],
        ),
        f([0.5, 3], [1, 1]),
    ),
    "VectorExponentialDiag": lambda: (tfd.VectorExponentialDiag(f(0, 1), f(1, 2)), f(0.5, 3)),
    "VectorExponentialLinearOperator": lambda: (
        tfd.VectorExponentialLinearOperator(f(0, 1), tf.linalg.LinearOperatorDiag(f(1, 2))),
        f(0.5, 3),
    ),
    "VectorLaplaceDiag": lambda: (tfd.VectorLaplaceDiag(f(0, 1), f(1, 2)), f(0.5, 3)),
    "VectorSinhArcsinhDiag": lambda: (
        tfd.VectorSinhArcsinhDiag(loc=f(0, 1), scale_diag=f(1, 2), skewness=np.float32(0.1)),
        f(0.5, 3),
    ),
    "VonMises": lambda: (tfd.VonMises(f(0, 1), f(1, 2)), f(0.5, 3)),
    "VonMisesFisher": lambda: (tfd.VonMisesFisher(f(0, 0.6, 0.8), np.float32(2)), f(1, 0, 0)),
    "WishartLinearOperator": lambda: (
        tfd.WishartLinearOperator(np.float32(4), tf.linalg.LinearOperatorLowerTriangular(L)),
        f([2, 0.5], [0.5, 1]),
    ),
    "Wishart": lambda: (tfd.Wishart(np.float32(4), scale_tril=L), f([2, 0.5], [0.5, 1])),
    "Zipf": lambda: (tfd.Zipf(f(2.5, 3)), f(2, 3)),
}


def told(session, make, heavy):
    """What a distribution says of itself, and its draws."""
    distribution, at = make()
    joint = isinstance(at, (tuple, dict))

    def ask(function):
        try:
            return np.asarray(session.run(function()), np.float64).tolist()
        except NotImplementedError:
            return "not implemented"
        except Exception as error:
            return type(error).__name__

    def draws():
        drawn = session.run(distribution.sample(DRAWS, seed=3))
        parts = drawn.values() if isinstance(drawn, dict) else drawn if joint else [drawn]
        found = []
        for part in parts:
            part = np.asarray(part, np.float64)
            squashed = np.arctan(part)
            moments = [squashed.mean(0).tolist(), squashed.std(0).tolist()]
            if not heavy:
                moments += [part.mean(0).tolist(), part.std(0).tolist()]
            found.append({"shape": list(part.shape), "moments": moments})
        return found

    row = {"log_prob": ask(lambda: distribution.log_prob(at))}
    try:
        row["draws"] = draws()
    except ValueError as error:
        row["draws"] = type(error).__name__
    if joint:
        return row
    for name in ("cdf", "survival_function"):
        row[name] = ask(functools.partial(getattr(distribution, name), at))
    for name in (
        "mean",
        "variance",
        "stddev",
        "mode",
        "entropy",
        "covariance",
        "batch_shape_tensor",
        "event_shape_tensor",
    ):
        row[name] = ask(getattr(distribution, name))
    row["quantile"] = ask(lambda: distribution.quantile(np.float32(0.3)))
    row["kl"] = ask(lambda: tfd.kl_divergence(distribution, distribution))
    point = tf.constant(at)
    if point.dtype.is_floating:
        slopes = tf.gradients(distribution.log_prob(point), point)
        row["slope"] = "none" if slopes == [None] else ask(lambda: slopes[0])
    return row


def main():
    """Prints what each distribution that this version has is."""
    found = {}
    for name, make in sorted(CASES.items()):
        if hasattr(tfd, name):
            with tf.Graph().as_default(), tf.Session() as session:
                tf.set_random_seed(7)
                found[name] = told(session, make, name in HEAVY)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
