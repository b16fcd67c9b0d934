"""Gradients against differences: what ``tf.gradients`` says of a function, and what steps show.

A Jacobian has a row for each element of ``x`` and a column for each of ``y``; a complex element is
two real ones, its real and its imaginary part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.gradients import gradients
from penstock.ops.array.constant import constant
from penstock.ops.control.control import identity
from penstock.tools.platform import tf_logging

_TYPES = (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64,
    dtypes.complex128,
)  # fmt: skip


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Mapping[Any, Any] | None = None,
) -> Any:
    """The Jacobian of ``y`` by ``x``, by gradients and by differences.

    It is computed in the default session.

    Args:
      x: a tensor, or a list of them.
      x_shape: its shape, or the list of theirs.
      y: a tensor.
      y_shape: its shape.
      x_init_value: array where to take the Jacobian, or the list of them; default is a random one.
      delta: by how much elements of ``x`` are changed, up and down.
      init_targets: operations that are run first.
      extra_feed_dict: what else is fed.

    Returns:
      Two arrays [elements of x, elements of y]: by gradients, by differences; for a list of ``x``
      the list of such pairs.

    Raises:
      TypeError: ``x`` or ``y`` has a type without gradients.
      ValueError: ``x_init_value`` has another shape than ``x_shape``.
    """
    single = not isinstance(x, list)
    xs, shapes = ([x], [x_shape]) if single else (x, x_shape)
    starts = [x_init_value] if single else (x_init_value or [None] * len(xs))
    pairs = [_gradient_and_dy(each, y, y_shape) for each in xs]
    for target in init_targets or ():
        target.run()
    found = []
    for each, shape, start, (dx, dy) in zip(xs, shapes, starts, pairs):
        value = _start(each, shape, start)
        feeds = dict(extra_feed_dict or {})
        by_gradients = _by_gradients(each, value, dx, dy, y_shape, feeds)
        by_differences = _by_differences(each, value, y, y_shape, delta, feeds)
        tf_logging.vlog(1, "Theoretical Jacobian =\n%s", by_gradients)
        tf_logging.vlog(1, "Numeric Jacobian =\n%s", by_differences)
        found.append((by_gradients, by_differences))
    return found[0] if single else found


def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Mapping[Any, Any] | None = None,
) -> float:
    """The largest difference between the two Jacobians of ``compute_gradient``.

    Args:
      x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict: as there.

    Example:
      >>> import numpy as np, penstock as tf
      >>> with tf.Graph().as_default(), tf.Session():
      ...     x = tf.constant([1.0, 2.0])
      ...     at = np.array([1.0, 2.0], np.float32)
      ...     tf.test.compute_gradient_error(x, [2], x * x, [2], x_init_value=at) < 1e-3
      True
    """
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    pairs = [found] if isinstance(found, tuple) else found
    return max(float(np.abs(one - other).max(initial=0)) for one, other in pairs)


def _gradient_and_dy(x: Tensor, y: Tensor, y_shape: Sequence[int]) -> tuple[Any, Tensor]:
    for name, tensor in (("x", x), ("y", y)):
        if tensor.dtype.base_dtype not in _TYPES:
            raise TypeError(
                f"{name} must have one of the types {[t.name for t in _TYPES]}; found"
                f" {tensor.dtype.name}"
            )
    with x.graph.as_default():
        dy = constant(1.0, shape=y_shape, dtype=y.dtype.base_dtype)
        # What is fed cannot be what is fetched, which the gradient of an identity would be.
        return gradients(y, x, identity(dy))[0], dy


def _start(x: Tensor, shape: Sequence[int], given: Any) -> np.ndarray:
    kind = x.dtype.as_numpy_dtype
    if given is None:
        drawn = np.random.random_sample(shape)
        if x.dtype.is_complex:
            drawn = drawn + 1j * np.random.random_sample(shape)
        return np.asarray(drawn, dtype=kind)
    if list(given.shape) != list(shape):
        raise ValueError(f"x_shape is {list(shape)}, and x_init_value has {list(given.shape)}")
    return np.array(given, dtype=kind)


def _flat(array: np.ndarray, real: Any) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(real)


def _by_gradients(
    x: Tensor, value: np.ndarray, dx: Any, dy: Tensor, y_shape: Sequence[int], feeds: dict[Any, Any]
) -> np.ndarray:
    session = scopes.get_default_session()
    real = x.dtype.real_dtype.as_numpy_dtype
    change = np.zeros(y_shape, dy.dtype.as_numpy_dtype)
    columns = _flat(change, dy.dtype.real_dtype.as_numpy_dtype)
    change = columns.view(change.dtype).reshape(change.shape)
    found = np.zeros((_flat(value, real).size, columns.size), real)
    for column in range(columns.size):
        columns[column] = 1
        got = session.run(dx, feed_dict={**feeds, x: value, dy: change})
        found[:, column] = _flat(_dense(got, dx, value), real)
        columns[column] = 0
    if not columns.size:
        _check_empty(session.run(dx, feed_dict={**feeds, x: value, dy: change}), value)
    return found


def _dense(got: Any, dx: Any, value: np.ndarray) -> np.ndarray:
    if not isinstance(dx, IndexedSlices):
        return np.asarray(got)
    dense = np.zeros(value.shape, value.dtype)
    np.add.at(dense, got.indices, got.values)
    return dense


def _check_empty(got: np.ndarray, value: np.ndarray) -> None:
    if got.shape != value.shape:
        raise ValueError(f"Empty gradient has wrong shape: expected {value.shape}, got {got.shape}")
    if np.any(got):
        raise ValueError("Empty tensor with nonzero gradients")


def _by_differences(
    x: Tensor,
    value: np.ndarray,
    y: Tensor,
    y_shape: Sequence[int],
    delta: float,
    feeds: dict[Any, Any],
) -> np.ndarray:
    session = scopes.get_default_session()
    # A bfloat16 is too coarse for steps of ``delta``: differences are taken of float32.
    reals = [np.float32 if t.dtype.base_dtype == dtypes.bfloat16 else
             t.dtype.real_dtype.as_numpy_dtype for t in (x, y)]  # fmt: skip
    wide = value.astype(np.float32) if x.dtype.base_dtype == dtypes.bfloat16 else value
    rows = _flat(wide, reals[0]).size
    y_size = int(np.prod(y_shape)) * (2 if y.dtype.is_complex else 1)
    found = np.zeros((rows, y_size), reals[0])
    scale = np.asarray(2 * delta, reals[1])[()]
    for row in range(rows):
        at = []
        for step in (delta, -delta):
            moved = _flat(wide.copy(), reals[0])
            moved[row] += step
            moved = moved.view(wide.dtype).reshape(wide.shape)
            got = session.run(y, feed_dict={**feeds, x: moved.astype(value.dtype)})
            at.append(_flat(np.asarray(got), y.dtype.real_dtype.as_numpy_dtype).astype(reals[1]))
        found[row] = (at[0] - at[1]) / scale
    return found
