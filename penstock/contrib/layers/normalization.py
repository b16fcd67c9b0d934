"""Normalization of each example by itself: layer, instance and group norm, and unit norm."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers import plumbing
from penstock.contrib.layers.convolutions import finished
from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.nn import normalization
from penstock.library.variables import initializers
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.fill import ones
from penstock.ops.array.join import concat
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.slicing import strided_slice
from penstock.ops.array.tile import tile
from penstock.ops.math.division import div
from penstock.ops.math.elementwise import rsqrt, sqrt, square
from penstock.ops.math.reduction import reduce_sum

_ZEROS = initializers.zeros_initializer()
_ONES = initializers.ones_initializer()


def _parameters(
    inputs: Any, shape: Any, center: bool, scale: bool, starts: Any, variables_collections: Any,
    trainable: bool, broadcast: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Beta and gamma, or None where there is none."""

    def made(name: str, default: Any) -> Any:
        found = model_variable(
            name, shape=shape, dtype=inputs.dtype.base_dtype,
            initializer=(starts or {}).get(name, default), trainable=trainable,
            collections=plumbing.get_variable_collections(variables_collections, name),
        )  # fmt: skip
        return found if broadcast is None else reshape(found, broadcast)

    beta = made("beta", _ZEROS) if center else None
    return beta, (made("gamma", _ONES) if scale else None)


