"""Learning-rate schedules: a rate as a tensor that depends on the global step.

Nodes and their names are those of TF 1.15, but where that builds conditionals whose results must
be of one shape anyway: ``cosine_decay_restarts`` computes both values and selects one, by a
``Select`` that has the name of TF's ``Merge``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.convert import convert_n_to_tensor, convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.ops.array import constant
from penstock.ops.control.control import identity
from penstock.ops.random import random
from penstock.training.train.optimizer import cast


def _initial(learning_rate: Any) -> Tensor:
    return convert_to_tensor(learning_rate, name="initial_learning_rate")


def _mul(x: Any, y: Any, name: str | None = None) -> Tensor:
    return make_tensor("Mul", x, y, name=name)


def _needs_step(global_step: Any, schedule: str) -> None:
    if global_step is None:
        raise ValueError(f"{schedule} needs a global_step; found None")


def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
    staircase: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """``learning_rate * decay_rate ** (global_step / decay_steps)``.

    Args:
      learning_rate: float or scalar tensor, the rate at step 0.
      global_step: scalar tensor or variable, the step now.
      decay_steps: number; the rate falls by ``decay_rate`` in so many steps.
      decay_rate: number.
      staircase: whether the exponent is rounded down.
      name: name scope of the nodes, and name of the result.

    Returns:
      A scalar of the type of ``learning_rate``.

    Raises:
      ValueError: no global step.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     float(sess.run(tf.train.exponential_decay(1.0, 20, 10, 0.5)))
      0.25
    """
    _needs_step(global_step, "exponential_decay")
    with name_scope(name or "ExponentialDecay") as scope:
        rate = _initial(learning_rate)
        steps = cast(decay_steps, rate.dtype)
        factor = cast(decay_rate, rate.dtype)
        p = cast(global_step, rate.dtype) / steps
        if staircase:
            p = make("Floor", p)
        return _mul(rate, make("Pow", factor, p), scope)


def natural_exp_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
    staircase: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """``learning_rate * exp(-decay_rate * global_step / decay_steps)``.

    Arguments, result and errors are as for ``exponential_decay``.
    """
    _needs_step(global_step, "natural_exp_decay")
    factor = make("Exp", make("Neg", decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, factor, staircase, name)


def inverse_time_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
    staircase: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """``learning_rate / (1 + decay_rate * global_step / decay_steps)``.

    Arguments, result and errors are as for ``exponential_decay``; ``staircase`` rounds
    ``global_step / decay_steps`` down.
    """
    _needs_step(global_step, "inverse_time_decay")
    with name_scope(name or "InverseTimeDecay") as scope:
        rate = _initial(learning_rate)
        steps = cast(decay_steps, rate.dtype)
        factor = cast(decay_rate, rate.dtype)
        p = cast(global_step, rate.dtype) / steps
        if staircase:
            p = make("Floor", p)
        one = cast(constant.constant(1), rate.dtype)
        return make_tensor("RealDiv", rate, make("Add", one, _mul(factor, p)), name=scope)


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Tensor:
    """``values[i]`` for ``boundaries[i - 1] < x <= boundaries[i]``.

    Args:
      x: scalar tensor or variable, usually the global step.
      boundaries: increasing numbers of the type of ``x`` (int32 will do for an int64 ``x``).
      values: numbers or scalar tensors, one more than boundaries.
      name: name scope of the nodes; default ``PiecewiseConstant``.

    Returns:
      A scalar of the type of ``values``.

    Raises:
      ValueError: types that do not fit, or a wrong number of values.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     float(sess.run(tf.train.piecewise_constant(150, [100, 200], [1.0, 0.5, 0.25])))
      0.5
    """
    limits = convert_n_to_tensor(list(boundaries))
    choices = convert_n_to_tensor(list(values))
    position = convert_to_tensor(x)
    kind = position.dtype.base_dtype
    for index, limit in enumerate(limits):
        found = limit.dtype.base_dtype
        if found is kind:
            continue
        # Only this conversion cannot change which side of a boundary x is on.
        if found is not dtypes.int32 or kind is not dtypes.int64:
            raise ValueError(
                f"Boundaries ({found!r}) must have the same dtype as x ({kind!r}); found"
                f" boundary {index}"
            )
        limits[index] = cast(limit, kind)
    for index, choice in enumerate(choices):
        if choice.dtype.base_dtype is not choices[0].dtype.base_dtype:
            raise ValueError(
                "Values must have elements all with the same dtype; value 0 is"
                f" {choices[0].dtype.base_dtype.name}, value {index} is"
                f" {choice.dtype.base_dtype.name}"
            )
    if len(choices) != len(limits) + 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values; found"
            f" {len(limits)} boundaries and {len(choices)} values"
        )
    with name_scope(name or "PiecewiseConstant"):
        if not limits:
            return choices[0]
        tests = [make("LessEqual", position, limits[0]), make("Greater", position, limits[-1])]
        for low, high in itertools.pairwise(limits):
            above, below = make("Greater", position, low), make("LessEqual", position, high)
            tests.append(make("LogicalAnd", above, below))
        with name_scope("case"):
            chosen: Tensor = _first_true(
                tests, [choices[0], choices[-1], *choices[1:-1]], choices[0]
            )
            return chosen


def _first_true(tests: list[Any], values: list[Any], otherwise: Any) -> Any:
    """The value of the first test that is true: as ``tf.case``, for tests that exclude each other.

    No test is true of a position that is NaN.
    """
    if not tests:
        return identity(otherwise)
    return cond(
        tests[0], lambda: identity(values[0]),
        lambda: _first_true(tests[1:], values[1:], otherwise),
    )  # fmt: skip


piecewise_constant_decay = piecewise_constant


def polynomial_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
    power: Any = 1.0, cycle: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """From ``learning_rate`` to ``end_learning_rate`` in ``decay_steps``, then constant.

    ``(learning_rate - end) * (1 - step / decay_steps) ** power + end``, ``step`` at most
    ``decay_steps``.

    Args:
      learning_rate: float or scalar tensor, the rate at step 0.
      global_step: scalar tensor or variable, the step now.
      decay_steps: number.
      end_learning_rate: number.
      power: of the polynomial; 1.0 is linear.
      cycle: begin again after ``decay_steps``: the decay then lasts to the next multiple of it.
      name: name scope of the nodes, and name of the result.

    Returns:
      A scalar of the type of ``learning_rate``.

    Raises:
      ValueError: no global step.
    """
    _needs_step(global_step, "polynomial_decay")
    with name_scope(name or "PolynomialDecay") as scope:
        rate = _initial(learning_rate)
        end = cast(end_learning_rate, rate.dtype)
        exponent = cast(power, rate.dtype)
        step = cast(global_step, rate.dtype)
        steps = cast(decay_steps, rate.dtype)
        if cycle:
            times = cond(
                make("Equal", step, 0), lambda: constant.constant(1.0, rate.dtype),
                lambda: make("Ceil", step / decay_steps),
            )  # fmt: skip
            steps = _mul(steps, times)
        else:
            step = make("Minimum", step, decay_steps)
        p = step / steps
        return make_tensor("Add", _mul(rate - end, make("Pow", 1 - p, exponent)), end, name=scope)


def _half_cosine(fraction: Any, amplitude: Any = 0.5) -> Any:
    """``amplitude * (1 + cos(pi * fraction))``."""
    return amplitude * (1.0 + make("Cos", constant.constant(math.pi, fraction.dtype) * fraction))


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Along half a cosine from ``learning_rate`` to ``alpha * learning_rate``, then constant.

    Args:
      learning_rate: float or scalar tensor, the rate at step 0.
      global_step: scalar tensor or variable, the step now.
      decay_steps: number.
      alpha: the last rate, as a fraction of the first.

    Returns:
      A scalar of the type of ``learning_rate``.

    Raises:
      ValueError: no global step.

    Source: Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts".
    """
    _needs_step(global_step, "cosine_decay")
    with name_scope(name or "CosineDecay"):
        rate = _initial(learning_rate)
        steps = cast(decay_steps, rate.dtype)
        step = make("Minimum", cast(global_step, rate.dtype), steps)
        decayed = (1 - alpha) * _half_cosine(step / steps) + alpha
        return _mul(rate, decayed)


