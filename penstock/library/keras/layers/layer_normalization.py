"""Normalization of each sample by itself."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.layer_base.layer import Layer
from penstock.library.nn import normalization
from penstock.ops.array import reshape

_WEIGHTS = ("beta", "gamma")


class LayerNormalization(Layer):
    """Normalizes each sample over ``axis`` by its own mean and variance.

    Args:
      axis: an axis or several, over which the moments are taken.
      epsilon: added to the variance.
      center: whether to add ``beta``.
      scale: whether to multiply by ``gamma``.
      beta_initializer, gamma_initializer: of the variables.
      beta_regularizer, gamma_regularizer: functions of weights whose results are losses.
      beta_constraint, gamma_constraint: applied to weights after each update.
      trainable: whether the variables are trainable.
      name: name of the layer.
      **kwargs: as of a layer.

    Raises:
      ValueError: an axis that is no number, that the input does not have, or one twice.

    Source: Ba, Kiros and Hinton 2016.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session():
      ...     layer = tf.keras.layers.LayerNormalization()
      ...     y = layer(tf.constant([[1.0, 3.0], [10.0, 30.0]]))
      ...     tf.global_variables_initializer().run()
      ...     y.eval().round(2).tolist()
      [[-1.0, 1.0], [-1.0, 1.0]]
    """

    def __init__(
        self, axis: Any = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        beta_initializer: Any = "zeros", gamma_initializer: Any = "ones",
        beta_regularizer: Any = None, gamma_regularizer: Any = None, beta_constraint: Any = None,
        gamma_constraint: Any = None, trainable: bool = True, name: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(trainable=trainable, name=name, **kwargs)
        if not isinstance(axis, int | list | tuple):
            raise ValueError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received"
                f" instead: {axis}"
            )
        self.axis: Any = list(axis) if isinstance(axis, list | tuple) else axis
        self.epsilon, self.center, self.scale = epsilon, center, scale
        set_weight_arguments(self, _WEIGHTS, {
            "beta_initializer": beta_initializer, "gamma_initializer": gamma_initializer,
            "beta_regularizer": beta_regularizer, "gamma_regularizer": gamma_regularizer,
            "beta_constraint": beta_constraint, "gamma_constraint": gamma_constraint,
        })  # fmt: skip
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Makes ``gamma`` and ``beta``, of the sizes of the axes."""
        dims = shapes.as_shape(input_shape).as_list()
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        self.axis = [len(dims) + axis if axis < 0 else axis for axis in axes]
        for axis in self.axis:
            if not 0 <= axis < len(dims):
                raise ValueError(f"Invalid axis: {axis}; the input has {len(dims)} dims")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {tuple(self.axis)}")
        shape = [dims[axis] for axis in self.axis]
        self.gamma = self._parameter("gamma", shape) if self.scale else None
        self.beta = self._parameter("beta", shape) if self.center else None
        self.built = True

    def _parameter(self, name: str, shape: Any) -> Any:
        return self.add_weight(
            name=name, shape=shape, initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"), trainable=True,
        )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        """The normalized input."""
        mean, variance = normalization.moments(inputs, self.axis, keep_dims=True)
        made = normalization.batch_normalization(
            inputs, mean, variance, self._over(inputs, self.beta), self._over(inputs, self.gamma),
            self.epsilon,
        )  # fmt: skip
        made.set_shape(inputs.shape)
        return made

    def _over(self, inputs: Any, parameter: Any) -> Any:
        """A parameter that broadcasts with the input."""
        rank = inputs.shape.ndims
        if parameter is None or self.axis == [rank - 1]:
            return parameter
        dims = inputs.shape.as_list()
        return reshape.reshape(parameter, [dims[n] if n in self.axis else 1 for n in range(rank)])

    def compute_output_shape(self, input_shape: Any) -> Any:
        """That of the input."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "axis": self.axis, "epsilon": self.epsilon, "center": self.center,
            "scale": self.scale, **weight_config(self, _WEIGHTS),
        }  # fmt: skip
