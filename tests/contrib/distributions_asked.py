"""What programs of ``tf.contrib.distributions`` ask of a distribution (``recorded``)."""

import re

import numpy as np

from tests.contrib.recorded import values

OF_VALUES = ["log_prob", "prob", "log_cdf", "cdf", "log_survival_function", "survival_function"]
PLAIN = ["entropy", "mean", "variance", "stddev", "mode", "covariance"]
SHAPES = ["batch_shape_tensor", "event_shape_tensor", "is_scalar_event", "is_scalar_batch"]


def asked(tf, *calls):
    """Scope, static shape and value of what each call gives, or its error.

    A call is a method and its arguments; all values are found by one step.
    """
    found, tensors = [], []
    for method, *given in calls:
        try:
            tensor = method(*given)
        except (NotImplementedError, ValueError) as error:
            found.append([type(error).__name__, str(error)])
            continue
        # How often a method was called before, by others' nodes, is left out.
        scope = [re.sub(r"_\d+$", "", part) for part in tensor.op.name.split("/")[:2]]
        found.append([scope, tensor.shape.as_list()])
        tensors.append((len(found) - 1, tensor))
    for (i, _), value in zip(tensors, values(tf, [tensor for _, tensor in tensors])):
        found[i].append(value)
    return found


def everything(tf, made, at, quantiles=None):
    """All that a distribution is asked for: shapes, statistics, and functions of values ``at``."""
    found = [str(made), repr(made), str(made.reparameterization_type)]
    found += [str(made.dtype), made.allow_nan_stats, made.validate_args]
    found += [made.batch_shape.as_list(), made.event_shape.as_list()]
    calls = [(getattr(made, method), at) for method in OF_VALUES]
    calls += [(getattr(made, method),) for method in PLAIN + SHAPES]
    if quantiles is not None:
        calls.append((made.quantile, np.array(quantiles, at.dtype)))
    return found + asked(tf, *calls)


def shapes_of_samples(made):
    """Static shapes of samples, and their scope."""
    drawn = [made.sample(n, seed=1) for n in ([], 2, [3, 1])]
    return [[x.shape.as_list(), x.name.split("/")[:2], str(x.dtype)] for x in drawn]


def gradients(tf, made, at, tensors):
    """The gradients of the log-density by values and parameters."""
    value = tf.constant(at)
    of = tf.gradients(made.log_prob(value), [value, *tensors])
    return values(tf, [g for g in of if g is not None]) + [g is None for g in of]


def moments(tf, made, count=20000, bound=5.0, by_event=True):
    """Whether means and variances of samples are those that the distribution says.

    A mean of ``count`` numbers is within ``bound`` of its own standard deviations, with all but a
    chance of one in a million; a variance within that of what the sample itself has of fourth
    moments.
    """
    tf.set_random_seed(7)
    drawn = made.sample(count, seed=3)
    x, mean, variance = values(tf, [drawn, made.mean(), made.variance()])
    x = x.astype(np.float64)
    near = np.abs(x.mean(0) - mean) <= bound * np.sqrt(variance / count) + 1e-5
    square = (x - x.mean(0)) ** 2
    spread = bound * square.std(0) / np.sqrt(count) + 1e-5
    return [bool(near.all()), bool((np.abs(square.mean(0) - variance) <= spread).all())]


def shares(tf, made, at, count=20000, bound=5.0):
    """Whether as many samples are up to ``at`` as the cdf says."""
    tf.set_random_seed(7)
    x, wanted = values(tf, [made.sample(count, seed=3), made.cdf(at)])
    found = (x <= at).mean(0)
    spread = np.sqrt(np.maximum(wanted * (1 - wanted), 1e-6) / count)
    return bool((np.abs(found - wanted) <= bound * spread).all())
