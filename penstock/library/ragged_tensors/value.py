"""``tf.ragged.RaggedTensorValue``: what running a RaggedTensor gives, and what feeds one."""

from __future__ import annotations

from typing import Any

import numpy as np


class RaggedTensorValue:
    """The value of a ragged tensor.

    Args:
      values: array of the rows one after another, or the RaggedTensorValue of a deeper one.
      row_splits: int32 or int64 vector; row i is ``values[row_splits[i]:row_splits[i + 1]]``.

    Raises:
      TypeError, ValueError: an argument is not that.

    >>> tf.ragged.constant_value([[1, 2], [], [3]])
    tf.RaggedTensorValue(values=array([1, 2, 3]), row_splits=array([0, 2, 2, 3]))
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        if not isinstance(row_splits, np.ndarray) or row_splits.dtype not in (np.int32, np.int64):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, np.ndarray | np.generic | RaggedTensorValue):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and values.row_splits.dtype != row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values, self._row_splits = values, row_splits

    @property
    def row_splits(self) -> Any:
        """Where rows start and end."""
        return self._row_splits

    @property
    def values(self) -> Any:
        """The rows one after another."""
        return self._values

    @property
    def dtype(self) -> Any:
        """NumPy's type of the elements."""
        return self._values.dtype

    @property
    def flat_values(self) -> Any:
        """The array below all ragged dims."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged dims, the outermost first."""
        inner = self._values
        below = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return self._row_splits, *below

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dims."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, None for ragged dims."""
        return (self._row_splits.shape[0] - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Any]:
        """The value as nested lists.

        >>> tf.ragged.constant_value([[1, 2], [], [3]]).to_list()
        [[1, 2], [], [3]]
        """
        inner = self._values
        flat = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        splits = self._row_splits.tolist()
        return [flat[start:end] for start, end in zip(splits, splits[1:])]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"