def _rank(inputs: Any) -> int:
    rank: int | None = inputs.get_shape().ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    return rank


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Normalizes each example over all its dims from ``begin_norm_axis`` on.

    Args:
      inputs: floating, of known rank.
      center: whether to add ``beta``.
      scale: whether to multiply by ``gamma``.
      activation_fn: applied to the result; None for none.
      reuse: whether the variables exist already.
      variables_collections: collections of all variables, or a dictionary from their names.
      outputs_collections: collections of the output.
      trainable: whether the variables are trained.
      begin_norm_axis: the first dim that moments are taken over.
      begin_params_axis: the first dim of beta and gamma; from there on sizes are known.
      scope: variable scope; default "LayerNorm".

    Returns:
      A tensor like ``inputs``.

    Raises:
      ValueError: rank or sizes are not known, or an axis is not among them.

    Source: Ba et al. 2016.
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        sizes, rank = inputs.get_shape(), _rank(inputs)
        if begin_norm_axis < 0:
            begin_norm_axis += rank
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis"
                f" ({begin_norm_axis}) must be < rank(inputs) ({rank})"
            )
        params = sizes[begin_params_axis:]
        if not params.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined:"
                f" {sizes}"
            )
        beta, gamma = _parameters(
            inputs, params, center, scale, None, variables_collections, trainable
        )
        axes = list(range(begin_norm_axis, rank))
        mean, variance = normalization.moments(inputs, axes, keep_dims=True)
        epsilon = 1e-3 if inputs.dtype.base_dtype is dtypes.float16 else 1e-12
        outputs = normalization.batch_normalization(
            inputs, mean, variance, offset=beta, scale=gamma, variance_epsilon=epsilon
        )
        outputs.set_shape(sizes)
        return finished(outputs, activation_fn, outputs_collections, sc)


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Normalizes each channel of each example; arguments as ``layer_norm``, and these.

    Args:
      epsilon: added to the variance.
      param_initializers: initializers by name: "beta", "gamma".
      data_format: "NHWC" or "NCHW".
      scope: variable scope; default "InstanceNorm".

    Returns:
      A tensor like ``inputs``.

    Raises:
      ValueError: another format, or rank or channels that are not known.

    Source: Ulyanov et al. 2016.
    """
    inputs = convert_to_tensor(inputs)
    sizes, rank = inputs.get_shape(), _rank(inputs)
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC.; found {data_format!r}")
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        channels = 1 if data_format == "NCHW" else rank - 1
        params = sizes[channels : channels + 1]
        if not params.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {params}.")
        broadcast = [1, params.as_list()[0], *[1] * (rank - 2)] if data_format == "NCHW" else None
        beta, gamma = _parameters(
            inputs, params, center, scale, param_initializers, variables_collections, trainable,
            broadcast,
        )  # fmt: skip
        axes = [axis for axis in range(1, rank) if axis != channels]
        mean, variance = normalization.moments(inputs, axes, keep_dims=True)
        outputs = normalization.batch_normalization(
            inputs, mean, variance, beta, gamma, epsilon, name="instancenorm"
        )
        outputs.set_shape(sizes)
        return finished(outputs, activation_fn, outputs_collections, sc)


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Any = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Normalizes groups of channels of each example; arguments as ``instance_norm``, and these.

    Args:
      groups: number of groups.
      channels_axis: the axis of the channels.
      reduction_axes: axes that moments are taken over, besides the channels of a group.
      scope: variable scope; default "GroupNorm".
      mean_close_to_zero: whether moments are taken without a shift by the mean.

    Returns:
      A tensor like ``inputs``.

    Raises:
      ValueError: rank or channels are not known, or cannot be cut into groups.

    Source: Wu and He 2018.
    """
    inputs = convert_to_tensor(inputs)
    rank, given = _rank(inputs), inputs.get_shape()
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    dynamic = shape_of(inputs)
    axis = channels_axis + rank if channels_axis < 0 else channels_axis
    reduced = [one + rank if one < 0 else one for one in reduction_axes]
    for one in reduced:
        if one > rank:
            raise ValueError("Axis is out of bounds.")
        if one == axis:
            raise ValueError(
                f"reduction_axis must be mutually exclusive with channels_axis; found {one}"
            )
    sizes = given.as_list()
    channels = sizes[axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {axis}.")
    for open_dim in (one for one in range(1, rank) if sizes[one] is None):
        raise ValueError(f"Inputs {inputs.name} has undefined dimensions {open_dim}.")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    inner = [groups, channels // groups]
    before, after = sizes[:axis], sizes[axis + 1 :]
    broadcast = [*[1] * len(before), *inner, *[1] * len(after)]
    sizes = [dynamic[i] if size is None else size for i, size in enumerate(sizes)]
    inputs = reshape(inputs, [*sizes[:axis], *inner, *sizes[axis + 1 :]])
    axes = [axis + 1, *(one + 1 if one > axis else one for one in reduced)]
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        beta, gamma = _parameters(
            inputs, [channels], center, scale, param_initializers, variables_collections,
            trainable, broadcast,
        )  # fmt: skip
        if mean_close_to_zero:
            counts, sums, squares, _ = normalization.sufficient_statistics(
                inputs, axes, keep_dims=True
            )
            mean, variance = normalization.normalize_moments(counts, sums, squares, shift=None)
        else:
            mean, variance = normalization.moments(inputs, axes, keep_dims=True)
        gain = rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain, offset = gain * gamma, offset * gamma
        if beta is not None:
            offset = offset + beta
        outputs = reshape(inputs * gain + offset, sizes)
        return finished(outputs, activation_fn, outputs_collections, sc)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: str | None = None) -> Any:
    """``inputs`` by its length over one dim.

    Args:
      inputs: floating, of known rank.
      dim: the dim.
      epsilon: added to the sum of squares.
      scope: name scope; default "UnitNorm".

    Returns:
      A tensor like ``inputs``.

    Raises:
      ValueError: the rank is not known, or ``dim`` is not among the dims.
    """
    with scopes.name_scope(scope, "UnitNorm", [inputs]):
        if not inputs.get_shape():
            raise ValueError("The input rank must be known.")
        rank = len(inputs.get_shape().dims)
        if dim < 0 or dim >= rank:
            raise ValueError(
                f"dim must be positive but smaller than the input rank.: found {dim} of {rank}"
            )
        lengths = sqrt(epsilon + reduce_sum(square(inputs), dim, True))
        multiples: list[Any] = []
        if dim > 0:
            multiples.append(ones([dim], dtypes.int32))
        multiples.append(strided_slice(shape_of(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(ones([rank - 1 - dim], dtypes.int32))
        return div(inputs, tile(lengths, concat(multiples, 0)))
