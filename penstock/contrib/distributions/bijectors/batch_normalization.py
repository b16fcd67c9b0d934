"""Batch normalization as a bijector."""

from __future__ import annotations

from typing import Any

from penstock.contrib.distributions.bijectors.bijector import Bijector
from penstock.library import layers
from penstock.library.nn import normalization
from penstock.ops.array import reshape
from penstock.ops.math import elementwise, reduction
from penstock.ops.nn.activation import relu


class BatchNormalization(Bijector):
    """Batch normalization; ``inverse`` normalizes, so that a density of data can be trained.

    Args:
      batchnorm_layer: a ``tf.layers.BatchNormalization`` without renormalization and virtual
        batches; by default one whose gamma stays above 0.
      training: whether the moments of the batch are used; else the moving ones.
      validate_args: whether arguments are checked in every step.

    Raises:
      ValueError: ``batchnorm_layer`` is of another kind.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     made = tf.contrib.distributions.bijectors.BatchNormalization()
      ...     made.inverse(tf.ones([4, 2])).shape
      TensorShape([Dimension(4), Dimension(2)])

    Source: Dinh, L., Sohl-Dickstein, J. and Bengio, S. "Density estimation using Real NVP".
    ICLR 2017.
    """

    def __init__(
        self,
        batchnorm_layer: Any = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ) -> None:
        if batchnorm_layer is None:
            batchnorm_layer = layers.BatchNormalization(
                gamma_constraint=lambda gamma: relu(gamma) + 1e-6
            )
        _check_layer(batchnorm_layer)
        self.batchnorm = batchnorm_layer
        self._training = training
        axis = batchnorm_layer.axis
        axes = [axis] if isinstance(axis, int) else list(axis)
        # An event has the axes that are normalized: of [-1], the last dim alone.
        least = -min(axes) if max(axes) < 0 else 1
        super().__init__(forward_min_event_ndims=least, validate_args=validate_args, name=name)

    def _built(self, x: Any) -> list[int]:
        """The axes over which moments are taken."""
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)
        axis = self.batchnorm.axis
        rank = x.shape.ndims
        kept = {a % rank for a in ([axis] if isinstance(axis, int) else axis)}
        return [i for i in range(rank) if i not in kept]

    def _spread(self, x: Any, axes: list[int], statistic: Any) -> Any:
        """A statistic of the kept axes in a shape that broadcasts with ``x``."""
        if statistic is None or axes == list(range(x.shape.ndims - 1)):
            return statistic
        dims = [1 if i in axes else x.shape.as_list()[i] for i in range(x.shape.ndims)]
        return reshape.reshape(statistic, dims)

    def _forward(self, x: Any) -> Any:
        axes = self._built(x)
        layer = self.batchnorm
        y: Any = x
        if layer.beta is not None:
            y = y - self._spread(x, axes, layer.beta)
        rescale = elementwise.sqrt(self._spread(x, axes, layer.moving_variance) + layer.epsilon)
        if layer.gamma is not None:
            rescale = rescale / self._spread(x, axes, layer.gamma)
        return y * rescale + self._spread(x, axes, layer.moving_mean)

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._log_scales(y, use_saved=not self._training)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -self._log_scales(x, use_saved=True)

    def _log_scales(self, y: Any, use_saved: bool) -> Any:
        axes = self._built(y)
        layer = self.batchnorm
        if use_saved:
            variance: Any = layer.moving_variance
        else:
            _, variance = normalization.moments(y, axes=axes, keep_dims=True)
        logs = elementwise.log(variance + layer.epsilon)
        total: Any = -0.5 * reduction.reduce_sum(logs)
        if layer.gamma is None:
            return total
        return reduction.reduce_sum(elementwise.log(layer.gamma)) + total


def _check_layer(layer: Any) -> None:
    if not isinstance(layer, layers.BatchNormalization):
        raise ValueError(
            "batchnorm_layer must be an instance of BatchNormalization layer; "
            f"found {type(layer).__name__}"
        )
    if layer.renorm:
        raise ValueError("BatchNorm Bijector does not support renormalization.")
    if layer.virtual_batch_size:
        raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
