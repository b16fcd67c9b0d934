"""Programs of ``tf.contrib.distributions``: distributions made of others (``recorded``)."""

import numpy as np

from tests.contrib.distributions_asked import (
    asked,
    everything,
    moments,
    shapes_of_samples,
    shares,
)
from tests.contrib.recorded import refused, values

NUMBERS = np.array([[0.25], [1.0], [3.5]], "float32")


def _transformed(tf, ds, kind):
    b = ds.bijectors
    normal = ds.Normal(np.array([0.5, -1.0], kind), np.array(2.0, kind))
    scalar = ds.Normal(np.array(0.5, kind), np.array(2.0, kind))
    return {
        "log_normal": (ds.TransformedDistribution(normal, b.Exp()), NUMBERS),
        "plain": (ds.TransformedDistribution(normal), NUMBERS),
        "affine": (
            ds.TransformedDistribution(
                scalar, b.Affine(shift=np.array([1.0, 2.0], kind)), event_shape=[2], name="mine"
            ),
            [[0.5, 1.0], [2.0, 3.0]],
        ),
        "batch": (ds.TransformedDistribution(scalar, b.Exp(), batch_shape=[3]), NUMBERS),
        "both": (
            ds.TransformedDistribution(scalar, b.Exp(), batch_shape=[2], event_shape=[3]),
            [[1.0, 2.0, 3.0], [0.5, 0.25, 4.0]],
        ),
        "rotated": (
            ds.TransformedDistribution(normal, b.Exp(), event_shape=[3]),
            [[1.0, 2.0, 3.0], [0.5, 0.25, 4.0]],
        ),
        "folded": (ds.TransformedDistribution(scalar, b.AbsoluteValue()), NUMBERS),
        "simplex": (
            ds.TransformedDistribution(
                ds.MultivariateNormalDiag(np.array([0.5, 1.0], kind)), b.SoftmaxCentered()
            ),
            [[0.25, 0.5, 0.25], [0.125, 0.125, 0.75]],
        ),
        "chain": (
            ds.TransformedDistribution(normal, b.Chain([b.AffineScalar(1.0, 2.0), b.Exp()])),
            NUMBERS + 1,
        ),
        "gumbel": (
            ds.TransformedDistribution(
                ds.Uniform(np.array(0.0, kind), np.array(1.0, kind)), b.Invert(b.Gumbel(0.5, 2.0))
            ),
            NUMBERS,
        ),
    }


def _case_transformed(name, kind):
    def case(tf):
        made, at = _transformed(tf, tf.contrib.distributions, kind)[name]
        quantiles = (
            [[0.125], [0.5]] if name not in ("simplex", "affine", "both", "rotated") else None
        )
        found = everything(tf, made, np.array(at, kind), quantiles)
        return [*found, shapes_of_samples(made), made.distribution.name, made.bijector.name]

    return case


for _name in ("log_normal", "plain", "affine", "batch", "both", "rotated", "folded", "simplex",
              "chain", "gumbel"):  # fmt: skip
    globals()["case_transformed_" + _name] = _case_transformed(_name, "float32")


def case_samples_of_transformed(tf):
    ds = tf.contrib.distributions
    made = _transformed(tf, ds, "float32")
    found = [shares(tf, made[name][0], np.float32(1.5)) for name in ("log_normal", "batch")]
    drawn = values(tf, made["rotated"][0].sample(20000, seed=3))
    # The mean of the logarithm is that of the normal distribution of the batch.
    near = np.abs(np.log(drawn).mean(0) - [[0.5] * 3, [-1.0] * 3]) <= 5 * 2 / np.sqrt(20000)
    # Numbers of an event are not the same number.
    apart = np.abs(np.corrcoef(np.log(drawn).reshape(20000, 6).T) - np.eye(6)) <= 5 / np.sqrt(20000)
    return [*found, bool(near.all()), bool(apart.all())]


def case_a_sample_is_remembered(tf):
    ds = tf.contrib.distributions
    calls = []

    def inverse(y):
        calls.append(y)
        return tf.log(y)

    b = ds.bijectors.Inline(tf.exp, inverse, lambda y: -tf.log(y), forward_min_event_ndims=0)
    made = ds.TransformedDistribution(ds.Normal(0.0, 1.0), b)
    drawn = made.sample(3, seed=1)
    first = made.log_prob(drawn)
    others = len(calls)
    made.log_prob(tf.identity(drawn))
    x, y = values(tf, [first, made.log_prob(tf.identity(drawn))])
    return [others, len(calls), bool(np.allclose(x, y))]


