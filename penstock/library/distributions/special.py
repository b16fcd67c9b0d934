"""The standard normal and Laplace distribution functions, exact in the tails as well.

The normal quantile is the rational approximation of the Cephes library.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import constant, fill, shape
from penstock.ops.math import binary, comparison, elementwise, select

# Below the first, log_ndtr is an asymptotic series; above the second, -ndtr(-x).
_BOUNDS = {dtypes.float32: (-10.0, 5.0), dtypes.float64: (-20.0, 8.0)}

# Coefficients of polynomials, the highest power first.
_CENTRE = (
    (-59.9633501014107895267, 98.0010754185999661536, -56.6762857469070293439,
     13.9312609387279679503, -1.23916583867381258016),
    (1.0, 1.95448858338141759834, 4.67627912898881538453, 86.3602421390890590575,
     -225.462687854119370527, 200.260212380060660359, -82.0372256168333339912,
     15.9056225126211695515, -1.18331621121330003142),
)  # fmt: skip
_MIDDLE = (
    (4.05544892305962419923, 31.5251094599893866154, 57.1628192246421288162,
     44.0805073893200834700, 14.6849561928858024014, 2.18663306850790267539,
     -1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4),
    (1.0, 15.7799883256466749731, 45.3907635128879210584, 41.3172038254672030440,
     15.0425385692907503408, 2.50464946208309415979, -1.42182922854787788574e-1,
     -3.80806407691578277194e-2, -9.33259480895457427372e-4),
)  # fmt: skip
_TAIL = (
    (3.23774891776946035970, 6.91522889068984211695, 3.93881025292474443415,
     1.33303460815807542389, 2.01485389549179081538e-1, 1.23716634817820021358e-2,
     3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9),
    (1.0, 6.02427039364742014255, 3.67983563856160859403, 1.37702099489081330271,
     2.16236993594496635890e-1, 1.34204006088543189037e-2, 3.28014464682127739104e-4,
     2.89247864745380683936e-6, 6.79019408009981274425e-9),
)  # fmt: skip


def ndtr(x: Any, name: str = "ndtr") -> Tensor:
    """The standard normal distribution function.

    Args:
      x: float32 or float64.

    Raises:
      TypeError: another dtype.
    """
    with name_scope(name, values=[x]):
        found: Tensor = _ndtr(_floats(x, "x"))
        return found


def _floats(x: Any, name: str) -> Any:
    x = convert_to_tensor(x, name=name)
    if x.dtype.base_dtype not in _BOUNDS:
        raise TypeError(f"{name}.dtype={x.dtype.name} is not supported: float32 and float64 are")
    return x


def _ndtr(x: Tensor) -> Any:
    half = constant.constant(0.5 * math.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    w = x * half
    z = elementwise.abs_(w)
    near, centre = comparison.less(z, half), 1.0 + elementwise.erf(w)
    above, upper = comparison.greater(w, 0.0), 2.0 - elementwise.erfc(z)
    tail = select.where_v2(above, upper, elementwise.erfc(z))
    return 0.5 * select.where_v2(near, centre, tail)


def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Tensor:
    """The logarithm of ``ndtr``, exact far below 0 as well.

    Args:
      x: float32 or float64.
      series_order: terms of the series that is used there.
    """
    with name_scope(name, values=[x]):
        x = _floats(x, "x")
        lower, upper = _BOUNDS[x.dtype.base_dtype]
        beyond, near_0 = comparison.greater(x, upper), -_ndtr(-x)
        inside = comparison.greater(x, lower)
        middle = elementwise.log(_ndtr(binary.maximum(x, lower)))
        below = _log_ndtr_by_series(binary.minimum(x, lower), series_order)
        return select.where_v2(beyond, near_0, select.where_v2(inside, middle, below))


def _log_ndtr_by_series(x: Tensor, order: int) -> Any:
    scale = -0.5 * elementwise.square(x) - elementwise.log(-x) - 0.5 * math.log(2.0 * math.pi)
    square = elementwise.square(x)
    even, odd = elementwise.zeros_like(x), elementwise.zeros_like(x)
    power = square
    for n in range(1, order + 1):
        term = float(np.prod(np.arange(1, 2 * n, 2))) / power
        if n % 2:
            odd = odd + term
        else:
            even = even + term
        power = power * square
    return scale + elementwise.log(1.0 + even - odd)


def ndtri(p: Any, name: str = "ndtri") -> Tensor:
    """The standard normal quantile: the inverse of ``ndtr``.

    Args:
      p: probabilities, float32 or float64; outside of [0, 1] the value is infinite.
    """
    with name_scope(name, values=[p]):
        p = _floats(p, "p")
        dtype = p.dtype.base_dtype.as_numpy_dtype
        is_upper = comparison.greater(p, -math.expm1(-2.0))
        folded = select.where_v2(is_upper, 1.0 - p, p)
        is_none = comparison.less_equal(folded, 0.0)
        half = fill.fill(shape.shape(p), np.array(0.5, dtype))
        folded = select.where_v2(is_none, half, folded)
        x = _ndtri_of_half(folded)
        x = select.where_v2(comparison.greater(p, -math.expm1(-2.0)), x, -x)
        number = constant.constant(np.inf, dtype=p.dtype)
        infinity = fill.fill(shape.shape(p), number)
        at_0, below = comparison.less_equal(p, 0.0), -infinity
        x = select.where_v2(comparison.greater_equal(p, 1.0), infinity, x)
        return select.where_v2(at_0, below, x)


def _ndtri_of_half(p: Tensor) -> Any:
    """The quantile of ``1 - p`` for small p; of p itself with its sign changed in the middle."""
    w = p - 0.5
    ww = w**2.0
    cube = w * ww
    centre = (w + cube * (_polynomial(ww, _CENTRE[0]) / _polynomial(ww, _CENTRE[1]))) * (
        -math.sqrt(2.0 * math.pi)
    )
    z = elementwise.sqrt(-2.0 * elementwise.log(p))
    first = z - elementwise.log(z) / z
    tail, middle = _ratio(z, _TAIL), _ratio(z, _MIDDLE)
    in_tail, in_middle = first - tail, first - middle
    is_centre = comparison.greater(p, math.exp(-2.0))
    outer = select.where_v2(comparison.greater_equal(z, 8.0), in_tail, in_middle)
    return select.where_v2(is_centre, centre, outer)


def _ratio(z: Tensor, coefficients: tuple[tuple[float, ...], ...]) -> Any:
    above = _polynomial(1.0 / z, coefficients[0])
    return above / _polynomial(1.0 / z, coefficients[1]) / z


def _polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Any:
    found = elementwise.zeros_like(x)
    for coefficient in coefficients:
        found = coefficient + found * x
    return found


def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Tensor:
    """The logarithm of the standard Laplace distribution function.

    Args:
      x: float32 or float64.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        below = -math.log(2.0) + x
        # Of a negative number, so that nothing overflows where the other branch is taken.
        above = elementwise.log1p(-0.5 * elementwise.exp(-elementwise.abs_(x)))
        return select.where_v2(comparison.less(x, 0.0), below, above)
