"""Which predictions are right: what the accuracies of ``metrics`` take the mean of."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.ops.array import cast
from penstock.ops.math import argmax, comparison


def equal(labels: Any, predictions: Any) -> Any:
    """Where predictions are the labels.

    Raises:
      tf.errors.InvalidArgumentError: the shapes differ.
    """
    given = convert_to_tensor(labels)
    found = convert_to_tensor(predictions)
    _check_shapes(given, found)
    return comparison.equal(given, found)


def same_class(labels: Any, predictions: Any) -> Any:
    """Where the largest of the scores [batch, n] stands where the largest of the labels does."""
    given, found = convert_to_tensor(labels), convert_to_tensor(predictions)
    _check_shapes(given, found)
    right, said = (argmax.argmax(t, axis=-1, output_type=dtypes.int64) for t in (given, found))
    return comparison.equal(right, said)


def same_side(labels: Any, predictions: Any, threshold: float) -> Any:
    """Where a score is above the threshold and the label is so, or neither is."""
    given, found = convert_to_tensor(labels), convert_to_tensor(predictions)
    _check_shapes(given, found)
    return comparison.equal(
        cast.cast(found, dtypes.float64) > threshold,
        cast.cast(given, dtypes.float64) > threshold,
    )


def class_is(labels: Any, predictions: Any) -> Any:
    """Where the largest of the scores [batch, n] is that of the class which the label names."""
    given, found = convert_to_tensor(labels), convert_to_tensor(predictions)
    _check_shapes(given, found[..., 0] if found.shape.ndims else found)
    chosen = argmax.argmax(found, axis=-1, output_type=dtypes.int64)
    return comparison.equal(chosen, cast.cast(given, dtypes.int64))


def _check_shapes(given: Any, found: Any) -> None:
    if not given.shape.is_compatible_with(found.shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Shapes of labels and predictions are unequal: labels are {given.shape}, predictions"
            f" {found.shape}",
        )
