"""What fills a lookup table: tensors of keys and values, or the lines of a file.

An initializer adds the node that fills a table to the collection ``TABLE_INITIALIZERS``, which
``tf.tables_initializer`` runs, and the name of its file to ``ASSET_FILEPATHS``.
"""

from __future__ import annotations

import os
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import init_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import constant
from penstock.ops.control import control


class TextFileIndex:
    """What a line gives besides its columns: its number (from 0), or the whole of it."""

    LINE_NUMBER = -1
    WHOLE_LINE = -2


class FromKeysToValues:
    """What has a type of keys and one of values."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> dtypes.DType:
        """Type of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> dtypes.DType:
        """Type of values."""
        return self._value_dtype


class TableInitializerBase(FromKeysToValues):
    """What fills a table.

    Args:
      key_dtype, value_dtype: types of keys and values.
    """

    @property
    def _shared_name(self) -> str:
        """The name under which tables that are filled alike may be one; "" for none."""
        return ""

    def initialize(self, table: Any) -> Operation:
        """Adds the op that fills ``table``.

        Args:
          table: a table whose types are those of the initializer.

        Returns:
          The op.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it fills a table")

    def _check(self, table: Any) -> None:
        found = table.key_dtype, table.value_dtype
        if found != (self._key_dtype, self._value_dtype):
            raise TypeError(
                f"the table has keys and values of {found}, the initializer of"
                f" {(self._key_dtype, self._value_dtype)}"
            )


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with a vector of keys and one of values.

    Args:
      keys, values: vectors of one length.
      key_dtype, value_dtype: types to convert them to; default their own.
      name: name scope of the op that fills the table; default ``key_value_init``.
    """

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        with init_scope():
            self._keys: Tensor = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values: Tensor = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = name or "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Operation:
        """Adds the op that fills ``table``."""
        self._check(table)
        with scopes.name_scope(self._name):
            op: Operation = make(
                "LookupTableImportV2", table.resource_handle, self._keys, self._values
            )
        collecting.add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


def _check_column(what: str, dtype: dtypes.DType, index: int) -> None:
    """Whether a column may have that type."""
    if index < TextFileIndex.WHOLE_LINE:
        raise ValueError(f"Invalid {what.lower()} index {index}.")
    if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
        raise ValueError(
            f"Signature mismatch. {what}s must be dtype {dtypes.int64!r}, got {dtype!r}."
        )
    if index == TextFileIndex.WHOLE_LINE and not dtype.is_integer and dtype != dtypes.string:
        raise ValueError(f"Signature mismatch. {what}s must be integer or string, got {dtype!r}.")


class TextFileInitializer(TableInitializerBase):
    """Fills a table with the lines of a file.

    Args:
      filename: the file, or a string scalar tensor with its name.
      key_dtype, value_dtype: types of keys and values.
      key_index, value_index: columns that they stand in, from 0, or those of ``TextFileIndex``.
      vocab_size: how many lines to read; default all.
      delimiter: one character between columns.
      name: name scope of the op that fills the table; default ``text_file_init``.

    Raises:
      ValueError: a column cannot be of that type, or ``filename`` is empty.
    """

    def __init__(
        self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
        vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("Filename required for tables that are filled from a file")
        key_type, value_type = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        _check_column("Key", key_type, key_index)
        if value_index < TextFileIndex.WHOLE_LINE:
            raise ValueError(f"Invalid value index {value_index}.")
        if value_index == TextFileIndex.LINE_NUMBER and value_type != dtypes.int64:
            raise ValueError(
                f"Signature mismatch. Values must be dtype {dtypes.int64!r}, got {value_type!r}."
            )
        if value_index == TextFileIndex.WHOLE_LINE and value_type != dtypes.string:
            raise ValueError(
                f"Signature mismatch. Values must be dtype {dtypes.string!r}, got {value_type!r}."
            )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._file_name = filename if isinstance(filename, Tensor) else os.fsdecode(filename)
        self._filename = _asset(self._file_name)
        self._indices = key_index, value_index
        self._vocab_size, self._delimiter = vocab_size, delimiter
        self._name = name or "text_file_init"
        super().__init__(key_type, value_type)

    @property
    def _shared_name(self) -> str:
        size = "" if self._vocab_size is None else f"{self._vocab_size}_"
        key, value = self._indices
        return f"hash_table_{self._file_name}_{size}{key}_{value}"

    def initialize(self, table: Any) -> Operation:
        """Adds the op that fills ``table``."""
        self._check(table)
        key, value = self._indices
        with scopes.name_scope(self._name):
            op: Operation = make(
                "InitializeTableFromTextFileV2",
                table.resource_handle,
                self._filename,
                key_index=key,
                value_index=value,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
            )
        collecting.add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        if self._filename.op.op_def.role == "constant":
            collecting.add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        return op


def _asset(filename: Any) -> Tensor:
    if isinstance(filename, Tensor):
        return filename
    with init_scope(), scopes.device("CPU"):
        return constant.constant(filename, dtypes.string, name="asset_path")


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from ids to strings: an id is the number of a line, the string its text.

    Args:
      filename, vocab_size, delimiter, name: as of ``TextFileInitializer``.
      key_column_index, value_column_index: columns of ids and strings.
    """

    def __init__(
        self, filename: Any, key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE, vocab_size: int | None = None,
        delimiter: str = "\t", name: str = "text_file_string_table_init",
    ) -> None:  # fmt: skip
        super().__init__(
            filename, dtypes.int64, key_column_index, dtypes.string, value_column_index,
            vocab_size, delimiter, name,
        )  # fmt: skip


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from strings to ids: an id is the number of a line, the string its text.

    Args:
      filename, vocab_size, delimiter, name: as of ``TextFileInitializer``.
      key_column_index, value_column_index: columns of strings and ids.
      key_dtype: type of what stands for the strings.
    """

    def __init__(
        self, filename: Any, key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER, vocab_size: int | None = None,
        delimiter: str = "\t", name: str = "text_file_id_table_init",
        key_dtype: Any = dtypes.string,
    ) -> None:  # fmt: skip
        super().__init__(
            filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size,
            delimiter, name,
        )  # fmt: skip


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An op that fills every table of the default graph that is filled once.

    Returns:
      The op.
    """
    initializers = collecting.get_collection(GraphKeys.TABLE_INITIALIZERS)
    made: Operation
    made = control.group(*initializers, name=name) if initializers else control.no_op(name=name)
    return made


def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """Deprecated name of ``tables_initializer``."""
    return tables_initializer(name)
