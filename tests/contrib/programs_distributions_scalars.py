"""Programs of ``tf.contrib.distributions``: families of numbers (``recorded``)."""

import numpy as np

from tests.contrib.distributions_asked import (
    asked,
    everything,
    gradients,
    moments,
    shapes_of_samples,
    shares,
)
from tests.contrib.recorded import refused, values

LOGITS = [-1.5, 0.0, 2.0]
# Name, arguments, values, and how samples are held against what is known: by moments or shares.
FAMILIES = {
    "Poisson": ({"rate": [0.5, 2.0, 7.5]}, [[0.0], [1.0], [4.0]], "both"),
    "Poisson_log": ({"log_rate": [-1.0, 0.5, 2.0]}, [[0.0], [1.0], [4.0]], "both"),
    # 1.15's incomplete beta function does not broadcast: values have the shape of parameters.
    "Binomial": ({"total_count": [3.0, 4.0, 9.0], "logits": LOGITS}, [0.0, 1.0, 9.0], None),
    "Binomial_probs": ({"total_count": [4.0, 2.0], "probs": [0.1, 0.5]}, [0.0, 2.0], None),
    "NegativeBinomial": (
        {"total_count": [0.5, 4.0, 9.0], "logits": LOGITS}, [0.0, 1.0, 3.0], "moments",
    ),
    "NegativeBinomial_probs": (
        {"total_count": [4.0, 1.0], "probs": [0.1, 0.5]}, [0.0, 4.0], "moments",
    ),
    "Geometric": ({"logits": LOGITS}, [[0.0], [1.0], [3.0]], "both"),
    "Geometric_probs": ({"probs": [0.125, 0.5, 0.875]}, [[0.0], [2.0]], "both"),
    "Deterministic": ({"loc": [1.0, -2.0], "atol": 0.25}, [[1.125], [-2.0]], None),
    "Deterministic_rtol": ({"loc": [1.0, -2.0], "rtol": 0.5}, [[1.25], [-2.0]], None),
    "HalfNormal": ({"scale": [0.5, 2.0, 1.0]}, [[0.125], [0.5], [4.0]], "both"),
    "InverseGamma": (
        {"concentration": [9.0, 5.0, 7.0], "rate": 2.0}, [[0.125], [0.5], [2.0]], "both",
    ),
    "InverseGammaWithSoftplusConcentrationRate": (
        {"concentration": [1.5, 5.0], "rate": [-1.0, 2.0]}, [[0.125], [2.0]], "shares",
    ),
    "Kumaraswamy": (
        {"concentration1": [1.0, 2.0, 0.5], "concentration0": [3.0, 2.0, 1.5]},
        [[0.125], [0.5], [0.875]], "both",
    ),
    "SinhArcsinh": (
        {"loc": [0.0, 1.0], "scale": 2.0, "skewness": 0.5, "tailweight": 1.5},
        [[-1.0], [0.5], [3.0]], "shares",
    ),
    "SinhArcsinh_plain": ({"loc": [0.0, 1.0], "scale": [2.0, 0.5]}, [[-1.0], [0.5]], "shares"),
    "RelaxedBernoulli": (
        {"temperature": 0.5, "logits": LOGITS}, [[0.125], [0.5], [0.875]], "shares",
    ),
    "RelaxedBernoulli_probs": (
        {"temperature": [1.0, 2.0], "probs": [0.25, 0.5]}, [[0.125], [0.875]], "shares",
    ),
}  # fmt: skip
# In 1.15 the parameters of these are not those of their constructors, which fail on them.
UNCOPIED = ("Deterministic", "Kumaraswamy")
DISCRETE = ("Poisson", "Binomial", "NegativeBinomial", "Geometric", "Deterministic")


def _made(tf, family, kind, **more):
    given = {k: np.array(v, kind) for k, v in FAMILIES[family][0].items()}
    return getattr(tf.contrib.distributions, family.split("_")[0])(**dict(given, **more))


