"""Bijectors of single numbers that have parameters."""

from __future__ import annotations

import math
from typing import Any

from penstock.contrib.distributions.bijectors.bijector import Bijector
from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import constant
from penstock.ops.control import check, control
from penstock.ops.math import binary, elementwise


def _within_unit(y: Any) -> Any:
    """``y`` with the checks that it is between 0 and 1."""
    one = constant.constant(1.0, dtype=y.dtype)
    text = "Inverse transformation input must be "
    found = [
        check.assert_non_negative(y, message=f"{text}greater than 0."),
        check.assert_less_equal(y, one, message=f"{text}less than or equal to 1."),
    ]
    return control.with_dependencies(found, y)


class PowerTransform(Bijector):
    """``y = (1 + x c)^(1 / c)``, where c is ``power``: exp(x) in the limit of 0.

    Args:
      power: the c, a number of 0 or more.
      validate_args: whether values are checked in every step.

    Raises:
      ValueError: ``power`` is negative, or not known while the graph is built.

    Example:
      >>> import penstock as tf
      >>> power = tf.contrib.distributions.bijectors.PowerTransform(power=2.0)
      >>> tf.Session().run(power.forward(4.0)).item()
      3.0
    """

    def __init__(
        self, power: Any = 0.0, validate_args: bool = False, name: str = "power_transform"
    ) -> None:
        with name_scope(name), name_scope("init", values=[power]):
            known = static.constant_value(convert_to_tensor(power, name="power"))
        if known is None or known < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = float(known)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def power(self) -> Any:
        """The c of ``(1 + x c)^(1 / c)``."""
        return self._power

    def _forward(self, x: Any) -> Any:
        x = self._checked_x(x)
        if self.power == 0.0:
            return elementwise.exp(x)
        # The logarithm of 1 + x c is exact where that is nearly 1.
        return elementwise.exp(elementwise.log1p(x * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        y = self._checked_y(y)
        if self.power == 0.0:
            return elementwise.log(y)
        return elementwise.expm1(elementwise.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self.power - 1.0) * elementwise.log(self._checked_y(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._checked_x(x)
        if self.power == 0.0:
            return x
        return (1.0 / self.power - 1.0) * elementwise.log1p(x * self.power)

    def _checked_x(self, x: Any) -> Any:
        if not self.validate_args or self.power == 0.0:
            return x
        text = f"Forward transformation input must be at least {-1.0 / self.power}."
        found = check.assert_non_negative(1.0 + self.power * x, message=text)
        return control.with_dependencies([found], x)

    def _checked_y(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        text = "Inverse transformation input must be greater than 0."
        return control.with_dependencies([check.assert_positive(y, message=text)], y)


class Exp(PowerTransform):
    """``y = exp(x)``.

    Args:
      validate_args: whether y is checked to be above 0.

    Example:
      >>> import penstock as tf
      >>> exp = tf.contrib.distributions.bijectors.Exp()
      >>> tf.Session().run(exp.forward(0.0)).item()
      1.0
    """

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(validate_args=validate_args, name=name)


class Gumbel(Bijector):
    """``y = exp(-exp(-(x - loc) / scale))``: the cdf of the Gumbel distribution.

    Args:
      loc: where the middle is.
      scale: how far it is stretched, above 0.
      validate_args: whether arguments and values are checked in every step.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> gumbel = tf.contrib.distributions.bijectors.Gumbel()
      >>> round(tf.Session().run(gumbel.forward(0.0)).item(), 4)
      0.3679
    """

    def __init__(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        validate_args: bool = False,
        name: str = "gumbel",
    ) -> None:
        with name_scope(name, values=[loc, scale]):
            self._loc: Tensor = convert_to_tensor(loc, name="loc")
            self._scale: Tensor = convert_to_tensor(scale, name="scale")
            check.assert_same_float_dtype([self._loc, self._scale])
            if validate_args:
                text = "Argument scale was not positive"
                found = check.assert_positive(self._scale, message=text)
                self._scale = control.with_dependencies([found], self._scale)
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def loc(self) -> Tensor:
        """Where the middle is."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """How far it is stretched."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return elementwise.exp(-elementwise.exp(-z))

    def _inverse(self, y: Any) -> Any:
        y = self._checked(y)
        return self.loc - self.scale * elementwise.log(-elementwise.log(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._checked(y)
        return elementwise.log(self.scale / (-elementwise.log(y) * y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - elementwise.exp(-z) - elementwise.log(self.scale)

    def _checked(self, y: Any) -> Any:
        return _within_unit(y) if self.validate_args else y


class Kumaraswamy(Bijector):
    """``y = (1 - (1 - x)^(1 / b))^(1 / a)``: Kumaraswamy's distribution of a uniform number.

    Args:
      concentration1: the a, above 0.
      concentration0: the b, above 0.
      validate_args: whether arguments and values are checked in every step.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.bijectors.Kumaraswamy(2.0, 1.0)
      >>> round(tf.Session().run(made.forward(0.25)).item(), 4)
      0.5
    """

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ) -> None:
        with name_scope(name, values=[concentration1, concentration0]):
            self._concentration1 = self._positive(concentration1, "concentration1", validate_args)
            self._concentration0 = self._positive(concentration0, "concentration0", validate_args)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def concentration1(self) -> Any:
        """The exponent of a value."""
        return self._concentration1

    @property
    def concentration0(self) -> Any:
        """The exponent of 1 less that power."""
        return self._concentration0

    def _positive(self, value: Any, name: str, validate_args: bool) -> Any:
        found = convert_to_tensor(value, name=name)
        if not validate_args:
            return found
        text = "Concentration parameter must be positive."
        return control.with_dependencies([check.assert_positive(found, message=text)], found)

    def _forward(self, x: Any) -> Any:
        x = _within_unit(x) if self.validate_args else x
        rest = elementwise.log1p(-x) / self.concentration0
        return elementwise.exp(elementwise.log1p(-elementwise.exp(rest)) / self.concentration1)

    def _inverse(self, y: Any) -> Any:
        y = _within_unit(y) if self.validate_args else y
        power = elementwise.log1p(-binary.pow_(y, self.concentration1))
        return elementwise.exp(elementwise.log1p(-elementwise.exp(self.concentration0 * power)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = _within_unit(y) if self.validate_args else y
        a, b = self.concentration1, self.concentration0
        rest: Any = elementwise.log1p(-binary.pow_(y, a))
        return (
            elementwise.log(a) + elementwise.log(b) + (a - 1) * elementwise.log(y) + (b - 1) * rest
        )


class SinhArcsinh(Bijector):
    """``y = sinh((arcsinh(x) + skewness) tailweight)``: other tails, and sides that differ.

    Args:
      skewness: to which side values lean; 0 by default.
      tailweight: how heavy the tails are, above 0; 1 by default.
      validate_args: whether arguments are checked in every step.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.bijectors.SinhArcsinh(tailweight=1.0)
      >>> round(tf.Session().run(made.forward(3.0)).item(), 4)
      3.0
    """

    def __init__(
        self,
        skewness: Any = None,
        tailweight: Any = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ) -> None:
        with name_scope(name, "init", [skewness, tailweight]):
            self._skewness: Tensor = convert_to_tensor(
                0.0 if skewness is None else skewness, name="skewness"
            )
            self._tailweight: Tensor = convert_to_tensor(
                1.0 if tailweight is None else tailweight,
                name="tailweight",
                preferred_dtype=self._skewness.dtype,
            )
            check.assert_same_float_dtype([self._skewness, self._tailweight])
            if validate_args:
                text = "Argument tailweight was not positive"
                found = check.assert_positive(self._tailweight, message=text)
                self._tailweight = control.with_dependencies([found], self._tailweight)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def skewness(self) -> Tensor:
        """To which side values lean."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """How heavy the tails are."""
        return self._tailweight

    def _forward(self, x: Any) -> Any:
        return elementwise.sinh((elementwise.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Any:
        return elementwise.sinh(elementwise.asinh(y) / self.tailweight - self.skewness)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        bent = (elementwise.asinh(x) + self.skewness) * self.tailweight
        return (
            _log_cosh(bent) + elementwise.log(self.tailweight) - elementwise.log(_hypot_of_one(x))
        )

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        bent = elementwise.asinh(y) / self.tailweight - self.skewness
        return (
            _log_cosh(bent) - elementwise.log(self.tailweight) - elementwise.log(_hypot_of_one(y))
        )


def _hypot_of_one(x: Any) -> Any:
    """``sqrt(1 + x^2)``, finite where the square is not."""
    size = elementwise.abs_(x)
    small = binary.minimum(size, constant.constant(_root_of_largest(x.dtype), dtype=x.dtype))
    return binary.maximum(elementwise.sqrt(1.0 + elementwise.square(small)), size)


def _root_of_largest(dtype: Any) -> float:
    largest = float(dtypes.as_dtype(dtype).base_dtype.max)
    return math.sqrt(largest) / 2


def _log_cosh(x: Any) -> Any:
    return elementwise.log(elementwise.cosh(x))
