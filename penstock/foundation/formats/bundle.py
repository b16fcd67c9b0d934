"""TensorFlow's V2 checkpoints: PREFIX.index, a table, beside PREFIX.data-SSSSS-of-NNNNN.

The index maps a tensor's name to its dtype, shape, shard, offset, size and masked CRC; the empty
name maps to a header with the number of shards.  A tensor that is stored in slices has an entry
that lists them, and one more entry for each, under a key made of name and slice.

Writing is atomic.  Data goes to temporary files; then data files take their names, and last the
index, by one rename.  The number of shards is part of the data files' names, so a checkpoint that
replaces one of the same prefix takes another number (with an empty shard more), and no file that
the old index names changes before the new index is there.  A process that is killed leaves the old
checkpoint or the new one, and at worst temporary files (``*.tempstate*``).  `durable` adds fsync,
for a machine that may lose power.

State: `BundleWriter` the entries so far and the open data file; `BundleReader` the table's entries
and the data files that are open.

Source: the format of TensorFlow's tensor_bundle.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.dtypes import DType
from penstock.foundation.formats import arrays, crc, files
from penstock.foundation.formats.reader import Stored, TensorReader
from penstock.foundation.formats.schema import BundleEntryProto, BundleHeaderProto
from penstock.foundation.formats.sstable import TableReader, TableWriter
from penstock.foundation.formats.streams import Sink, Source
from penstock.foundation.formats.tensor_slice import TensorSlice, volume
from penstock.foundation.formats.writer import Sizes, StreamWriter

_HEADER = b""
_VERSION = 1
_HANDLES = (dtypes.resource, dtypes.variant)


def index_path(prefix: str) -> str:
    """The name of the index of a checkpoint."""
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The name of a data file of a checkpoint.

    >>> data_path("model", 0, 1)
    'model.data-00000-of-00001'
    """
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def data_paths(prefix: str) -> list[tuple[str, int]]:
    """The data files that exist beside a prefix, each with the number of shards in its name."""
    directory, base = os.path.split(prefix)
    if not files.isdir(directory or "."):
        return []
    form = re.compile(re.escape(base) + r"\.data-\d{5,}-of-(\d{5,})")
    found = ((name, form.fullmatch(name)) for name in files.listdir(directory or "."))
    return [(os.path.join(directory, name), int(match[1])) for name, match in found if match]


class BundleWriter(StreamWriter):
    """Writes a checkpoint.  As a context manager: finished at the end, abandoned on an error.

    Args:
      prefix: the checkpoint's name; its directory must exist.
      durable: whether `finish` waits until all is on the disk (fsync), so that a loss of power
        leaves a complete checkpoint as well.
      threads: how many write large tensors; as for `Sink`.

    Raises:
      NotFoundError: there is no such directory.

    >>> import tempfile
    >>> prefix = tempfile.mkdtemp() + "/model"
    >>> with BundleWriter(prefix) as writer:
    ...     writer.add("w", np.arange(3.0))
    >>> BundleReader(prefix).read("w")
    array([0., 1., 2.])
    """

    def __init__(self, prefix: str, durable: bool = False, threads: int | None = None) -> None:
        super().__init__(os.fsdecode(prefix))
        self._durable = durable
        self._entries: dict[bytes, Any] = {}
        self._temporary = _beside(data_path(self.path, 0, 1))
        self._data = Sink(self._temporary, threads)

    def add(self, name: str, array: np.ndarray, dtype: DType | None = None) -> None:
        """Writes a tensor.

        Args:
          array: its values, of any strides; strings as an object array of bytes.
          dtype: the element type, where the array's own says less (int8 for qint8).

        Raises:
          InvalidArgumentError: a name that was added before or is empty, or values of a type that
            has no stored form.
          ResourceExhaustedError: the disk is full.
        """
        array, found = arrays.checked(name, array, dtype)
        self._claim(name, name.encode())
        self._entries[name.encode()] = self._write(array, found)

    def _add_slice(
        self, name: str, shape: Sizes, piece: TensorSlice, array: np.ndarray, dtype: DType | None
    ) -> None:
        if piece.takes_all(shape):
            self.add(name, array, dtype)
            return
        array, found = arrays.checked(name, array, dtype)
        whole = BundleEntryProto(dtype=found.as_datatype_enum)
        whole.shape.dim.extend(_dims(shape))
        whole.slices.append(piece.proto)
        self._claim(name, piece.key(name))
        _merge_entry(self._entries, name.encode(), whole, self.path)
        self._entries[piece.key(name)] = self._write(array, found)

    def _claim(self, name: str, key: bytes) -> None:
        if not name or key in self._entries:
            what = f"a second tensor {name!r}" if name else "a tensor without a name"
            raise self._refused(f"{what} is added")

    def _write(self, array: np.ndarray, dtype: DType) -> Any:
        sink = self._open()
        if dtype in _HANDLES:
            text = f"{self.path}: {dtype.name} tensors have no stored form"
            raise errors.UnimplementedError(None, None, text)
        offset = sink.length
        strings = dtype is dtypes.string
        total = arrays.write_strings(sink, array) if strings else sink.write_array(array)
        entry = BundleEntryProto(
            dtype=dtype.as_datatype_enum,
            offset=offset,
            size=sink.length - offset,
            crc32c=crc.mask(total),
        )
        entry.shape.dim.extend(_dims(array.shape))
        return entry

    def finish(self) -> None:
        """Makes the checkpoint visible, atomically.

        Raises:
          FailedPreconditionError: it is finished already, or abandoned.
          ResourceExhaustedError: the disk is full.
        """
        data = self._open()
        try:
            if self._durable:
                data.sync()
            data.close()
            _publish(self.path, [self._temporary], self._entries, self._durable)
        except BaseException:
            self.abandon()
            raise
        self._data = None


