"""``DataFrameColumn``: a column that is a series of ``contrib.learn``'s data frames."""

from __future__ import annotations

from typing import Any, NamedTuple


class DataFrameColumn(NamedTuple):
    """A feature column made of a series, which builds its tensor itself.

    Args:
      column_name: the name, by which columns are ordered.
      series: an object with ``build(columns_to_tensors)`` and ``required_base_features()``.
    """

    column_name: str
    series: Any

    @property
    def name(self) -> str:
        """Its name."""
        return self.column_name

    @property
    def config(self) -> Any:
        """What is to be parsed for it, as the series says."""
        return self.series.required_base_features()

    @property
    def key(self) -> str:
        """What columns are ordered by."""
        return self.name

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the series' tensor under this column."""
        columns_to_tensors[self] = self.series.build(columns_to_tensors)
