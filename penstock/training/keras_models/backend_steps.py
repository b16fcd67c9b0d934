"""``tf.keras.backend``: variables, steps, the learning phase, random numbers, labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library import nn
from penstock.library.autodiff import gradients as autodiff
from penstock.library.control_flow.cond import cond
from penstock.library.layer_base import initializers, phase, sessions, settings
from penstock.library.layer_base.weights import make_variable
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import constant, nodes, ranges, transpose
from penstock.ops.control import control, debug
from penstock.ops.math import select
from penstock.ops.random import random
from penstock.ops.sparse import sparse_compose
from penstock.ops.state import state, state_update


def placeholder(
    shape: Any = None, ndim: int | None = None, dtype: Any = None, sparse: bool = False,
    name: str | None = None, ragged: bool = False,
) -> Any:  # fmt: skip
    """What a step is fed: of a shape, or of a rank, dense or sparse; by default of Keras's type.

    Raises:
      NotImplementedError: ``ragged``.
    """
    if ragged:
        raise NotImplementedError("placeholders of ragged tensors are not supported")
    kind = dtypes.as_dtype(dtype or settings.floatx())
    dims = shape if shape is not None else None if not ndim else [None] * ndim
    if sparse:
        return sparse_compose.sparse_placeholder(kind, dims, name)
    return constant.placeholder(kind, dims, name)


def constant_(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A constant, by default of Keras's type."""
    return constant.constant(
        value, dtypes.as_dtype(dtype or settings.floatx()), shape, name or "Const"
    )


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """A variable with that first value, which Keras's session initializes."""
    first = np.asarray(value, dtype or settings.floatx()) if not hasattr(value, "op") else value
    made = make_variable(
        name, None, dtypes.as_dtype(dtype or settings.floatx()), first, constraint=constraint
    )
    sessions.track_variable(made)
    return made


def _filled(shape: Any, kind: str, dtype: Any, name: str | None, **config: Any) -> Any:
    first = initializers.get({"class_name": kind, "config": config})
    made = make_variable(name, shape, dtypes.as_dtype(dtype or settings.floatx()), first)
    sessions.track_variable(made)
    return made


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros."""
    return _filled(shape, "Zeros", dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones."""
    return _filled(shape, "Ones", dtype, name)


def eye(size: int, dtype: Any = None, name: str | None = None) -> Any:
    """A variable that is the identity matrix."""
    return variable(np.eye(size), dtype, name)


