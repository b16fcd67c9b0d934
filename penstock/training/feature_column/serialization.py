"""Columns as configurations: ``{"class_name": ..., "config": ...}``, as layers hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.library.layer_base import configs, initializers
from penstock.training.feature_column import categorical, embedding, numeric, sequence
from penstock.training.feature_column.column import FeatureColumn

_KNOWN: dict[str, Any] = {
    each.__name__: each
    for each in (
        categorical.CrossedColumn, categorical.HashedCategoricalColumn,
        categorical.IdentityCategoricalColumn, categorical.VocabularyFileCategoricalColumn,
        categorical.VocabularyListCategoricalColumn, categorical.WeightedCategoricalColumn,
        embedding.EmbeddingColumn, embedding.IndicatorColumn, numeric.BucketizedColumn,
        numeric.NumericColumn, numeric.SequenceNumericColumn, sequence.SequenceCategoricalColumn,
    )
}  # fmt: skip


def serialize_feature_column(fc: Any) -> Any:
    """The configuration of a column; a key as it is.

    Args:
      fc: a column, or a feature's key.

    Raises:
      ValueError: it is neither.
    """
    if isinstance(fc, str):
        return fc
    if not isinstance(fc, FeatureColumn):
        raise ValueError(f"Instance: {fc} is not a FeatureColumn")
    fields: Any = fc
    config = {name: _described(name, value) for name, value in fields._asdict().items()}
    return {"class_name": type(fc).__name__, "config": config}


def serialize_feature_columns(feature_columns: Iterable[Any]) -> list[Any]:
    """The configurations of columns."""
    return [serialize_feature_column(each) for each in feature_columns]


def _described(name: str, value: Any) -> Any:
    if isinstance(value, FeatureColumn):
        return serialize_feature_column(value)
    if name == "keys":
        return tuple(map(serialize_feature_column, value))
    if isinstance(value, dtypes.DType):
        return value.name
    if name == "initializer":
        return initializers.serialize(value)
    return configs.serialized(value) if callable(value) else value


def deserialize_feature_column(
    config: Any, custom_objects: Mapping[str, Any] | None = None,
    columns_by_name: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """The column that a configuration describes; a key as it is.

    Args:
      config: of ``serialize_feature_column``.
      custom_objects: functions and classes of columns, by name.
      columns_by_name: columns that were made already, filled with this one.

    Raises:
      ValueError: no column has such a class.
    """
    if isinstance(config, str):
        return config
    kind = {**_KNOWN, **(custom_objects or {})}.get(config["class_name"])
    if kind is None:
        raise ValueError(f"Unknown feature column class: {config['class_name']}")
    made = kind(**{
        name: _made(name, value, custom_objects, columns_by_name)
        for name, value in config["config"].items()
    })  # fmt: skip
    known = {} if columns_by_name is None else columns_by_name
    return known.setdefault(made.name, made)


def deserialize_feature_columns(
    described: Iterable[Any], custom_objects: Mapping[str, Any] | None = None
) -> list[Any]:
    """The columns that configurations describe; arguments as of ``deserialize_feature_column``."""
    known: dict[str, Any] = {}
    return [deserialize_feature_column(each, custom_objects, known) for each in described]


def _made(name: str, value: Any, given: Mapping[str, Any] | None, known: Any) -> Any:
    if isinstance(value, Mapping) and value.get("class_name") in {**_KNOWN, **(given or {})}:
        return deserialize_feature_column(value, given, known)
    if name == "keys":
        return tuple(deserialize_feature_column(each, given, known) for each in value)
    if name == "dtype":
        return dtypes.as_dtype(value)
    if name == "initializer":
        return initializers.get(value)
    if name == "normalizer_fn":
        return configs.made_from_object(value, {}, given, "normalizer_fn")
    return tuple(value) if isinstance(value, list) else value
