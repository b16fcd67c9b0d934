"""Statistics of samples: percentiles and auto-correlations."""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import cast, constant, join, pad, reshape, shape, sorting, transpose
from penstock.ops.control import check, control
from penstock.ops.math import clip, complex as complex_, elementwise, reduction
from penstock.ops.signal import fft

_WAYS = {"nearest": elementwise.round_, "lower": elementwise.floor, "higher": elementwise.ceil}


def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The value below which q percent of the values lie.

    Args:
      x: numbers; their rank is known where ``axis`` is given.
      q: scalar from 0 to 100.
      axis: the axes over which they are taken; all by default.
      interpolation: which value where q lies between two: ``"nearest"`` (the default),
        ``"lower"`` or ``"higher"``.
      keep_dims: whether the axes stay, with the size 1.
      validate_args: whether q is checked to be from 0 to 100.

    Returns:
      A tensor of the dtype of ``x``.

    Raises:
      ValueError: another interpolation, or ``q`` is no scalar.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.percentile([1., 2., 9.], 50.)).item()
      2.0
    """
    way = interpolation or "nearest"
    if way not in _WAYS:
        raise ValueError(
            f"Argument 'interpolation' must be in {{'nearest', 'lower', 'higher'}}.  Found {way}"
        )
    with name_scope(name, "percentile", [x, q]):
        x = convert_to_tensor(x, name="x")
        # Where the values are integers, the index must still be found exactly.
        q = convert_to_tensor(q, dtype=dtypes.float64, name="q")
        if q.shape.ndims not in (None, 0):
            raise ValueError(f"Expected argument 'q' to be a scalar; found {q.shape}")
        if validate_args:
            least, most = (constant.constant(bound, dtype=q.dtype) for bound in (0.0, 100.0))
            bounds = [check.assert_greater_equal(q, least), check.assert_less_equal(q, most)]
            q = control.with_dependencies(bounds, q)
        axes = None if axis is None else _axes(axis, x)
        rows = _in_rows(x, axes)
        sizes: Any = shape.shape(rows)
        last = sizes[-1]
        place = _WAYS[way](cast.cast(last - 1, dtypes.float64) * (q / 100.0))
        index = cast.cast(clip.clip_by_value(place, 0.0, cast.cast(last - 1, dtypes.float64)),
                          dtypes.int32)  # fmt: skip
        ordered: Any = sorting.sort(rows, axis=-1)
        found: Any = ordered[..., index]
        if keep_dims:
            kept = _kept_shape(x, axes)
            found = reshape.reshape(found, kept)
        return found  # type: ignore[no-any-return]


def _axes(axis: Any, x: Tensor) -> list[int]:
    """The axes as numbers of 0 or more."""
    known = static.constant_value(convert_to_tensor(axis, name="axis", dtype=dtypes.int32))
    if known is None:
        raise ValueError("Argument 'axis' must be known while the graph is built")
    rank = x.shape.ndims
    if rank is None:
        raise ValueError("the rank of x must be known where 'axis' is given")
    given = [int(one) for one in known.reshape(-1)]
    for one in given:
        if not -rank <= one < rank:
            raise ValueError(f"dim {one} not in the interval [0, {rank - 1}].")
    return sorted(one % rank for one in given)


def _in_rows(x: Tensor, axes: list[int] | None) -> Any:
    """``x`` with the values that belong together in its last dim."""
    if axes is None:
        return reshape.reshape(x, [-1])
    rank = x.shape.ndims or 0
    kept = [i for i in range(rank) if i not in axes]
    turned = transpose.transpose(x, kept + axes)
    dims: Any = shape.shape(turned)
    rows = reshape.reshape(turned, join.concat([dims[: len(kept)], [-1]], 0))
    rows.set_shape([x.shape.as_list()[i] for i in kept] + [rows.shape.as_list()[-1]])
    return rows


def _kept_shape(x: Tensor, axes: list[int] | None) -> Any:
    dims: Any = shape.shape(x)
    if axes is None:
        return elementwise.ones_like(dims)
    rank = x.shape.ndims or 0
    return join.stack([1 if i in axes else dims[i] for i in range(rank)])


def auto_correlation(
    x: Any,
    axis: int = -1,
    max_lags: int | None = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> Tensor:
    """The correlations of a sequence with itself some places further on.

    Args:
      x: floating or complex tensor.
      axis: along which the sequences lie; its size is known where ``max_lags`` is not given.
      max_lags: the greatest number of places; all by default.
      center: whether the mean is subtracted first.
      normalize: whether they are divided by the first one, so that it is 1.

    Returns:
      A tensor like ``x``, of the size ``max_lags + 1`` along the axis.

    Raises:
      TypeError: ``x`` is neither floating nor complex.

    Example:
      >>> import penstock as tf
      >>> of = tf.contrib.distributions.auto_correlation([1., -1., 1., -1.])
      >>> [round(each) for each in tf.Session().run(of).tolist()]
      [1, -1, 1, -1]
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        kind = x.dtype.base_dtype
        if not (kind.is_floating or kind.is_complex):
            raise TypeError(f"Argument x must have either float or complex dtype found: {kind!r}")
        rank = x.shape.ndims
        if rank is None:
            raise ValueError("the rank of x must be known")
        order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
        rows: Any = transpose.transpose(x, order)
        count = rows.shape.as_list()[-1]
        if count is None:
            raise ValueError("the size of x along the axis must be known")
        lags = count - 1 if max_lags is None else min(max_lags, count - 1)
        if center:
            rows = rows - reduction.reduce_mean(rows, axis=-1, keepdims=True)
        found = _sums_of_products(rows, count, kind)[..., : lags + 1]
        pairs = [float(count - lag) for lag in range(lags + 1)]
        found = found / convert_to_tensor(pairs, dtype=found.dtype)
        if normalize:
            found = found / found[..., :1]
        return transpose.transpose(found, _inverse(order))


def _sums_of_products(rows: Any, count: int, kind: Any) -> Any:
    """The sums of ``conj(x[i]) x[i + lag]``, by the power spectrum of the padded sequence."""
    size = 2 ** math.ceil(math.log2(2 * count))
    whole = dtypes.complex128 if kind in (dtypes.float64, dtypes.complex128) else dtypes.complex64
    paddings = [[0, 0]] * (rows.shape.ndims - 1) + [[0, size - count]]
    padded = pad.pad(cast.cast(rows, whole), paddings)
    spectrum: Any = fft.fft(padded)
    powers = spectrum * elementwise.conj(spectrum)
    found = fft.ifft(powers)
    return found if kind.is_complex else cast.cast(complex_.real(found), kind)


def _inverse(order: list[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)
