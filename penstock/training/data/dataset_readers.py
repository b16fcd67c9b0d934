"""Datasets of the records of files: ``TextLineDataset``, ``TFRecordDataset`` and the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.training.data import nodes, specs
from penstock.training.data.dataset import Dataset
from penstock.training.data.interleaving import parallel_interleave
from penstock.training.data.nodes import int64

_BUFFER = 256 * 1024
_STRING = specs.TensorSpec([], dtypes.string)


def _string(value: Any, name: str) -> Tensor:
    return convert_to_tensor("" if value is None else value, dtypes.string, name)


def _names(filenames: Any) -> Dataset:
    if isinstance(filenames, Dataset):
        if not specs.TensorSpec(None, dtypes.string).is_compatible_with(filenames.element_spec):
            raise TypeError(
                "`filenames` must be a `tf.data.Dataset` of `tf.string` elements; found"
                f" {filenames.element_spec!r}"
            )
        return filenames
    names = convert_to_tensor(filenames, dtypes.string)
    flat = make("Reshape", names, np.array([-1], np.int32), name="flat_filenames")
    return _slices(flat)


def _slices(names: Tensor) -> Dataset:
    return Dataset.of(make("TensorSliceDataset", [names], output_shapes=[[]]), _STRING)


class _Read(Dataset):
    """One file after the other, or several at a time."""

    def _read(
        self, filenames: Any, num_parallel_reads: Any, read_one_file: Callable[[Any], Dataset]
    ) -> None:
        names = _names(filenames)
        if num_parallel_reads is None:
            made: Any = names.flat_map(read_one_file)
        else:
            made = parallel_interleave(read_one_file, num_parallel_reads)(names)
        super().__init__()
        self._set(made._variant_tensor, made.structure, (names,), *made.mapped_functions)


class TextLineDataset(_Read):
    """The lines of text files, without their ends.

    Args:
      filenames: string tensor, strings, or a dataset of strings.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: bytes read at a time; kept for other runtimes.
      num_parallel_reads: files read at a time; None: one after the other.

    Example:
      >>> import penstock as tf
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "table.csv")
      >>> with open(path, "w") as file:
      ...     _ = file.write("name,size\\nparis,2\\n")
      >>> line = tf.data.TextLineDataset(path).skip(1).make_one_shot_iterator().get_next()
      >>> with tf.Session() as session:
      ...     session.run(line)
      b'paris,2'
    """

    def __init__(
        self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:  # fmt: skip
        def read_one_file(filename: Any) -> Dataset:
            compression = _string(compression_type, "compression_type")
            size = int64(_BUFFER if buffer_size is None else buffer_size, "buffer_size")
            return Dataset.of(make("TextLineDataset", filename, compression, size), _STRING)

        self._read(filenames, num_parallel_reads, read_one_file)


class TFRecordDataset(_Read):
    """The records of TFRecord files; the arguments are ``TextLineDataset``'s.

    Args:
      filenames: a path, a list, a string tensor or a dataset of them.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: bytes that are read ahead.
      num_parallel_reads: files that are read at a time; in their order without.

    Example:
      >>> import penstock as tf
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "data.tfrecords")
      >>> with tf.python_io.TFRecordWriter(path) as writer:
      ...     for record in (b"first", b"second"):
      ...         writer.write(record)
      >>> record = tf.data.TFRecordDataset(path).make_one_shot_iterator().get_next()
      >>> with tf.Session() as session:
      ...     session.run(record), session.run(record)
      (b'first', b'second')
    """

    def __init__(
        self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:  # fmt: skip
        def read_one_file(filename: Any) -> Dataset:
            compression = _string(compression_type, "compression_type")
            size = int64(_BUFFER if buffer_size is None else buffer_size, "buffer_size")
            return Dataset.of(make("TFRecordDataset", filename, compression, size), _STRING)

        self._read(filenames, num_parallel_reads, read_one_file)


class FixedLengthRecordDataset(_Read):
    """Records of a fixed number of bytes.

    Args:
      filenames: as for ``TextLineDataset``.
      record_bytes: bytes of a record.
      header_bytes, footer_bytes: bytes at the start and the end of a file that are left out.
      buffer_size, compression_type, num_parallel_reads: as for ``TextLineDataset``.
    """

    def __init__(
        self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None,
        buffer_size: Any = None, compression_type: Any = None, num_parallel_reads: Any = None,
    ) -> None:  # fmt: skip
        def read_one_file(filename: Any) -> Dataset:
            record = int64(record_bytes, "record_bytes")
            header = int64(header_bytes or 0, "header_bytes")
            footer = int64(footer_bytes or 0, "footer_bytes")
            size = int64(_BUFFER if buffer_size is None else buffer_size, "buffer_size")
            compression = _string(compression_type, "compression_type")
            parts = (filename, header, record, footer, size, compression)
            return Dataset.of(make("FixedLengthRecordDatasetV2", *parts), _STRING)

        self._read(filenames, num_parallel_reads, read_one_file)


class CsvDataset(Dataset):
    """The lines of CSV files, one component a column.

    Args:
      filenames: string tensor or strings.
      record_defaults: per column a dtype (a value is required), or a default value.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: kept for other runtimes.
      header: leave the first line of each file out.
      field_delim: what stands between fields.
      use_quote_delim: whether double quotes keep a field together.
      na_value: a text that stands for no value.
      select_cols: sorted numbers of the columns to take; None for all.
    """

    def __init__(
        self, filenames: Any, record_defaults: Any, compression_type: Any = None,
        buffer_size: Any = None, header: bool = False, field_delim: str = ",",
        use_quote_delim: bool = True, na_value: str = "", select_cols: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        names = convert_to_tensor(filenames, dtypes.string, "filenames")
        compression = _string(compression_type, "compression_type")
        defaults = [_default(d) for d in record_defaults]
        kinds = [d.dtype for d in defaults]
        columns = [] if select_cols is None else list(select_cols)
        structure = tuple(specs.TensorSpec([], kind) for kind in kinds)
        variant = make(
            "CSVDataset", names, compression,
            int64(4 << 20 if buffer_size is None else buffer_size, "buffer_size"),
            convert_to_tensor(header, dtypes.bool, "header"),
            convert_to_tensor(field_delim, dtypes.string, "field_delim"),
            convert_to_tensor(use_quote_delim, dtypes.bool, "use_quote_delim"),
            convert_to_tensor(na_value, dtypes.string, "na_value"),
            convert_to_tensor(np.array(columns, np.int64), dtypes.int64, "select_cols"),
            defaults, output_types=kinds, output_shapes=specs.flat_shapes(structure),
        )  # fmt: skip
        self._set(variant, structure)


def _default(value: Any) -> Tensor:
    if isinstance(value, dtypes.DType):
        return convert_to_tensor(np.zeros([0], value.as_numpy_dtype), value)
    made = convert_to_tensor(value)
    return made if made.shape.ndims else make("Reshape", made, np.array([1], np.int32))


class SqlDataset(Dataset):
    """The rows that a query of a database gives.

    Args:
      driver_name: "sqlite".
      data_source_name: name of the database's file.
      query: the query, SQL.
      output_types: nesting of dtypes, one a column: string, bool, float64 or integers up to 64
        bits; NULL becomes 0 or "".
    """

    def __init__(
        self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any
    ) -> None:
        super().__init__()
        driver = convert_to_tensor(driver_name, dtypes.string, "driver_name")
        source = convert_to_tensor(data_source_name, dtypes.string, "data_source_name")
        asked = convert_to_tensor(query, dtypes.string, "query")
        structure = specs.map_leaves(
            lambda kind: specs.TensorSpec(shapes.TensorShape([]), kind), output_types
        )
        self._set(nodes.variant("SqlDataset", structure, driver, source, asked), structure)


class LMDBDataset(Dataset):
    """The records of LMDB databases, as keys and values, by rising key.

    They are read by the package lmdb: ``pip install penstock[lmdb]``.

    Args:
      filenames: string tensor or strings: folders of databases, or their files.
    """

    def __init__(self, filenames: Any) -> None:
        super().__init__()
        structure = (_STRING, _STRING)
        names = convert_to_tensor(filenames, dtypes.string, "filenames")
        self._set(nodes.variant("LMDBDataset", structure, names), structure)


class TFRecordWriter:
    """Writes a dataset to a TFRecord file.

    Args:
      filename: string tensor or string.
      compression_type: "", "ZLIB" or "GZIP".
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = convert_to_tensor(filename, dtypes.string, "filename")
        self._compression = _string(compression_type, "compression_type")

    def write(self, dataset: Dataset) -> Any:
        """An operation that writes the elements of ``dataset``, string scalars.

        Raises:
          TypeError: it is no dataset of string scalars.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        if not _STRING.is_compatible_with(dataset.structure):
            raise TypeError(
                "`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape"
                f" {specs.legacy_shapes(dataset.structure)} and types"
                f" {specs.legacy_types(dataset.structure)}"
            )
        return make("DatasetToTFRecord", dataset.in_workers(), self._filename, self._compression)
