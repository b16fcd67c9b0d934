"""Moving means and variances, kept in variables."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import colocate_with, control_dependencies, name_scope
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join
from penstock.ops.control import control
from penstock.ops.math import elementwise, statistics


def _same_dtype(variables: list[Any], decay: Any, value: Any) -> tuple[Any, Any, Any]:
    kind = variables[0].dtype.base_dtype
    if not kind.is_floating:
        raise TypeError(f"mean_var.base_dtype({kind.name}) does not have float type `dtype`.")
    for other in variables[1:]:
        if other.dtype.base_dtype != kind:
            raise TypeError(
                f"mean_var.base_dtype({kind.name}) != "
                f"variance_var.base_dtype({other.dtype.base_dtype.name})."
            )
    return (
        kind,
        convert_to_tensor(decay, dtype=kind, name="decay"),
        convert_to_tensor(value, dtype=kind, name="value"),
    )


def assign_moving_mean_variance(
    mean_var: Any, variance_var: Any, value: Any, decay: Any, name: str | None = None
) -> tuple[Any, Any]:
    """Updates of a moving mean and variance by a value.

    Args:
      mean_var: variable of the mean.
      variance_var: variable of the variance, of the same dtype.
      value: the value, of their shape.
      decay: how much of what they are stays, from 0 to 1.

    Returns:
      The updated mean and variance.

    Raises:
      TypeError: the variables are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     mean, variance = tf.Variable(0.), tf.Variable(0.)
      ...     update = tf.contrib.distributions.assign_moving_mean_variance(mean, variance, 2., 0.5)
      ...     session.run(tf.global_variables_initializer())
      ...     [float(each) for each in session.run(update)]
      [1.0, 1.0]

    Source: Finch, T. "Incremental calculation of weighted mean and variance". 2009.
    """
    values = [variance_var, mean_var, value, decay]
    with name_scope(name, "assign_moving_mean_variance", values):
        _, decay, value = _same_dtype([mean_var, variance_var], decay, value)
        # The distance to the old mean; the variance is updated by it, too.
        delta = control.identity(value - mean_var)
        with colocate_with(mean_var), control_dependencies([delta]):
            mean = mean_var.assign_add((1.0 - decay) * delta)
        with colocate_with(variance_var):
            rest = decay * elementwise.square(delta)
            variance = variance_var.assign_sub((1.0 - decay) * (variance_var - rest))
        return mean, variance


def assign_log_moving_mean_exp(
    log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None
) -> Any:
    """Updates ``log(moving mean of exp(log_value))``.

    Args:
      log_mean_exp_var: variable of it.
      log_value: the value, of its shape.
      decay: how much of the mean stays, from 0 to 1.

    Returns:
      The updated value of the variable.

    Raises:
      TypeError: the variable is not floating.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     mean = tf.Variable(1.)
      ...     update = tf.contrib.distributions.assign_log_moving_mean_exp(mean, 1., 0.5)
      ...     session.run(tf.global_variables_initializer())
      ...     round(session.run(update).item(), 4)
      1.0
    """
    with name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        _, decay, value = _same_dtype([log_mean_exp_var], decay, log_value)
        with colocate_with(log_mean_exp_var):
            # What is added is the difference, so that a variable of any kind can be updated.
            new = statistics.reduce_logsumexp(
                join.stack(
                    [
                        log_mean_exp_var + elementwise.log(decay),
                        value + elementwise.log1p(-decay),
                    ]
                ),
                axis=0,
            )
            return log_mean_exp_var.assign_add(new - log_mean_exp_var)


def moving_mean_variance(
    value: Any, decay: Any, collections: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """The moving mean and variance of a value, in variables of their own.

    Args:
      value: the value; its shape is known.
      decay: how much of what they are stays at a step, from 0 to 1.
      collections: collections of the variables; the global variables by default.

    Returns:
      The updated mean and variance.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     update = tf.contrib.distributions.moving_mean_variance(2., 0.5)
      ...     session.run(tf.global_variables_initializer())
      ...     [float(each) for each in session.run(update)]
      [1.0, 1.0]
    """
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        made = []
        for each in ("moving_variance", "moving_mean"):
            variable = get_variable(
                each,
                shape=value.shape,
                dtype=value.dtype.base_dtype,
                initializer=zeros_initializer(),
                collections=collections,
                trainable=False,
            )
            made.append(variable)
        variance, mean = made
        return assign_moving_mean_variance(mean, variance, value, decay)