def _family(name, kind):
    def case(tf):
        made = _made(tf, name, kind)
        at = np.array(FAMILIES[name][1], kind)
        quantiles = [[0.125], [0.5]] if name.split("_")[0] not in DISCRETE else None
        found = everything(tf, made, at, quantiles)
        if not name.startswith("Binomial"):
            found.append(shapes_of_samples(made))
        return found

    return case


def _checked(name):
    def case(tf):
        made = _made(tf, name, "float32", validate_args=True, name="mine")
        at = np.array(FAMILIES[name][1], "float32")
        found = [made.name, made.validate_args]
        if name.split("_")[0] not in UNCOPIED:
            found.append(sorted(made.parameters))
            made = made.copy(name="other")
        return found + asked(tf, (made.log_prob, at), (made.cdf, at))

    return case


def _gradients(name):
    def case(tf):
        given = {k: tf.constant(np.array(v, "float32")) for k, v in FAMILIES[name][0].items()}
        made = getattr(tf.contrib.distributions, name.split("_")[0])(**given)
        at = np.array(FAMILIES[name][1], "float32")
        if name.split("_")[0] in DISCRETE:
            of = tf.gradients(made.log_prob(at), list(given.values()))
            return values(tf, [g for g in of if g is not None])
        return gradients(tf, made, at, list(given.values()))

    return case


def _samples(name, how):
    def case(tf):
        made = _made(tf, name, "float64")
        found = moments(tf, made) if how in ("both", "moments") else []
        if how == "moments":
            return found
        at = np.array(FAMILIES[name][1][1], "float64")
        return [*found, shares(tf, made, at)]

    return case


for _each in FAMILIES:
    globals()["case_" + _each] = _family(_each, "float32")
    if _each in ("Poisson", "HalfNormal", "Kumaraswamy"):
        globals()["case_" + _each + "_of_float64"] = _family(_each, "float64")
    if "_" in _each:
        continue
    globals()["case_" + _each + "_checked"] = _checked(_each)
    if "Deterministic" not in _each:
        globals()["case_" + _each + "_gradients"] = _gradients(_each)
    if FAMILIES[_each][2]:
        globals()["case_" + _each + "_samples"] = _samples(_each, FAMILIES[_each][2])


def case_undefined_statistics(tf):
    ds = tf.contrib.distributions
    inverse, power = ds.InverseGamma([1.0, 1.5, 3.0], 2.0), ds.Kumaraswamy([1.0, 2.0], [2.0, 1.0])
    found = [inverse.mean(), inverse.variance(), inverse.stddev(), power.mode()]
    strict = ds.InverseGamma([1.0, 1.5], 2.0, allow_nan_stats=False)
    tensors = [strict.mean, strict.variance]
    tensors.append(ds.Kumaraswamy(1.0, 2.0, allow_nan_stats=False).mode)
    return [values(tf, found), [refused(lambda t=t: values(tf, t()), "undef") for t in tensors]]


def case_quantized(tf):
    ds = tf.contrib.distributions
    at = np.array([-2.0, -1.0, -0.5, 0.0, 1.0, 1.5, 3.0, 4.0], "float32")
    found = []
    for low, high in ((None, None), (-1.0, 3.0), (-1.0, None), (None, 3.0)):
        made = ds.QuantizedDistribution(ds.Normal(1.0, 2.0), low, high)
        found += [everything(tf, made, at), shapes_of_samples(made)]
    made = ds.QuantizedDistribution(ds.Exponential([0.5, 2.0]), low=1.0, validate_args=True)
    found.append(everything(tf, made, np.array([[1.0], [2.0], [5.0]], "float32")))
    samples = ds.QuantizedDistribution(ds.Normal([1.0, 0.0], 2.0), -1.0, 3.0)
    return [*found, shares(tf, samples, np.array([0.0, 2.0], "float32"))]


