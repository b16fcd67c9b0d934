"""Datasets of the records of files: lines of text, TFRecords, records of a fixed length, CSV.

Files are opened when an iterator comes to them, one at a time, and read as they are consumed.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.dataset.base import Element
from penstock.engine.resources.dataset.sources import Records
from penstock.foundation.base import errors
from penstock.foundation.formats import files, lmdb_file, tfrecord
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import scalar
from penstock.ops.data.dataset import TYPES, text
from penstock.ops.data.parsing import INTEGER_LIMITS, csv_fields, number_parser

_REASON = "files are no numbers"
_CHUNK = 1 << 18
_WINDOW = {"": None, "GZIP": 31, "ZLIB": 15}


class _Inflated(io.RawIOBase):
    """A compressed file as a stream of what is in it."""

    def __init__(self, raw: Any, path: str, window: int) -> None:
        self._chunks = tfrecord.inflated(raw, path, window)
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._ready = self._ready or next(self._chunks, b"")
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


@contextmanager
def _opened(path: str, compression: str) -> Iterator[Any]:
    if compression not in _WINDOW:
        raise errors.invalid(
            f"Unsupported compression_type: {compression}; allowed are {list(_WINDOW)}"
        )
    window = _WINDOW[compression]
    with files.open_file(path, "rb") as raw:
        yield raw if window is None else io.BufferedReader(_Inflated(raw, path, window), _CHUNK)


def _path(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def _string(value: bytes) -> Element:
    made = np.empty((), object)
    made[()] = value
    return (made,)


def _lines(filenames: Any, compression_type: Any) -> Records:
    compression = text(compression_type)

    def read(name: Any) -> Iterable[Element]:
        with _opened(_path(name), compression) as stream:
            for line in stream:
                yield _string(line.rstrip(b"\n").removesuffix(b"\r"))

    return Records(np.atleast_1d(filenames).tolist(), read)


def _tfrecords(filenames: Any, compression_type: Any) -> Records:
    compression = text(compression_type)

    def read(name: Any) -> Iterable[Element]:
        return map(_string, tfrecord.read_records(_path(name), compression))

    return Records(np.atleast_1d(filenames).tolist(), read)


def _lmdb(filenames: Any) -> Records:
    def read(name: Any) -> Iterable[Element]:
        for key, value in lmdb_file.read_records(_path(name), "LMDBDataset"):
            yield _string(key) + _string(value)

    return Records(np.atleast_1d(filenames).tolist(), read)


def _fixed(
    filenames: Any, header_bytes: int, record_bytes: int, footer_bytes: int, compression: str = ""
) -> Records:
    if record_bytes < 1 or header_bytes < 0 or footer_bytes < 0:
        raise errors.invalid(
            "record_bytes must be at least 1, header_bytes and footer_bytes at least 0; found"
            f" {record_bytes}, {header_bytes} and {footer_bytes}"
        )

    def read(name: Any) -> Iterable[Element]:
        with _opened(_path(name), compression) as stream:
            if not compression:
                check(name, stream.seek(0, io.SEEK_END) - header_bytes - footer_bytes)
                stream.seek(0)
            stream.read(header_bytes)
            # A record is given out once it is known that the footer follows it.
            held = stream.read(record_bytes + footer_bytes)
            while len(held) == record_bytes + footer_bytes:
                yield _string(held[:record_bytes])
                held = held[record_bytes:] + stream.read(record_bytes)
            check(name, len(held) - footer_bytes)

    def check(name: Any, body: int) -> None:
        if body % record_bytes:
            raise errors.invalid(
                f"Excluding the header ({header_bytes} bytes) and footer ({footer_bytes} bytes),"
                f" input file {_path(name)!r} has body length {body} bytes, which is not an exact"
                f" multiple of the record length ({record_bytes} bytes)."
            )

    return Records(np.atleast_1d(filenames).tolist(), read)


def _fixed_v1(filenames: Any, header_bytes: int, record_bytes: int, footer_bytes: int) -> Records:
    return _fixed(filenames, header_bytes, record_bytes, footer_bytes)


def _fixed_v2(
    filenames: Any, header_bytes: int, record_bytes: int, footer_bytes: int, compression_type: Any
) -> Records:
    return _fixed(filenames, header_bytes, record_bytes, footer_bytes, text(compression_type))


class _Columns:
    """Fields of a line as the components of an element."""

    def __init__(self, types: Sequence[Any], defaults: Sequence[Any], missing: bytes) -> None:
        self.types, self.defaults, self.missing = types, defaults, missing

    def element(self, fields: Sequence[bytes]) -> Element:
        return tuple(self._value(i, field) for i, field in enumerate(fields))

    def _value(self, index: int, field: bytes) -> Any:
        kind = self.types[index]
        if field in (b"", self.missing):
            default = self.defaults[index]
            if not default.shape[0]:
                raise errors.invalid(f"Field {index} is required but missing in record!")
            return default[0] if kind is not object else _string(default[0])[0]
        if kind is object:
            return _string(field)[0]
        try:
            value = number_parser(kind)(field, INTEGER_LIMITS.get(kind, 0))
            return torch.tensor(value, dtype=kind)
        except ValueError:
            name = str(kind).removeprefix("torch.")
            shown = field.decode("utf-8", "backslashreplace")
            raise errors.invalid(
                f"Field {index} in record is not a valid {name}: {shown}"
            ) from None


def _csv_records(stream: Any, delimiter: bytes, quotes: bool) -> Iterator[tuple[int, Any]]:
    """The fields of records, or the error that a record is, each with the number of its line.

    A record goes on over lines while a quoted field is open: while it has an odd number of quotes.
    """
    # Lines end as they do for CSV; bytes are kept as they are.
    lines = io.TextIOWrapper(stream, "latin-1", newline="")
    number = 0
    for line in lines:
        number += 1
        first, parts = number, [line]
        if quotes and line.count('"') % 2 and _is_open(line, delimiter):
            for line in lines:
                number += 1
                parts.append(line)
                if line.count('"') % 2:
                    break
        record = "".join(parts)
        record = record.removesuffix("\n").removesuffix("\r")
        try:
            # An empty line is one field.
            yield first, csv_fields(record.encode("latin-1"), delimiter, quotes) or [b""]
        except errors.InvalidArgumentError as error:
            yield first, error


def _is_open(line: str, delimiter: bytes) -> bool:
    """Whether a quoted field does not end within a line."""
    try:
        csv_fields(line.rstrip("\r\n").encode("latin-1"), delimiter, True)
    except errors.InvalidArgumentError as error:
        return "Quoted field has to end" in error.message
    return False


def _csv(
    filenames: Any, compression_type: Any, header: bool, field_delim: Any, use_quote_delim: bool,
    na_value: Any, select_cols: list[int], record_defaults: list[Any], output_types: list[Any],
) -> Records:  # fmt: skip
    compression, delimiter = text(compression_type), text(field_delim).encode()
    columns = _Columns(output_types, record_defaults, text(na_value).encode())

    def fields_of(row: list[bytes]) -> list[bytes]:
        if select_cols:
            if len(row) <= max(select_cols):
                raise errors.invalid(
                    f"Expect at least {max(select_cols) + 1} fields but have {len(row)}"
                )
            return [row[i] for i in select_cols]
        if len(row) != len(output_types):
            raise errors.invalid(f"Expect {len(output_types)} fields but have {len(row)} in record")
        return row

    def parsed(path: str, line: int, row: Any) -> Element | Exception:
        try:
            if isinstance(row, Exception):
                raise row
            return columns.element(fields_of(row))
        except errors.InvalidArgumentError as error:
            return errors.invalid(f"{path}: line {line}: {error.message}")

    def read(name: Any) -> Iterable[Element | Exception]:
        path = _path(name)
        with _opened(path, compression) as stream:
            rows = _csv_records(stream, delimiter, use_quote_delim)
            if header:
                next(rows, None)
            for line, row in rows:
                yield parsed(path, line, row)

    return Records(np.atleast_1d(filenames).tolist(), read)


_FILES: list[tuple[str, str, list[str], Any, tuple[str, ...]]] = [
    # op type, inputs after the names, attrs, kernel, inputs wanted as numbers
    ("TextLineDataset", "compression_type: string, buffer_size: int64", [], _lines, ()),
    ("TFRecordDataset", "compression_type: string, buffer_size: int64", [], _tfrecords, ()),
    ("LMDBDataset", "", TYPES, _lmdb, ()),
    ("FixedLengthRecordDataset",
     "header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64", [],
     _fixed_v1, ("header_bytes", "record_bytes", "footer_bytes")),
    ("FixedLengthRecordDatasetV2",
     "header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64,"
     " compression_type: string", [], _fixed_v2, ("header_bytes", "record_bytes", "footer_bytes")),
    ("CSVDataset",
     "compression_type: string, buffer_size: int64, header: bool, field_delim: string,"
     " use_quote_delim: bool, na_value: string, select_cols: int64,"
     " record_defaults: list(output_types)", TYPES, _csv,
     ("header", "use_quote_delim", "select_cols")),
]  # fmt: skip

for _name, _inputs, _attrs, _kernel, _host in _FILES:
    define_op(
        _name,
        f"filenames: string{', ' * bool(_inputs)}{_inputs} -> handle: variant",
        attrs=_attrs,
        shape=scalar,
        kernel=_kernel,
        host=_host,
        stateful=True,
        no_gradient=_REASON,
    )
