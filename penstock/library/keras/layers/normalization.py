"""Batch normalization, and the moving averages that it updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.control_flow.cond import smart_cond, smart_constant_value
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.keras.layers.renormalization import Renormalization
from penstock.library.layer_base import initializers, phase
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.library.nn import normalization
from penstock.library.variables.variable import VariableAggregation, VariableSynchronization
from penstock.ops.array import cast, nodes, reshape
from penstock.ops.math import reduction
from penstock.ops.state import state_update

_RENORM_KEYS = ["rmax", "rmin", "dmax"]


class BatchNormalization(Renormalization, Layer):
    """Normalizes each channel by the batch's mean and variance, or by their moving averages.

    While training (``training``, else the learning phase) the batch's moments are used, and
    ``updates`` bring the averages nearer to them; otherwise the averages are used.

    Args:
      axis: the axis of the channels; several normalize over the others.
      momentum: how much of an average an update keeps.
      epsilon: added to the variance.
      center: whether to add ``beta``.
      scale: whether to multiply by ``gamma``.
      beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: of
        the variables.
      beta_regularizer, gamma_regularizer: functions of weights whose results are losses.
      beta_constraint, gamma_constraint: applied to weights after each update.
      renorm: whether to use batch renormalization (Ioffe 2017).
      renorm_clipping: bounds of its corrections: "rmax", "rmin", "dmax".
      renorm_momentum: as ``momentum``, for its averages.
      fused: whether to use the op that does it all; None: where it can.
      trainable: whether the variables are trainable.
      virtual_batch_size: normalizes parts of that size of a batch apart.
      adjustment: function of the input's shape that returns a scale and an offset, of training
        alone.
      name: name of the layer.
      **kwargs: as of a layer.

    Source: Ioffe and Szegedy 2015.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.BatchNormalization()
      ...     _ = layer(tf.ones([2, 3]), training=True)
      ...     [v.name for v in layer.weights][2:], len(layer.updates)
      (['batch_normalization/moving_mean:0', 'batch_normalization/moving_variance:0'], 2)
    """

    _beta_const: Any
    _gamma_const: Any

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        if not isinstance(axis, int | list):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis: Any = axis[:] if isinstance(axis, list) else axis
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale = center, scale
        set_weight_arguments(self, ("beta", "gamma"), {
            "beta_initializer": beta_initializer, "gamma_initializer": gamma_initializer,
            "beta_regularizer": beta_regularizer, "gamma_regularizer": gamma_regularizer,
            "beta_constraint": beta_constraint, "gamma_constraint": gamma_constraint,
        })  # fmt: skip
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.renorm, self.virtual_batch_size = renorm, virtual_batch_size
        self.adjustment = adjustment
        self.fused: Any = True if fused is None else fused
        self.supports_masking = True
        self.trainable = trainable
        if renorm:
            clipping = renorm_clipping or {}
            if set(clipping) - set(_RENORM_KEYS):
                raise ValueError(f"renorm_clipping {clipping} contains keys not in {_RENORM_KEYS}")
            self.renorm_clipping, self.renorm_momentum = clipping, renorm_momentum

    # ---- building ------------------------------------------------------------------------------

    @property
    def _param_dtype(self) -> Any:
        """float32 where inputs have fewer bits."""
        if self.dtype in ("float16", "bfloat16", None):
            return dtypes.float32
        return dtypes.as_dtype(self.dtype)

    def _can_be_fused(self) -> bool:
        one = isinstance(self.axis, int) or len(self.axis) == 1
        axis = self.axis if isinstance(self.axis, int) else self.axis[0]
        plain = self.virtual_batch_size is None and self.adjustment is None and not self.renorm
        return one and axis in (-3, -1, 1, 3) and plain

    def build(self, input_shape: Any) -> None:
        """Makes ``gamma``, ``beta``, ``moving_mean``, ``moving_variance``, one value a channel."""
        known = shapes.as_shape(input_shape)
        if not known.ndims:
            raise ValueError("Input has undefined rank:", known)
        self._resolve_axes(known.ndims)
        self.fused = bool(self.fused) and known.ndims == 4 and self._can_be_fused()
        if self.fused:
            self._data_format = "NCHW" if self.axis == [1] else "NHWC"
        sizes = {axis: dimension.dimension_value(known[axis]) for axis in self.axis}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", known)
        self.input_spec = InputSpec(ndim=known.ndims, axes=sizes)
        shape = self._param_shape(sizes, known.ndims)
        self.gamma = self._parameter("gamma", shape, self.scale, 1.0)
        self.beta = self._parameter("beta", shape, self.center, 0.0)
        self._without_partitioner(lambda: self._add_moving(shape))
        self.built = True

    def _resolve_axes(self, rank: int) -> None:
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        self.axis = [rank + axis if axis < 0 else axis for axis in axes]
        for axis in self.axis:
            if axis < 0 or axis >= rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {self.axis}")
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise ValueError(
                "virtual_batch_size must be a positive integer that divides the true batch size of"
                " the input Tensor"
            )
        if 0 in self.axis:
            raise ValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot"
                " include 0"
            )
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def _param_shape(self, sizes: dict[int, Any], rank: int) -> Any:
        if len(sizes) == 1 and self.virtual_batch_size is None:
            return tuple(sizes.values())
        shape = [sizes.get(axis, 1) for axis in range(rank)]
        if self.virtual_batch_size is not None:
            # The parts of a batch are an axis of their own.
            shape.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]
        return shape

    def _parameter(self, name: str, shape: Any, wanted: bool, otherwise: float) -> Any:
        if not wanted:
            if self.fused:
                array = np.full(shape, otherwise, np.float32)
                setattr(self, f"_{name}_const", constant(array, self._param_dtype))
            return None
        return self.add_weight(
            name=name, shape=shape, dtype=self._param_dtype,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"), trainable=True,
        )  # fmt: skip

    def _without_partitioner(self, make: Callable[[], None]) -> None:
        """The averages are never partitioned, whatever the variable scope says."""
        scope = getattr(self, "_scope", None)
        if scope is None:
            make()
            return
        saved = scope.partitioner
        scope.set_partitioner(None)
        try:
            make()
        finally:
            scope.set_partitioner(saved)

    def _add_moving(self, shape: Any) -> None:
        self.moving_mean = self._average("moving_mean", shape, self.moving_mean_initializer)
        self.moving_variance = self._average(
            "moving_variance", shape, self.moving_variance_initializer
        )
        if self.renorm:
            self._add_renorm(shape)

    def _average(self, name: str, shape: Any, initializer: Any) -> Any:
        return self.add_weight(
            name=name, shape=shape, dtype=self._param_dtype, initializer=initializer,
            synchronization=VariableSynchronization.ON_READ, trainable=False,
            aggregation=VariableAggregation.MEAN,
        )  # fmt: skip

    # ---- calls ---------------------------------------------------------------------------------

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The normalized input."""
        if training is None:
            training = phase.learning_phase()
        if self.fused:
            return self._fused(inputs, training)
        if self.virtual_batch_size is None:
            return self._normalized(inputs, training)
        dims = [-1, *inputs.shape.as_list()[1:]]
        parts = reshape.reshape(inputs, [self.virtual_batch_size, -1, *dims[1:]])
        return reshape.reshape(self._normalized(parts, training), dims)

    def _fused(self, inputs: Any, training: Any) -> Any:
        beta = self.beta if self.center else self._beta_const
        gamma = self.gamma if self.scale else self._gamma_const
        arguments: dict[str, Any] = {"epsilon": self.epsilon, "data_format": self._data_format}

        def by_batch() -> Any:
            return normalization.fused_batch_norm(inputs, gamma, beta, **arguments)

        def by_averages() -> Any:
            return normalization.fused_batch_norm(
                inputs, gamma, beta, mean=self.moving_mean, variance=self.moving_variance,
                is_training=False, **arguments,
            )  # fmt: skip

        outputs, mean, variance = smart_cond(training, by_batch, by_averages)
        known = smart_constant_value(training)
        if known is None:
            momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = convert_to_tensor(self.momentum)
        if known is not False:
            self.add_update(lambda: self._move(self.moving_mean, mean, momentum))
            self.add_update(lambda: self._move(self.moving_variance, variance, momentum))
        return outputs

    def _move(self, variable: Any, value: Any, momentum: Any) -> Any:
        """Brings an average nearer to a value."""
        with scopes.name_scope("AssignMovingAvg", None, [variable, value, momentum]) as scope:
            with scopes.colocate_with(variable):
                decay = convert_to_tensor(1.0 - momentum, name="decay")
                kind = variable.dtype.base_dtype
                if decay.dtype.base_dtype is not kind:
                    decay = cast.cast(decay, kind)
                delta = (variable - cast.cast(value, kind)) * decay
                return state_update.assign_sub(variable, delta, name=scope)

    def _normalized(self, inputs: Any, training: Any) -> Any:
        shape = inputs.shape
        rank = shape.ndims
        axes = [axis for axis in range(rank) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del axes[1]
        wide = [1] * rank
        wide[self.axis[0]] = dimension.dimension_value(shape[self.axis[0]])

        def spread(value: Any) -> Any:
            if value is None or value.shape.ndims == rank or axes == list(range(rank - 1)):
                return value
            return reshape.reshape(value, wide)

        scale, offset = spread(self.gamma), spread(self.beta)
        if smart_constant_value(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment:
                scale, offset = self._adjusted(inputs, training, scale, offset)
            found = self._moments(inputs, axes, training)
            mean, variance, scale, offset = self._with_updates(found, training, scale, offset,
                                                               spread)  # fmt: skip
        kind = inputs.dtype
        mean, variance = cast.cast(mean, kind), cast.cast(variance, kind)
        offset = None if offset is None else cast.cast(offset, kind)
        scale = None if scale is None else cast.cast(scale, kind)
        outputs = normalization.batch_normalization(
            inputs, spread(mean), spread(variance), offset, scale, self.epsilon
        )
        outputs.set_shape(shape)
        return outputs

    def _adjusted(self, inputs: Any, training: Any, scale: Any, offset: Any) -> tuple[Any, Any]:
        factor, more = self.adjustment(nodes.shape(inputs))
        factor = smart_cond(training, lambda: factor, lambda: nodes.ones_like(factor))
        more = smart_cond(training, lambda: more, lambda: nodes.zeros_like(more))
        return composed(factor, more, scale, offset)

    def _moments(self, inputs: Any, axes: Any, training: Any) -> tuple[Any, Any]:
        keep = self.virtual_batch_size is not None or len(self.axis) > 1
        mean, variance = normalization.moments(
            cast.cast(inputs, self._param_dtype), axes, keep_dims=keep
        )
        mean = smart_cond(training, lambda: mean, lambda: convert_to_tensor(self.moving_mean))
        variance = smart_cond(
            training, lambda: variance, lambda: convert_to_tensor(self.moving_variance)
        )
        return mean, variance

    def _with_updates(
        self, moments: Any, training: Any, scale: Any, offset: Any, spread: Any
    ) -> tuple[Any, Any, Any, Any]:
        """The moments to normalize by, with scale and offset; adds the updates of the averages."""
        mean, variance = moments
        new_mean, new_variance = mean, variance
        if self.virtual_batch_size is not None:
            new_mean, new_variance = (
                reduction.reduce_mean(m, axis=1, keepdims=True) for m in (mean, variance)
            )
        if self.renorm:
            r, d, new_mean, new_variance = self._corrections(new_mean, new_variance, training)
            scale, offset = composed(spread(r), spread(d), scale, offset)

        def update(variable: Any, value: Any) -> Any:
            return smart_cond(
                training, lambda: self._move(variable, value, self.momentum), lambda: variable
            )

        self.add_update(lambda: update(self.moving_mean, new_mean))
        if self.renorm:
            self.add_update(lambda: self._renorm_variance_update(new_variance, training))
        else:
            self.add_update(lambda: update(self.moving_variance, new_variance))
        return mean, variance, scale, offset

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        config = super().get_config() | {
            "axis": self.axis, "momentum": self.momentum, "epsilon": self.epsilon,
            "center": self.center, "scale": self.scale,
            **weight_config(self, ("beta", "gamma")),
            "moving_mean_initializer": initializers.serialize(self.moving_mean_initializer),
            "moving_variance_initializer": initializers.serialize(
                self.moving_variance_initializer
            ),
        }  # fmt: skip
        if self.renorm:
            config |= {
                "renorm": True, "renorm_clipping": self.renorm_clipping,
                "renorm_momentum": self.renorm_momentum,
            }  # fmt: skip
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config


def composed(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    """One scale and offset in place of two that follow each other."""
    if then_scale is not None:
        scale = scale * then_scale
        offset = offset * then_scale
    if then_offset is not None:
        offset = offset + then_offset
    return scale, offset