def case_transformed_refused(tf):
    ds = tf.contrib.distributions
    normal, exp = ds.Normal(0.0, 1.0), ds.bijectors.Exp()
    vector = ds.MultivariateNormalDiag([0.0])
    makers = [
        (lambda: ds.TransformedDistribution(ds.Normal([0.0], 1.0), exp, [2]), "not scalar"),
        (lambda: ds.TransformedDistribution(vector, exp, event_shape=[2]), "not scalar"),
        (lambda: ds.TransformedDistribution(normal, exp, event_shape=[-2]), "positive elements"),
        (lambda: ds.TransformedDistribution(normal, exp).mean(), "mean is not implemented"),
        (lambda: ds.TransformedDistribution(normal, exp).entropy(), "entropy is not implemented"),
    ]
    return [refused(make, words) for make, words in makers]


def case_conditional(tf):
    ds = tf.contrib.distributions

    class Times(ds.bijectors.ConditionalBijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0, name="times")

        def _forward(self, x, by):
            return x * by

        def _inverse(self, y, by):
            return y / by

        def _forward_log_det_jacobian(self, x, by):
            return tf.log(by) + tf.zeros_like(x)

        def _inverse_log_det_jacobian(self, y, by):
            return -tf.log(by) + tf.zeros_like(y)

    class Shifted(ds.ConditionalDistribution):
        def _log_prob(self, x, by):
            return -tf.abs(x - by)

        def _cdf(self, x, by):
            return tf.sigmoid(x - by)

    made = ds.ConditionalTransformedDistribution(ds.Normal([0.0, 1.0], 2.0), Times())
    given = {"bijector_kwargs": {"by": 4.0}}
    methods = ["log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function"]
    tensors = [getattr(made, method)([1.0, 3.0], **given) for method in methods]
    drawn = made.sample([20000], seed=1, **given)
    found = values(tf, drawn)
    near = np.abs(found.mean(0) - [0.0, 4.0]) <= 5 * 8 / np.sqrt(20000)
    shifted = Shifted(tf.float32, ds.NOT_REPARAMETERIZED, False, True, name="Shifted")
    more = [shifted.log_prob(2.0, by=1.0), shifted.cdf(2.0, by=1.0)]
    shapes = [made.name, drawn.shape.as_list(), drawn.name.split("/")[:2]]
    return [*shapes, values(tf, tensors), values(tf, more), bool(near.all())]


def case_independent(tf):
    ds = tf.contrib.distributions
    normal = ds.Normal(np.float32([[0.0, 1.0], [2.0, 3.0], [1.0, 1.0]]), np.float32([1.0, 2.0]))
    found = []
    for ndims in (None, 0, 1, 2):
        made = ds.Independent(normal, ndims)
        at = np.float32([[0.5, 1.0], [2.0, 1.0], [0.0, 1.0]])
        found += [everything(tf, made, at), shapes_of_samples(made), sorted(made.parameters)]
        found.append(made.reinterpreted_batch_ndims)
    made = ds.Independent(ds.MultivariateNormalDiag(np.zeros([2, 3], "float32")), 1, name="mine")
    found.append(everything(tf, made, np.ones([2, 3], "float32")))
    found.append(moments(tf, ds.Independent(normal, 2)))
    wrong = refused(lambda: ds.Independent(normal, 3), "cannot exceed distribution.batch_ndims(2)")
    return [*found, wrong]


def _mixtures(ds, kind="float32"):
    parts = [ds.Normal(np.array(0.0, kind), np.array(1.0, kind)),
             ds.Laplace(np.array(3.0, kind), np.array(2.0, kind))]  # fmt: skip
    vectors = [
        ds.MultivariateNormalDiag(np.array([[0.0, 1.0]] * 2, kind)),
        ds.MultivariateNormalDiag(np.array([[2.0, 3.0]] * 2, kind), np.array([2.0, 0.5], kind)),
    ]
    one = ds.Categorical(probs=np.array([0.25, 0.75], kind))
    two = ds.Categorical(logits=np.array([[0.25, 0.75], [-1.0, 2.0]], kind))
    return ds.Mixture(one, parts), ds.Mixture(two, vectors, name="mine")


