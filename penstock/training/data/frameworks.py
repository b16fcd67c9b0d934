"""Data of other libraries as datasets; each library is needed only by those who have its objects.

Rows come out as dicts of columns (pandas, Arrow, Hugging Face), batches of a PyTorch DataLoader as
they are.  Elements are made as they are asked for, by ``from_generator`` or from slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.ops.control.py_func import here
from penstock.training.data import specs


class FrameworkSources:
    """The functions of ``Dataset`` that take other libraries' objects."""

    from_generator: Callable[..., Any]
    from_tensor_slices: Callable[..., Any]

    @classmethod
    def from_torch(cls, loader: Any) -> Any:
        """What iterating over a PyTorch ``DataLoader`` (or dataset) gives, pass after pass.

        Args:
          loader: an iterable of tensors, numbers, strings, or nestings of them; lists are tuples.

        Types are those of the first element, which is made once more to see them; the first dim,
        which is smaller in a last batch, stays open.

        Raises:
          ValueError: it is empty.
        """

        @here
        def elements() -> Iterator[Any]:
            return map(_as_arrays, iter(loader))

        for first in elements():
            structure = specs.map_leaves(_leaf_spec, first)
            types, dims = specs.legacy_types(structure), specs.legacy_shapes(structure)
            return cls.from_generator(elements, types, dims)
        raise ValueError("the loader gives no element, so its types are not known")

    @classmethod
    def from_pandas(cls, frame: Any) -> Any:
        """The rows of a pandas ``DataFrame`` as dicts of columns; texts as UTF-8 strings."""
        columns = {str(name): _column(frame[name].to_numpy()) for name in frame.columns}
        return cls.from_tensor_slices(columns)

    @classmethod
    def from_arrow(cls, table: Any) -> Any:
        """The rows of an Arrow ``Table`` (or ``RecordBatch``) as dicts of columns, one batch in
        memory at a time.

        Raises:
          ValueError: a column has nulls or is nested.
        """
        batches = table.to_batches() if hasattr(table, "to_batches") else [table]
        names = [str(n) for n in table.schema.names]

        @here
        def rows() -> Iterator[Any]:
            for batch in batches:
                parts = [_arrow_column(n, batch.column(i)) for i, n in enumerate(names)]
                for values in zip(*parts, strict=True):
                    yield dict(zip(names, values, strict=True))

        empty = [_arrow_column(n, table.slice(0, 1).column(i)) for i, n in enumerate(names)]
        types = {n: _dtype(column) for n, column in zip(names, empty, strict=True)}
        return cls.from_generator(rows, types, {n: shapes.TensorShape([]) for n in names})

    @classmethod
    def from_huggingface(cls, dataset: Any) -> Any:
        """The rows of a ``datasets.Dataset`` (or an iterable one) as dicts of columns.

        Types are those of the first row; sizes that may differ from row to row stay open.

        Raises:
          ValueError: it is empty.
        """

        @here
        def rows() -> Iterator[Any]:
            return map(_as_arrays, iter(dataset))

        for first in rows():
            types = specs.map_leaves(lambda v: _dtype(np.asarray(v)), first)
            dims = specs.map_leaves(lambda v: shapes.TensorShape([None] * np.ndim(v)), first)
            return cls.from_generator(rows, types, dims)
        raise ValueError("the dataset has no row, so its types are not known")


def _as_arrays(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _as_arrays(v) for k, v in value.items()}
    if hasattr(value, "_fields"):
        return type(value)(*map(_as_arrays, value))
    if isinstance(value, tuple) or (isinstance(value, list) and any(map(_is_tensor, value))):
        return tuple(map(_as_arrays, value))
    if _is_tensor(value):
        return value.detach().cpu().numpy()
    array = np.asarray(value)
    return _column(array) if array.dtype.kind in "OSU" else array


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach")


def _leaf_spec(value: Any) -> specs.TensorSpec:
    array = np.asarray(value)
    dims: list[int | None] = list(array.shape)
    if dims:
        dims[0] = None
    return specs.TensorSpec(dims, _dtype(array))


def _dtype(array: Any) -> dtypes.DType:
    return dtypes.string if array.dtype.kind in "OSU" else dtypes.as_dtype(array.dtype)


def _column(array: np.ndarray) -> np.ndarray:
    """Texts as bytes; everything else as it is."""
    if array.dtype.kind not in "OSU":
        return array
    made = np.empty(array.size, object)
    for index, value in enumerate(chain(array.ravel())):
        if not isinstance(value, str | bytes):
            raise ValueError(f"a column of objects must hold texts or bytes; found {value!r}")
        made[index] = value.encode() if isinstance(value, str) else value
    return made.reshape(array.shape)


def _arrow_column(name: str, column: Any) -> np.ndarray:
    if column.null_count:
        raise ValueError(f"column {name!r} has {column.null_count} null(s); fill them first")
    array = np.asarray(column.to_numpy(zero_copy_only=False) if _takes_flag(column) else column)
    return _column(array)


def _takes_flag(column: Any) -> bool:
    return not hasattr(column, "chunks")
