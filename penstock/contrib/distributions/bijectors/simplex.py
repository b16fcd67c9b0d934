"""Bijectors from vectors without bounds to probabilities, and from increasing ones to such."""

from __future__ import annotations

from typing import Any

from penstock.contrib.distributions.bijectors.bijector import Bijector
from penstock.foundation.base import shapes
from penstock.foundation.base.dimension import dimension_value
from penstock.ops.array import cast, join, shape
from penstock.ops.control import check, control
from penstock.ops.math import cumulative, elementwise, reduction, statistics
from penstock.ops.nn import softmax


class SoftmaxCentered(Bijector):
    """``y = softmax([x, 0])``: from ``[..., k]`` to probabilities ``[..., k + 1]``.

    Args:
      validate_args: whether arguments are checked in every step.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.bijectors.SoftmaxCentered()
      >>> tf.Session().run(made.forward([0.0])).tolist()
      [0.5, 0.5]
    """

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        if input_shape.ndims is None:
            return shapes.TensorShape(None)
        return input_shape[:-1].concatenate([input_shape[-1] + 1])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return join.concat([input_shape[:-1], [input_shape[-1] + 1]], 0)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if output_shape.ndims is None:
            return shapes.TensorShape(None)
        size = dimension_value(output_shape[-1])
        if size is not None and size <= 1:
            raise ValueError(f"output_shape[-1] must be > 1; found {output_shape}")
        return output_shape[:-1].concatenate([output_shape[-1] - 1])

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        size = output_shape[-1]
        if self.validate_args:
            text = "Need last dimension greater than 1."
            found = check.assert_greater(size, 1, message=text)
            size = control.with_dependencies([found], size)
        return join.concat([output_shape[:-1], [size - 1]], 0)

    def _forward(self, x: Any) -> Any:
        found = softmax.softmax(_with_zero(x))
        if x.shape.ndims is not None:
            found.set_shape(self._forward_event_shape(x.shape))
        return found

    def _inverse(self, y: Any) -> Any:
        logs: Any = elementwise.log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -reduction.reduce_sum(elementwise.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        logits = _with_zero(x)
        dims: Any = shape.shape(logits)
        size = cast.cast(dims[-1], x.dtype)
        total = statistics.reduce_logsumexp(logits, axis=-1)
        return reduction.reduce_sum(x, axis=-1) - size * total


def _with_zero(x: Any) -> Any:
    return join.concat([x, elementwise.zeros_like(x[..., :1])], -1)


class Ordered(Bijector):
    """From increasing vectors to vectors without bounds: the first number, logarithms of steps.

    Args:
      validate_args: whether x is checked to increase.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.bijectors.Ordered()
      >>> tf.Session().run(made.inverse([5.0, 0.0, 0.0])).tolist()
      [5.0, 6.0, 7.0]
    """

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        if input_shape.ndims is not None and dimension_value(input_shape[-1]) is not None:
            _more_than_one(input_shape, "input_shape")
        return input_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._checked_sizes(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if output_shape.ndims is not None and dimension_value(output_shape[-1]) is not None:
            _more_than_one(output_shape, "output_shape")
        return output_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._checked_sizes(output_shape)

    def _checked_sizes(self, sizes: Any) -> Any:
        if not self.validate_args:
            return sizes
        text = "Need last dimension greater than 1."
        found = check.assert_greater(sizes[-1], 1, message=text)
        return control.with_dependencies([found], sizes)

    def _forward(self, x: Any) -> Any:
        x = self._checked(x)
        return join.concat([x[..., :1], elementwise.log(x[..., 1:] - x[..., :-1])], -1)

    def _inverse(self, y: Any) -> Any:
        steps = join.concat([y[..., :1], elementwise.exp(y[..., 1:])], -1)
        return cumulative.cumsum(steps, axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return reduction.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._checked(x)
        return -reduction.reduce_sum(elementwise.log(x[..., 1:] - x[..., :-1]), axis=-1)

    def _checked(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        text = "Forward transformation input must be strictly increasing."
        found = check.assert_positive(x[..., 1:] - x[..., :-1], message=text)
        return control.with_dependencies([found], x)


def _more_than_one(known: shapes.TensorShape, name: str) -> None:
    size: Any = known.as_list()[-1]
    if size <= 1:
        raise ValueError(f"{name}[-1] must be > 1; found {known}")