def case_mixture(tf):
    ds = tf.contrib.distributions
    scalar, vector = _mixtures(ds)
    found = [everything(tf, scalar, np.float32([0.5, 2.0])), shapes_of_samples(scalar)]
    # 1.15 has no variances of mixtures of vectors.
    found += asked(tf, (vector.log_prob, np.float32([[[0.5, 2.0]] * 2] * 3)), (vector.mean,))
    found += [str(vector), shapes_of_samples(vector)]
    found += asked(tf, (scalar.entropy_lower_bound,), (vector.entropy_lower_bound,))
    found += [sorted(scalar.parameters), vector.num_components, len(vector.components)]
    static = ds.Mixture(scalar.cat, scalar.components, use_static_graph=True, name="static")
    found += [static.cat is scalar.cat, shapes_of_samples(static)]
    counts = ds.Mixture(scalar.cat, [ds.Poisson(1.0), ds.Poisson(5.0)])
    found.append(everything(tf, counts, np.float32([0.0, 2.0])))
    wide, vectors = _mixtures(ds, "float64")
    drawn, mean = values(tf, [vectors.sample(20000, seed=3), vectors.mean()])
    # The greatest standard deviation of a number is less than 3.
    near = bool((np.abs(drawn.mean(0) - mean) <= 5 * 3 / np.sqrt(20000)).all())
    return [*found, moments(tf, wide), near, shares(tf, wide, np.float64(1.5))]


def case_mixture_refused(tf):
    ds = tf.contrib.distributions
    cat, normal = ds.Categorical(probs=[0.25, 0.75]), ds.Normal(0.0, 1.0)
    makers = [
        (lambda: ds.Mixture(normal, [normal]), "cat must be a Categorical distribution"),
        (lambda: ds.Mixture(cat, []), "components must be a non-empty list or tuple"),
        (lambda: ds.Mixture(cat, [1]), "must be Distribution instances"),
        (lambda: ds.Mixture(cat, [normal]), "cat.num_classes != len(components): 2 vs. 1"),
        (lambda: ds.Mixture(cat, [normal, ds.Poisson(np.float64(1.0))]), "the same dtype"),
        (lambda: ds.MixtureSameFamily(normal, ds.Normal([0.0], 1.0)), "is not over integers"),
        (lambda: ds.MixtureSameFamily(cat, ds.Normal([0.0, 1.0, 2.0], 1.0)), "does not equal"),
    ]
    found = [refused(make, words) for make, words in makers]
    for other in (ds.Normal([0.0], 1.0), ds.MultivariateNormalDiag([0.0])):
        try:
            ds.Mixture(cat, [normal, other])
        except ValueError as error:
            found.append("not compatible" in str(error))
    return found


def case_mixture_same_family(tf):
    ds = tf.contrib.distributions
    one = ds.Categorical(probs=[0.25, 0.75])
    each = ds.Categorical(probs=[[0.25, 0.75], [0.5, 0.5], [0.125, 0.875]])
    scalars = ds.Normal(np.float32([[0.0, 4.0], [1.0, 2.0], [0.0, 0.0]]), np.float32([1.0, 2.0]))
    vectors = ds.MultivariateNormalTriL([[0.0, 1.0], [2.0, 3.0]], [[[1.0, 0.0], [2.0, 0.5]]] * 2)
    made = [ds.MixtureSameFamily(one, scalars), ds.MixtureSameFamily(each, scalars)]
    made.append(ds.MixtureSameFamily(one, vectors, name="mine"))
    ats = [np.float32([[0.5], [1.0]]), np.float32([0.5, 1.0, 2.0]), np.float32([[0.5, 1.0]])]
    found = [sorted(made[0].parameters)]
    for one_, at in zip(made, ats):
        found += [everything(tf, one_, at), shapes_of_samples(one_), moments(tf, one_)]
    return [*found, shares(tf, made[1], np.float32(1.0))]


def case_batch_reshape(tf):
    ds = tf.contrib.distributions
    scalars = ds.BatchReshape(ds.Normal(np.arange(6, dtype="float32"), np.float32(2.0)), [2, 3])
    vectors = ds.MultivariateNormalDiag(
        np.arange(8.0, dtype="float32").reshape(4, 2), np.float32([[1.0, 2.0]] * 4)
    )
    vectors = ds.BatchReshape(ds.Independent(vectors, 0), [2, 2], name="mine")
    found = [sorted(scalars.parameters), moments(tf, scalars)]
    at = np.float32([[0.5, 1.0, 2.0], [3.0, 4.0, 5.0]])
    found += [everything(tf, scalars, at), shapes_of_samples(scalars)]
    found += [everything(tf, vectors, np.ones([3, 2, 2, 2], "float32")), shapes_of_samples(vectors)]
    rest = ds.BatchReshape(ds.Normal(np.zeros(6, "float32"), np.float32(1.0)), [-1, 2])
    found.append([rest.batch_shape.ndims, values(tf, rest.batch_shape_tensor())])
    found.append(refused(lambda: scalars.log_prob(1.0), "Broadcasting is not supported"))
    normal = ds.Normal(np.zeros(6, "float32"), np.float32(1.0))
    return [*found, refused(lambda: ds.BatchReshape(normal, [4, 2]), "size")]


