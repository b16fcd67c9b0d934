"""``tf.keras.backend``: arithmetic, reductions and shapes, under the names that Keras gives them.

A negative axis counts from the end; ``axis`` of None is all of them; ``keepdims`` keeps reduced
dims as 1.  Sums of bools are of type float32, as in Keras.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library import nn
from penstock.library.layer_base import settings
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import nodes, pad, reshape as reshaping, transpose as transposing
from penstock.ops.linalg import contraction, matmul
from penstock.ops.math import argmax as arguments, statistics
from penstock.ops.sparse import sparse, sparse_functions


def _number(x: Any) -> Any:
    x = convert_to_tensor(x)
    return math.cast(x, settings.floatx()) if x.dtype.base_dtype is dtypes.bool else x


def sum_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum over ``axis``."""
    return math.reduce_sum(x, axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product over ``axis``."""
    return math.reduce_prod(x, axis, keepdims)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean over ``axis``."""
    return math.reduce_mean(_number(x), axis, keepdims)


def max_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest over ``axis``."""
    return math.reduce_max(x, axis, keepdims)


def min_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest over ``axis``."""
    return math.reduce_min(x, axis, keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean square of distances from the mean over ``axis``."""
    return statistics.reduce_variance(_number(x), axis, keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The root of ``var``."""
    return statistics.reduce_std(_number(x), axis, keepdims)


def any_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether one over ``axis`` is not 0."""
    return math.reduce_any(math.cast(x, dtypes.bool), axis, keepdims)


def all_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all over ``axis`` are not 0."""
    return math.reduce_all(math.cast(x, dtypes.bool), axis, keepdims)


def argmax(x: Any, axis: int = -1) -> Any:
    """Where the largest along ``axis`` is."""
    return arguments.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Where the smallest along ``axis`` is."""
    return arguments.argmin(x, axis)


def sqrt(x: Any) -> Any:
    """The root; that of a negative number is 0."""
    x = convert_to_tensor(x)
    return math.sqrt(math.clip_by_value(x, math.cast(0.0, x.dtype), math.cast(np.inf, x.dtype)))


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """Values within bounds; a bound of None is none, and the upper is at least the lower."""
    if max_value is None:
        max_value = np.inf
    if min_value is None:
        min_value = -np.inf
    if isinstance(min_value, int | float) and isinstance(max_value, int | float):
        max_value = max(max_value, min_value)
    return math.clip_by_value(x, min_value, max_value)


def pow_(x: Any, a: Any) -> Any:
    """Values to the power of ``a``."""
    return math.pow_(x, a)


def cast(x: Any, dtype: Any) -> Any:
    """Values in another type, which may be a name."""
    return math.cast(x, dtypes.as_dtype(dtype))


def cast_to_floatx(x: Any) -> Any:
    """An array in the default type; a tensor likewise."""
    if hasattr(x, "op") or hasattr(x, "has_value"):
        return math.cast(x, settings.floatx())
    return np.asarray(x, settings.floatx())


def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Values divided by their length along ``axis``."""
    return nn.l2_normalize(x, axis=axis)


# ---- products --------------------------------------------------------------------------------


def dot(x: Any, y: Any) -> Any:
    """The product of matrices; of more dims, over the last of x and the last but one of y."""
    x, y = (one if isinstance(one, SparseTensor) else convert_to_tensor(one) for one in (x, y))
    if isinstance(x, SparseTensor):
        return sparse_functions.sparse_tensor_dense_matmul(x, y)
    if x.shape.ndims is None or (x.shape.ndims <= 2 and y.shape.ndims == 2):
        return matmul.matmul(x, y)
    return contraction.tensordot(x, y, [[x.shape.ndims - 1], [max(y.shape.ndims - 2, 0)]])


def batch_flatten(x: Any) -> Any:
    """[batch, all other dims]."""
    x = convert_to_tensor(x)
    sizes = x.shape.as_list()[1:]
    size = int(np.prod(sizes)) if None not in sizes else math.reduce_prod(nodes.shape(x)[1:])
    return reshaping.reshape(x, [-1, size])


# ---- shapes ----------------------------------------------------------------------------------


def flatten(x: Any) -> Any:
    """All values in one dim."""
    return reshaping.reshape(x, [-1])


def concatenate(tensors: Sequence[Any], axis: int = -1) -> Any:
    """Tensors one after another along ``axis``."""
    if axis < 0:
        axis %= convert_to_tensor(tensors[0]).shape.ndims or 1
    return math.concat(list(tensors), axis)


def expand_dims(x: Any, axis: int = -1) -> Any:
    """A dim of 1 at ``axis``."""
    return math.expand_dims(x, axis)


def squeeze(x: Any, axis: int) -> Any:
    """Without the dim of 1 at ``axis``."""
    return math.squeeze(x, [axis])


def permute_dimensions(x: Any, pattern: Sequence[int]) -> Any:
    """Dims in another order."""
    return transposing.transpose(x, pattern)


def repeat(x: Any, n: int) -> Any:
    """[batch, features] as [batch, n, features], ``n`` times the same."""
    return math.tile(math.expand_dims(x, 1), [1, n, 1])


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Each element along ``axis`` as often as ``rep`` says."""
    x = convert_to_tensor(x)
    parts = [math.expand_dims(x, axis + 1)] * rep
    whole = math.concat(parts, axis + 1)
    sizes = list(x.shape.as_list())
    sizes[axis] = -1 if sizes[axis] is None else sizes[axis] * rep
    if sizes.count(None) + (sizes[axis] == -1) <= 1:
        return reshaping.reshape(whole, [-1 if d is None else d for d in sizes])
    dynamic = nodes.shape(x)
    return reshaping.reshape(
        whole, math.stack([dynamic[i] * (rep if i == axis else 1) for i in range(len(sizes))])
    )


def tile(x: Any, n: Any) -> Any:
    """Copies of x along each dim."""
    return math.tile(x, [n] if isinstance(n, int) else n)


def gather(reference: Any, indices: Any) -> Any:
    """The rows of those numbers."""
    return math.gather(reference, indices)


def one_hot(indices: Any, num_classes: int) -> Any:
    """Numbers of classes as rows of zeros and a one."""
    return math.one_hot(indices, num_classes, axis=-1)


def temporal_padding(x: Any, padding: Sequence[int] = (1, 1)) -> Any:
    """Zeros before and after the steps of [batch, steps, features]."""
    return pad.pad(x, [[0, 0], list(padding), [0, 0]])


def is_sparse(tensor: Any) -> bool:
    """Whether a tensor is a ``tf.SparseTensor``."""
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Any) -> Any:
    """A sparse tensor as a dense one; others as they are."""
    return sparse.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor
