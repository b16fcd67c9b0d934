"""Moments, and normalisation by them, written from element-wise ops and reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import constant, make, make_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.ops.array import nodes, ranks
from penstock.ops.array.cast import cast
from penstock.ops.math import comparison, reduction, reductions

# The least epsilon that cuDNN takes.
_LEAST_EPSILON = 1.001e-5


def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Divides each value by ``(bias + alpha * sum of squares of neighbouring channels) ** beta``.

    Args:
      input: half, bfloat16 or float ``[batch, height, width, channels]``.
      depth_radius: how many channels on either side count.
      bias: usually positive, so as not to divide by 0.
      alpha: factor of the sum.
      beta: exponent.

    Returns:
      A tensor of the same type and shape.

    Source: Krizhevsky et al. 2012, section 3.3.
    """
    return make_tensor(
        "LRN",
        input,
        name=name,
        depth_radius=5 if depth_radius is None else depth_radius,
        bias=bias,
        alpha=alpha,
        beta=beta,
    )


lrn = local_response_normalization


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalisation of images in one node.

    Args:
      x: half, bfloat16 or float images.
      scale: float vector, one element a channel.
      offset: likewise.
      mean: the mean to use when not training; None when training.
      variance: the variance to use when not training; None when training.
      epsilon: added to the variance.
      data_format: "NHWC" or "NCHW".
      is_training: whether to normalise with the batch's own mean and variance.

    Returns:
      The normalised images; the mean and (unbiased) variance of the batch when training, else those
      given.

    Raises:
      ValueError: mean or variance given when training.

    Source: Ioffe and Szegedy 2015, algorithms 1 and 2.
    """
    if is_training and not (mean is None and variance is None):
        raise ValueError("mean and variance must be None when is_training, since the batch's count")
    x = convert.convert_to_tensor(x, name="input")
    scale = convert.convert_to_tensor(scale, name="scale")
    offset = convert.convert_to_tensor(offset, name="offset")
    if mean is None:
        mean = constant(np.zeros(0, np.float32), dtypes.float32)
    if variance is None:
        variance = constant(np.zeros(0, np.float32), dtypes.float32)
    y, batch_mean, batch_variance, *_ = make(
        "FusedBatchNormV3",
        x,
        scale,
        offset,
        mean,
        variance,
        name=name,
        epsilon=max(epsilon, _LEAST_EPSILON),
        data_format=data_format,
        is_training=is_training,
    )
    return y, batch_mean, batch_variance


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """``scale * (x - mean) / sqrt(variance + variance_epsilon) + offset``.

    Args:
      x: a floating tensor.
      mean: broadcasts against ``x``, like the three that follow.
      variance: of the type of ``mean``.
      offset: None for no offset.
      scale: None for no scale.
      variance_epsilon: keeps the divisor from 0.

    Returns:
      A tensor of the type and shape of ``x``.

    Source: Ioffe and Szegedy 2015.
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x, variance = (convert.convert_to_tensor(t) for t in (x, variance))
        inverse = make("Rsqrt", nodes.add(variance, variance_epsilon))
        if scale is not None:
            inverse = nodes.mul(inverse, scale)
        scaled = nodes.mul(x, nodes.cast(inverse, x.dtype))
        if not isinstance(mean, Tensor):  # numbers are of the type that they are multiplied by
            mean = convert.convert_to_tensor(mean, inverse.dtype if offset is not None else None)
        if offset is not None:
            product = nodes.mul(mean, inverse)
            if isinstance(offset, list | tuple):  # numbers, as above
                offset = convert.convert_to_tensor(offset, product.dtype)
            elif not isinstance(offset, int | float | np.ndarray):
                offset = convert.convert_to_tensor(offset)  # a variable is read here
            shift = nodes.sub(offset, product)
        else:
            shift = nodes.mul(make("Neg", mean), inverse)
        made: Tensor = nodes.add(scaled, nodes.cast(shift, x.dtype))
    return made