def random_uniform_variable(
    shape: Any, low: float, high: float, dtype: Any = None, name: str | None = None,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """A variable of numbers drawn between two bounds."""
    return _filled(shape, "RandomUniform", dtype, name, minval=low, maxval=high, seed=seed)


def random_normal_variable(
    shape: Any, mean: float, scale: float, dtype: Any = None, name: str | None = None,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """A variable of numbers drawn around a mean."""
    return _filled(shape, "RandomNormal", dtype, name, mean=mean, stddev=scale, seed=seed)


def update(x: Any, new_x: Any) -> Any:
    """The op that gives a variable a value."""
    return state.assign(x, new_x)


def update_add(x: Any, increment: Any) -> Any:
    """The op that adds to a variable."""
    return state_update.assign_add(x, increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """The op that takes off a variable."""
    return state_update.assign_sub(x, decrement)


def gradients(loss: Any, variables: Any) -> Any:
    """The gradients of a loss, one for each variable."""
    return autodiff.gradients(loss, variables)


def stop_gradient(variables: Any) -> Any:
    """The same values, as constants to gradients; of a list, a list."""
    if isinstance(variables, list | tuple):
        return [control.stop_gradient(one) for one in variables]
    return control.stop_gradient(variables)


# ---- the learning phase ----------------------------------------------------------------------


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    made = [one if callable(one) and not hasattr(one, "dtype") else lambda one=one: one
            for one in (yes, no)]  # fmt: skip
    if isinstance(condition, bool | int):
        return made[0]() if condition else made[1]()
    first, second = made
    return cond(
        math.cast(condition, dtypes.bool), lambda: control.identity(first()),
        lambda: control.identity(second()),
    )  # fmt: skip


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """``x`` in training, else ``alt``: each a tensor, or a function that makes one."""
    return _chosen(phase.learning_phase() if training is None else training, x, alt)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """``x`` outside of training, else ``alt``."""
    return in_train_phase(alt, x, training)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two, each a tensor or a function that makes one, by a scalar or element by element."""
    if getattr(getattr(condition, "shape", None), "ndims", 0) == 0:
        return _chosen(condition, then_expression, else_expression)
    yes, no = (
        convert_to_tensor(one() if callable(one) and not hasattr(one, "dtype") else one)
        for one in (then_expression, else_expression)
    )
    where = math.cast(condition, dtypes.bool)
    while where.shape.ndims < yes.shape.ndims:
        where = math.expand_dims(where, -1)
    where = math.logical_and(where, math.cast(math.ones_like(yes), dtypes.bool))
    return select.where(where, yes, no)


def print_tensor(x: Any, message: str = "") -> Any:
    """The same value; a step that needs it prints it, after the message."""
    x = convert_to_tensor(x)
    with scopes.control_dependencies([debug.print_(message, x)]):
        return control.identity(x)


# ---- random numbers --------------------------------------------------------------------------


def _seed(seed: int | None) -> int:
    return int(np.random.randint(10_000_000)) if seed is None else seed


def random_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Numbers drawn around a mean."""
    kind = dtypes.as_dtype(dtype or settings.floatx())
    return random.random_normal(shape, mean, stddev, kind, _seed(seed))


def random_uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Numbers drawn between two bounds."""
    kind = dtypes.as_dtype(dtype or settings.floatx())
    return random.random_uniform(shape, minval, maxval, kind, _seed(seed))


def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Numbers drawn around a mean, at most two deviations from it."""
    kind = dtypes.as_dtype(dtype or settings.floatx())
    return random.truncated_normal(shape, mean, stddev, kind, _seed(seed))


def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None) -> Any:
    """Ones with probability ``p``, else zeros."""
    kind = dtypes.as_dtype(dtype or settings.floatx())
    drawn = random.random_uniform(shape, dtype=kind, seed=_seed(seed))
    return math.cast(drawn <= p, kind)


# ---- sequences of labels ---------------------------------------------------------------------


def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> Any:
    """Rows of labels with their lengths as a sparse tensor.

    Args:
      labels: [batch, most], of which the first of each row count.
      label_lengths: [batch], integers.

    Returns:
      A ``tf.SparseTensor`` of the same shape.
    """
    labels, lengths = convert_to_tensor(labels), convert_to_tensor(label_lengths)
    sizes = nodes.shape(labels)
    places = math.expand_dims(ranges.range_(0, sizes[1], 1), 0)
    counted = places < math.expand_dims(math.cast(lengths, dtypes.int32), 1)
    indices = math.where(counted)
    values = math.gather_nd(labels, indices)
    return SparseTensor(indices, values, math.cast(sizes, dtypes.int64))


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Any:
    """The CTC loss of each sample.

    Args:
      y_true: [batch, most labels].
      y_pred: [batch, steps, classes], probabilities; the last class is the blank.
      input_length, label_length: [batch, 1], how many steps and labels of each sample count.

    Returns:
      [batch, 1].
    """
    lengths = math.cast(math.squeeze(label_length, [-1]), dtypes.int32)
    steps = math.cast(math.squeeze(input_length, [-1]), dtypes.int32)
    found = ctc_label_dense_to_sparse(y_true, lengths)
    labels = SparseTensor(found.indices, math.cast(found.values, dtypes.int32), found.dense_shape)
    logits = math.log(transpose.transpose(y_pred, [1, 0, 2]) + settings.epsilon())
    loss = nn.ctc_loss(labels=labels, inputs=logits, sequence_length=steps)
    return math.expand_dims(loss, 1)


def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """The op that moves a variable towards a value: it keeps ``momentum`` of itself."""
    return state_update.assign_sub(x, (x - value) * (1 - momentum))
