"""The small parts: varints, ordered keys, CRCs, tables, snappy, files, messages, records."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import google_crc32c
import pytest
from google.protobuf import text_format
from hypothesis import given, settings, strategies as st

from penstock.foundation.base import errors
from penstock.foundation.formats import coding, crc, files, schema, snappy
from penstock.foundation.formats.sstable import TableReader, TableWriter
from penstock.foundation.formats.streams import Sink, Source
from penstock.foundation.formats.tensor_slice import TensorSlice, parse_spec
from penstock.foundation.formats.tfrecord import RecordWriter, read_records
from tests.suite import warm

signed = st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.integers(0, (1 << 64) - 1), st.binary(max_size=3))
def test_varints(value: int, behind: bytes) -> None:
    data = coding.varint(value) + behind
    assert coding.read_varint(data, 0) == (value, len(data) - len(behind))
    with pytest.raises(ValueError):
        coding.read_varint(coding.varint(value)[:-1], 0)


@given(signed, signed)
def test_ordered_numbers_sort_as_they_are(a: int, b: int) -> None:
    assert (coding.ordered_signed(a) < coding.ordered_signed(b)) == (a < b)
    a, b = abs(a), abs(b)
    assert (coding.ordered_number(a) < coding.ordered_number(b)) == (a < b)


@given(st.binary(), st.binary())
def test_ordered_strings_sort_as_they_are(a: bytes, b: bytes) -> None:
    assert (coding.ordered_string(a) < coding.ordered_string(b)) == (a < b)


def test_ordered_strings_escape() -> None:
    assert coding.ordered_string(b"a\0\xff\0") == b"a\0\xff\xff\0\0\xff\0\1"


@given(st.binary(max_size=200))
def test_crc_against_another_implementation(data: bytes) -> None:
    assert crc.extend(0, data) == google_crc32c.value(data)
    assert crc.unmask(crc.masked_crc32c(data)) == google_crc32c.value(data)


@settings(max_examples=30, deadline=None)
@given(entries=st.dictionaries(st.binary(max_size=30), st.binary(max_size=3000), max_size=50))
def test_tables(entries: dict[bytes, bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("table") / "t")
    sink = Sink(path)
    table = TableWriter(sink)
    for key in sorted(entries):
        table.add(key, entries[key])
    table.finish()
    sink.close()
    with Source(path) as source:
        reader = TableReader(source)
        assert list(reader) == sorted(entries.items())
        assert all(reader.get(key) == value for key, value in entries.items())
        assert reader.get(b"\xff" * 40) is None and reader.get(b"no such key, this one") is None


def test_keys_of_a_table_are_sorted(tmp_path: Path) -> None:
    table = TableWriter(Sink(str(tmp_path / "t")))
    table.add(b"b", b"")
    for key in (b"b", b"a"):
        with pytest.raises(errors.InternalError, match="does not sort"):
            table.add(key, b"")


def test_tables_of_many_blocks(tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    entries = {b"key%06d" % i: b"v" * (i % 500) for i in range(5000)}
    sink = Sink(path)
    table = TableWriter(sink)
    for key, value in entries.items():
        table.add(key, value)
    table.finish()
    sink.close()
    with Source(path) as source:
        assert dict(TableReader(source)) == entries
        assert TableReader(source).get(b"key004321") == entries[b"key004321"]


def test_snappy_refuses_what_is_not_snappy() -> None:
    good = bytes([9, 2 << 2]) + b"abc" + bytes([2 | 5 << 2, 3, 0])
    assert snappy.decompress(good) == b"abcabcabc"
    assert snappy.decompress(b"\x00") == b""
    assert snappy.decompress(bytes([6, 0, 97, 1 | 1 << 2, 1])) == b"aaaaaa"
    for at in range(len(good)):
        with pytest.raises((ValueError, IndexError)):
            snappy.decompress(good[:at])
    for bad in (b"\xff\xff\xff\xff\x0f\0a", bytes([3, 1 | 1 << 2, 9]), b"\x01\x04ab"):
        with pytest.raises(ValueError):
            snappy.decompress(bad)


def test_slices_as_text() -> None:
    assert parse_spec("10 4 0,5:-") == ((10, 4), TensorSlice((0, 0), (5, -1)))
    assert str(TensorSlice.parse("10 4 0,5:-")) == "0,5:-"
    assert parse_spec("10 4 0,5:-")[1].shape([10, 4]) == (5, 4)
    assert TensorSlice.parse("") == TensorSlice.full(0)
    piece = TensorSlice.parse("3,0:2,2:-")
    assert TensorSlice.from_proto(piece.proto) == piece
    for bad in ("10", "x 0,1", "10 0;1", "10 5,9", "10 4 0,1", "10 -1,3"):
        with pytest.raises(errors.InvalidArgumentError):
            parse_spec(bad)


@pytest.mark.parametrize("where", ["local", "memory"])
def test_files(where: str, tmp_path: Path) -> None:
    root = str(tmp_path / "d") if where == "local" else "memory://files_test"
    files.makedirs(f"{root}/in")
    files.makedirs(f"{root}/in")
    with files.open_file(f"{root}/in/a", "w") as stream:
        stream.write("text é")
    assert files.exists(f"{root}/in/a") and not files.exists(f"{root}/b")
    assert files.stat(f"{root}/in/a").length == 7 and files.stat(f"{root}/in").is_directory
    assert files.isdir(root) and files.listdir(f"{root}/in") == ["a"]
    files.replace(f"{root}/in/a", f"{root}/in/b")
    with files.open_file(f"{root}/in/b", "r") as stream:
        assert stream.read() == "text é"
    assert [p.rpartition("/")[2] for p in files.glob(f"{root}/in/*")] == ["b"]
    files.write_atomically(f"{root}/in/c", b"1")
    assert files.listdir(f"{root}/in") == ["b", "c"]
    files.remove(f"{root}/in/b")
    for call in (files.remove, files.stat, files.open_file):
        with pytest.raises(errors.NotFoundError, match="in/b"):
            call(f"{root}/in/b")
    files.remove_tree(root)
    assert not files.exists(f"{root}/in/c")


def test_files_are_read_whole(tmp_path: Path) -> None:
    for content in (b"", b"x", bytes(1 << 17)):
        for path in (str(tmp_path / "a"), f"file://{tmp_path}/a", "memory://whole"):
            with files.open_file(path, "wb") as stream:
                stream.write(content)
            assert files.read(path) == content
    assert files.read(tmp_path / "a") == content
    with pytest.raises(errors.NotFoundError, match="nothing"):
        files.read(tmp_path / "nothing")
    with pytest.raises(errors.FailedPreconditionError):
        files.read(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no files of the kernel's")
def test_files_that_do_not_say_their_length_are_read_whole() -> None:
    assert b"Threads:" in files.read("/proc/self/status")


def test_unknown_schemes_are_refused() -> None:
    with pytest.raises(errors.UnimplementedError, match="nosuch"):
        files.open_file("nosuch://x")


def test_messages_hold_those_of_tensorboard() -> None:
    model = schema.SavedModel(saved_model_schema_version=1)
    model.meta_graphs.add().graph_def.node.add(name="x", op="NoOp")
    assert schema.SavedModel.FromString(model.SerializeToString()) == model
    assert text_format.Parse(text_format.MessageToString(model), schema.SavedModel()) == model
    example = schema.Example()
    example.features.feature["a"].int64_list.value.extend([1, 300])
    assert example.SerializeToString().hex() == "0a0e0a0c0a016112071a050a0301ac02"
    example.features.feature["a"].bytes_list.value.append(b"x")
    assert example.features.feature["a"].WhichOneof("kind") == "bytes_list"


COMPRESSIONS = ["", "GZIP", "ZLIB"]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_records(compression: str, tmp_path: Path) -> None:
    path = str(tmp_path / "r")
    rng = random.Random(0)
    records = [b"", b"a", bytes(3 << 20), rng.randbytes(2 << 20), *[b"r%d" % i for i in range(99)]]
    with RecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
        writer.flush()
    assert list(read_records(path, compression)) == records
    with pytest.raises(errors.FailedPreconditionError):
        writer.write(b"x")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_damaged_records_are_data_loss(compression: str, tmp_path: Path) -> None:
    path = tmp_path / "r"
    with RecordWriter(str(path), compression) as writer:
        for i in range(5):
            writer.write(b"record %d" % i)
    content = path.read_bytes()
    wanted = list(read_records(str(path), compression))
    for at in range(len(content)):
        damaged = bytearray(content)
        damaged[at] ^= 1 << at % 8
        for broken in (bytes(damaged), content[:at]):
            path.write_bytes(broken)
            found = []
            try:
                found.extend(read_records(str(path), compression))
            except errors.DataLossError as error:
                assert str(path) in str(error)
            else:  # cut between two records, or a flip in what gzip does not use
                assert found == wanted or broken == content[:at]
            assert found == wanted[: len(found)]


def test_kinds_of_compression(tmp_path: Path) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="'GZIP' and 'ZLIB'"):
        RecordWriter(str(tmp_path / "r"), "LZ4")
    with pytest.raises(errors.NotFoundError, match="none"):
        next(read_records(str(tmp_path / "none")))


def test_what_killed_writers_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    code = "from penstock.foundation.formats import files; print(files.temporary('data'), end='')"
    dead = warm.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    own = files.temporary("data")
    elsewhere = dead.replace(files._host(), "00000000" if files._host() != "0" * 8 else "1" * 8)
    for name in (dead, own, elsewhere, "data", "data.tempstate"):
        (tmp_path / name).write_text("x")
    files.sweep_temporaries(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {own, elsewhere, "data", "data.tempstate"}
    files.sweep_temporaries(tmp_path / "missing")


def test_a_full_disk_is_resource_exhausted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(path: str, mode: str) -> object:
        Path(path).write_bytes(b"begun")
        return open("/dev/full", mode, buffering=0)

    monkeypatch.setattr(files, "open_file", opened)
    with pytest.raises(errors.ResourceExhaustedError, match="kept"):
        files.write_atomically(str(tmp_path / "kept"), b"x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", ["./.dot", "./a", "./d"]), ("d", ["./d"]), ("[^a.]", ["./d"]), ("[!a.]", ["./d"]),
        ("./[ab]", ["./a"]), ("d/*", ["d/e"]), ("?/e", ["./d/e"]), (r"\a", ["./a"]), ("d/", []),
        (".", []), ("d/.*", []), ("d/../a", ["d/../a"]), ("{a,d}", []), ("d/[", []),
    ],
)  # fmt: skip
def test_patterns_find_what_tensorflow_finds(
    pattern: str, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    for name in ("a", ".dot", "d/e"):
        (tmp_path / name).touch()
    assert files.glob(pattern) == found
    assert files.glob(f"{tmp_path}/?") == [f"{tmp_path}/a", f"{tmp_path}/d"]
