"""Checkpoints as one safetensors file.

The file is the size of its header (8 bytes), the header in JSON, and the data without gaps.  The
header stands in front and is known last, so room is kept for it, and filled with blanks; a header
that does not fit moves the data on.  What the format has no words for stands in the header's
metadata: the masked CRC-32C of each tensor ("penstock.crc32c"; files without it are read as well),
and the full shape of tensors that are stored in slices ("penstock.slices").  Each slice is a tensor
of its own, called "NAME::SLICE".

State: `SafetensorsWriter` the header so far and the open file; `SafetensorsReader` the header.

Source: the description of the safetensors format.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.dtypes import DType
from penstock.foundation.formats import arrays, crc, files
from penstock.foundation.formats.reader import Stored, TensorReader
from penstock.foundation.formats.streams import CHUNK, Sink, Source
from penstock.foundation.formats.tensor_slice import TensorSlice, volume
from penstock.foundation.formats.writer import Sizes, StreamWriter

SUFFIX = ".safetensors"
_ROOM = 64 << 10
_LONGEST_HEADER = 100_000_000
_CRCS = "penstock.crc32c"
_SLICES = "penstock.slices"
_TYPES = {
    "BOOL": dtypes.bool,
    "U8": dtypes.uint8,
    "I8": dtypes.int8,
    "I16": dtypes.int16,
    "U16": dtypes.uint16,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "I32": dtypes.int32,
    "U32": dtypes.uint32,
    "F32": dtypes.float32,
    "F64": dtypes.float64,
    "I64": dtypes.int64,
    "U64": dtypes.uint64,
    "C64": dtypes.complex64,
}
_CODES = {dtype: code for code, dtype in _TYPES.items()}


def safetensors_path(prefix: str) -> str:
    """The file of a checkpoint: the prefix, with ".safetensors" where it does not end so."""
    return prefix if prefix.endswith(SUFFIX) else prefix + SUFFIX


class SafetensorsWriter(StreamWriter):
    """Writes a checkpoint.  As a context manager: finished at the end, abandoned on an error.

    Args:
      prefix: the checkpoint's name, with or without ".safetensors".
      durable: whether `finish` waits until all is on the disk.
      threads: how many write large tensors; as for `Sink`.
    """

    def __init__(self, prefix: str, durable: bool = False, threads: int | None = None) -> None:
        super().__init__(safetensors_path(os.fsdecode(prefix)))
        self._durable = durable
        self._header: dict[str, Any] = {}
        self._crcs: dict[str, int] = {}
        self._full: dict[str, list[int]] = {}
        self._temporary = files.temporary(self.path)
        self._data = Sink(self._temporary, threads)
        try:
            self._data.write(bytes(_ROOM))
        except BaseException:
            self.abandon()
            raise

    def add(self, name: str, array: np.ndarray, dtype: DType | None = None) -> None:
        """Writes a tensor.

        Raises:
          InvalidArgumentError: a name that was added before, or values of a type that safetensors
            has not: strings, complex128, quantized types.
        """
        array, found = arrays.checked(name, array, dtype)
        sink = self._open()
        if found not in _CODES:
            allowed = ", ".join(sorted(known.name for known in _CODES))
            raise self._refused(f"tensor {name}: safetensors has no {found.name}; it has {allowed}")
        if not name or name == "__metadata__" or name in self._header:
            raise self._refused(f"tensor {name!r}: added before, or a name that is not allowed")
        start = sink.length - _ROOM
        self._crcs[name] = crc.mask(sink.write_array(array))
        self._header[name] = {
            "dtype": _CODES[found],
            "shape": list(array.shape),
            "data_offsets": [start, sink.length - _ROOM],
        }

    def _add_slice(
        self, name: str, shape: Sizes, piece: TensorSlice, array: np.ndarray, dtype: DType | None
    ) -> None:
        """Writes it as the tensor "NAME::SLICE"."""
        if piece.takes_all(shape):
            self.add(name, array, dtype)
            return
        if self._full.setdefault(name, list(shape)) != list(shape) or name in self._header:
            raise self._refused(f"the slices of tensor {name} differ in the full shape")
        self.add(f"{name}::{piece}", array, dtype)

    def finish(self) -> None:
        """Writes the header and makes the file visible, atomically."""
        sink = self._open()
        try:
            sink.close()
            metadata = {_CRCS: json.dumps(self._crcs), _SLICES: json.dumps(self._full)}
            header = {"__metadata__": {"format": "pt", **metadata}, **self._header}
            with files.error_names(self.path):
                self._put_front(json.dumps(header).encode())
            if self._durable:
                with files.error_names(self.path), files.open_file(self._temporary, "rb+") as file:
                    os.fsync(file.fileno())
            files.replace(self._temporary, self.path)
            if self._durable:
                files.sync_directory(os.path.dirname(self.path))
        except BaseException:
            self.abandon()
            raise
        self._data = None

    def _put_front(self, header: bytes) -> None:
        room = _ROOM - 8
        if len(header) <= room and not files.is_remote(self.path):
            with files.open_file(self._temporary, "rb+") as stream:
                stream.write(room.to_bytes(8, "little") + header.ljust(room))
            return
        size = -(-len(header) // 64) * 64
        longer = files.temporary(self.path)
        with files.open_file(longer, "wb") as out, files.open_file(self._temporary) as data:
            out.write(size.to_bytes(8, "little") + header.ljust(size))
            data.seek(_ROOM)
            while chunk := data.read(CHUNK):
                out.write(chunk)
        files.replace(longer, self._temporary)


class SafetensorsReader(TensorReader):
    """Reads a safetensors file, whoever wrote it.

    Args:
      prefix: the file, with or without ".safetensors".

    Raises:
      NotFoundError: there is no such file.
      DataLossError: it is corrupt.
    """

    def __init__(self, prefix: str) -> None:
        super().__init__(safetensors_path(os.fsdecode(prefix)))
        self._source = Source(self.path)
        size = int.from_bytes(self._source.read(0, 8, "the header"), "little")
        if size > _LONGEST_HEADER:
            raise self._source.lost("the header", 0, f"it says that it has {size} bytes")
        self._origin = 8 + size
        text = self._source.read(8, size, "the header")
        self._rows: dict[str, tuple[Stored, int, int]] = {}
        self._whole: dict[str, Stored] = {}
        self._crcs: dict[str, int] = {}
        try:
            self._parse(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            found = f"not a safetensors header: {type(error).__name__}: {error}"
            raise self._source.lost("the header", 8, found) from error

    def _parse(self, header: dict[str, Any]) -> None:
        """Takes the header in.

        Raises:
          ValueError, TypeError, KeyError, AttributeError: it is not as it should be.
        """
        metadata = header.pop("__metadata__", {})
        self._crcs = json.loads(metadata.get(_CRCS, "{}"))
        slices = json.loads(metadata.get(_SLICES, "{}"))
        full = {name: tuple(shape) for name, shape in slices.items()}
        for name, row in header.items():
            start, end = row["data_offsets"]
            stored = Stored(_TYPES[row["dtype"]], tuple(row["shape"]))
            size = volume(stored.shape) * stored.dtype.size
            if min((start, *stored.shape)) < 0 or end - start != size:
                raise ValueError(f"tensor {name}, {size} bytes, stands from {start} to {end}")
            self._rows[name] = (stored, start, end)
            outer, _, text = name.rpartition("::")
            if outer not in full:
                self._whole[name] = stored
                continue
            try:
                piece = TensorSlice.parse(text)
                piece.bounds(full[outer])
            except errors.InvalidArgumentError as error:
                raise ValueError(str(error)) from error
            before = self._whole.get(outer, Stored(stored.dtype, full[outer]))
            self._whole[outer] = Stored(stored.dtype, full[outer], (*before.slices, piece))

    def close(self) -> None:
        """Closes the file."""
        self._source.close()

    def names(self) -> list[str]:
        """The names of the tensors, sorted."""
        return sorted(self._whole)

    def __contains__(self, name: object) -> bool:
        return name in self._whole

    def _stored(self, name: str) -> Stored:
        return self._whole[name]

    def _check(self, name: str, piece: TensorSlice | None) -> None:
        row = name if piece is None else f"{name}::{piece}"
        _, start, end = self._rows[row]
        self._source.check(self._origin + start, end - start, f"tensor {row}")

    def _load(self, name: str, piece: TensorSlice | None, out: np.ndarray) -> None:
        row = name if piece is None else f"{name}::{piece}"
        _, start, _ = self._rows[row]
        computed = crc.mask(self._source.read_array(self._origin + start, out, f"tensor {row}"))
        wanted = self._crcs.get(row, computed)
        if wanted != computed:
            found = f"checksum mismatch (corrupt data): stored {wanted}, computed {computed}"
            raise self._source.lost(f"tensor {row}", self._origin + start, found)