def cosine_decay_restarts(
    learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: Any = 2.0,
    m_mul: Any = 1.0, alpha: Any = 0.0, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Cosine decay that begins again and again, each time longer and lower.

    Args:
      learning_rate: float or scalar tensor, the rate at step 0.
      global_step: scalar tensor or variable, the step now.
      first_decay_steps: number of steps of the first period.
      t_mul: each period is so many times as long as the one before.
      m_mul: each period begins at so many times the rate of the one before.
      alpha: the least rate, as a fraction of the first.
      name: name scope of the nodes, and name of the result.

    Returns:
      A scalar of the type of ``learning_rate``.

    Raises:
      ValueError: no global step.

    Source: Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts".
    """
    _needs_step(global_step, "cosine_decay_restarts")
    with name_scope(name or "SGDRDecay") as scope:
        rate = _initial(learning_rate)
        steps = cast(first_decay_steps, rate.dtype)
        lowest = cast(alpha, rate.dtype)
        longer = cast(t_mul, rate.dtype)
        lower = cast(m_mul, rate.dtype)
        periods = cast(global_step, rate.dtype) / steps
        restarts, fraction = _period(periods, longer)
        cosine = _half_cosine(fraction, 0.5 * lower**restarts)
        return _mul(rate, (1 - lowest) * cosine + lowest, scope)


def _period(periods: Any, longer: Any) -> tuple[Any, Any]:
    """How many periods are over, and what fraction of the current one is.

    Args:
      periods: the step, in first periods.
      longer: how many times as long as the one before a period is.
    """
    even = make("Equal", longer, 1.0)
    with name_scope("cond"):
        count = make("Floor", periods)
        rest = periods - count
        grown = make("Log", 1.0 - periods * (1.0 - longer))
        geometric_count = make("Floor", grown / make("Log", longer))
        # Length of all periods before this one; its own is longer**count.
        before = (1.0 - longer**geometric_count) / (1.0 - longer)
        geometric_rest = (periods - before) / longer**geometric_count
        return (
            make("Select", even, count, geometric_count, name="Merge"),
            make("Select", even, rest, geometric_rest, name="Merge"),
        )


def linear_cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: Any = 0.5,
    alpha: Any = 0.0, beta: Any = 0.001, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A line to zero times a cosine: ``rate * ((alpha + linear) * cosine + beta)``.

    Args:
      learning_rate: float or scalar tensor, the rate at step 0.
      global_step: scalar tensor or variable, the step now.
      decay_steps: number.
      num_periods: periods of the cosine in ``decay_steps``.
      alpha, beta: as in the formula.
      name: name scope of the nodes, and name of the result.

    Returns:
      A scalar of the type of ``learning_rate``.

    Raises:
      ValueError: no global step.

    Source: Bello et al., "Neural Optimizer Search with Reinforcement Learning".
    """
    _needs_step(global_step, "linear_cosine_decay")
    with name_scope(name or "LinearCosineDecay") as scope:
        rate = _initial(learning_rate)
        kind = rate.dtype
        steps = cast(decay_steps, kind)
        periods, a, b = (cast(v, kind) for v in (num_periods, alpha, beta))
        step = make("Minimum", cast(global_step, kind), steps)
        linear = (steps - step) / steps
        done = step / steps
        cosine = _half_cosine(2.0 * periods * done)
        return _mul(rate, (a + linear) * cosine + b, scope)


def noisy_linear_cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, initial_variance: Any = 1.0,
    variance_decay: Any = 0.55, num_periods: Any = 0.5, alpha: Any = 0.0, beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """``linear_cosine_decay`` with normal noise on the line.

    Args:
      learning_rate: float or scalar tensor, the rate at step 0.
      global_step: scalar tensor or variable, the step now.
      decay_steps: number.
      initial_variance: of the noise at step 0.
      variance_decay: the variance at step s is ``initial_variance / (1 + s) ** variance_decay``.
      num_periods: periods of the cosine in ``decay_steps``.
      alpha, beta: as for ``linear_cosine_decay``.
      name: name scope of the nodes, and name of the result.

    Returns:
      A scalar of the type of ``learning_rate``.

    Raises:
      ValueError: no global step.

    Source: Bello et al., "Neural Optimizer Search with Reinforcement Learning".
    """
    _needs_step(global_step, "noisy_linear_cosine_decay")
    with name_scope(name or "NoisyLinearCosineDecay") as scope:
        rate = _initial(learning_rate)
        kind = rate.dtype
        steps = cast(decay_steps, kind)
        first_variance, shrinking = cast(initial_variance, kind), cast(variance_decay, kind)
        periods, a, b = (cast(v, kind) for v in (num_periods, alpha, beta))
        step = make("Minimum", cast(global_step, kind), steps)
        linear = (steps - step) / steps
        deviation = make("Sqrt", first_variance / make("Pow", 1.0 + step, shrinking))
        noisy = linear + random.random_normal(linear.shape, stddev=deviation)
        done = step / steps
        cosine = _half_cosine(2.0 * periods * done)
        return _mul(rate, (a + noisy) * cosine + b, scope)
