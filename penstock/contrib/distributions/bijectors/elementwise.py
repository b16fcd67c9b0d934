"""Bijectors of single numbers that have no parameters."""

from __future__ import annotations

import math
from typing import Any

from penstock.contrib.distributions.bijectors.bijector import Bijector
from penstock.contrib.distributions.reductions import softplus_inverse
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import constant
from penstock.ops.control import check, control
from penstock.ops.math import comparison, elementwise
from penstock.ops.nn import activation


class Identity(Bijector):
    """``y = x``.

    Args:
      validate_args: whether arguments are checked in every step.

    Example:
      >>> import penstock as tf
      >>> identity = tf.contrib.distributions.bijectors.Identity()
      >>> tf.Session().run(identity.forward(3.0)).item()
      3.0
    """

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant.constant(0.0, dtype=x.dtype)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return constant.constant(0.0, dtype=y.dtype)


class AbsoluteValue(Bijector):
    """``y = |x|``, which is not injective: ``inverse`` gives ``(-y, y)``.

    Args:
      validate_args: whether y is checked not to be negative.

    Example:
      >>> import penstock as tf
      >>> absolute = tf.contrib.distributions.bijectors.AbsoluteValue()
      >>> [float(x) for x in tf.Session().run(absolute.inverse(2.0))]
      [-2.0, 2.0]
    """

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    @property
    def _is_injective(self) -> bool:
        return False

    def _forward(self, x: Any) -> Any:
        return elementwise.abs_(x)

    def _inverse(self, y: Any) -> Any:
        y = self._checked(y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = constant.constant(0.0, dtype=self._checked(y).dtype)
        return zero, zero

    def _checked(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        text = "Argument y was negative"
        return control.with_dependencies([check.assert_non_negative(y, message=text)], y)


class Sigmoid(Bijector):
    """``y = 1 / (1 + exp(-x))``.

    Args:
      validate_args: whether arguments are checked in every step.

    Example:
      >>> import penstock as tf
      >>> sigmoid = tf.contrib.distributions.bijectors.Sigmoid()
      >>> tf.Session().run(sigmoid.forward(0.0)).item()
      0.5
    """

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return elementwise.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return elementwise.log(y) - elementwise.log1p(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -elementwise.log(y) - elementwise.log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -activation.softplus(-x) - activation.softplus(x)


class Softplus(Bijector):
    """``y = c log(1 + exp(x / c))``, where c is ``hinge_softness``.

    Args:
      hinge_softness: how wide the bend is, not 0; 1 by default.
      validate_args: whether it is checked in every step.

    Example:
      >>> import penstock as tf
      >>> softplus = tf.contrib.distributions.bijectors.Softplus()
      >>> round(tf.Session().run(softplus.forward(0.0)).item(), 4)
      0.6931
    """

    def __init__(
        self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"
    ) -> None:
        with name_scope(name, values=[hinge_softness]):
            self._hinge_softness: Any = hinge_softness
            if hinge_softness is not None:
                self._hinge_softness = convert_to_tensor(hinge_softness, name="hinge_softness")
                if validate_args:
                    zero = constant.constant(0, dtype=self._hinge_softness.dtype)
                    text = "hinge_softness must be non-zero"
                    nonzero = comparison.not_equal(zero, self._hinge_softness)
                    found = check.assert_equal(nonzero, True, message=text)
                    self._hinge_softness = control.with_dependencies([found], self._hinge_softness)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def hinge_softness(self) -> Any:
        """How wide the bend is; None where it is 1."""
        return self._hinge_softness

    def _soft(self, x: Any) -> Any:
        """``x`` in units of the softness."""
        return x if self.hinge_softness is None else x / self.hinge_softness

    def _forward(self, x: Any) -> Any:
        y = activation.softplus(self._soft(x))
        return y if self.hinge_softness is None else self.hinge_softness * y

    def _inverse(self, y: Any) -> Any:
        x = softplus_inverse(self._soft(y))
        return x if self.hinge_softness is None else self.hinge_softness * x

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -elementwise.log(-elementwise.expm1(-self._soft(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -activation.softplus(-self._soft(x))


class Softsign(Bijector):
    """``y = x / (1 + |x|)``.

    Args:
      validate_args: whether y is checked to be between -1 and 1.

    Example:
      >>> import penstock as tf
      >>> softsign = tf.contrib.distributions.bijectors.Softsign()
      >>> tf.Session().run(softsign.forward(1.0)).item()
      0.5
    """

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return x / (1.0 + elementwise.abs_(x))

    def _inverse(self, y: Any) -> Any:
        y = self._checked(y)
        return y / (1.0 - elementwise.abs_(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2.0 * elementwise.log1p(elementwise.abs_(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2.0 * elementwise.log1p(-elementwise.abs_(self._checked(y)))

    def _checked(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        low = constant.constant(-1.0, dtype=y.dtype)
        high = constant.constant(1.0, dtype=y.dtype)
        found = [
            check.assert_greater(y, low, message="Inverse transformation input must be > -1."),
            check.assert_less(y, high, message="Inverse transformation input must be < 1."),
        ]
        return control.with_dependencies(found, y)


class Square(Bijector):
    """``y = x^2`` of x of 0 or more.

    Args:
      validate_args: whether values are checked not to be negative.

    Example:
      >>> import penstock as tf
      >>> square = tf.contrib.distributions.bijectors.Square()
      >>> tf.Session().run(square.inverse(9.0)).item()
      3.0
    """

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return elementwise.square(self._checked(x))

    def _inverse(self, y: Any) -> Any:
        return elementwise.sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return math.log(2.0) + elementwise.log(self._checked(x))

    def _checked(self, value: Tensor) -> Any:
        if not self.validate_args:
            return value
        text = "All elements must be non-negative."
        return control.with_dependencies([check.assert_non_negative(value, message=text)], value)
