"""``tf.keras.backend``: products, normalization, loops and labels of batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library import nn
from penstock.library.control_flow import functional
from penstock.library.layer_base import settings
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import (
    join,
    nodes,
    ranges,
    reshape as reshaping,
    shape as shapes,
    sorting,
    transpose as transposing,
)
from penstock.ops.control import control
from penstock.ops.linalg import matmul
from penstock.ops.math import cumulative, elementwise, statistics
from penstock.ops.nn import dropout as drop
from penstock.ops.sparse import sparse

# ---- what makes tensors, and what is known of them -------------------------------------------


def backend() -> str:
    """The name of Keras's backend."""
    return "tensorflow"


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Numbers in a row; those up to a single negative one are none."""
    if stop is None and start < 0:
        start = 0
    found = ranges.range_(start, limit=stop, delta=step, name="arange")
    return found if dtype == "int32" else math.cast(found, dtypes.as_dtype(dtype))


def dtype_(x: Any) -> str:
    """The name of a tensor's type."""
    return str(x.dtype.base_dtype.name)


def identity(x: Any, name: str | None = None) -> Any:
    """The same values in another tensor."""
    return control.identity(x, name)


def is_placeholder(x: Any) -> bool:
    """Whether a tensor is one that steps are fed."""
    op = getattr(x, "op", None)
    return op is not None and op.op_def.role == "placeholder"


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones of x's shape."""
    return elementwise.ones_like(x, dtype, name)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros of x's shape."""
    return elementwise.zeros_like(x, dtype, name)


def shape(x: Any) -> Any:
    """A tensor's sizes, as a step finds them."""
    return shapes.shape(x)


def reshape(x: Any, shape: Any) -> Any:
    """The same values in another shape."""
    return reshaping.reshape(x, shape)


def reverse(x: Any, axes: Any) -> Any:
    """Backwards along an axis or several."""
    return transposing.reverse(x, [axes] if isinstance(axes, int) else list(axes))


def stack(x: Sequence[Any], axis: int = 0) -> Any:
    """Tensors along a new axis."""
    return join.stack(x, axis)


def transpose(x: Any) -> Any:
    """Dims in the opposite order."""
    return transposing.transpose(x)


# ---- sums along an axis, products ------------------------------------------------------------


def cumsum(x: Any, axis: int = 0) -> Any:
    """Sums of all up to each."""
    return cumulative.cumsum(x, axis)


def cumprod(x: Any, axis: int = 0) -> Any:
    """Products of all up to each."""
    return cumulative.cumprod(x, axis)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials."""
    return statistics.reduce_logsumexp(x, axis, keepdims)


def _widened(x: Any, by: int) -> Any:
    return reshaping.reshape(x, math.concat([nodes.shape(x), [1] * by], 0)) if by > 0 else x


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The product of each of a batch with its like.

    Args:
      x, y: tensors of two dims or more, the batch first.
      axes: the axis of each that is summed over, one number for both; by default the last of x
        and the last but one of y.

    Returns:
      A tensor of two dims or more.
    """
    if isinstance(axes, int):
        axes = (axes, axes)
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    of_x, of_y = x.shape.ndims, y.shape.ndims
    if of_x == of_y == 2:
        if axes is not None and axes[0] != axes[1]:
            x = transposing.transpose(x, [1, 0])
        found = math.reduce_sum(x * y, 1 if axes is None else axes[int(axes[0] != axes[1])])
    else:
        x, y = _widened(x, of_y - of_x), _widened(y, of_x - of_y)
        rank = max(of_x, of_y)
        found = matmul.matmul(
            x, y,
            adjoint_a=axes is not None and axes[0] != rank - 1,
            adjoint_b=axes is not None and axes[1] == rank - 1,
        )  # fmt: skip
    if of_x != of_y:
        begin = of_x + of_y - 3 if of_x > of_y else of_x - 1
        found = math.squeeze(found, list(range(begin, begin + abs(of_x - of_y))))
    return math.expand_dims(found, 1) if found.shape.ndims == 1 else found


