"""How ``tf.parse_example`` reads what a canned estimator is trained with: columns and labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.training.data.features import FixedLenFeature
from penstock.training.feature_column.input_layer import make_parse_example_spec
from penstock.training.feature_column.numeric import NumericColumn, numeric_column


def classifier_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: dtypes.DType = dtypes.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """What ``tf.parse_example`` needs for a classifier.

    Args:
      feature_columns: the columns.
      label_key: the key of the label.
      label_dtype: of the label: an integer or string.
      label_default: for examples without a label.
      weight_column: key or ``numeric_column`` of the examples' weights.

    Raises:
      ValueError: the label or the weights are a feature as well, or the weights another column.

    Example:
      >>> import penstock as tf
      >>> x = tf.feature_column.numeric_column("x")
      >>> sorted(tf.estimator.classifier_parse_example_spec([x], "label"))
      ['label', 'x']
    """
    label = FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: dtypes.DType = dtypes.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """What ``tf.parse_example`` needs for a regressor.

    Args:
      feature_columns, label_key, label_default, weight_column: as of
        ``classifier_parse_example_spec``.
      label_dtype: of the label: a float or integer.
      label_dimension: how many numbers an example has.

    Raises:
      ValueError: as of ``classifier_parse_example_spec``.
    """
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(
    columns: Iterable[Any], key: str, label: FixedLenFeature, weights: Any
) -> dict[str, Any]:
    found = make_parse_example_spec(columns)
    if key in found:
        raise ValueError(
            f"label should not be used as feature. label_key: {key}, features: {sorted(found)}"
        )
    found[key] = label
    if weights is None:
        return found
    if isinstance(weights, str):
        weights = numeric_column(weights)
    if not isinstance(weights, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type:"
            f" {type(weights)} value: {weights!r}"
        )
    if weights.key in found:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {weights.key}, features:"
            f" {sorted(found)}"
        )
    return {**found, **weights.parse_example_spec}
