"""Programs of ``tf.contrib.distributions``: families of vectors and matrices (``recorded``)."""

import numpy as np

from tests.contrib.distributions_asked import asked, everything, moments, shapes_of_samples
from tests.contrib.recorded import refused, values

LOC, DIAG = [[1.0, -2.0], [0.5, 3.0]], [2.0, 0.5]
TRIL = [[[2.0, 0.0], [-1.0, 0.5]], [[1.0, 0.0], [3.0, 2.0]]]
COVARIANCE = [[4.0, 1.5], [1.5, 2.0]]
FACTOR = [[1.0, 0.5], [-0.5, 2.0]]
AT = [[0.5, 1.0], [-1.0, 2.5]]
PROBS = [[0.25, 0.5, 0.25], [0.125, 0.125, 0.75]]
HEAT = 0.5

# Name, arguments, values.
FAMILIES = {
    "MultivariateNormalDiag": ({"loc": LOC, "scale_diag": DIAG}, AT),
    "MultivariateNormalDiag_loc": ({"loc": LOC}, AT),
    "MultivariateNormalDiag_scale": ({"scale_diag": DIAG}, AT),
    "MultivariateNormalDiag_multiple": ({"loc": LOC, "scale_identity_multiplier": 2.0}, AT),
    "MultivariateNormalDiag_both": (
        {"loc": LOC, "scale_diag": DIAG, "scale_identity_multiplier": [1.0, 2.0]}, AT,
    ),
    "MultivariateNormalDiagWithSoftplusScale": ({"loc": LOC, "scale_diag": [-1.0, 2.0]}, AT),
    "MultivariateNormalTriL": ({"loc": LOC, "scale_tril": TRIL}, AT),
    "MultivariateNormalTriL_loc": ({"loc": LOC}, AT),
    "MultivariateNormalTriL_scale": ({"scale_tril": TRIL}, AT),
    "MultivariateNormalFullCovariance": ({"loc": LOC[0], "covariance_matrix": COVARIANCE}, AT),
    "MultivariateNormalFullCovariance_loc": ({"loc": LOC}, AT),
    "MultivariateNormalDiagPlusLowRank": (
        {"loc": LOC, "scale_diag": DIAG, "scale_perturb_factor": FACTOR}, AT,
    ),
    "MultivariateNormalDiagPlusLowRank_diag": (
        {"loc": LOC[0], "scale_identity_multiplier": 1.5, "scale_perturb_factor": FACTOR,
         "scale_perturb_diag": [0.5, 2.0]}, AT,
    ),
    "VectorExponentialDiag": ({"loc": LOC, "scale_diag": DIAG}, [[3.5, 1.0], [4.0, 5.0]]),
    "VectorExponentialDiag_scale": ({"scale_diag": DIAG}, [[3.5, 1.0], [4.0, 5.0]]),
    "VectorLaplaceDiag": ({"loc": LOC, "scale_diag": [2.0, -0.5]}, AT),
    "VectorLaplaceDiag_multiple": ({"loc": LOC[0], "scale_identity_multiplier": 2.0}, AT),
    "VectorSinhArcsinhDiag": ({"loc": LOC, "scale_diag": DIAG, "skewness": 0.5}, AT),
    "VectorSinhArcsinhDiag_tails": (
        {"loc": LOC[0], "scale_diag": DIAG, "tailweight": [0.5, 1.5]}, AT,
    ),
    "VectorDeterministic": ({"loc": LOC, "atol": 0.25}, [[1.125, -2.0], [0.5, 2.0]]),
    "OneHotCategorical": ({"probs": PROBS}, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    "OneHotCategorical_logits": ({"logits": [-1.0, 0.5, 2.0]}, [[0.0, 1.0, 0.0]]),
    "ExpRelaxedOneHotCategorical": (
        {"temperature": HEAT, "probs": PROBS}, np.log([[0.25, 0.5, 0.25], [0.125, 0.375, 0.5]]),
    ),
    "RelaxedOneHotCategorical": (
        {"temperature": HEAT, "logits": [-1.0, 0.5, 2.0]}, [[0.25, 0.5, 0.25]],
    ),
    "WishartCholesky": ({"df": 4.0, "scale": TRIL[1]}, [COVARIANCE, [[1.0, 0.5], [0.5, 1.0]]]),
    "WishartCholesky_batch": ({"df": 4.0, "scale": TRIL}, [COVARIANCE, COVARIANCE]),
    "WishartCholesky_factors": (
        {"df": 4.0, "scale": TRIL[1], "cholesky_input_output_matrices": True}, TRIL[0],
    ),
    "WishartFull": ({"df": 2.5, "scale": COVARIANCE}, COVARIANCE),
}  # fmt: skip
# No moments of their own, or none that samples are held against.
UNMOVED = ("VectorSinhArcsinhDiag", "VectorDeterministic", "OneHot", "ExpRelaxed", "Relaxed")


def _made(tf, family, kind, **more):
    given = {
        k: v if isinstance(v, bool) else np.array(v, kind) for k, v in FAMILIES[family][0].items()
    }
    return getattr(tf.contrib.distributions, family.split("_")[0])(**dict(given, **more))


def _family(name, kind):
    def case(tf):
        made = _made(tf, name, kind)
        found = everything(tf, made, np.array(FAMILIES[name][1], kind))
        if "Deterministic" not in name:
            found.append(sorted(made.parameters))
        # The sampler of 1.15 knows of matrices one by one only.
        if name != "WishartCholesky_batch":
            found.append(shapes_of_samples(made))
        if "Wishart" in name:
            found += asked(tf, (made.mean_log_det,), (made.log_normalization,), (made.scale,))
            found += [values(tf, [made.df, made.dimension]), made.cholesky_input_output_matrices]
        return found

    return case


def _gradients(name):
    def case(tf):
        given = {k: tf.constant(np.array(v, "float32")) for k, v in FAMILIES[name][0].items()}
        made = getattr(tf.contrib.distributions, name.split("_")[0])(**given)
        at = tf.constant(np.array(FAMILIES[name][1], "float32"))
        found = tf.gradients(made.log_prob(at), list(given.values()))
        return values(tf, [g for g in found if g is not None]) + [g is None for g in found]

    return case


def _samples(name):
    def case(tf):
        return moments(tf, _made(tf, name, "float64"))

    return case


for _each in FAMILIES:
    globals()["case_" + _each] = _family(_each, "float32")
    if _each in ("MultivariateNormalTriL", "WishartFull"):
        globals()["case_" + _each + "_of_float64"] = _family(_each, "float64")
    if "_" in _each:
        continue
    if "Deterministic" not in _each:
        globals()["case_" + _each + "_gradients"] = _gradients(_each)
    if not _each.startswith(UNMOVED):
        globals()["case_" + _each + "_samples"] = _samples(_each)


def case_samples_of_classes(tf):
    """Shares of classes, and of the greatest number of a relaxed event."""
    ds = tf.contrib.distributions
    probs = np.array(PROBS)
    one_hot = ds.OneHotCategorical(probs=probs, dtype=tf.int64).sample(20000, seed=3)
    relaxed = ds.RelaxedOneHotCategorical(HEAT, probs=probs).sample(20000, seed=3)
    logs = ds.ExpRelaxedOneHotCategorical(HEAT, probs=probs).sample(20000, seed=5)
    spread = 5.0 * np.sqrt(probs * (1 - probs) / 20000)
    found = []
    for drawn in values(tf, [one_hot, relaxed, logs]):
        hot = drawn == drawn.max(-1, keepdims=True)
        found.append(bool((np.abs(hot.mean(0) - probs) <= spread).all()))
    return [*found, str(one_hot.dtype)]


def case_divergences(tf):
    ds = tf.contrib.distributions
    a = ds.MultivariateNormalDiag(LOC, DIAG)
    b = ds.MultivariateNormalTriL([0.5, 1.0], TRIL)
    c = ds.MultivariateNormalDiag(scale_diag=[1.0, 3.0])
    pairs = [(a, a), (a, b), (b, a), (a, c), (c, b)]
    hot, other = ds.OneHotCategorical(probs=PROBS), ds.OneHotCategorical(logits=[0.5, 1.0, -1.0])
    pairs += [(hot, other), (other, hot)]
    own = ds.Independent(ds.Normal(LOC, DIAG), 1)
    pairs += [(own, ds.Independent(ds.Normal([0.0, 1.0], 1.0), 1))]
    calls = [(tf.distributions.kl_divergence, *pair) for pair in pairs]
    calls += [(p.cross_entropy, q) for p, q in pairs]
    found = asked(tf, *calls)
    wrong = ds.Independent(ds.Normal([0.0], 1.0), 1)
    return [*found, refused(lambda: own.kl_divergence(wrong), "Event shapes do not match")]


def case_scales(tf):
    ds = tf.contrib.distributions
    made = [
        ds.MultivariateNormalDiag(LOC, DIAG),
        ds.MultivariateNormalDiag(LOC),
        ds.MultivariateNormalDiag(LOC, scale_identity_multiplier=2.0),
        ds.MultivariateNormalTriL(LOC, TRIL),
        ds.MultivariateNormalDiagPlusLowRank(LOC, DIAG, scale_perturb_factor=FACTOR),
        ds.MultivariateNormalDiagPlusLowRank(LOC, DIAG),
    ]
    kinds = [[type(each.scale).__name__, type(each.bijector).__name__] for each in made]
    loc = [each.loc.shape.as_list() for each in made]
    return [kinds, loc, ds.MultivariateNormalDiag(scale_diag=DIAG).loc is None]


def case_parameters_refused(tf):
    ds = tf.contrib.distributions
    makers = [
        (lambda: ds.MultivariateNormalDiag(), "Cannot infer `event_shape`"),
        (lambda: ds.MultivariateNormalTriL(), "Must specify one or both of `loc`, `scale_tril`."),
        (lambda: ds.MultivariateNormalFullCovariance(), "Must specify one or both of"),
        (lambda: ds.MultivariateNormalDiag([1, 2], [1, 2]), "must have floating-point dtype"),
        (lambda: ds.MultivariateNormalDiag([1.0, 2.0], [1.0, 2.0, 3.0]), "could not be broadcast"),
        (lambda: ds.VectorDeterministic(0.0, validate_args=True), "must be at least rank 1"),
        (lambda: ds.OneHotCategorical(), "Must pass probs or logits"),
        (lambda: ds.WishartCholesky(1.0, TRIL[0]), "cannot be less than dimension of scale"),
        (lambda: ds.WishartFull(3, [[2, 1], [1, 2]]), ""),
        (lambda: ds.WishartFull(3.0, COVARIANCE, True).stddev(), "does not make sense"),
    ]
    return [refused(make, words) for make, words in makers]


def case_steps_refused(tf):
    ds = tf.contrib.distributions
    makers = [
        lambda: ds.MultivariateNormalDiag([0.0, 0.0], [1.0, 0.0], validate_args=True).variance(),
        lambda: ds.MultivariateNormalDiag([0.0, 0.0], [1.0, 0.0], validate_args=True).sample(),
        lambda: ds.MultivariateNormalTriL([0.0], [[0.0]], validate_args=True).log_prob([1.0]),
        lambda: ds.VectorLaplaceDiag([0.0], [0.0], validate_args=True).log_prob([1.0]),
        lambda: ds.MultivariateNormalFullCovariance(
            [0.0, 0.0], [[2.0, 1.0], [0.0, 2.0]], validate_args=True
        ).variance(),
        lambda: ds.OneHotCategorical(probs=[0.5, 0.25], validate_args=True).mode(),
        lambda: ds.OneHotCategorical(probs=[0.5, 0.5], validate_args=True).log_prob([2, 3]),
        lambda: ds.RelaxedOneHotCategorical(-1.0, probs=[0.5, 0.5], validate_args=True).sample(),
        lambda: ds.ExpRelaxedOneHotCategorical(1.0, probs=[0.5, 0.5], validate_args=True).log_prob(
            [0.5, -1.0]
        ),
    ]
    return [refused(lambda make=make: values(tf, make())) for make in makers]


def case_shapes_known_in_steps(tf):
    ds = tf.contrib.distributions
    fed = tf.placeholder(tf.float32, [None, None])
    makers = [
        lambda p: ds.MultivariateNormalDiag(p, tf.exp(p)),
        lambda p: ds.MultivariateNormalTriL(p, tf.eye(tf.shape(p)[-1])),
        lambda p: ds.VectorLaplaceDiag(p, tf.exp(p)),
        lambda p: ds.VectorExponentialDiag(scale_diag=tf.exp(p)),
        lambda p: ds.OneHotCategorical(p),
        lambda p: ds.ExpRelaxedOneHotCategorical(HEAT, p),
    ]
    found = []
    for make in makers:
        made = make(fed)
        tensors = [made.batch_shape_tensor(), made.event_shape_tensor()]
        tensors += [tf.shape(made.sample([2, 3], seed=1)), made.is_scalar_batch()]
        if "Vector" not in str(made):
            tensors += [made.log_prob([[0.0, 1.0]])]
        found.append([str(made), values(tf, tensors, {fed: [[0.25, 0.5], [1.0, 2.0]]})])
    return found
