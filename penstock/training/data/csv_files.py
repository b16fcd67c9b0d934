"""``make_csv_dataset``: batches of CSV files whose columns and types are read off them."""

from __future__ import annotations

import csv
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.formats import files
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.tensor import Tensor
from penstock.training.data import specs
from penstock.training.data.dataset import Dataset
from penstock.training.data.dataset_readers import CsvDataset
from penstock.training.data.examples import shuffled_and_repeated
from penstock.training.data.interleaving import parallel_interleave
from penstock.training.data.transformations import ignore_errors as without_errors

_LARGEST_INT32 = (-(2**31), 2**31 - 1)
_LARGEST_INT64 = (-(2**63), 2**63 - 1)
_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
# In the order in which they are tried.
_KINDS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def make_csv_dataset(
    file_pattern: Any, batch_size: Any, column_names: Any = None, column_defaults: Any = None,
    label_name: str | None = None, select_columns: Any = None, field_delim: str = ",",
    use_quote_delim: bool = True, na_value: str = "", header: bool = True, num_epochs: Any = None,
    shuffle: bool = True, shuffle_buffer_size: Any = 10000, shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None, num_parallel_reads: Any = None, sloppy: bool = False,
    num_rows_for_inference: int | None = 100, compression_type: Any = None,
    ignore_errors: bool = False,
) -> Dataset:  # fmt: skip
    """Batches of the rows of CSV files: dicts of columns.

    Args:
      file_pattern: shell patterns or names of files.
      batch_size: rows of a batch.
      column_names: of all columns; those of the header line where None.
      column_defaults: one for each column that is taken: a dtype (a value is required) or a
        default value; where None, types are read off the files.
      label_name: a column that stands apart: elements are (columns, label).
      select_columns: names or numbers of the columns that are taken; None: all.
      field_delim: what stands between fields.
      use_quote_delim: whether double quotes keep a field together.
      na_value: a text that stands for no value.
      header: whether files begin with a line of names.
      num_epochs: passes over the files; None: without end.
      shuffle: files and rows in random order.
      shuffle_buffer_size, shuffle_seed: as for ``Dataset.shuffle``.
      prefetch_buffer_size: batches made ahead.
      num_parallel_reads: files read at a time; default 1.
      sloppy: accepted; the order is the same one always.
      num_rows_for_inference: rows that types are read off; None: all.
      compression_type: "", "ZLIB" or "GZIP"; names and defaults must then be given.
      ignore_errors: leave out rows that cannot be read.

    Raises:
      ValueError: no file; names, labels or selected columns that do not fit the files.
    """
    names_of_files = _names(file_pattern)
    filenames = Dataset.from_tensor_slices(np.array(names_of_files, object))
    if shuffle:
        filenames = filenames.shuffle(len(names_of_files), shuffle_seed)
    if compression_type and (column_names is None or column_defaults is None):
        raise ValueError(
            "column_names and column_defaults must be given for files that are compressed"
        )
    table = _Table(names_of_files, field_delim, use_quote_delim, na_value, header)
    columns = list(table.columns() if column_names is None else column_names)
    if len(columns) != len(set(columns)):
        raise ValueError("Cannot have duplicate column names.")
    selected = None if select_columns is None else _numbers(select_columns, columns)
    if column_defaults is not None:
        defaults = [_default(d) for d in column_defaults]
    else:
        defaults = table.defaults(num_rows_for_inference, selected, len(columns))
    taken = columns if selected is None else [columns[i] for i in selected]
    if label_name is not None and label_name not in taken:
        raise ValueError("`label_name` provided must be one of the columns.")

    def filename_to_dataset(filename: Any) -> Dataset:
        dataset: Dataset = CsvDataset(
            filename, defaults, compression_type=compression_type, header=header,
            field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value,
            select_cols=selected,
        )  # fmt: skip
        return without_errors()(dataset) if ignore_errors else dataset

    def map_fn(*values: Any) -> Any:
        features = OrderedDict(zip(taken, values, strict=False))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    reads = 1 if num_parallel_reads is None else num_parallel_reads
    dataset = parallel_interleave(filename_to_dataset, cycle_length=reads, sloppy=sloppy)(filenames)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    return dataset.map(map_fn).prefetch(prefetch_buffer_size)