def case_autoregressive(tf):
    ds = tf.contrib.distributions

    def given(x):
        return ds.Independent(ds.Normal(tf.cumsum(x, exclusive=True, axis=-1), np.float32(1.0)), 1)

    made = ds.Autoregressive(given, sample0=[0.0, 0.0, 0.0])
    found = everything(tf, made, np.float32([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]]))
    found += [shapes_of_samples(made), made.num_steps, sorted(made.parameters)]
    found.append(made.distribution0.name)
    x = values(tf, made.sample(20000, seed=4)).astype("float64")
    # What is added to the sum of those before is of the standard normal distribution.
    noise = x - np.cumsum(x, -1) + x
    near = [np.abs(noise.mean(0)) <= 5 / np.sqrt(20000), np.abs(noise.std(0) - 1) <= 0.03]
    apart = np.abs(np.corrcoef(noise.T) - np.eye(3)) <= 5 / np.sqrt(20000)
    again = values(tf, made.sample(20000)).astype("float64")
    without_seed = np.abs((again - np.cumsum(again, -1) + again).std(0) - 1) <= 0.03
    return [*found, [bool(n.all()) for n in near], bool(apart.all()), bool(without_seed.all())]


def case_poisson_lognormal(tf):
    ds = tf.contrib.distributions
    made = ds.PoissonLogNormalQuadratureCompound(np.float32([0.0, 1.0]), np.float32(0.5))
    found = [everything(tf, made, np.float32([[0.0], [3.0]])), shapes_of_samples(made)]
    found += [sorted(made.parameters), made.quadrature_size, str(made.distribution)]
    found += [str(made.mixture_distribution), moments(tf, made)]
    hermite = ds.PoissonLogNormalQuadratureCompound(
        np.float32([[0.0], [1.0]]), np.float32([0.5, 1.0]), quadrature_size=4,
        quadrature_fn=ds.quadrature_scheme_lognormal_gauss_hermite, name="mine",
    )  # fmt: skip
    return [*found, everything(tf, hermite, np.float32([0.0, 3.0]))]


def case_vector_diffeomixture(tf):
    ds = tf.contrib.distributions
    first = tf.linalg.LinearOperatorScaledIdentity(3, np.float32(1.1))
    second = tf.linalg.LinearOperatorDiag(np.float32([2.0, 2.5, 3.0]))
    made = ds.VectorDiffeomixture(
        [[0.0], [1.0]], [1.0], ds.Normal(0.0, 1.0), [None, np.float32([2.0] * 3)], [first, second]
    )
    at = np.float32([[1.0, 2.0, 3.0], [0.0, -1.0, 2.0]])
    found = [everything(tf, made, at), shapes_of_samples(made), sorted(made.parameters)]
    found += [values(tf, made.grid), str(made.mixture_distribution), moments(tf, made)]
    found += [len(made.endpoint_affine), len(made.interpolated_affine)]
    lower = tf.linalg.LinearOperatorLowerTriangular(np.float32([[1.0, 0.0], [2.0, 3.0]]))
    both = ds.VectorDiffeomixture(
        [0.5], [2.0], ds.Normal(0.0, 1.0), [np.float32([1.0, -1.0]), np.float32([2.0, 2.0])],
        [lower, tf.linalg.LinearOperatorDiag(np.float32([2.0, 0.5]))], quadrature_size=3,
        name="mine",
    )  # fmt: skip
    found.append(everything(tf, both, np.float32([[1.0, 2.0], [0.0, -1.0]])))
    return [*found, moments(tf, both)]


def case_quadrature(tf):
    ds = tf.contrib.distributions
    loc, scale = tf.constant([0.0, 1.0]), tf.constant([0.5, 2.0])
    found = [ds.quadrature_scheme_lognormal_gauss_hermite(loc, scale, 4)]
    found.append(ds.quadrature_scheme_lognormal_quantiles(loc, scale, 5))
    loc, scale = loc[..., tf.newaxis], scale[..., tf.newaxis]
    # That of Gauss and Hermite fails in 1.15: test_distributions_alone.py has it.
    found.append(ds.quadrature_scheme_softmaxnormal_quantiles(loc, scale, 4))
    wide = [[0.0, 1.0]], [[1.0, 1.0]]
    wrong = refused(lambda: ds.quadrature_scheme_softmaxnormal_quantiles(*wide, 3), "bimixtures")
    return [[[t.shape.as_list() for t in pair] for pair in found], values(tf, found), wrong]
