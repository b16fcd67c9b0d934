"""Integration with steps chosen by their error: Dormand and Prince's pair of orders 5 and 4.

A step is tried, its error held against the tolerance, and the next one is longer or shorter by the
fifth root of that. Between its ends the solution is a polynomial of fourth degree through both ends
with their slopes, and the middle.

Sources: Dormand and Prince, "A family of embedded Runge-Kutta formulae"; Shampine, "Some Practical
Runge-Kutta Formulas", for the middle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.contrib.integrate.fixed import Slope
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.library.ragged_tensors.dispatched import (
    abs_,
    cast,
    identity,
    is_finite,
    reduce_all,
    reduce_mean,
    sqrt,
    square,
)
from penstock.ops.control.debug import Assert
from penstock.ops.math.addn import add_n
from penstock.ops.math.binary import maximum, minimum, pow_
from penstock.ops.math.comparison import greater

# Where the slopes are taken, and how much of those before counts there; the last row is the step.
_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_ROWS = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
# The difference of the two orders.
_ERROR = (
    35 / 384 - 1951 / 21600, 0, 500 / 1113 - 22642 / 50085, 125 / 192 - 451 / 720,
    -2187 / 6784 + 12231 / 42400, 11 / 84 - 649 / 6300, -1 / 60,
)  # fmt: skip
_MIDDLE = (
    6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2, 187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2,
)  # fmt: skip


class _State(NamedTuple):
    """Where the last step ended, the slope there, what it went between, and its polynomial."""

    y: Any
    slope: Any
    start: Any
    end: Any
    dt: Any
    coefficients: tuple[Any, ...]


class _History(NamedTuple):
    """What ``full_output`` tells of the steps."""

    points: Any
    ratios: Any


class _Options(NamedTuple):
    """The options of the method."""

    first_step: Any = 1.0
    safety: float = 0.9
    ifactor: float = 10.0
    dfactor: float = 0.2
    max_num_steps: int = 1000


def _sum(scale: Any, weights: Any, slopes: list[Any]) -> Any:
    """scale * (weights . slopes); those that count for nothing are left out."""
    return add_n([(scale * w) * k for w, k in zip(weights, slopes, strict=True) if w])


def odeint(
    func: Slope,
    y0: Any,
    t: Any,
    rtol: float = 1e-06,
    atol: float = 1e-12,
    method: str | None = None,
    options: dict[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """Integrates dy/dt = func(y, t) with steps chosen by their error.

    Args:
      func: from a state and a time to the slope, of the shape of the state.
      y0: the state at ``t[0]``, real or complex floats of any shape.
      t: floats [times], growing.
      rtol: error that each step may have, relative to the state.
      atol: error that each step may have.
      method: "dopri5", which None means.
      options: with ``method`` only: ``first_step``, ``safety``, ``ifactor`` and ``dfactor`` (the
        most that a step grows and shrinks by), ``max_num_steps`` between two times.
      full_output: whether to tell of the steps.
      name: name scope.

    Returns:
      [times, ...]: the states at ``t``, ``y0`` first. With ``full_output`` also a dict:
      ``num_func_evals``, ``integrate_points`` (the ends of steps that were tried) and
      ``error_ratio`` (of those; above 1 a step was tried again).

    Raises:
      ValueError: another method; options without one.
      TypeError: ``y0`` or ``t`` of other dtypes, or an unknown option.
      InvalidArgumentError: in the run: ``t`` does not grow, too many steps, a step too short.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     grown = tf.contrib.integrate.odeint(lambda y, t: y, 1.0, [0.0, 1.0])
    ...     round(float(sess.run(grown)[1]), 4)
    2.7183
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}: 'dopri5' is there")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with name_scope(name, "odeint", [y0, t, rtol, atol]):
        y = convert_to_tensor(y0, name="y0")
        if not (y.dtype.is_floating or y.dtype.is_complex):
            raise TypeError(
                f"`y0` must have a floating point or complex floating point dtype; found {y.dtype}"
            )
        times: Any = convert_to_tensor(t, preferred_dtype="float64", name="t")
        if not times.dtype.is_floating:
            raise TypeError(f"`t` must have a floating point dtype; found {times.dtype}")
        error = abs_(y).dtype
        allowed = convert_to_tensor(rtol, error), convert_to_tensor(atol, error)
        steps = _Steps(func, allowed, _Options(**(options or {})), times.dtype)
        return steps.solved(y, times, full_output)


