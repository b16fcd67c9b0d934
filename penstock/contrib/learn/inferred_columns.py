"""Columns of numbers for what an input function or arrays bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from penstock.contrib.layers.columns.dense import RealValuedColumn
from penstock.contrib.layers.columns.parsing import infer_real_valued_columns
from penstock.foundation.graph.graph import Graph
from penstock.ops.array.constant import placeholder


def infer_real_valued_columns_from_input_fn(
    input_fn: Callable[[], Any],
) -> list[RealValuedColumn]:
    """Columns for the features of an input function, as many numbers each as they have.

    Args:
      input_fn: returns features, one or by key, and labels.

    Raises:
      ValueError: a feature is sparse, or of something else than numbers.
    """
    with Graph().as_default():
        features, _ = input_fn()
        return infer_real_valued_columns(features)


def infer_real_valued_columns_from_input(x: Any) -> list[RealValuedColumn]:
    """Columns for arrays, as many numbers each as their examples have.

    Args:
      x: an array [examples, numbers], or arrays by key.

    Raises:
      ValueError: an array of something else than numbers.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> found = tf.contrib.learn.infer_real_valued_columns_from_input(np.ones([3, 2]))
      >>> [column.dimension for column in found]
      [2]
    """

    def input_fn() -> Any:
        if isinstance(x, Mapping):
            return {key: _fed(value) for key, value in x.items()}, None
        return _fed(x), None

    return infer_real_valued_columns_from_input_fn(input_fn)


def _fed(value: Any) -> Any:
    array = np.asarray(value)
    return placeholder(array.dtype, [None, *array.shape[1:]], name="input")