# ---- normalization and dropout ---------------------------------------------------------------


def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Any:
    """Moves x by a mean and a variance that are given, scales by gamma and adds beta.

    Args:
      x: a batch.
      mean, var, beta, gamma: for each channel, or broadcast with x; gamma and beta may be None.
      axis: of images, where channels are: the last axis or axis 1.
      epsilon: is added to the variance.
    """
    x = convert_to_tensor(x)
    if axis == 1 and x.shape.ndims == 4:
        mean, var, beta, gamma = (
            one if one is None else reshaping.reshape(one, [1, -1, 1, 1])
            for one in (mean, var, beta, gamma)
        )
    return nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


def normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Any, Any, Any]:
    """Normalizes a batch by its own moments.

    Returns:
      The result, the mean and the variance.  Of images that of each channel is as the fused kernel
      gives it for averages over batches: a sum of squares over one less than their number.
    """
    x, axes = convert_to_tensor(x), sorted(reduction_axes)
    if axes == [0, 1, 2] and x.shape.ndims == 4:
        channels = x.shape.as_list()[-1]
        scale = np.ones(channels, x.dtype.as_numpy_dtype) if gamma is None else gamma
        offset = np.zeros(channels, x.dtype.as_numpy_dtype) if beta is None else beta
        return nn.fused_batch_norm(x, scale, offset, epsilon=epsilon)
    mean, var = nn.moments(x, axes)
    wide: tuple[Any, ...] = (mean, var, beta, gamma)
    if axes != list(range(x.shape.ndims - 1)):
        sizes = [
            1 if axis in axes else nodes.shape(x)[axis] if size is None else size
            for axis, size in enumerate(x.shape.as_list())
        ]
        wide = tuple(one if one is None else reshaping.reshape(one, sizes) for one in wide)
    moved, variance, offset, scale = wide
    return nn.batch_normalization(x, moved, variance, offset, scale, epsilon), mean, var


def dropout(x: Any, level: float, noise_shape: Any = None, seed: int | None = None) -> Any:
    """Zeros in place of a share of x, and the others larger by as much."""
    drawn = int(np.random.randint(10_000_000)) if seed is None else seed
    return drop.dropout(x, noise_shape=noise_shape, seed=drawn, rate=level)


# ---- loops over the first axis ---------------------------------------------------------------


def map_fn(fn: Callable[[Any], Any], elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """What a function makes of each."""
    return functional.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """What a function makes of what it has made so far and the next, from the first on."""
    return functional.foldl(fn, elems, initializer=initializer, name=name)


def foldr(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """The same from the last on."""
    return functional.foldr(fn, elems, initializer=initializer, name=name)


# ---- labels ----------------------------------------------------------------------------------


def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Whether each target is among the ``k`` likeliest."""
    return sorting.in_top_k(predictions, targets, k)


def ctc_decode(
    y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Any], Any]:
    """The labels that probabilities say.

    Args:
      y_pred: [batch, steps, classes]; the last class is the blank.
      input_length: [batch], how many steps of each count.
      greedy: whether each step's likeliest class is taken, else a beam search is made.
      beam_width, top_paths: of the search: how many it follows, and how many it returns.

    Returns:
      A list of [batch, most labels], -1 behind a sample's last, one or ``top_paths`` of them; and
      their log probabilities, negated where ``greedy``.
    """
    logits = math.log(transposing.transpose(y_pred, [1, 0, 2]) + settings.epsilon())
    lengths = math.cast(input_length, dtypes.int32)
    if greedy:
        found, chances = nn.ctc_greedy_decoder(logits, lengths)
    else:
        found, chances = nn.ctc_beam_search_decoder(
            logits, lengths, beam_width, top_paths, merge_repeated=False
        )
    return [sparse.sparse_tensor_to_dense(one, default_value=-1) for one in found], chances
