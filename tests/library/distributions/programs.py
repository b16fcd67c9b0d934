"""What is asked of ``tf.distributions``, here and under TensorFlow 1.15 (``tests.tf1_programs``).

Each family has constructors of several batch shapes and dtypes, and values at its edges and inside;
each method is a program of its own, whose nodes and values are compared.  Runs under Python 3.7.
"""

import numpy as np

ROWS = [[0.5], [2.0], [1.0]]
# Family: constructors by a letter, from the package and the arguments for all.
FAMILIES = {
    "Normal": [
        lambda d, t, **k: d.Normal(t([0.0, -1.0]), t(ROWS), **k),
        lambda d, t, **k: d.Normal(t(0.5), t(1.5), **k),
    ],
    "Laplace": [
        lambda d, t, **k: d.Laplace(t([0.0, -1.0]), t(ROWS), **k),
        lambda d, t, **k: d.Laplace(t(0.5), t(1.5), **k),
    ],
    "StudentT": [
        lambda d, t, **k: d.StudentT(t([3.0, 1.5]), t([0.0, -1.0]), t([1.0, -2.0]), **k),
        lambda d, t, **k: d.StudentT(t(2.5), t(0.5), t(1.5), **k),
        lambda d, t, **k: d.StudentT(t([0.5, 1.0, 2.0]), t(0.5), t(1.5), **k),
    ],
    "Uniform": [
        lambda d, t, **k: d.Uniform(t([0.0, -1.0]), t([[1.0], [3.0], [2.5]]), **k),
        lambda d, t, **k: d.Uniform(t(0.5), t(1.5), **k),
    ],
    "Gamma": [
        lambda d, t, **k: d.Gamma(t([0.5, 3.0]), t(ROWS), **k),
        lambda d, t, **k: d.Gamma(t(2.5), t(1.5), **k),
    ],
    "Exponential": [
        lambda d, t, **k: d.Exponential(t([0.5, 3.0]), **k),
        lambda d, t, **k: d.Exponential(t(1.5), **k),
    ],
    "Beta": [
        lambda d, t, **k: d.Beta(t([0.5, 3.0]), t([2.0, 1.5]), **k),
        lambda d, t, **k: d.Beta(t(2.5), t(1.5), **k),
    ],
    "Bernoulli": [
        lambda d, t, **k: d.Bernoulli(logits=t([0.5, -3.0]), **k),
        lambda d, t, **k: d.Bernoulli(probs=t([[0.25, 0.75], [0.5, 0.1]]), **k),
    ],
    "Categorical": [
        lambda d, t, **k: d.Categorical(logits=t([[0.5, -3.0, 1.0], [1.0, 2.0, 0.0]]), **k),
        lambda d, t, **k: d.Categorical(probs=t([0.25, 0.25, 0.5]), **k),
    ],
    "Dirichlet": [
        lambda d, t, **k: d.Dirichlet(t([0.5, 3.0, 1.0]), **k),
        lambda d, t, **k: d.Dirichlet(t([[2.0, 3.0, 1.5]]), **k),
    ],
    "Multinomial": [
        lambda d, t, **k: d.Multinomial(t(3.0), logits=t([[0.5, -3.0, 1.0], [1.0, 2.0, 0.0]]), **k),
        lambda d, t, **k: d.Multinomial(t([2.0, 3.0]), probs=t([0.25, 0.25, 0.5]), **k),
    ],
    "DirichletMultinomial": [
        lambda d, t, **k: d.DirichletMultinomial(
            t(3.0), t([[0.5, 3.0, 1.0], [1.0, 2.0, 0.1]]), **k
        ),
        lambda d, t, **k: d.DirichletMultinomial(t(2.0), t([0.25, 0.25, 0.5]), **k),
    ],
}
# Values that broadcast with every batch shape of the family.
REALS = [[[-30.0]], [[-12.0]], [[-1.0]], [[0.0]], [[0.25]], [[1.0]], [[7.0]], [[30.0]]]
VALUES = {
    "Uniform": [[[-2.0]], [[0.0]], [[0.5]], [[1.0]], [[4.0]], [[np.nan]]],
    "Gamma": [[[0.0]], [[0.25]], [[1.0]], [[30.0]]],
    "Exponential": [[0.0], [0.25], [1.0], [30.0]],
    "Beta": [[0.0, 0.0], [0.25, 0.5], [0.75, 1.0]],
    "Bernoulli": [0, 1],
    "Categorical": [[2, 0], [1, 1]],
    "Dirichlet": [[0.25, 0.25, 0.5], [0.1, 0.2, 0.7]],
    "Multinomial": [[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]],
    "DirichletMultinomial": [[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]],
}
OF_VALUES = ["log_prob", "prob", "log_cdf", "cdf", "log_survival_function", "survival_function"]
PLAIN = [
    "entropy", "mean", "variance", "stddev", "covariance", "mode",
    "batch_shape_tensor", "event_shape_tensor", "is_scalar_event", "is_scalar_batch",
]  # fmt: skip
KINDS = ["float32", "float64"]
# Betainc does not broadcast.
SAME_SHAPE = ("Beta", "StudentT")
INTEGERS = ("Bernoulli", "Categorical")


