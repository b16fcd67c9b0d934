"""IndexedSlices where a tensor is wanted, and functions that take either.

A conversion sums the rows into a dense tensor (UnsortedSegmentSum).  That may need much more memory
than the slices, so it warns when the result is large or of unknown size.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor, SparseTensorValue
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static

_LARGE_ELEMENTS = 100_000_000


def to_dense(value: IndexedSlices, name: str | None = None, warn: bool = True) -> Tensor:
    """The dense tensor that ``value`` stands for, repeated rows added up.

    Args:
      value: slices that know their dense shape.
      warn: whether to warn when the result is large or its size unknown.

    Raises:
      ValueError: the dense shape is not given.
    """
    if value.dense_shape is None:
        raise ValueError(f"{value} has no dense_shape, so it cannot become a dense tensor")
    if warn:
        _warn_when_large(value.dense_shape)
    return make("UnsortedSegmentSum", value.values, value.indices, value.dense_shape[0], name=name)


def _warn_when_large(dense_shape: Tensor) -> None:
    shape = static.constant_value(dense_shape)
    if shape is None:
        text = "of unknown shape"
    else:
        size = int(np.prod(shape, dtype=np.int64))
        if size < _LARGE_ELEMENTS:
            return
        text = f"with {size} elements"
    warnings.warn(
        f"Converting sparse IndexedSlices to a dense Tensor {text}. "
        "This may consume a large amount of memory.",
        stacklevel=3,
    )


def _convert(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    if dtype is not None and dtypes.as_dtype(dtype).base_dtype is not value.dtype.base_dtype:
        raise ValueError(f"{value} is {value.dtype.name}; {dtypes.as_dtype(dtype).name} is wanted")
    return to_dense(value, name)


convert.register_tensor_conversion_function(IndexedSlices, _convert)


def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """``value`` itself if it is an IndexedSlices, else ``tf.convert_to_tensor`` of it.

    Args:
      value: an IndexedSlices or what converts to a tensor.
      dtype: the element type wanted.
      name: name of the constant made, if any.

    Raises:
      ValueError: an IndexedSlices of another dtype.
    """
    if not isinstance(value, IndexedSlices):
        return convert.convert_to_tensor(value, dtype, name)
    if dtype is not None and dtypes.as_dtype(dtype).base_dtype is not value.dtype.base_dtype:
        raise ValueError(f"{value} is {value.dtype.name}; {dtypes.as_dtype(dtype).name} is wanted")
    return value


def convert_n_to_tensor_or_indexed_slices(
    values: Sequence[Any], dtype: Any = None, name: str | None = None
) -> list[Any]:
    """``convert_to_tensor_or_indexed_slices`` of each; None stays None."""
    if not isinstance(values, list | tuple):
        raise TypeError(f"values must be a sequence; found {type(values).__name__}")
    return [
        v if v is None
        else convert_to_tensor_or_indexed_slices(v, dtype, f"{name}_{i}" if name else None)
        for i, v in enumerate(values)
    ]  # fmt: skip


def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """``value`` as a SparseTensor if it is one (or its value), else as a tensor.

    Raises:
      RuntimeError: a SparseTensor of another dtype.
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        return convert.convert_to_tensor(value, dtype, name)
    if dtype is not None and dtypes.as_dtype(dtype).base_dtype is not value.dtype.base_dtype:
        raise RuntimeError(
            f"sparse tensor {value} is {value.dtype.name}; {dtypes.as_dtype(dtype).name} is wanted"
        )
    return value
