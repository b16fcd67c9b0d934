"""Masks on weights, and the collections where pruning finds them."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.collecting import (
    add_to_collection,
    get_collection,
    get_collection_ref,
)
from penstock.library.nn.normalization import zero_fraction
from penstock.library.ragged_tensors.dispatched import multiply
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import ones_initializer, zeros_initializer
from penstock.library.variables.scoping import variable_scope

MASK, THRESHOLD, MASKED, WEIGHT = "masks", "thresholds", "masked_weights", "kernel"
MASKED_WEIGHT_NAME = "weights/masked_weight"


def apply_mask(x: Any, scope: Any = "") -> Any:
    """Weights times a mask, which pruning changes; it starts with ones.

    Args:
      x: the weights: a variable or tensor of known shape.
      scope: variable scope of the mask and its threshold.

    Returns:
      A tensor shaped like ``x``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     weights = tf.get_variable("weights", [2, 3])
      ...     masked = tf.contrib.model_pruning.apply_mask(weights, scope="here")
      ...     [v.name for v in tf.contrib.model_pruning.get_masks()], masked.shape.as_list()
      (['here/mask:0'], [2, 3])
    """
    with variable_scope(scope):
        shape, dtype = x.get_shape(), x.dtype.base_dtype
        mask = get_variable(
            "mask", shape, dtype, ones_initializer(), trainable=False
        )  # fmt: skip
        threshold = get_variable("threshold", [], dtype, zeros_initializer(), trainable=False)
    masked = multiply(mask, x, MASKED_WEIGHT_NAME)
    collect(mask, threshold, masked, x)
    return masked


def collect(mask: Any, threshold: Any, masked: Any, weights: Any) -> None:
    """Puts what belongs to weights into the collections, once for each mask."""
    if any(mask is one for one in get_collection_ref(MASK)):
        return
    add_to_collection(THRESHOLD, threshold)
    add_to_collection(MASK, mask)
    add_to_collection(MASKED, masked)
    add_to_collection(WEIGHT, weights)


def get_masked_weights() -> list[Any]:
    """The masked weights of the graph, tensors."""
    return get_collection(MASKED)


def get_masks() -> list[Any]:
    """The masks of the graph, variables."""
    return get_collection(MASK)


def get_thresholds() -> list[Any]:
    """The thresholds below which weights are masked, variables."""
    return get_collection(THRESHOLD)


def get_weights() -> list[Any]:
    """The weights of the graph that have masks."""
    return get_collection(WEIGHT)


def get_weight_sparsity() -> list[Any]:
    """The share of zeros of each mask, scalar tensors."""
    return [zero_fraction(mask) for mask in get_masks()]