def _names(file_pattern: Any) -> list[str]:
    patterns = file_pattern if isinstance(file_pattern, list | tuple) else [file_pattern]
    if not patterns:
        raise ValueError("File pattern is empty.")
    found = [name for pattern in patterns for name in files.glob(pattern)]
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return sorted(found)


def _numbers(select_columns: Any, columns: Sequence[str]) -> list[int]:
    """Selected columns as sorted numbers."""
    numbers = []
    for value in select_columns:
        if isinstance(value, str):
            if value not in columns:
                raise ValueError(
                    f"Value {value!r} specified in select_columns not a valid column index or name."
                )
            value = list(columns).index(value)
        elif not 0 <= value < len(columns):
            raise ValueError(
                f"Column index {value} specified in select_columns out of valid range."
            )
        numbers.append(int(value))
    if len(numbers) != len(set(numbers)):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(numbers)


def _default(value: Any) -> Any:
    if isinstance(value, Tensor) or specs.is_nested(value):
        return value
    if isinstance(value, dtypes.DType) or value in _KINDS:
        kind = dtypes.as_dtype(value)
        return constant(np.zeros([0], kind.as_numpy_dtype), kind)
    return value


class _Table:
    """CSV files, as far as their form is concerned."""

    def __init__(
        self, names: Sequence[str], delimiter: str, quotes: bool, missing: str, header: bool
    ) -> None:
        self._names, self._delimiter, self._missing = names, delimiter, missing
        self._quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        self._header = header

    def _rows(self, name: str) -> Iterator[list[str]]:
        with files.open_file(name, "rb") as raw:
            lines = (line.decode("utf-8", "surrogateescape") for line in raw)
            yield from csv.reader(lines, delimiter=self._delimiter, quoting=self._quoting)

    def columns(self) -> list[str]:
        """The names in the first lines, which are those of all files."""
        if not self._header:
            raise ValueError("Cannot infer column names without a header line.")
        first: list[str] | None = None
        for name in self._names:
            found = next(self._rows(name), None)
            if found is None:
                raise ValueError("Received StopIteration when reading the header line of file.")
            if first is not None and found != first:
                raise ValueError(
                    "All input CSV files must have the same column names in the header row."
                )
            first = found
        return first or []

    def defaults(self, limit: int | None, selected: list[int] | None, width: int) -> list[Tensor]:
        """A default of the type of each column."""
        numbers = range(width) if selected is None else selected
        kinds: dict[int, int | None] = dict.fromkeys(numbers)
        for row in islice(self._all_rows(), limit):
            if len(row) != width:
                raise ValueError(
                    "Problem inferring types: CSV row has different number of fields than expected."
                )
            for number in numbers:
                kinds[number] = self._kind(row[number], kinds[number])
        found = [dtypes.string if kinds[n] is None else _KINDS[kinds[n] or 0] for n in numbers]
        blanks = [b"" if kind is dtypes.string else 0 for kind in found]
        return [
            constant(np.array([blank], kind.as_numpy_dtype), kind)
            for blank, kind in zip(blanks, found, strict=True)
        ]

    def _all_rows(self) -> Iterator[list[str]]:
        for name in self._names:
            yield from islice(self._rows(name), 1 if self._header else 0, None)

    def _kind(self, text: str, before: int | None) -> int | None:
        """The first type that this text and those before it have; its place in ``_KINDS``."""
        if text in ("", self._missing):
            return before
        return max(before or 0, _place(text))


def _place(text: str) -> int:
    try:
        whole = int(text)
    except ValueError:
        whole = None
    if whole is not None:
        for place, (low, high) in enumerate((_LARGEST_INT32, _LARGEST_INT64)):
            if low <= whole <= high:
                return place
    try:
        number = float(text)
    except ValueError:
        return 4
    return 2 if not abs(number) > _LARGEST_FLOAT32 or number in (np.inf, -np.inf) else 3
