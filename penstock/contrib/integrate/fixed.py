"""Integration in steps that are given: the midpoint rule, and Runge and Kutta's of fourth order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.control_flow.functional import scan
from penstock.library.control_flow.while_loop import while_loop
from penstock.library.ragged_tensors.dispatched import cast, ceil, concat, expand_dims
from penstock.ops.array.fill import fill
from penstock.ops.array.shape import shape

Slope = Callable[[Any, Any], Any]


def _midpoint(func: Slope, y: Any, t: Any, dt: Any) -> Any:
    half: Any = dt / 2
    return y + func(y + func(y, t) * cast(half, y.dtype), t + half) * cast(dt, y.dtype)


def _rk4(func: Slope, y: Any, t: Any, dt: Any) -> Any:
    half: Any = dt / 2
    wide, narrow = cast(dt, y.dtype), cast(half, y.dtype)
    k1: Any = func(y, t)
    k2: Any = func(y + narrow * k1, t + half)
    k3: Any = func(y + narrow * k2, t + half)
    k4: Any = func(y + wide * k3, t + dt)
    return y + (wide / 6) * (k1 + 2 * k2 + 2 * k3 + k4)


_METHODS = {"midpoint": _midpoint, "rk4": _rk4}


def odeint_fixed(
    func: Slope, y0: Any, t: Any, dt: Any = None, method: str = "rk4", name: str | None = None
) -> Any:
    """Integrates dy/dt = func(y, t) in steps that are given.

    Args:
      func: from a state and a time to the slope, of the shape of the state.
      y0: the state at ``t[0]``, real or complex floats of any shape.
      t: floats [times], growing.
      dt: the longest step, a float or one for each interval [times - 1]; the steps of an
        interval are equal. None for one step an interval.
      method: "midpoint" or "rk4".
      name: name scope.

    Returns:
      [times, ...]: the states at ``t``, ``y0`` first.

    Raises:
      ValueError: another method, or a ``t`` that is no vector.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     grown = tf.contrib.integrate.odeint_fixed(lambda y, t: y, 1.0, [0.0, 1.0], dt=0.1)
    ...     round(float(sess.run(grown)[1]), 3)
    2.718
    """
    if method not in _METHODS:
        raise ValueError(f"method not supported: {method}: 'midpoint' and 'rk4' are")
    step = _METHODS[method]
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        times: Any = convert_to_tensor(t, preferred_dtype="float64", name="t")
        y = convert_to_tensor(y0, name="y0")
        if times.get_shape().ndims not in (None, 1):
            raise ValueError(f"t must be a 1D tensor; found shape {times.get_shape()}")
        widths = times[1:] - times[:-1]
        longest = widths if dt is None else convert_to_tensor(dt, times.dtype, name="dt")
        if longest.get_shape().ndims == 0:
            longest = fill(shape(widths), longest)
        with name_scope(method):
            found = scan(
                lambda y, row: _interval(func, step, y, *row), (times[:-1], times[1:], longest), y
            )
            return concat([expand_dims(y, 0), found], 0)


def _interval(func: Slope, step: Any, y: Any, start: Any, end: Any, longest: Any) -> Any:
    """From ``start`` to ``end`` in as few equal steps as are not longer than ``longest``."""
    count: Any = ceil((end - start) / longest)
    dt = (end - start) / count

    def body(i: Any, y: Any, t: Any) -> Any:
        return i + 1, step(func, y, t, dt), t + dt

    return while_loop(lambda i, *_: i < cast(count, "int32"), body, (0, y, start))[1]