def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: Any = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """``batch_normalization`` under the argument names of old programs.

    ``gamma`` is ignored unless ``scale_after_normalization``.
    """
    t = reduction.renamed("input", input, "t", t)
    m = reduction.renamed("mean", mean, "m", m)
    v = reduction.renamed("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over ``axes``.

    Args:
      x: a floating tensor.
      axes: list of ints.
      shift: without effect, for old programs.
      keep_dims: former name of ``keepdims``.
      keepdims: whether reduced dims stay, with size 1.

    Returns:
      Mean and variance (divided by the count, not by one less), of the type of ``x``; half
      precision is computed in single.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     [float(v) for v in sess.run(tf.nn.moments(tf.constant([1.0, 3.0]), [0]))]
      [2.0, 1.0]
    """
    keep = bool(reduction.renamed("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        x = convert.convert_to_tensor(x)
        half = x.dtype.base_dtype is dtypes.float16
        y = nodes.cast(x, dtypes.float32) if half else x
        all_axes = reduction.axes_argument(y, axes)
        mean = make("Mean", y, all_axes, name="mean", keep_dims=True)
        spread = make("SquaredDifference", y, make("StopGradient", mean))
        variance = make("Mean", spread, all_axes, name="variance", keep_dims=True)
        if not keep:
            mean, variance = _squeezed(mean, axes), _squeezed(variance, axes)
        if half:
            mean, variance = nodes.cast(mean, x.dtype), nodes.cast(variance, x.dtype)
    return mean, variance


def _squeezed(tensor: Tensor, axes: Any) -> Tensor:
    if axes is None:
        dims = []
    elif isinstance(axes, np.ndarray) and axes.ndim:
        raise TypeError(f"Expected list for 'axis' argument to 'squeeze' Op, not {axes!r}")
    else:
        dims = [int(a) for a in axes] if hasattr(axes, "__len__") else [int(axes)]
        dims = list(dict.fromkeys(dims))
    return make_tensor("Squeeze", tensor, squeeze_dims=dims)


def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over ``axes`` where elements count by their weights.

    Args:
      x: a floating tensor.
      axes: list of ints.
      frequency_weights: nonnegative weights that broadcast against ``x``.
      keep_dims: former name of ``keepdims``.
      keepdims: whether reduced dims stay, with size 1.

    Returns:
      Weighted mean and variance, of the type of ``x``.
    """
    keep = bool(reduction.renamed("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert.convert_to_tensor(x, name="x")
        weights = convert.convert_to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype.base_dtype is dtypes.float16
        kind = x.dtype
        if half:
            x = nodes.cast(x, dtypes.float32)
        weights = nodes.cast(weights, x.dtype)
        all_axes = reduction.axes_argument(x, axes)
        total = make(
            "Sum", nodes.mul(weights, x), all_axes, name="weighted_input_sum", keep_dims=True
        )
        spread_weights = nodes.add(weights, nodes.zeros_like(x))
        count = make("Sum", spread_weights, all_axes, name="sum_of_weights", keep_dims=True)
        inverse = make("Reciprocal", count, name="inv_weight_sum")
        mean = make("Mul", total, inverse)
        squares = nodes.mul(weights, make("SquaredDifference", x, mean))
        squares = make("Sum", squares, all_axes, name="weighted_distsq", keep_dims=True)
        variance = make("Mul", squares, inverse)
        if not keep:
            mean, variance = _squeezed(mean, axes), _squeezed(variance, axes)
        if half:
            mean, variance = nodes.cast(mean, kind), nodes.cast(variance, kind)
    return mean, variance


def sufficient_statistics(
    x: Any,
    axes: Any,
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """What ``normalize_moments`` needs, as sums, which may be added up over batches.

    Args:
      x: a floating tensor.
      axes: list of ints.
      shift: a value near the mean, subtracted for numerical stability; None for none.
      keep_dims: former name of ``keepdims``.
      keepdims: whether reduced dims stay, with size 1.

    Returns:
      The number of elements reduced, the (shifted) sum, the (shifted) sum of squares, the shift.
    """
    keep = bool(reduction.renamed("keepdims", keepdims, "keep_dims", keep_dims))
    axes = sorted({int(a) for a in axes})
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert.convert_to_tensor(x, name="x")
        kind = x.dtype.base_dtype
        dims = x.sizes
        if dims is not None and all(dims[a] is not None for a in axes):
            size = np.prod([dims[a] for a in axes], dtype=np.int64)
            counts = constant(np.asarray(size, kind.as_numpy_dtype), kind)
        else:
            sizes = nodes.gather(nodes.cast(make("Shape", x), kind), axes)
            counts = reductions.reduce_prod(sizes, name="count")
        if shift is not None:
            shift = convert.convert_to_tensor(shift, name="shift")
            values, squares = make("Sub", x, shift), make("SquaredDifference", x, shift)
        else:
            values, squares = x, make("Square", x)
        values = make("Sum", values, axes, name="mean_ss", keep_dims=keep)
        squares = make("Sum", squares, axes, name="var_ss", keep_dims=keep)
    return counts, values, squares, shift


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of the results of ``sufficient_statistics``.

    Args:
      counts: number of elements.
      mean_ss: sum of the (shifted) elements.
      variance_ss: sum of their squares.
      shift: the shift, or None.

    Returns:
      Mean and variance.
    """
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = make("Reciprocal", counts, name="divisor")
        if shift is not None:
            shifted = make("Mul", mean_ss, divisor, name="shifted_mean")
            mean = make("Add", shifted, shift, name="mean")
        else:
            mean = shifted = make("Mul", mean_ss, divisor, name="mean")
        product = make("Mul", variance_ss, divisor)
        variance = make("Sub", product, make("Square", shifted), name="variance")
    return mean, variance


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """``x / sqrt(max(sum(x ** 2), epsilon))``, the sum over ``axis``.

    Args:
      x: a floating tensor.
      axis: int or list of ints; None for all.
      epsilon: least sum of squares.
      dim: former name of ``axis``.

    Returns:
      A tensor of the type and shape of ``x``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     print(session.run(tf.nn.l2_normalize([[3.0, 4.0], [0.0, 2.0]], 1)))
      [[0.6 0.8]
       [0.  1. ]]
    """
    axis = reduction.renamed("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert.convert_to_tensor(x, name="x")
        total = reduction.reduce_sum(make("Square", x), axis, keepdims=True)
        inverse = make("Rsqrt", nodes.maximum(total, epsilon))
        return make_tensor("Mul", x, inverse, name=scope)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The share of elements that are zero, a float32 scalar (nan where there are none).

    Args:
      value: a numeric tensor.

    Returns:
      The share.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     print(session.run(tf.nn.zero_fraction(tf.nn.relu([-1.0, -2.0, 3.0, -4.0]))))
      0.75
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert.convert_to_tensor(value, name="value")
        size = ranks.size(value, out_type=dtypes.int64)
        # Counted in int32 where that suffices, as in TensorFlow.
        nonzero = cond(
            comparison.less_equal(size, int(np.iinfo(np.int32).max)),
            lambda: cast(_nonzero_count(value, dtypes.int32), dtypes.int64),
            lambda: _nonzero_count(value, dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = nodes.cast(nodes.sub(size, nonzero), dtypes.float32)
            share = nodes.div(zeros, nodes.cast(size, dtypes.float32))
        return make_tensor("Identity", share, name="fraction")


def _nonzero_count(value: Tensor, dtype: dtypes.DType) -> Tensor:
    with name_scope("count_nonzero"):
        zero = make("Const", name="zeros", value=np.zeros((), value.dtype.as_numpy_dtype),
                    dtype=value.dtype)  # fmt: skip
        nonzero = cast(make("NotEqual", value, zero), dtype)
        count: Tensor = reduction.reduce_sum(nonzero, name="nonzero_count")
        return count
