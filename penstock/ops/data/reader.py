"""Readers in the graph: the ops that make them, and those that take records from them.

Each op has two forms, rows of one table: version 2 names its reader by a resource handle, the older
form by a reference to a string.  The state behind both is one ``resources.reader.Reader``; this
module knows the formats of files.  Reading may wait for a name in a queue, so it is *blocking*.

Keys are ``file:line`` (from 1) for lines, ``file:record`` (from 0) for records of fixed length,
``file:offset`` for TFRecords, and the records' own for LMDB, whose reader has the older form alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.queue import Queue
from penstock.engine.resources.reader import Progress, Reader, Record
from penstock.foundation.base import errors
from penstock.foundation.formats import files, lmdb_file, serialized, tfrecord
from penstock.foundation.formats.schema import ReaderBaseState
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs, scalar
from penstock.foundation.opdef.shared_state import SharedState

_NO_GRADIENT = "reads files"
_SHARED = ['container: string = ""', 'shared_name: string = ""']


# ---- records of a file ---------------------------------------------------------------------------


def _whole(work: bytes) -> Iterator[Record]:
    # Opened when it is read: as in TensorFlow, a missing file stays the reader's work.
    with files.open_file(os.fsdecode(work), "rb") as file:
        yield work, file.read()


def _itself(work: bytes) -> Iterator[Record]:
    return iter([(work, work)])


def _lines(work: bytes, skip: int) -> Iterator[Record]:
    file = files.open_file(os.fsdecode(work), "rb")  # a missing file is an error at once

    def records() -> Iterator[Record]:
        with file:
            for number, line in enumerate(file, 1):
                if number > skip:
                    text = line.removesuffix(b"\n").removesuffix(b"\r")
                    yield b"%s:%d" % (work, number), text

    return records()


def _tfrecords(work: bytes, compression: str) -> Iterator[Record]:
    path = os.fsdecode(work)
    files.open_file(path, "rb").close()

    def records() -> Iterator[Record]:
        offset = 0
        for record in tfrecord.read_records(path, compression):
            yield b"%s:%d" % (work, offset), record
            offset += len(record) + 16

    return records()


def _fixed(work: bytes, attrs: dict[str, Any]) -> Iterator[Record]:
    path = os.fsdecode(work)
    size, hop = attrs["record_bytes"], attrs["hop_bytes"] or attrs["record_bytes"]
    if attrs.get("encoding") in ("GZIP", "ZLIB"):  # others are read as they are
        content = tfrecord.read_plain(path, attrs["encoding"])
        return _cut(work, memoryview(content), attrs, size, hop)
    file = files.open_file(path, "rb")
    end = files.stat(path).length - attrs["footer_bytes"]

    def records() -> Iterator[Record]:
        with file:
            place, number = attrs["header_bytes"], 0
            while place + size <= end:
                file.seek(place)
                yield b"%s:%d" % (work, number), file.read(size)
                place, number = place + hop, number + 1

    return records()


def _cut(work: bytes, data: memoryview, attrs: Any, size: int, hop: int) -> Iterator[Record]:
    end = len(data) - attrs["footer_bytes"] - size
    for number, place in enumerate(range(attrs["header_bytes"], end + 1, hop)):
        yield b"%s:%d" % (work, number), bytes(data[place : place + size])


# ---- making readers ------------------------------------------------------------------------------


def _whole_file(attrs: dict[str, Any], name: str) -> Reader:
    return Reader("WholeFileReader", name, _whole, one_record=True)


def _identity(attrs: dict[str, Any], name: str) -> Reader:
    return Reader("IdentityReader", name, _itself, one_record=True)


def _text_line(attrs: dict[str, Any], name: str) -> Reader:
    skip = attrs["skip_header_lines"]
    return Reader("TextLineReader", name, lambda work: _lines(work, skip))


def _tfrecord(attrs: dict[str, Any], name: str) -> Reader:
    compression = attrs["compression_type"]
    return Reader("TFRecordReader", name, lambda work: _tfrecords(work, compression))


def _fixed_length(attrs: dict[str, Any], name: str) -> Reader:
    wrong = [k for k in ("header_bytes", "footer_bytes", "hop_bytes") if attrs[k] < 0]
    wrong += ["record_bytes"] if attrs["record_bytes"] <= 0 else []
    if wrong:
        what = wrong[0]
        allowed = "above 0" if what == "record_bytes" else "0 or more"
        raise errors.invalid(
            f"FixedLengthRecordReader {name!r}: {what} must be {allowed}; found {attrs[what]!r}"
        )
    return Reader("FixedLengthRecordReader", name, lambda work: _fixed(work, attrs))


def _lmdb(attrs: dict[str, Any], name: str) -> Reader:
    def records(work: bytes) -> Iterator[Record]:
        return lmdb_file.read_records(os.fsdecode(work), "LMDBReader")

    return Reader("LMDBReader", name, records)


_LENGTHS = [
    "header_bytes: int = 0", "record_bytes: int", "footer_bytes: int = 0", "hop_bytes: int = 0",
]  # fmt: skip
_MAKERS = [
    # op type, attrs before and after the shared ones, further ones of version 2, what makes it
    ("WholeFileReader", [], [], [], _whole_file),
    ("IdentityReader", [], [], [], _identity),
    ("TextLineReader", ["skip_header_lines: int = 0"], [], [], _text_line),
    ("TFRecordReader", [], ['compression_type: string = ""'], [], _tfrecord),
    ("FixedLengthRecordReader", _LENGTHS, [], ['encoding: string = ""'], _fixed_length),
]
_FORMS = [
    # suffix of the op type, dtype of a handle, the shape of a made handle
    ("", "Ref(string)", lambda ctx: (2,)),
    ("V2", "resource", scalar),
]

for _name, _before, _after, _newer, _make in _MAKERS:
    for _suffix, _handle, _handle_shape in _FORMS:
        define_op(
            _name + _suffix,
            f"-> reader_handle: {_handle}",
            attrs=[*_before, *_SHARED, *_after, *(_newer if _suffix else [])],
            shape=_handle_shape,
            state=SharedState("reader", _make),
            stateful=True,
            no_gradient=_NO_GRADIENT,
        )


define_op(
    "LMDBReader",
    "-> reader_handle: Ref(string)",
    attrs=_SHARED,
    shape=(lambda ctx: (2,)),
    state=SharedState("reader", _lmdb),
    stateful=True,
    no_gradient=_NO_GRADIENT,
)


def _same_queue(resource: Queue) -> Queue:
    return resource


# A queue of today for a reader of the older form.
define_op(
    "FakeQueue",
    "resource: resource -> handle: Ref(string)",
    shape=scalar,
    kernel=_same_queue,
    stateful=True,
    no_gradient="a queue is no number",
)


# ---- using them ----------------------------------------------------------------------------------


def _string(value: bytes) -> np.ndarray:
    made = np.empty((), object)
    made[()] = value
    return made


def _strings(values: list[bytes]) -> np.ndarray:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _read(reader_handle: Reader, queue_handle: Queue) -> Any:
    key, value = reader_handle.read(queue_handle)
    return _string(key), _string(value)


def _read_up_to(reader_handle: Reader, queue_handle: Queue, num_records: int) -> Any:
    records = reader_handle.read_up_to(queue_handle, num_records)
    return _strings([k for k, _ in records]), _strings([v for _, v in records])


def _serialize(reader_handle: Reader) -> np.ndarray:
    return _string(serialized.reader_state(*reader_handle.saved()))


def _restore(reader_handle: Reader, state: Any) -> None:
    reader_handle.check_saves("RestoreState")
    try:
        found = serialized.parse(ReaderBaseState, state.item())
    except ValueError:
        reader_handle.reset()
        raise errors.invalid(
            f"Could not parse state for {reader_handle.name}: {state.item()!r} was not made by"
            " serialize_state"
        ) from None
    reader_handle.restore(
        Progress(
            found.work_started, found.work_finished, found.num_records_produced, found.current_work
        )
    )


def _produced(reader_handle: Reader) -> torch.Tensor:
    return torch.tensor(reader_handle.progress.records)


def _completed(reader_handle: Reader) -> torch.Tensor:
    return torch.tensor(reader_handle.progress.work_finished)


def _pair(ctx: ShapeContext) -> Any:
    return [(), ()]


def _pairs(ctx: ShapeContext) -> Any:
    ctx.rank("num_records", 0)
    return [(None,), (None,)]


def _state_shape(ctx: ShapeContext) -> Any:
    ctx.rank("state", 0)
    return []


_USES = [
    # op type, inputs after the reader ("H": a handle), outputs, shape rule, kernel, what it does
    ("ReaderRead", ", queue_handle: H", "key: string, value: string", _pair, _read, "waits"),
    ("ReaderReadUpTo", ", queue_handle: H, num_records: int64", "keys: string, values: string",
     _pairs, _read_up_to, "waits"),
    ("ReaderReset", "", "", no_outputs, "{reader_handle}.reset()", "waits"),
    ("ReaderSerializeState", "", "state: string", scalar, _serialize, "waits"),
    ("ReaderRestoreState", ", state: string", "", _state_shape, _restore, "waits"),
    ("ReaderNumRecordsProduced", "", "records_produced: int64", scalar, _produced, "looks"),
    ("ReaderNumWorkUnitsCompleted", "", "units_completed: int64", scalar, _completed, "looks"),
]  # fmt: skip

for _suffix, _handle, _ in _FORMS:
    for _name, _inputs, _outputs, _shape, _kernel, _does in _USES:
        _touched = ("reader_handle", "queue_handle") if "queue" in _inputs else ("reader_handle",)
        define_op(
            _name + _suffix,
            f"reader_handle: {_handle}{_inputs.replace(': H', f': {_handle}')} -> {_outputs}",
            shape=_shape,
            kernel=_kernel,
            host=("num_records",) if "num_records" in _inputs else (),
            writes=_touched if _does == "waits" else (),
            reads=() if _does == "waits" else _touched,
            stateful=bool(_suffix),
            blocking=_does == "waits",
            no_gradient=_NO_GRADIENT,
        )