class _Steps:
    """The loop over times, and within it that over steps."""

    def __init__(
        self, func: Slope, allowed: tuple[Any, Any], options: _Options, dtype: Any
    ) -> None:
        self._func = func
        self._rtol, self._atol = allowed
        self._options, self._dtype = options, dtype

    def solved(self, y: Any, times: Any, full_output: bool) -> Any:
        grows = Assert(
            reduce_all(greater(times[1:], times[:-1])), ["`t` must be monotonic increasing"]
        )
        with control_dependencies([grows]):
            count: Any = dimension_value(times.get_shape()[0])
            found = TensorArray(y.dtype, size=count).write(0, y)
        history = _History(
            TensorArray(self._dtype, size=0, dynamic_size=True),
            TensorArray(self._rtol.dtype, size=0, dynamic_size=True),
        )
        slope = convert_to_tensor(self._func(y, times[0]))
        first = convert_to_tensor(self._options.first_step, self._dtype)
        state = _State(y, slope, times[0], times[0], first, (y,) * 5)

        def body(i: Any, found: Any, state: _State, history: _History, taken: Any) -> Any:
            state, history, taken = self._reach(times[i], state, history, taken)
            return i + 1, found.write(i, _at(times[i], state)), state, history, taken

        _, found, _, history, taken = while_loop(
            lambda i, *_: i < count, body, (1, found, state, history, 0)
        )
        states = found.stack()
        states.set_shape(times.get_shape().concatenate(y.get_shape()))
        if not full_output:
            return states
        return states, {
            "num_func_evals": 6 * taken + 1,
            "integrate_points": history.points.stack(),
            "error_ratio": history.ratios.stack(),
        }

    def _reach(self, time: Any, state: _State, history: _History, taken: Any) -> Any:
        """Steps until the last one has passed ``time``."""

        def body(state: _State, history: _History, taken: Any, here: Any) -> Any:
            state, history = self._tried(state, history, taken, here)
            return state, history, taken + 1, here + 1

        found = while_loop(lambda state, *_: time > state.end, body, (state, history, taken, 0))
        return found[:3]

    def _tried(self, state: _State, history: _History, taken: Any, here: Any) -> Any:
        y, slope, _, start, dt, _ = state
        checks = [
            Assert(start + dt > start, ["underflow in dt", dt]),
            Assert(here < self._options.max_num_steps, ["max_num_steps exceeded"]),
            Assert(reduce_all(is_finite(abs_(y))), ["non-finite values in state `y`", y]),
        ]
        with control_dependencies(checks):
            y = identity(y)
        new, slopes = self._step(y, slope, start, dt)
        wide = cast(dt, y.dtype)
        allowed = self._atol + self._rtol * maximum(abs_(y), abs_(new))
        error = abs_(_sum(wide, _ERROR, slopes))
        ratio: Any = sqrt(reduce_mean(square(error) / square(allowed)))
        good = ratio <= 1
        after = _State(
            cond(good, lambda: new, lambda: y),
            cond(good, lambda: slopes[-1], lambda: slope),
            start,
            cond(good, lambda: start + dt, lambda: start),
            self._next_length(dt, ratio),
            cond(good, lambda: _fitted(y, new, slopes, wide), lambda: state.coefficients),
        )
        points = history.points.write(taken, start + dt)
        return after, _History(points, history.ratios.write(taken, ratio))

    def _step(self, y: Any, slope: Any, start: Any, dt: Any) -> tuple[Any, list[Any]]:
        """The state after a step, and the slopes that it took; the last one is there."""
        wide, slopes = cast(dt, y.dtype), [slope]
        for at, weights in zip(_TIMES, _ROWS, strict=True):
            new = y + _sum(wide, weights, slopes)
            slopes.append(self._func(new, start + at * dt))
        return new, slopes

    def _next_length(self, dt: Any, ratio: Any) -> Any:
        options = self._options

        def number(value: float) -> Any:
            return convert_to_tensor(value, self._dtype)

        # What was good is not followed by a shorter step.
        most = cond(ratio < 1, lambda: number(1.0), lambda: number(1 / options.dfactor))
        wanted: Any = pow_(cast(ratio, self._dtype), number(1 / 5)) / options.safety
        return dt / maximum(number(1 / options.ifactor), minimum(wanted, most))


def _fitted(y: Any, new: Any, slopes: list[Any], dt: Any) -> tuple[Any, ...]:
    """The polynomial of a step, the highest power first, over [0, 1]."""
    middle = y + _sum(dt, _MIDDLE, slopes)
    before, after = dt * slopes[0], dt * slopes[-1]
    fourth = 2 * (after - before) - 8 * (new + y) + 16 * middle
    third = 5 * before - 3 * after + 18 * y + 14 * new - 32 * middle
    second = after - 4 * before - 11 * y - 5 * new + 16 * middle
    return fourth, third, second, before, y


def _at(time: Any, state: _State) -> Any:
    """The state at a time within the last step."""
    part: Any = cast((time - state.start) / (state.end - state.start), state.y.dtype)
    found = state.coefficients[0]
    for coefficient in state.coefficients[1:]:
        found = found * part + coefficient
    return found