def case_parameters_refused(tf):
    ds = tf.contrib.distributions
    makers = [
        (lambda: ds.Poisson(), "exactly one of `rate` and `log_rate`"),
        (lambda: ds.Poisson(1.0, 0.0), "exactly one of `rate` and `log_rate`"),
        (lambda: ds.Poisson([1]), "is a not a float-type"),
        (lambda: ds.Binomial(3.0), "Must pass probs or logits"),
        (lambda: ds.Geometric(1.0, 0.5), "Must pass probs or logits"),
        (lambda: ds.NegativeBinomial(3.0, logits=[1]), "floating type"),
        (lambda: ds.InverseGamma(1.0, np.float64(1.0)), ""),
        (lambda: ds.SinhArcsinh(0.0, 1.0, distribution=ds.Normal([0.0], 1.0)), "must be scalar"),
        (lambda: ds.Binomial(3.0, 0.5).sample(), "sample_n is not implemented"),
    ]
    return [refused(make, words) for make, words in makers]


def case_steps_refused(tf):
    ds = tf.contrib.distributions
    makers = [
        lambda: ds.Poisson([-1.0], validate_args=True).mean(),
        lambda: ds.Poisson(1.0, validate_args=True).log_prob(0.5),
        lambda: ds.Poisson(1.0, validate_args=True).prob(-1.0),
        lambda: ds.Binomial(1.5, probs=0.5, validate_args=True).mean(),
        lambda: ds.Binomial(2.0, probs=1.5, validate_args=True).mean(),
        lambda: ds.Binomial(2.0, probs=0.5, validate_args=True).prob(3.0),
        lambda: ds.Geometric(probs=0.0, validate_args=True).prob(1.0),
        lambda: ds.Geometric(probs=0.5, validate_args=True).prob(1.5),
        lambda: ds.NegativeBinomial(-1.0, probs=0.5, validate_args=True).mean(),
        lambda: ds.NegativeBinomial(1.0, probs=0.5, validate_args=True).prob(1.5),
        lambda: ds.Deterministic(0.0, atol=-1.0, validate_args=True).prob(1.0),
        lambda: ds.HalfNormal(-1.0, validate_args=True).mean(),
        lambda: ds.InverseGamma(-1.0, 1.0, validate_args=True).mode(),
        lambda: ds.InverseGamma(1.0, 1.0, validate_args=True).prob(-1.0),
        lambda: ds.Kumaraswamy(-1.0, 1.0, validate_args=True).prob(0.5),
        lambda: ds.Kumaraswamy(1.0, 1.0, validate_args=True).prob(1.5),
        lambda: ds.RelaxedBernoulli(-1.0, 0.5, validate_args=True).prob(0.5),
        lambda: ds.QuantizedDistribution(ds.Normal(0.0, 1.0), 1.5, validate_args=True).prob(2.0),
        lambda: ds.QuantizedDistribution(ds.Normal(0.0, 1.0), 3.0, 1.0, True).prob(2.0),
        lambda: ds.QuantizedDistribution(ds.Normal(0.0, 1.0), 0.0, 3.0, True).prob(1.5),
    ]
    return [refused(lambda make=make: values(tf, make())) for make in makers]


def case_shapes_known_in_steps(tf):
    ds = tf.contrib.distributions
    fed = tf.placeholder(tf.float32)
    makers = [
        lambda p: ds.Poisson(p),
        lambda p: ds.Geometric(probs=p),
        lambda p: ds.NegativeBinomial(3.0, probs=p),
        lambda p: ds.HalfNormal(p),
        lambda p: ds.InverseGamma(p, 1.0),
        lambda p: ds.Deterministic(p),
        lambda p: ds.SinhArcsinh(p, 1.0),
        lambda p: ds.Kumaraswamy(p, 1.0),
        lambda p: ds.QuantizedDistribution(ds.Normal(p, 1.0)),
    ]
    found = []
    for make in makers:
        made = make(fed)
        tensors = [made.batch_shape_tensor(), made.event_shape_tensor(), made.log_prob(0.5)]
        tensors += [tf.shape(made.sample([2, 3], seed=1)), made.is_scalar_batch()]
        found.append([str(made), values(tf, tensors, {fed: [[0.25, 0.5]]})])
    return found
