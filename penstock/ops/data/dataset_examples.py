"""Datasets of parsed ``Example`` messages, of sparse batches, of sliding windows; databases; files
that a dataset is written to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.dataset import examples
from penstock.engine.resources.dataset.base import Context, Element, EndOfSequence
from penstock.engine.resources.dataset.sources import Records
from penstock.foundation.base import errors
from penstock.foundation.formats.tfrecord import RecordWriter
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import no_outputs, scalar
from penstock.ops.data.dataset import TYPES, define_dataset, text
from penstock.ops.data.parse_example import _key, _list_of, _parse_example

_REASON = "files are no numbers"
_INT64 = np.iinfo(np.int64)
_DRIVERS = "{'sqlite'}"
_SQL_TYPES = (
    object, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16,
    torch.bool, torch.float64,
)  # fmt: skip


def _parse(
    input_dataset: Any, num_parallel_calls: int, dense_defaults: list[Any],
    sparse_keys: list[Any], dense_keys: list[Any], sparse_types: list[Any], Tdense: list[Any],
    dense_shapes: list[Any],
) -> Any:  # fmt: skip
    names = [_key(k) for k in (*sparse_keys, *dense_keys)]
    order = sorted(range(len(names)), key=names.__getitem__)
    sparse, dense = names[: len(sparse_keys)], names[len(sparse_keys) :]

    def parse(serialized: Any) -> Element:
        *parts, values = _parse_example(
            serialized, np.empty(0, object), sparse, dense, dense_defaults, sparse_types, Tdense,
            dense_shapes,
        )  # fmt: skip
        found = [examples.sparse_cells(*part) for part in zip(*parts, strict=True)] + list(values)
        return tuple(found[i] for i in order)

    return examples.parsed(input_dataset, parse, num_parallel_calls)


def _dense_to_sparse(input_dataset: Any, batch_size: int, row_shape: list[int]) -> Any:
    return examples.DenseToSparseBatch(input_dataset, batch_size, row_shape)


def _sliding(input_dataset: Any, window_size: int, window_shift: int, window_stride: int) -> Any:
    return examples.SlidingWindow(input_dataset, window_size, window_shift, window_stride)


define_dataset(
    "ParseExampleDataset",
    "input_dataset: variant, num_parallel_calls: int64, dense_defaults: list(Tdense)",
    ["sparse_keys: list(string) >= 0", "dense_keys: list(string) >= 0",
     _list_of("sparse_types", " >= 0"), _list_of("Tdense", " >= 0"),
     "dense_shapes: list(shape) >= 0", *TYPES, "sloppy: bool = False"],
    _parse,
)  # fmt: skip
define_dataset(
    "DenseToSparseBatchDataset", "input_dataset: variant, batch_size: int64, row_shape: int64",
    TYPES, _dense_to_sparse,
)  # fmt: skip
define_dataset(
    "SlidingWindowDataset",
    "input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64",
    TYPES, _sliding,
)  # fmt: skip


# ---- databases -----------------------------------------------------------------------------------


def _sql(driver_name: Any, data_source_name: Any, query: Any, output_types: list[Any]) -> Records:
    driver, source, asked = text(driver_name), text(data_source_name), text(query)

    if driver != "sqlite":
        raise errors.invalid(
            f"The database type, {driver}, is not supported by SqlDataset. The set of supported"
            f" databases is: {_DRIVERS}."
        )
    if any(kind not in _SQL_TYPES for kind in output_types):
        raise errors.invalid(
            "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16,"
            " DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE"
        )

    def read(_: Any) -> Iterator[Element]:
        # A pipeline's iterator may go on in another thread than the one that it began in.
        with closing(_connected(source)) as connection:
            try:
                rows = connection.execute(asked)
            except sqlite3.Error as error:
                raise errors.UnknownError(None, None, f"{error}: {asked}") from None
            count = len(rows.description or ())
            if count != len(output_types):
                raise errors.invalid(
                    f"The number of columns in query ({count}) must match the number of elements in"
                    f" output_types ({len(output_types)})."
                )
            for row in rows:
                yield tuple(_cell(v, k) for v, k in zip(row, output_types, strict=True))

    return Records([source], read)


def _connected(source: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(source, check_same_thread=False)
    except sqlite3.Error as error:
        message = f"Sqlite::Open({source}) failed: {error}"
        raise errors.invalid(message) from None


def _cell(value: Any, kind: Any) -> Any:
    if kind is object:
        made = np.empty((), object)
        made[()] = _bytes(value)
        return made
    number = _number(value)
    if kind is torch.bool:
        return torch.tensor(int(number) != 0)
    if kind is torch.float64:
        return torch.tensor(number, dtype=kind)
    whole = int(min(max(number, _INT64.min), _INT64.max))
    return torch.tensor(whole, dtype=torch.int64).to(kind)


def _number(value: Any) -> Any:
    """As SQLite converts: missing is 0, of a text the number that it begins with."""
    if isinstance(value, int | float):
        return value
    digits = value.decode("utf-8", "replace") if isinstance(value, bytes) else value or "0"
    for end in range(len(digits), 0, -1):
        try:
            return float(digits[:end])
        except ValueError:
            continue
    return 0


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        # 15 digits, and a point or an exponent, as SQLite writes them.
        written = f"{value:.15g}"
        if "e" in written:
            digits, _, power = written.partition("e")
            return f"{digits if '.' in digits else digits + '.0'}e{power}".encode()
        return (written if "." in written else written + ".0").encode()
    return b"" if value is None else str(value).encode()


define_op(
    "SqlDataset",
    "driver_name: string, data_source_name: string, query: string -> handle: variant",
    attrs=TYPES, shape=scalar, kernel=_sql, stateful=True, no_gradient=_REASON,
)  # fmt: skip


# ---- files ---------------------------------------------------------------------------------------


def _write(input_dataset: Any, filename: Any, compression_type: Any) -> None:
    iterator = input_dataset.iterator(Context())
    with RecordWriter(text(filename), text(compression_type)) as writer:
        while True:
            try:
                (record,) = iterator.next()
            except EndOfSequence:
                return
            writer.write(record.item())


define_op(
    "DatasetToTFRecord",
    "input_dataset: variant, filename: string, compression_type: string ->",
    shape=no_outputs, kernel=_write, stateful=True, effect=True, blocking=True,
    no_gradient=_REASON,
)  # fmt: skip