def _beside(path: str) -> str:
    return files.temporary(path)


def _dims(shape: Sequence[int]) -> list[Any]:
    proto = BundleEntryProto()
    return [proto.shape.Dim(size=size) for size in shape]


def _publish(prefix: str, data: Sequence[str], entries: dict[bytes, Any], durable: bool) -> None:
    """Gives data files their names, then writes the index, then removes what the old one named."""
    shards = len(data)
    taken = _named_shards(prefix) if files.exists(index_path(prefix)) else set()
    while shards in taken:
        shards += 1
    directory = os.path.dirname(prefix)
    try:
        for shard, path in enumerate(data):
            files.replace(path, data_path(prefix, shard, shards))
        for shard in range(len(data), shards):
            Sink(data_path(prefix, shard, shards)).close()
        if durable:
            files.sync_directory(directory)
        _write_index(prefix, shards, entries, durable)
    except BaseException:
        # No index names them: they would fill the disk, perhaps the one that is full.
        for shard in range(shards):
            with suppress(errors.OpError):
                files.remove(data_path(prefix, shard, shards))
        raise
    if durable:
        files.sync_directory(directory)
    for path, of in data_paths(prefix):
        if of != shards:
            files.remove(path)


def _named_shards(prefix: str) -> set[int]:
    """The numbers of shards that a new checkpoint may not take: the one of the old index.

    An index that cannot be read has no data to save; but then any data file may be somebody's.
    """
    try:
        with Source(index_path(prefix)) as source:
            header = _header(TableReader(source), source)
    except errors.OpError:
        return {of for _, of in data_paths(prefix)}
    return {header.num_shards}


def _write_index(prefix: str, shards: int, entries: dict[bytes, Any], durable: bool) -> None:
    header = BundleHeaderProto(num_shards=shards)
    header.version.producer = _VERSION
    path = _beside(index_path(prefix))
    sink = Sink(path)
    try:
        table = TableWriter(sink)
        table.add(_HEADER, header.SerializeToString())
        for key in sorted(entries):
            table.add(key, entries[key].SerializeToString())
        table.finish()
        if durable:
            sink.sync()
        sink.close()
        files.replace(path, index_path(prefix))
    except BaseException:
        sink.close()
        if files.exists(path):
            files.remove(path)
        raise


