"""From columns to the features of messages, and from features to columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.contrib.layers.columns.column import Column, Features
from penstock.contrib.layers.columns.dense import RealValuedColumn, real_valued_column
from penstock.foundation.graph.composite import SparseTensor
from penstock.ops.array.constant import placeholder
from penstock.ops.sparse.sparse_compose import sparse_placeholder
from penstock.training.data.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    parse_example,
    parse_single_sequence_example,
)


def check_feature_columns(feature_columns: Any) -> None:
    """Refuses columns of the same key.

    Args:
      feature_columns: columns.

    Raises:
      ValueError: two columns have the same key, or ``feature_columns`` is a dict.
    """
    if isinstance(feature_columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen: dict[str, Any] = {}
    for column in feature_columns:
        other = seen.setdefault(column.key, column)
        if other is not column and other != column:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means"
                " that the column is almost identical to another column, and one must be discarded."
            )


def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """The features that columns need, as ``tf.parse_example`` takes them.

    Args:
      feature_columns: columns.

    Raises:
      TypeError: something else among them.

    Example:
      >>> import penstock as tf
      >>> age = tf.contrib.layers.real_valued_column("age")
      >>> tf.contrib.layers.create_feature_spec_for_parsing([age])
      {'age': FixedLenFeature(shape=[1], dtype=tf.float32, default_value=None)}
    """
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, Column):
            raise TypeError(
                "feature_columns should only contain instances of _FeatureColumn. Given column is"
                f" {column}"
            )
        for key, spec in column.config.items():
            if found.setdefault(key, spec) != spec:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}."
                    f" Given {found[key]}"
                    f" and {spec}"
                )
    return found


def parse_feature_columns_from_examples(
    serialized: Any, feature_columns: Any, name: str | None = None, example_names: Any = None
) -> dict[Any, Any]:
    """Parses ``tf.train.Example`` messages and transforms what columns take.

    Args:
      serialized: [batch] of messages as strings.
      feature_columns: columns.
      name: name scope.
      example_names: [batch] of names for errors.

    Returns:
      The tensor of each column, and of each feature that was parsed by key.
    """
    check_feature_columns(feature_columns)
    spec = create_feature_spec_for_parsing(feature_columns)
    features = Features(parse_example(serialized, spec, name=name, example_names=example_names))
    for column in sorted(set(feature_columns), key=lambda each: each.key):
        features.get(column)
    return features.tensors


def transform_features(features: Mapping[Any, Any], feature_columns: Any) -> dict[Any, Any]:
    """What columns make of features.

    Args:
      features: tensors by key.
      feature_columns: columns.

    Returns:
      The tensor of each column.
    """
    check_feature_columns(feature_columns)
    kept = Features(features)
    ordered = sorted(set(feature_columns), key=lambda column: column.key)
    return {column: kept.get(column) for column in ordered}


def parse_feature_columns_from_sequence_examples(
    serialized: Any,
    context_feature_columns: Any,
    sequence_feature_columns: Any,
    name: str | None = None,
    example_name: Any = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses a ``tf.train.SequenceExample``.

    Args:
      serialized: the message as a string.
      context_feature_columns: columns of features that sequences have once.
      sequence_feature_columns: columns of features of each step.
      name: name scope.
      example_name: for errors.

    Returns:
      The features of the context, and those of the sequence, by key.
    """
    contexts = context_feature_columns or []
    sequences = sequence_feature_columns or []
    check_feature_columns(contexts)
    check_feature_columns(sequences)
    context_spec = create_feature_spec_for_parsing(contexts)
    specs = {
        key: FixedLenSequenceFeature(spec.shape, spec.dtype)
        if isinstance(spec, FixedLenFeature) else spec
        for key, spec in create_feature_spec_for_parsing(sequences).items()
    }  # fmt: skip
    context, sequence = parse_single_sequence_example(
        serialized, context_spec, specs, example_name, name
    )
    return context, sequence


def make_place_holder_tensors_for_base_features(feature_columns: Any) -> dict[str, Any]:
    """A placeholder for each feature that columns need.

    Args:
      feature_columns: columns.
    """
    made: dict[str, Any] = {}
    for key, spec in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(spec, FixedLenFeature):
            made[key] = placeholder(spec.dtype, [None, *spec.shape], name=f"Placeholder_{key}")
        else:
            made[key] = sparse_placeholder(spec.dtype, name=f"Placeholder_{key}")
    return made


def infer_real_valued_columns(features: Any) -> list[RealValuedColumn]:
    """Columns of numbers for features, as many numbers each as they have.

    Args:
      features: a tensor, or tensors by key.

    Raises:
      ValueError: a feature is sparse, or of something else than numbers.
    """
    if isinstance(features, Mapping):
        return [_inferred(name, tensor) for name, tensor in features.items()]
    return [_inferred("", features)]


def _inferred(name: str, tensor: Any) -> RealValuedColumn:
    if isinstance(tensor, SparseTensor):
        raise ValueError(
            "SparseTensor is not supported for auto detection. Please define corresponding"
            f" FeatureColumn for tensor {name} {tensor}."
        )
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            "Non integer or non floating types are not supported for auto detection. Please define"
            f" corresponding FeatureColumn for tensor {name} {tensor}."
        )
    dims = tensor.get_shape().as_list()
    width = 1
    for dim in dims[1:]:
        width *= dim
    return real_valued_column(name, dimension=width, dtype=tensor.dtype)
