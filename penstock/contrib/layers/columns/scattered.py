"""Columns of vectors whose parts are weights found by hash."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.contrib.layers.columns.column import Column, DeepLookup, Features
from penstock.foundation.base import dtypes
from penstock.library.variables.initializers import truncated_normal_initializer
from penstock.training.data.features import VarLenFeature


class _Scattered(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int | None
    combiner: str
    initializer: Any


class ScatteredEmbeddingColumn(Column, _Scattered):
    """A vector a category, by hash; made by ``scattered_embedding_column``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The feature's key with its ending."""
        return f"{self.column_name}_scattered_embedding"

    @property
    def key(self) -> str:
        """What columns are sorted by: without the initializer, whose text is another each time."""
        shown = ", ".join(
            f"{name}={getattr(self, name)}" for name in self._fields if name != "initializer"
        )
        return f"_ScatteredEmbeddingColumn({shown})"

    @property
    def config(self) -> dict[str, Any]:
        """A sparse feature of strings."""
        return {self.column_name: VarLenFeature(dtypes.string)}

    def transform(self, features: Features) -> Any:
        """The feature as it is."""
        return features.get(self.column_name)

    def deep_lookup(self, tensor: Any) -> DeepLookup:
        """A vector a category."""
        return DeepLookup(
            tensor, None, self.size, self.dimension, self.initializer, self.combiner,
            hash_key=self.hash_key,
        )  # fmt: skip

    def dense_tensor(self, tensor: Any) -> Any:
        """Refused.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError(f"No dense tensor representation for column {self}.")


def scattered_embedding_column(
    column_name: str, size: int, dimension: int, hash_key: int | None, combiner: str = "mean",
    initializer: Any = None,
) -> ScatteredEmbeddingColumn:  # fmt: skip
    """A column of vectors whose parts are found by hash, so that no vocabulary is needed.

    Args:
      column_name: key of a sparse feature of strings.
      size: number of weights.
      dimension: size of the vectors.
      hash_key: where hashing starts, such as ``SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY``.
      combiner: "mean", "sqrtn" or "sum": how the vectors of several categories are combined.
      initializer: of the weights; default a truncated normal of deviation 0.1.

    Raises:
      ValueError: another combiner, sizes that are not positive, or an initializer that cannot be
        called.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size},"
            f" column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner},"
            f" column_name: {column_name}"
        )
    if initializer is None:
        initializer = truncated_normal_initializer(mean=0.0, stddev=0.1)
    elif not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. column_name: {column_name}")
    return ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)
