"""TensorFlow's V1 checkpoints: one table a shard, each slice of a tensor a message in it.

The empty key maps to the list of all tensors with their slices, a key made of name and slice to
the values.  Shards of a checkpoint are files whose names match "NAME-?????-of-?????".  The format
is for interchange with old programs: a slice holds at most 2 GB, and the writer keeps everything in
memory until `finish`, as values stand in the order of their keys.

State: `V1Writer` the messages so far; `V1Reader` the list of slices and the open tables.

Source: the format of TensorFlow's tensor_slice_writer.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.dtypes import DType
from penstock.foundation.formats import arrays, files, tensor_proto
from penstock.foundation.formats.reader import Stored, TensorReader
from penstock.foundation.formats.schema import SavedTensorSlices
from penstock.foundation.formats.snappy import MOST_PER_BYTE as _MOST_PER_BYTE
from penstock.foundation.formats.sstable import TableReader, TableWriter
from penstock.foundation.formats.streams import Sink, Source
from penstock.foundation.formats.tensor_slice import TensorSlice, volume
from penstock.foundation.formats.writer import Sizes, TensorWriter

_META = b""
_VERSION = 1
_MOST_BYTES = (1 << 31) - 1
# How many bytes an element may take in a message, for the limit on its size.
_VARINT_BYTES = 10


class V1Writer(TensorWriter):
    """Writes one file of a V1 checkpoint.  As a context manager: finished at the end.

    Args:
      path: the file; it appears, whole, with `finish`.
      durable: whether `finish` waits until all is on the disk.
    """

    def __init__(self, path: str, durable: bool = False) -> None:
        super().__init__(os.fsdecode(path))
        self._durable = durable
        self._meta = SavedTensorSlices()
        self._meta.meta.versions.producer = _VERSION
        self._tensors: dict[str, Any] = {}
        self._values: dict[bytes, bytes] = {}

    def add(self, name: str, array: np.ndarray, dtype: DType | None = None) -> None:
        """Takes a tensor.

        Raises:
          InvalidArgumentError: a name that was added before, more than 2 GB, or values of a type
            that has no stored form.
        """
        shape = np.shape(array)
        self.add_slice(name, shape, TensorSlice.full(len(shape)), array, dtype)

    def _add_slice(
        self, name: str, shape: Sizes, piece: TensorSlice, array: np.ndarray, dtype: DType | None
    ) -> None:
        array, found = arrays.checked(name, array, dtype)
        if piece.key(name) in self._values:
            raise self._refused(f"tensor {name}: slice {piece} is there already")
        if array.size * min(found.size, _VARINT_BYTES) > _MOST_BYTES:
            raise self._refused(f"tensor {name}: a slice of a V1 checkpoint holds at most 2 GB")
        message = SavedTensorSlices()
        message.data.name = name
        message.data.slice.CopyFrom(piece.proto)
        try:
            tensor_proto.fill_typed(message.data.data, array, found)
        except KeyError as error:
            raise self._refused(f"tensor {name}: {found.name} has no stored form") from error
        self._list(name, shape, found).slice.append(piece.proto)
        self._values[piece.key(name)] = message.SerializeToString()

    def _list(self, name: str, shape: tuple[int, ...], dtype: DType) -> Any:
        meta = self._tensors.get(name)
        if meta is None:
            meta = self._meta.meta.tensor.add(name=name, type=dtype.as_datatype_enum)
            meta.shape.dim.extend(meta.shape.Dim(size=size) for size in shape)
            self._tensors[name] = meta
        old = tuple(dim.size for dim in meta.shape.dim)
        if old != shape or meta.type != dtype.as_datatype_enum:
            raise self._refused(f"the slices of tensor {name} differ in the dtype or full shape")
        return meta

    def finish(self) -> None:
        """Writes the file and makes it visible, atomically."""
        path = files.temporary(self.path)
        sink = Sink(path)
        try:
            table = TableWriter(sink)
            table.add(_META, self._meta.SerializeToString())
            for key in sorted(self._values):
                table.add(key, self._values[key])
            table.finish()
            if self._durable:
                sink.sync()
            sink.close()
            files.replace(path, self.path)
        except BaseException:
            sink.close()
            if files.exists(path):
                files.remove(path)
            raise
        if self._durable:
            files.sync_directory(os.path.dirname(self.path))

    def abandon(self) -> None:
        """Forgets what was added; nothing has been written."""
        self._values.clear()


class V1Reader(TensorReader):
    """Reads a V1 checkpoint.

    Args:
      pattern: a file, or a pattern that its shards match.

    Raises:
      NotFoundError: no file matches.
      DataLossError: a file is corrupt, or not of this format.
    """

    def __init__(self, pattern: str) -> None:
        super().__init__(os.fsdecode(pattern))
        paths = [self.path] if files.exists(self.path) else files.glob(self.path)
        if not paths:
            text = f"Unsuccessful TensorSliceReader constructor: no files match {self.path}"
            raise errors.NotFoundError(None, None, text)
        self._tensors: dict[str, Stored] = {}
        self._tables: dict[tuple[str, TensorSlice], tuple[Source, TableReader]] = {}
        self._sources: list[Source] = []
        for path in paths:
            self._read_list(Source(path))

    def _read_list(self, source: Source) -> None:
        self._sources.append(source)
        table = TableReader(source)
        value = table.get(_META)
        if value is None:
            raise source.lost("the list of tensors", 0, "not there")
        try:
            for meta in SavedTensorSlices.FromString(value).meta.tensor:
                stored = _stored(meta)
                old = self._tensors.get(meta.name)
                if old is not None and (old.dtype, old.shape) != (stored.dtype, stored.shape):
                    raise ValueError(f"slices of tensor {meta.name} differ in dtype or shape")
                slices = (old.slices if old else ()) + stored.slices
                self._tensors[meta.name] = Stored(stored.dtype, stored.shape, slices)
                for piece in stored.slices:
                    self._tables[meta.name, piece] = (source, table)
        except (DecodeError, TypeError, ValueError, errors.InvalidArgumentError) as error:
            raise source.lost("the list of tensors", 0, str(error)) from error

    def close(self) -> None:
        """Closes the files."""
        for source in self._sources:
            source.close()

    def names(self) -> list[str]:
        """The names of the tensors, sorted."""
        return sorted(self._tensors)

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def _stored(self, name: str) -> Stored:
        stored = self._tensors[name]
        if len(stored.slices) == 1 and stored.slices[0].takes_all(stored.shape):
            return Stored(stored.dtype, stored.shape)
        return stored

    def _check(self, name: str, piece: TensorSlice | None) -> None:
        key = piece or self._tensors[name].slices[0]
        source, _ = self._tables[name, key]
        size = volume(key.shape(self._tensors[name].shape))
        if size > _MOST_PER_BYTE * source.size:  # each element has a byte or more in its message
            raise source.lost(f"tensor {name}", 0, f"{size} elements in {source.size} bytes")

    def _load(self, name: str, piece: TensorSlice | None, out: np.ndarray) -> None:
        values = self._values(name, piece or self._tensors[name].slices[0])
        out[...] = values.reshape(out.shape)

    def _values(self, name: str, piece: TensorSlice) -> np.ndarray:
        source, table = self._tables[name, piece]
        stored = self._tensors[name]
        what = f"tensor {name}, slice {str(piece)!r}"
        value = table.get(piece.key(name))
        if value is None:
            raise source.lost(what, 0, "it is listed, but not there")
        try:
            data = SavedTensorSlices.FromString(value).data
            if data.name != name or TensorSlice.from_proto(data.slice) != piece:
                raise ValueError(f"the values of {data.name} stand here")
            size = volume(piece.shape(stored.shape))
            return tensor_proto.typed_array(data.data, stored.dtype, size)
        except (DecodeError, TypeError, ValueError, OverflowError) as error:
            raise source.lost(what, 0, str(error)) from error


def _stored(meta: Any) -> Stored:
    """What a list says of a tensor.

    Raises:
      TypeError, ValueError, InvalidArgumentError: what cannot be.
    """
    shape = tuple(dim.size for dim in meta.shape.dim)
    if min(shape, default=0) < 0:
        raise ValueError(f"tensor {meta.name} has the shape {list(shape)}")
    slices = tuple(map(TensorSlice.from_proto, meta.slice))
    if not slices:
        raise ValueError(f"tensor {meta.name} has no slices")
    for piece in slices:
        piece.bounds(shape)
    return Stored(dtypes.as_dtype(meta.type).base_dtype, shape, slices)
