"""Activations with arguments or weights: ReLU and kin, softmax."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.layer_base import activations, settings
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import cast, nodes


class _Elementwise(Layer):
    """What these share: masks pass, shapes stay."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input."""
        return input_shape


class LeakyReLU(_Elementwise):
    """``x`` where positive, else ``alpha * x``.

    Args:
      alpha: slope of what is negative.
      **kwargs: as of a layer.
    """

    def __init__(self, alpha: float = 0.3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs: Any) -> Any:
        """The function's value."""
        return activations.relu(inputs, alpha=self.alpha)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"alpha": float(self.alpha)}


class PReLU(_Elementwise):
    """``x`` where positive, else ``alpha * x``, whose ``alpha`` is learned.

    Args:
      alpha_initializer, alpha_regularizer, alpha_constraint: of the slopes.
      shared_axes: axes along which the slopes are the same.
      **kwargs: as of a layer.
    """

    alpha_initializer: Any
    alpha_regularizer: Any
    alpha_constraint: Any

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        set_weight_arguments(self, ("alpha",), {
            "alpha_initializer": alpha_initializer, "alpha_regularizer": alpha_regularizer,
            "alpha_constraint": alpha_constraint,
        })  # fmt: skip
        one = shared_axes is not None and not isinstance(shared_axes, list | tuple)
        self.shared_axes = [shared_axes] if one else shared_axes and list(shared_axes)

    def build(self, input_shape: Any) -> None:
        """Makes ``alpha``, a slope for each element that is not shared."""
        known = shapes.as_shape(input_shape).as_list()
        dims = known[1:]
        for axis in self.shared_axes or ():
            dims[axis - 1] = 1
        self.alpha = self.add_weight(
            name="alpha", shape=dims, initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer, constraint=self.alpha_constraint,
        )  # fmt: skip
        axes = {i: d for i, d in enumerate(known) if i and i not in (self.shared_axes or ())}
        self.input_spec = InputSpec(ndim=len(known), axes=axes)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The function's value."""
        positive = activations.relu(inputs)
        return positive + -self.alpha * activations.relu(-inputs)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        own = weight_config(self, ("alpha",)) | {"shared_axes": self.shared_axes}
        return super().get_config() | own


class ELU(_Elementwise):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``.

    Args:
      alpha: factor of what is negative.
      **kwargs: as of a layer.
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs: Any) -> Any:
        """The function's value."""
        return activations.elu(inputs, self.alpha)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"alpha": float(self.alpha)}


class ThresholdedReLU(_Elementwise):
    """``x`` above a threshold, else 0.

    Args:
      theta: the threshold.
      **kwargs: as of a layer.
    """

    def __init__(self, theta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.theta = theta

    def call(self, inputs: Any) -> Any:
        """The function's value."""
        above = nodes.greater(inputs, self.theta)
        return inputs * cast.cast(above, dtypes.as_dtype(settings.floatx()))

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"theta": float(self.theta)}


class Softmax(_Elementwise):
    """Softmax over an axis.

    Args:
      axis: the axis.
      **kwargs: as of a layer.
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        """The function's value."""
        return activations.softmax(inputs, axis=self.axis)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"axis": self.axis}


class ReLU(_Elementwise):
    """``x`` between a threshold and a bound, with a slope below.

    Args:
      max_value: upper bound, or None.
      negative_slope: slope below the threshold.
      threshold: below it ``x`` is damped.
      **kwargs: as of a layer.

    Raises:
      ValueError: a negative bound or slope.
    """

    def __init__(
        self, max_value: Any = None, negative_slope: Any = 0, threshold: Any = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError(f"max_value of Relu layer cannot be negative value: {max_value}")
        if negative_slope < 0.0:
            raise ValueError(
                f"negative_slope of Relu layer cannot be negative value: {negative_slope}"
            )
        self.max_value, self.negative_slope = max_value, negative_slope
        self.threshold = threshold

    def call(self, inputs: Any) -> Any:
        """The function's value."""
        return activations.relu(
            inputs, alpha=self.negative_slope, max_value=self.max_value, threshold=self.threshold
        )

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "max_value": self.max_value, "negative_slope": self.negative_slope,
            "threshold": self.threshold,
        }  # fmt: skip
