"""Generalized divisive normalization, and its approximate inverse."""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.scopes import get_default_graph
from penstock.library.autodiff.register import RegisterGradient
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.scoped import Layer
from penstock.library.nn.dilation import convolution
from penstock.library.ragged_tensors.dispatched import (
    cast,
    expand_dims,
    greater_equal,
    less,
    logical_or,
    maximum,
    sqrt,
    square,
    squeeze,
)
from penstock.ops.array.constant import constant
from penstock.ops.array.fill import ones
from penstock.ops.array.reshape import reshape
from penstock.ops.linalg.matrix_diag import eye
from penstock.ops.nn.bias import bias_add

_FORMATS = {
    "channels_first": ("NCW", "NCHW", "NCDHW"),
    "channels_last": ("NWC", "NHWC", "NDHWC"),
}


@RegisterGradient("GDNLowerBound")
def _lower_bound_grad(op: Any, grad: Any) -> list[Any]:
    # At the bound, too, what would raise the value comes through.
    passes: Any = cast(logical_or(greater_equal(*op.inputs), less(grad, 0)), grad.dtype)
    return [passes * grad, None]


class GDN(Layer):
    """Divides each channel by the root of a weighted sum of all channels' squares.

    ``y[i] = x[i] / sqrt(beta[i] + sum_j(gamma[j, i] * x[j]**2))``, at each place by itself. The
    variables are roots of ``beta`` and ``gamma``.

    Args:
      inverse: whether to multiply instead, one step of inverting it.
      beta_min: the least beta.
      gamma_init: gamma begins as the identity matrix times this.
      reparam_offset: added under the roots, so that no gradient vanishes at 0.
      data_format: ``"channels_last"`` or ``"channels_first"``.
      activity_regularizer: from the result to a loss.
      trainable: whether the variables are.
      name: of the variable scope.
      **kwargs: those of ``tf.layers.Layer``.

    Raises:
      ValueError: another format; when called: other than one to three spatial dims, or a number of
        channels that is not known.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.contrib.layers.GDN()
      ...     y = layer(tf.ones([1, 8, 8, 3]))
      ...     y.shape.as_list(), [v.name for v in layer.weights]
      ([1, 8, 8, 3], ['gdn/reparam_beta:0', 'gdn/reparam_gamma:0'])

    Source: Balle, Laparra and Simoncelli, "Density Modeling of Images Using a Generalized
    Normalization Transformation".
    """

    def __init__(
        self, inverse: bool = False, beta_min: float = 1e-6, gamma_init: float = 0.1,
        reparam_offset: float = 2**-18, data_format: str = "channels_last",
        activity_regularizer: Any = None, trainable: bool = True, name: str | None = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        self.inverse = inverse
        self._beta_min = beta_min
        self._gamma_init = gamma_init
        self._reparam_offset = reparam_offset
        self.data_format = data_format
        self._channel_axis()  # refuses other formats
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    def _channel_axis(self) -> int:
        if self.data_format not in _FORMATS:
            raise ValueError(
                f"Unsupported `data_format` for GDN layer: {self.data_format}. Allowed:"
                f" {sorted(_FORMATS)}"
            )
        return 1 if self.data_format == "channels_first" else -1

    def build(self, input_shape: Any) -> None:
        """Makes both variables."""
        axis = self._channel_axis()
        channels = dimension_value(input_shape[axis])
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self.input_spec = InputSpec(ndim=input_shape.ndims, axes={axis: channels})
        pedestal = constant(self._reparam_offset**2, self.dtype)
        beta_bound = constant(math.sqrt(self._beta_min + self._reparam_offset**2), self.dtype)
        gamma_bound = constant(self._reparam_offset, self.dtype)

        def beta_first(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            offset = constant(self._reparam_offset**2, self.dtype)
            return sqrt(ones(shape, dtype) + offset)

        def gamma_first(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            identity = eye(shape[0], dtype=dtype)
            offset = constant(self._reparam_offset**2, self.dtype)
            return sqrt(self._gamma_init * identity + offset)

        beta = self.add_weight(
            "reparam_beta", shape=[channels], initializer=beta_first, dtype=self.dtype,
            trainable=True,
        )  # fmt: skip
        self.beta = self._bounded(beta, beta_bound, pedestal)
        gamma = self.add_weight(
            "reparam_gamma", shape=[channels, channels], initializer=gamma_first,
            dtype=self.dtype, trainable=True,
        )  # fmt: skip
        self.gamma = self._bounded(gamma, gamma_bound, pedestal)
        self.built = True

    def _bounded(self, root: Any, bound: Any, pedestal: Any) -> Any:
        with get_default_graph().gradient_override_map({"Maximum": "GDNLowerBound"}):
            kept = maximum(root, bound, name="GDNLowerBound")
        value: Any = square(kept)
        return value - pedestal

    def call(self, inputs: Any) -> Any:
        """The normalized channels."""
        rank = inputs.get_shape().ndims
        gamma = reshape(self.gamma, [1] * (rank - 2) + self.gamma.shape.as_list())
        data_format = _FORMATS[self.data_format][rank - 3]
        sums = convolution(square(inputs), gamma, "VALID", data_format=data_format)
        norm = sqrt(self._with_beta(sums, rank))
        outputs: Any = inputs * norm if self.inverse else inputs / norm
        outputs.set_shape(inputs.get_shape())
        return outputs

    def _with_beta(self, sums: Any, rank: int) -> Any:
        if self.data_format == "channels_last":
            return bias_add(sums, self.beta)
        if rank == 3:
            wide = bias_add(expand_dims(sums, 2), self.beta, data_format="NCHW")
            return squeeze(wide, [2])
        return bias_add(sums, self.beta, data_format="NCHW" if rank == 4 else "NC...")

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's."""
        return input_shape


def gdn(
    inputs: Any, inverse: bool = False, beta_min: float = 1e-6, gamma_init: float = 0.1,
    reparam_offset: float = 2**-18, data_format: str = "channels_last",
    activity_regularizer: Any = None, trainable: bool = True, name: str | None = None,
    reuse: bool | None = None,
) -> Any:  # fmt: skip
    """The layer ``GDN``, applied.

    Args:
      inputs: of three to five dims.
      inverse .. name: those of ``GDN``.
      reuse: whether the variables are there already.
    """
    layer = GDN(
        inverse=inverse, beta_min=beta_min, gamma_init=gamma_init, reparam_offset=reparam_offset,
        data_format=data_format, activity_regularizer=activity_regularizer, trainable=trainable,
        name=name, dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)
