"""A file of records that grows while it is read; ends and errors are TensorFlow 1.15's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.foundation.formats.tfrecord import RecordWriter
from penstock.python import pywrap_tensorflow


def _two_records(folder: Path, compression: str = "") -> tuple[Path, bytes]:
    path = folder / "records"
    with RecordWriter(str(path), compression) as writer:
        writer.write(b"one")
        writer.write(b"two")
    return path, path.read_bytes()


def _reader(path: Path, offset: int = 0, compression: bytes = b"") -> Any:
    with tf.errors.raise_exception_on_not_ok_status() as status:
        return pywrap_tensorflow.PyRecordReader_New(bytes(path), offset, compression, status)


def test_a_reader_goes_on_where_the_file_has_grown(tmp_path: Path) -> None:
    path, data = _two_records(tmp_path)
    path.write_bytes(data[:24])
    reader = _reader(path)
    assert reader.record() == b""
    reader.GetNext()
    assert (reader.record(), reader.offset()) == (b"one", 19)
    for _ in range(2):
        with pytest.raises(tf.errors.OutOfRangeError, match="Read less bytes than requested"):
            reader.GetNext()
    with path.open("ab") as file:
        file.write(data[24:])
    reader.GetNext()
    assert (reader.record(), reader.offset()) == (b"two", 38)
    reader.Close()


def test_where_it_begins_and_what_it_refuses(tmp_path: Path) -> None:
    path, data = _two_records(tmp_path)
    reader = _reader(path, 19)
    reader.GetNext()
    assert reader.record() == b"two"
    path.write_bytes(data[:8] + b"xxxx" + data[12:])
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 0"):
        _reader(path).GetNext()
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        _reader(tmp_path / "nowhere")


def test_compressed_records(tmp_path: Path) -> None:
    reader = _reader(_two_records(tmp_path, "GZIP")[0], 0, b"GZIP")
    found = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            reader.GetNext()
            found.append(reader.record())
    assert found == [b"one", b"two"]
