"""Batch normalization, in the three forms that TF 1.15 chooses between.

The layer of ``tf.layers`` where it can do what is asked; the op that does it all, in a model's own
scope, for updates elsewhere than in UPDATE_OPS, debiased means and matrices; and the formula itself
for weights of examples and for what no op does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers import plumbing
from penstock.contrib.layers.convolutions import finished
from penstock.contrib.layers.model_variables import add_to_collections, renaming
from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.layers.normalization import BatchNormalization
from penstock.library.nn import normalization
from penstock.library.variables import initializers
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.constant import constant
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.control.control import identity
from penstock.training.train.moving_averages import assign_moving_average

_ZEROS = initializers.zeros_initializer()
_ONES = initializers.ones_initializer()
_INITIALIZERS = {
    "beta": _ZEROS, "gamma": _ONES, "moving_mean": _ZEROS, "moving_variance": _ONES,
}  # fmt: skip


class _Making(NamedTuple):
    """How the variables of a call are made."""

    shape: Any
    dtype: Any
    initializers: Mapping[str, Any]
    regularizers: Mapping[str, Any]
    variables_collections: Any
    trainable: bool

    def parameter(self, name: str) -> Any:
        return self._variable(name, self.trainable, self.regularizers.get(name))

    def averages(self) -> tuple[Any, Any]:
        """The moving mean and variance, never in parts."""
        scope = get_variable_scope()
        partitioner = scope.partitioner
        try:
            scope.set_partitioner(None)
            return self._variable("moving_mean", False), self._variable("moving_variance", False)
        finally:
            scope.set_partitioner(partitioner)

    def _variable(self, name: str, trainable: bool, regularizer: Any = None) -> Any:
        return model_variable(
            name, shape=self.shape, dtype=self.dtype, regularizer=regularizer,
            initializer=self.initializers.get(name, _INITIALIZERS[name]), trainable=trainable,
            collections=plumbing.get_variable_collections(self.variables_collections, name),
        )  # fmt: skip


class _Averaging(NamedTuple):
    """How the moving averages of a call are updated."""

    mean: Any
    variance: Any
    decay: Any
    zero_debias: bool

    def towards(self, mean: Any, variance: Any) -> tuple[Any, Any]:
        moved = assign_moving_average(self.mean, mean, self.decay, zero_debias=self.zero_debias)
        return moved, assign_moving_average(self.variance, variance, self.decay, zero_debias=False)

    def held(self) -> tuple[Any, Any]:
        return self.mean, self.variance


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: Any = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Any = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Any:
    """Normalizes each channel by the batch's mean and variance, or by their moving averages.

    Args:
      inputs: floating, of rank 2 or more, with known channels.
      decay: how much of an average an update keeps.
      center: whether to add ``beta``.
      scale: whether to multiply by ``gamma``.
      epsilon: added to the variance.
      activation_fn: applied to the result; None for none.
      param_initializers: initializers by name: "beta", "gamma", "moving_mean", "moving_variance".
      param_regularizers: regularizers by name: "beta", "gamma".
      updates_collections: the collections that get the updates of the averages, for training to
        run; None: each call runs them itself.
      is_training: whether to use the batch's own moments; a bool, or a bool tensor.
      reuse: whether the variables exist already.
      variables_collections: collections of all variables, or a dictionary from their names.
      outputs_collections: collections of the output.
      trainable: whether beta and gamma are trained.
      batch_weights: [batch] weights of the examples in the moments.
      fused: whether to use the op that does it all; None: where it can.
      data_format: "NHWC" or "NCHW".
      zero_debias_moving_mean: whether the mean starts at zero and is corrected for that.
      scope: variable scope; default "BatchNorm".
      renorm, renorm_clipping, renorm_decay: batch renormalization (Ioffe 2017).
      adjustment: function of the input's shape that returns a scale and an offset, of training.

    Returns:
      A tensor like ``inputs``.

    Raises:
      ValueError: another format, or rank or channels that are not known.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     y = tf.contrib.layers.batch_norm(tf.ones([2, 4, 4, 3]))
      ...     y.name, len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
      ('BatchNorm/FusedBatchNormV3:0', 2)

    Source: Ioffe and Szegedy 2015.
    """
    fused = True if fused is None else fused
    inputs = convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    in_layer = updates_collections is GraphKeys.UPDATE_OPS and not zero_debias_moving_mean
    alone = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    given = param_initializers or {}, param_regularizers or {}
    if fused and alone and (not in_layer or rank == 2):
        return _fused(
            inputs, decay, center, scale, epsilon, activation_fn, *given, updates_collections,
            is_training, reuse, variables_collections, outputs_collections, trainable, data_format,
            zero_debias_moving_mean, scope,
        )  # fmt: skip
    _check_format(data_format)
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=renaming()) as sc:
        inputs = convert_to_tensor(inputs)
        if batch_weights is None and in_layer:
            start = {**_INITIALIZERS, **given[0]}
            layer = BatchNormalization(
                axis=1 if data_format == "NCHW" else -1, momentum=decay, epsilon=epsilon,
                center=center, scale=scale, beta_initializer=start["beta"],
                gamma_initializer=start["gamma"],
                moving_mean_initializer=start["moving_mean"],
                moving_variance_initializer=start["moving_variance"],
                beta_regularizer=given[1].get("beta"), gamma_regularizer=given[1].get("gamma"),
                trainable=trainable, renorm=renorm, renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay, adjustment=adjustment, name=sc.name, _scope=sc,
                _reuse=reuse, fused=fused,
            )  # fmt: skip
            outputs = layer.apply(inputs, training=is_training)
            for name in ("moving_mean", "moving_variance", "beta", "gamma"):
                add_to_collections(getattr(layer, name), variables_collections, name)
            return finished(outputs, activation_fn, outputs_collections, sc)
        if renorm:
            raise ValueError(
                "renorm is not supported with batch_weights, updates_collections or"
                " zero_debias_moving_mean"
            )
        outputs = _by_formula(
            inputs, decay, center, scale, epsilon, *given, updates_collections, is_training,
            variables_collections, trainable, batch_weights, data_format, zero_debias_moving_mean,
        )  # fmt: skip
        return finished(outputs, activation_fn, outputs_collections, sc)


def _check_format(data_format: Any) -> None:
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC.; found {data_format!r}")


# ---- by the op -----------------------------------------------------------------------------------


def _fused(
    inputs: Any, decay: Any, center: bool, scale: bool, epsilon: float, activation_fn: Any,
    starts: Any, regularizers: Any, updates_collections: Any, is_training: Any, reuse: Any,
    variables_collections: Any, outputs_collections: Any, trainable: bool, data_format: str,
    zero_debias: bool, scope: Any,
) -> Any:  # fmt: skip
    _check_format(data_format)
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
        given = inputs = convert_to_tensor(inputs)
        if given.get_shape().ndims == 2:
            channels = dimension_value(given.get_shape()[-1])
            if channels is None:
                raise ValueError("`C` dimension must be known but is None")
            first = data_format == "NCHW"
            inputs = reshape(inputs, [-1, channels, 1, 1] if first else [-1, 1, 1, channels])
        sizes = inputs.get_shape()
        params = sizes[-1:] if data_format == "NHWC" else sizes[1:2]
        if not params.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {params}.")
        making = _Making(
            params, dtypes.float32, starts, regularizers, variables_collections, trainable
        )
        beta = making.parameter("beta") if center else constant(0.0, dtypes.float32, params)
        gamma = making.parameter("gamma") if scale else constant(1.0, dtypes.float32, params)
        averaging = _Averaging(*making.averages(), decay, zero_debias)

        def by_batch() -> Any:
            return normalization.fused_batch_norm(
                inputs, gamma, beta, epsilon=epsilon, data_format=data_format
            )

        def by_averages() -> Any:
            return normalization.fused_batch_norm(
                inputs, gamma, beta, mean=averaging.mean, variance=averaging.variance,
                epsilon=epsilon, is_training=False, data_format=data_format,
            )  # fmt: skip

        outputs, mean, variance = plumbing.smart_cond(is_training, by_batch, by_averages)
        if plumbing.constant_value(is_training) in (None, True):
            outputs = _updating(
                is_training, updates_collections, averaging, (mean, variance), outputs
            )
        outputs.set_shape(sizes)
        if given.get_shape().ndims == 2:
            outputs = reshape(outputs, shape_of(given))
        return finished(outputs, activation_fn, outputs_collections, sc)


def _updating(
    is_training: Any, collections: Any, averaging: _Averaging, moments: Any, outputs: Any
) -> Any:
    """``outputs``, and the updates of the averages before them or in collections."""
    if collections is not None:
        _delayed(is_training, collections, averaging, moments)
        return outputs

    def forced() -> Any:
        with scopes.control_dependencies(list(averaging.towards(*moments))):
            return identity(outputs)

    return plumbing.smart_cond(is_training, forced, lambda: outputs)


def _delayed(is_training: Any, collections: Any, averaging: _Averaging, moments: Any) -> None:
    updates = plumbing.smart_cond(is_training, lambda: averaging.towards(*moments), averaging.held)
    for update in updates:
        collecting.add_to_collections(collections, update)


# ---- by the formula ------------------------------------------------------------------------------


def _by_formula(
    inputs: Any, decay: Any, center: bool, scale: bool, epsilon: float, starts: Any,
    regularizers: Any, updates_collections: Any, is_training: Any, variables_collections: Any,
    trainable: bool, batch_weights: Any, data_format: str, zero_debias: bool,
) -> Any:  # fmt: skip
    sizes = inputs.get_shape()
    rank = sizes.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if batch_weights is not None:
        batch_weights = convert_to_tensor(batch_weights)
        sizes[0:1].assert_is_compatible_with(batch_weights.get_shape())
        batch_weights = reshape(batch_weights, [-1] + [1] * (rank - 1))
    first = data_format == "NCHW"
    params = sizes[1:2] if first else sizes[-1:]
    if not params.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {params}.")
    axes = [0, *range(2, rank)] if first else list(range(rank - 1))
    broadcast = [1, params.as_list()[0], *[1] * (rank - 2)] if first else None
    making = _Making(
        params, inputs.dtype.base_dtype, starts, regularizers, variables_collections, trainable
    )
    beta = making.parameter("beta") if center else None
    gamma = making.parameter("gamma") if scale else None
    averaging = _Averaging(*making.averages(), decay, zero_debias)
    if plumbing.constant_value(is_training) in (None, True):
        moments = _moments(inputs, axes, batch_weights, first)
        mean, variance = _chosen(is_training, updates_collections, averaging, moments)
    else:
        mean, variance = averaging.held()
    if broadcast is not None:
        mean, variance = reshape(mean, broadcast), reshape(variance, broadcast)
        beta = None if beta is None else reshape(beta, broadcast)
        gamma = None if gamma is None else reshape(gamma, broadcast)
    _take_name(get_variable_scope().name)
    outputs = normalization.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
    outputs.set_shape(sizes)
    return outputs


def _take_name(scope: str) -> None:
    """Takes the scope's own name within it, as entering it once more does in TensorFlow: in a scope
    called BatchNorm the ops are in ``batchnorm_1``, since names are told apart without case."""
    with scopes.name_scope(scope.rpartition("/")[-1]):
        pass


def _moments(inputs: Any, axes: list[int], weights: Any, kept: bool) -> tuple[Any, Any]:
    if weights is None:
        mean, variance = normalization.moments(inputs, axes, keep_dims=kept)
    else:
        mean, variance = normalization.weighted_moments(inputs, axes, weights, keep_dims=kept)
    return (reshape(mean, [-1]), reshape(variance, [-1])) if kept else (mean, variance)


def _chosen(
    is_training: Any, collections: Any, averaging: _Averaging, moments: tuple[Any, Any]
) -> Any:
    """The mean and the variance to normalize by."""
    if collections is not None:
        _delayed(is_training, collections, averaging, moments)

        def by_batch() -> Any:
            return moments
    else:

        def by_batch() -> Any:
            with scopes.control_dependencies(list(averaging.towards(*moments))):
                return identity(moments[0]), identity(moments[1])

    return plumbing.smart_cond(is_training, by_batch, averaging.held)
