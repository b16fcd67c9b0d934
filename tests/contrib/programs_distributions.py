"""Programs of ``tf.contrib.distributions`` (``recorded``)."""

import numpy as np

from tests.contrib.recorded import nodes, values

LOC, SCALE = [0.5, -1.0, 3.0], [-2.0, 0.0, 1.5]
VARIANTS = {
    "BetaWithSoftplusConcentration": (LOC, SCALE),
    "ExponentialWithSoftplusRate": (SCALE,),
    "GammaWithSoftplusConcentrationRate": (LOC, SCALE),
    "LaplaceWithSoftplusScale": (LOC, SCALE),
    "NormalWithSoftplusScale": (LOC, SCALE),
    "StudentTWithAbsDfSoftplusScale": ([3.5, -2.75, 1.0], LOC, SCALE),
}


def _variant(name):
    def case(tf):
        made = getattr(tf.contrib.distributions, name)(*VARIANTS[name])
        found = [str(made), sorted(made.parameters), nodes(tf)]
        at = [0.125, 0.5, 0.875]
        tensors = [made.log_prob(at), made.cdf(at), made.mean(), made.stddev(), made.entropy()]
        tensors.append(made.copy(validate_args=True).prob(at))
        return found + [values(tf, tensors)]

    return case


FAMILIES = {
    "Chi2": ([2.5, 4.0, 3.0],),
    "Chi2WithAbsDf": ([3.5, -4.0, 5.5],),
    "Cauchy": (LOC, [0.5, 2.0, 1.0]),
    "Logistic": (LOC, [0.5, 2.0, 1.0]),
}
OF_VALUES = ["log_prob", "prob", "log_cdf", "cdf", "log_survival_function", "survival_function"]
PLAIN = ["entropy", "mean", "variance", "stddev", "mode", "covariance", "batch_shape_tensor"]


def _asked(tf, method, *given):
    """Nodes and value of what a method gives, or its error."""
    try:
        found = method(*given)
    except (NotImplementedError, ValueError) as error:
        return [type(error).__name__, str(error)]
    return values(tf, found)


def _family(name, kind, strict):
    def case(tf):
        parameters = [np.array(p, kind) for p in FAMILIES[name]]
        given = {"validate_args": strict, "allow_nan_stats": not strict}
        made = getattr(tf.contrib.distributions, name)(*parameters, **given)
        found = [str(made), sorted(made.parameters), str(made.reparameterization_type)]
        at = np.array([[0.125], [0.5], [7.0]], kind)
        found += [_asked(tf, getattr(made, method), at) for method in OF_VALUES]
        found += [_asked(tf, getattr(made, method)) for method in PLAIN]
        found.append(_asked(tf, made.quantile, np.array([[0.125], [0.5]], kind)))
        shapes = [made.sample(n, seed=1).shape.as_list() for n in ([], 2, [3, 1])]
        shapes.append(sorted(made.param_static_shapes([2])))
        # The nodes of checks are those of tf.distributions, whose tests compare them.
        return [*found, shapes, nodes(tf) if kind == "float32" and not strict else []]

    return case


for _each in FAMILIES:
    globals()["case_" + _each] = _family(_each, "float32", False)
    globals()["case_" + _each + "_of_float64"] = _family(_each, "float64", False)
    globals()["case_" + _each + "_checked"] = _family(_each, "float32", True)


for _name in VARIANTS:
    globals()["case_" + _name] = _variant(_name)


def case_names_of_the_core(tf):
    core = [n for n in dir(tf.distributions) if not n.startswith("_")]
    contrib = tf.contrib.distributions
    return [[n, getattr(contrib, n) is getattr(tf.distributions, n)] for n in sorted(core)]