def _values(family, which, kind):
    value = np.array(VALUES.get(family, REALS))
    if family in SAME_SHAPE and family != "Beta":
        value = np.array([-30.0, -1.0, 0.0, 0.5, 12.0]).reshape(5, 1) + np.zeros([1, 3])
        value = value[:, :2] if which == 0 else value
    if family == "Beta" and which:
        value = np.array([0.0, 0.25, 1.0])
    return value.astype("int32" if family in INTEGERS else kind)


def _made(tf, family, which, kind, **kwargs):
    return FAMILIES[family][which](tf.distributions, lambda x: np.array(x, kind), **kwargs)


def _of_value(method, family, which, kind, checked):
    def program(tf):
        made = _made(tf, family, which, kind, validate_args=checked)
        value = _values(family, which, kind)
        if checked and family == "Exponential" or family == "Gamma" and checked:
            value = value[1:]
        if checked and family == "Beta":
            value = np.full_like(value, 0.25)
        found = getattr(made, method)(value)
        return [found]

    return program


def _plain(method, family, which, kind, checked):
    def program(tf):
        nan = {"allow_nan_stats": False} if checked else {}
        made = _made(tf, family, which, kind, validate_args=checked, **nan)
        return [getattr(made, method)()]

    return program


def _gradients(family, which, kind):
    def program(tf):
        given = []

        def parameter(x):
            given.append(tf.constant(np.array(x, kind)))
            return given[-1]

        made = FAMILIES[family][which](tf.distributions, parameter)
        value = _values(family, which, kind)
        if family in ("Gamma", "Beta", "Exponential"):
            value = np.full_like(value, 0.25)
        found = tf.gradients(made.log_prob(value), given)
        return [g for g in found if g is not None]

    return program


def _divergence(family, kind, checked):
    def program(tf):
        a = _made(tf, family, 0, kind)
        b = a.copy(**{k: _moved(v) for k, v in a.parameters.items() if _is_numbers(v)})
        return [
            tf.distributions.kl_divergence(a, b, allow_nan_stats=not checked),
            a.kl_divergence(b), a.cross_entropy(b, name="apart"),
        ]  # fmt: skip

    return program


def _is_numbers(value):
    return isinstance(value, np.ndarray)


def _moved(value):
    return (value * 1.25 + 0.125).astype(value.dtype)


def _sample(family, which, kind, shape):
    def program(tf):
        made = _made(tf, family, which, kind)
        # Nodes and shapes: the numbers are each package's own.
        return [tf.zeros_like(made.sample(shape, seed=3), optimize=False)]

    return program


def _quantile(kind):
    def program(tf):
        at = [[0.0], [1e-30], [1e-7], [0.01], [0.3], [0.5], [0.8], [0.9], [1 - 1e-6], [1.0]]
        return [_made(tf, "Normal", 1, kind).quantile(np.array(at, kind))]

    return program


def _with_open_shapes(family, which):
    def program(tf):
        given, feed = [], {}

        def parameter(x):
            given.append(tf.placeholder("float32"))
            feed[given[-1]] = np.array(x, "float32")
            return given[-1]

        made = FAMILIES[family][which](tf.distributions, parameter)
        value = tf.placeholder("int32" if family in INTEGERS else "float32")
        feed[value] = _values(family, which, "float32")
        found = [made.log_prob(value), made.batch_shape_tensor(), made.event_shape_tensor()]
        found += [made.is_scalar_batch(), made.is_scalar_event()]
        return found + [tf.shape(made.sample(n, seed=1)) for n in ([], 3, [2, 1])], feed

    return program


def programs():
    """All programs by name."""
    found = {}
    for family, made in FAMILIES.items():
        for which in range(len(made)):
            for kind in KINDS:
                key = (family, which, kind)
                for checked in (False, True):
                    for method in OF_VALUES:
                        name = " ".join(map(str, (*key, method, checked)))
                        found[name] = _of_value(method, *key, checked)
                    for method in PLAIN:
                        name = " ".join(map(str, (*key, method, checked)))
                        found[name] = _plain(method, *key, checked)
                found[" ".join(map(str, (*key, "gradients")))] = _gradients(*key)
            for shape in ([], 3, [2, 1]):
                name = " ".join(map(str, (family, which, "sample", shape)))
                found[name] = _sample(family, which, "float32", shape)
            found[f"{family} {which} open"] = _with_open_shapes(family, which)
        for checked in (False, True):
            found[f"{family} divergence {checked}"] = _divergence(family, "float32", checked)
    for kind in KINDS:
        found["quantile " + kind] = _quantile(kind)
    return found


PROGRAMS = programs()

if __name__ == "__main__":
    from tests import tf1_programs

    tf1_programs.answer(PROGRAMS, {})
