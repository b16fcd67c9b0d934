"""The confusion matrix: how often each class was taken for each other."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import fill, join
from penstock.ops.array.cast import cast
from penstock.ops.control import check, control
from penstock.ops.math import binary, elementwise, reductions, weights
from penstock.ops.sparse import sparse_functions


def _checked(value: Tensor, what: str, limit: Any) -> Tensor:
    """``value`` after an assertion: not negative, or below ``limit`` where one is given."""
    if limit is None:
        held = check.assert_non_negative(value, message=f"`{what}` contains negative values")
    else:
        held = check.assert_less(value, limit, message=f"`{what}` out of bound")
    return control.with_dependencies([held], value)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """A matrix of counts: the row is the label's class, the column the predicted one.

    Args:
      labels: vector of classes, numbered from 0.
      predictions: vector of classes, as many.
      num_classes: how many classes there are; by default one more than the largest number.
      dtype: dtype of the counts.
      weights: what each pair counts, of the shape of ``predictions``; by default 1.

    Returns:
      A matrix [num_classes, num_classes] of ``dtype``.

    Raises:
      ValueError: static shapes do not fit.
      InvalidArgumentError: when it runs: a class is negative or not below ``num_classes``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     print(sess.run(tf.confusion_matrix([1, 0, 1], [1, 1, 1])))
      [[0 1]
       [0 2]]
    """
    operands = [predictions, labels, num_classes, weights]
    with name_scope(name, "confusion_matrix", operands):
        labels, predictions = _squeezed(labels, predictions)
        predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
        labels = _checked(labels, "labels", None)
        predictions = _checked(predictions, "predictions", None)
        if num_classes is None:
            largest = [reductions.reduce_max(classes) for classes in (predictions, labels)]
            num_classes = binary.maximum(*largest) + 1
        else:
            limit = cast(num_classes, dtypes.int64)
            labels = _checked(labels, "labels", limit)
            predictions = _checked(predictions, "predictions", limit)
        return _counted(labels, predictions, num_classes, dtype, weights)


def _squeezed(labels: Any, predictions: Any) -> tuple[Tensor, Tensor]:
    labels = convert_to_tensor(labels, name="labels")
    predictions = convert_to_tensor(predictions, name="predictions")
    return weights.squeeze_last(labels, predictions)


def _counted(
    labels: Tensor, predictions: Tensor, num_classes: Any, dtype: Any, given: Any
) -> Tensor:
    if given is not None:
        given = convert_to_tensor(given, name="weights")
        predictions.get_shape().assert_is_compatible_with(given.get_shape())
        given = cast(given, dtype)
    size = join.stack([num_classes, num_classes])
    indices = join.stack([labels, predictions], axis=1)
    values = elementwise.ones_like(predictions, dtype) if given is None else given
    counts = SparseTensor(indices, values, cast(size, dtypes.int64))
    zeros = fill.zeros(cast(size, dtypes.int32), dtype)
    return sparse_functions.sparse_add(zeros, counts)
