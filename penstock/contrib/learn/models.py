"""``tf.contrib.learn.models``: linear and logistic regression as functions."""

from __future__ import annotations

from typing import Any

from penstock.contrib.learn.ops import mean_squared_error_regressor, softmax_classifier
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import (
    random_normal_initializer,
)
from penstock.library.variables.scoping import variable_scope
from penstock.storage.summary.build import histogram


def _initializer(mean: float | None, stddev: float) -> Any:
    return None if mean is None else random_normal_initializer(mean, stddev)


def _variables(model: str, x: Any, y: Any, mean: float | None, stddev: float) -> tuple[Any, Any]:
    histogram(f"{model}.x", x)
    histogram(f"{model}.y", y)
    width, dims = x.get_shape()[1], y.get_shape()
    outputs = 1 if len(dims) == 1 else dims[1]
    weights = get_variable(
        "weights", [width, outputs], x.dtype, initializer=_initializer(mean, stddev)
    )
    bias = get_variable("bias", [outputs], x.dtype, initializer=_initializer(mean, stddev))
    histogram(f"{model}.weights", weights)
    histogram(f"{model}.bias", bias)
    return weights, bias


def linear_regression(
    x: Any, y: Any, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[Any, Any]:
    """A linear model of numbers.

    Args:
      x: [batch, features].
      y: [batch] or [batch, outputs].
      init_mean, init_stddev: of the normal distribution that variables begin with; without a mean
        they begin as any variable does.

    Returns:
      The predictions, and the mean squared error.
    """
    with variable_scope("linear_regression"):
        weights, bias = _variables("linear_regression", x, y, init_mean, init_stddev)
        return mean_squared_error_regressor(x, y, weights, bias)


def linear_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """``linear_regression`` whose variables begin with zeros; arguments are its."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression(
    x: Any,
    y: Any,
    class_weight: Any = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[Any, Any]:
    """A linear model of classes.

    Args:
      x: [batch, features].
      y: [batch, classes], a distribution each.
      class_weight: [classes] what logits are multiplied with, or None.
      init_mean, init_stddev: as of ``linear_regression``.

    Returns:
      The probabilities, and the cross entropy.
    """
    with variable_scope("logistic_regression"):
        weights, bias = _variables("logistic_regression", x, y, init_mean, init_stddev)
        return softmax_classifier(x, y, weights, bias, class_weight)


def logistic_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """``logistic_regression`` whose variables begin with zeros; arguments are its."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)