def merge_bundles(
    prefixes: Sequence[str], merged: str, delete_old_dirs: bool, durable: bool = False
) -> None:
    """Makes one checkpoint of several: their data files are renamed, not copied.

    Args:
      prefixes: the checkpoints; they are gone afterwards.
      merged: the name of the result.
      delete_old_dirs: whether to remove the directories of `prefixes` that are empty then.
      durable: whether to wait until all is on the disk.

    Raises:
      NotFoundError, DataLossError: an input is missing or corrupt.
      InvalidArgumentError: no inputs, or two of them hold the same tensor or slice.
    """
    if not prefixes:
        raise errors.invalid(f"{merged}: there is nothing to merge")
    entries: dict[bytes, Any] = {}
    data: list[str] = []
    for prefix in map(os.fspath, prefixes):
        with BundleReader(prefix) as reader:
            for key, entry in reader.entries():
                if not entry.slices:
                    entry.shard_id += len(data)
                _merge_entry(entries, key, entry, merged)
            data += [data_path(prefix, shard, reader.shards) for shard in range(reader.shards)]
    for path in data:
        if not files.exists(path):
            raise errors.NotFoundError(None, None, f"{path}: No such file or directory")
    if durable:
        for path in data:
            _sync(path)
    _publish(os.fsdecode(merged), data, entries, durable)
    for prefix in map(os.fspath, prefixes):
        if prefix != os.fsdecode(merged):
            files.remove(index_path(prefix))
    if delete_old_dirs:
        for directory in {os.path.dirname(prefix) for prefix in map(os.fspath, prefixes)}:
            if directory != os.path.dirname(merged) and not files.listdir(directory or "."):
                files.remove_tree(directory)


def _sync(path: str) -> None:
    if not files.is_remote(path):
        with files.error_names(path), files.open_file(path, "rb+") as stream:
            os.fsync(stream.fileno())


def _merge_entry(entries: dict[bytes, Any], key: bytes, entry: Any, where: str) -> None:
    """Adds an entry; slices of the same tensor come together."""
    old = entries.setdefault(key, entry)
    if old is entry:
        return
    if not (old.slices and entry.slices):
        found = f"tensor {key.decode(errors='replace')!r} is there twice"
    elif old.dtype != entry.dtype or old.shape != entry.shape:
        found = f"the slices of tensor {key.decode()!r} differ in the dtype or the full shape"
    else:
        old.slices.extend(entry.slices)
        return
    raise errors.invalid(f"{where}: {found}")


def _header(table: TableReader, source: Source) -> Any:
    """The header of an index.

    Raises:
      DataLossError: there is none, or it says what cannot be.
      UnimplementedError: a file of a later version, or of a big-endian machine.
    """
    value = table.get(_HEADER)
    if value is None:
        raise source.lost("the header", 0, "not there")
    try:
        header = BundleHeaderProto.FromString(value)
    except DecodeError as error:
        raise source.lost("the header", 0, str(error)) from error
    if header.endianness != 0:
        text = f"{source.path}: a big-endian checkpoint; only little-endian ones can be read"
        raise errors.UnimplementedError(None, None, text)
    if header.version.min_consumer > _VERSION:
        text = f"{source.path}: needs a reader of version {header.version.min_consumer}"
        raise errors.UnimplementedError(None, None, f"{text}; this one is version {_VERSION}")
    if header.num_shards < 1:
        raise source.lost("the header", 0, f"{header.num_shards} shards")
    return header


class BundleReader(TensorReader):
    """Reads a checkpoint.  The index is read at once, data when it is asked for.

    Args:
      prefix: the checkpoint's name.

    Raises:
      NotFoundError: there is no index of that prefix.
      DataLossError: the index is corrupt; with the file and the place.
      UnimplementedError: a checkpoint of a big-endian machine or a later version.
    """

    def __init__(self, prefix: str) -> None:
        super().__init__(os.fsdecode(prefix))
        self._index = index_path(self.path)
        with Source(self._index) as source:
            table = TableReader(source)
            self.shards: int = _header(table, source).num_shards
            self._entries = dict(table)
            del self._entries[_HEADER]
            try:
                self._names = {k.decode(): k for k in self._entries if not k.startswith(b"\0")}
            except UnicodeDecodeError as error:
                raise source.lost("the name of a tensor", 0, str(error)) from error
        self._open: dict[int, Source] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Closes the data files."""
        for source in self._open.values():
            source.close()
        self._open.clear()

    def names(self) -> list[str]:
        """The names of the tensors, sorted."""
        return sorted(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def entries(self) -> list[tuple[bytes, Any]]:
        """The keys of the index, but for the header's, with their BundleEntryProtos."""
        return [(key, self._entry(key)) for key in self._entries]

    def _entry(self, key: bytes) -> Any:
        value = self._entries.get(key)
        if value is None:
            raise self._lost(key, "an entry for a slice is missing")
        try:
            return BundleEntryProto.FromString(value)
        except DecodeError as error:
            raise self._lost(key, str(error)) from error

    def _lost(self, key: bytes, found: str) -> errors.DataLossError:
        shown = key.decode(errors="backslashreplace")
        return errors.DataLossError(None, None, f"{self._index}: tensor {shown}: {found}")

    def _stored(self, name: str) -> Stored:
        key = self._names[name]
        entry = self._entry(key)
        try:
            dtype = dtypes.as_dtype(entry.dtype).base_dtype
            shape = tuple(dim.size for dim in entry.shape.dim)
            if min(shape, default=0) < 0 or entry.shape.unknown_rank:
                raise ValueError(f"its shape is {list(shape)}")
            slices = tuple(map(TensorSlice.from_proto, entry.slices))
            for piece in slices:
                piece.bounds(shape)
        except (TypeError, ValueError, errors.InvalidArgumentError) as error:
            raise self._lost(key, str(error)) from error
        if dtype in _HANDLES:
            text = f"{self._index}: tensor {name}: {dtype.name} tensors cannot be read"
            raise errors.UnimplementedError(None, None, text)
        return Stored(dtype, shape, slices)

    def _place(self, name: str, piece: TensorSlice | None) -> tuple[Any, Source]:
        """The entry of a stored piece, and its data file."""
        entry = self._entry(self._names[name] if piece is None else piece.key(name))
        if not 0 <= entry.shard_id < self.shards:
            found = f"it is in shard {entry.shard_id} of {self.shards}"
            raise self._lost(self._names[name], found)
        with self._lock:
            source = self._open.get(entry.shard_id)
            if source is None:
                source = Source(data_path(self.path, entry.shard_id, self.shards))
                self._open[entry.shard_id] = source
        return entry, source

    def _check(self, name: str, piece: TensorSlice | None) -> None:
        stored = self._stored(name)
        entry, source = self._place(name, piece)
        shape = stored.shape if piece is None else piece.shape(stored.shape)
        count = volume(shape)
        fits = (
            entry.size >= count + arrays.CRC_SIZE
            if stored.dtype is dtypes.string
            else entry.size == count * stored.dtype.size
        )
        if not fits or tuple(dim.size for dim in entry.shape.dim) != shape:
            found = f"{entry.size} bytes are stored for {count} elements of {stored.dtype.name}"
            raise self._lost(self._names[name], found)
        if count or entry.size:
            source.check(entry.offset, entry.size, f"tensor {name}")

    def _load(self, name: str, piece: TensorSlice | None, out: np.ndarray) -> None:
        entry, source = self._place(name, piece)
        what = f"tensor {name}" if piece is None else f"tensor {name}, slice {piece}"
        if dtypes.as_dtype(entry.dtype) is dtypes.string:
            try:
                data = source.read(entry.offset, entry.size, what)
                values, total = arrays.parse_strings(data, out.size)
            except ValueError as error:
                raise source.lost(what, entry.offset, str(error)) from error
            flat = np.empty(len(values), dtype=object)
            flat[:] = values
            out[...] = flat.reshape(out.shape)
        else:
            total = source.read_array(entry.offset, out, what)
        if crc.mask(total) != entry.crc32c:
            found = f"checksum mismatch (corrupt data): stored {entry.crc32c}"
            raise source.lost(what, entry.offset, f"{found}, computed {crc.mask(total)}")
