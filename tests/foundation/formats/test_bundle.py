"""V2 checkpoints: round trips, slices, merging, atomic replacement, errors, corrupt files."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import files
from penstock.foundation.formats.bundle import (
    BundleReader,
    BundleWriter,
    data_path,
    index_path,
    merge_bundles,
)
from penstock.foundation.formats.checkpoint_reader import checkpoint_format, open_checkpoint
from penstock.foundation.formats.checkpoint_v1 import V1Reader, V1Writer
from penstock.foundation.formats.reader import TensorReader
from penstock.foundation.formats.safetensors_file import SafetensorsReader, SafetensorsWriter
from penstock.foundation.formats.schema import BundleEntryProto, BundleHeaderProto
from penstock.foundation.formats.sstable import TableWriter
from penstock.foundation.formats.streams import CHUNK, Sink
from penstock.foundation.formats.tensor_slice import TensorSlice

NUMERIC = [
    np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64,
    np.float16, np.float32, np.float64, np.complex64, np.complex128,
]  # fmt: skip
FORMATS: dict[str, tuple[Any, Any]] = {
    "bundle": (BundleWriter, BundleReader),
    "v1": (V1Writer, V1Reader),
    "safetensors": (SafetensorsWriter, SafetensorsReader),
}
NOT_SAFE = ("complex128", "object")

every_format = pytest.mark.parametrize("form", FORMATS)


def objects(*values: bytes) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    if wanted.dtype == object:
        assert found.ravel().tolist() == wanted.ravel().tolist()
    else:
        assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(wanted).tobytes()


def sample() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    tensors = {
        np.dtype(t).name: rng.integers(0, 2, (3, 2)).astype(t)
        for t in [*NUMERIC, ml_dtypes.bfloat16]
    }
    tensors["strings"] = objects(b"", b"a\0b", b"x" * 300, b"\xff\xfe").reshape(2, 2)
    tensors["scalar"] = np.array(2.5, np.float32)
    tensors["string/scalar"] = objects(b"s").reshape(())
    tensors["none"] = np.zeros((0, 3), np.float32)
    tensors["no strings"] = objects().reshape(0)
    tensors["strided"] = np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)
    return tensors


@every_format
def test_every_dtype_and_shape_comes_back(form: str, tmp_path: Path) -> None:
    make, reader_of = FORMATS[form]
    tensors = sample()
    if form == "safetensors":
        tensors = {n: a for n, a in tensors.items() if a.dtype.name not in NOT_SAFE}
    with make(str(tmp_path / "m")) as writer:
        for name, array in tensors.items():
            writer.add(name, array)
    with reader_of(str(tmp_path / "m")) as reader:
        assert reader.names() == sorted(tensors)
        for name, array in tensors.items():
            assert reader.shape(name) == array.shape
            assert reader.dtype(name) == dtypes.as_dtype(array.dtype)
            assert reader.slices(name) == []
            same(reader.read(name), array)
    assert sorted(p.name for p in tmp_path.iterdir() if "tempstate" in p.name) == []


@settings(max_examples=40, deadline=None)
@given(
    tensors=st.dictionaries(
        st.text(min_size=1, max_size=20).filter(lambda t: "\0" not in t and t.isprintable()),
        hnp.arrays(
            st.sampled_from([np.dtype(t) for t in NUMERIC]),
            hnp.array_shapes(min_dims=0, min_side=0, max_side=4),
        ),
        max_size=6,
    )
)
def test_any_tensors_come_back(tensors: dict[str, np.ndarray], tmp_path_factory: Any) -> None:
    prefix = str(tmp_path_factory.mktemp("any") / "m")
    for make, reader_of in (FORMATS["bundle"], FORMATS["v1"]):
        with make(prefix) as writer:
            for name, array in tensors.items():
                writer.add(name, array)
        with reader_of(prefix) as reader:
            assert reader.names() == sorted(tensors)
            for name, array in tensors.items():
                if reader_of is BundleReader:
                    same(reader.read(name), array)
                else:  # values pass through Python's floats, where NaNs lose their payload
                    np.testing.assert_array_equal(reader.read(name), array)


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.binary(max_size=400), max_size=40))
def test_any_strings_come_back(values: list[bytes], tmp_path_factory: Any) -> None:
    prefix = str(tmp_path_factory.mktemp("strings") / "m")
    with BundleWriter(prefix) as writer:
        writer.add("s", objects(*values))
    assert BundleReader(prefix).read("s").tolist() == values


def test_quantized_types_come_from_their_integers(tmp_path: Path) -> None:
    array = np.arange(5, dtype=np.int8)
    with BundleWriter(str(tmp_path / "m")) as writer:
        writer.add("q", array, dtypes.qint8)
    reader = BundleReader(str(tmp_path / "m"))
    assert reader.dtype("q") is dtypes.qint8
    assert reader.read("q").dtype == np.dtype(dtypes.qint8.as_numpy_dtype)
    same(reader.read("q", into=np.empty(5, np.int8)), array)


def test_arrays_of_several_chunks_in_any_layout(tmp_path: Path) -> None:
    base = np.random.default_rng(0).standard_normal((4, 64, 3 * CHUNK // 1024)).astype(np.float32)
    layouts = {
        "c": base,
        "t": base.T,
        "p": base.transpose(1, 0, 2),
        "step": base[:, ::3, ::-2],
        "flat": base.reshape(-1)[::3],
        "big": base.astype(">f4"),
        "wide": base.reshape(4, -1)[:2, ::2],
    }
    with BundleWriter(str(tmp_path / "m")) as writer:
        for name, array in layouts.items():
            writer.add(name, array)
    reader = BundleReader(str(tmp_path / "m"))
    for name, array in layouts.items():
        np.testing.assert_array_equal(reader.read(name), array)
        into = np.zeros(array.shape[::-1], np.float32).T  # Fortran order
        assert reader.read(name, into=into) is into
        np.testing.assert_array_equal(into, array)


@every_format
def test_slices_are_put_together_for_any_partitioning(form: str, tmp_path: Path) -> None:
    make, reader_of = FORMATS[form]
    value = np.arange(10 * 7, dtype=np.int32).reshape(10, 7)
    with make(str(tmp_path / "m")) as writer:
        for rows in ("0,4", "4,3", "7,3"):
            for columns in ("0,5", "5,2"):
                piece = TensorSlice.parse(f"{rows}:{columns}")
                writer.add_slice("w", [10, 7], piece, value[piece.index([10, 7])])
        writer.add_slice("v", [10, 7], TensorSlice.parse("-:-"), value)
    with reader_of(str(tmp_path / "m")) as reader:
        assert reader.shape("w") == (10, 7) and len(reader.slices("w")) == 6
        assert reader.slices("v") == [] and reader.names() == ["v", "w"]
        same(reader.read("w"), value)
        for text in ("-:-", "0,4:0,5", "3,5:4,2", "9,1:-", "-:6,1", "2,0:-"):
            piece = TensorSlice.parse(text)
            same(reader.read_slice("w", piece), value[piece.index([10, 7])])
            same(reader.read_slice("v", piece), value[piece.index([10, 7])])
        with pytest.raises(errors.InvalidArgumentError, match="does not fit"):
            reader.read_slice("w", TensorSlice.parse("8,4:-"))


@every_format
def test_a_missing_slice_is_not_found(form: str, tmp_path: Path) -> None:
    make, reader_of = FORMATS[form]
    with make(str(tmp_path / "m")) as writer:
        writer.add_slice("w", [4], TensorSlice.parse("0,2"), np.ones(2))
    with pytest.raises(errors.NotFoundError, match="sufficient slices of tensor w.*0,2"):
        reader_of(str(tmp_path / "m")).read("w")


@every_format
def test_a_missing_tensor_names_its_neighbours(form: str, tmp_path: Path) -> None:
    make, reader_of = FORMATS[form]
    with make(str(tmp_path / "m")) as writer:
        writer.add("layer1/weights", np.ones(2))
        writer.add("layer2/weights", np.ones(2))
    reader = reader_of(str(tmp_path / "m"))
    with pytest.raises(errors.NotFoundError, match="layer/weights not found.*layer1/weights"):
        reader.read("layer/weights")
    with pytest.raises(errors.InvalidArgumentError, match=r"shape \[2\].*does not go into"):
        reader.read("layer1/weights", into=np.empty(3))
    with pytest.raises(errors.InvalidArgumentError, match="does not go into float32"):
        reader.read("layer1/weights", into=np.empty(2, np.float32))


@every_format
def test_a_name_is_taken_once(form: str, tmp_path: Path) -> None:
    make, _ = FORMATS[form]
    writer = make(str(tmp_path / "m"))
    writer.add("a", np.ones(2))
    with pytest.raises(errors.InvalidArgumentError):
        writer.add("a", np.ones(2))
    with pytest.raises(errors.InvalidArgumentError):
        writer.add_slice("b", [4], TensorSlice.parse("0,3"), np.ones(2))
    with pytest.raises(errors.InvalidArgumentError, match="element is int"):
        writer.add("o", np.array([1, b"x"], dtype=object))
    writer.abandon()
    assert os.listdir(tmp_path) == []


def test_abandoned_and_failed_writers_leave_the_old_checkpoint(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    with BundleWriter(prefix) as writer:
        writer.add("a", np.ones(2))
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(RuntimeError), BundleWriter(prefix) as writer:
        writer.add("a", np.zeros(2))
        raise RuntimeError
    assert sorted(os.listdir(tmp_path)) == before
    same(BundleReader(prefix).read("a"), np.ones(2))


def test_saving_again_never_touches_files_that_the_old_index_names(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    shards = []
    for step in range(4):
        with BundleWriter(prefix, durable=step == 2) as writer:
            writer.add("a", np.full(3, step))
        reader = BundleReader(prefix)
        shards.append(reader.shards)
        same(reader.read("a"), np.full(3, step))
        assert len(os.listdir(tmp_path)) == 1 + reader.shards
    assert shards == [1, 2, 1, 2]


def test_an_open_reader_keeps_its_data_through_a_replacement(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    with BundleWriter(prefix) as writer:
        writer.add("a", np.zeros(3))
        writer.add("b", np.ones(3))
    reader = BundleReader(prefix)
    reader.read("a")
    with BundleWriter(prefix) as writer:
        writer.add("a", np.full(3, 7.0))
    same(reader.read("b"), np.ones(3))


def test_shards_are_merged(tmp_path: Path) -> None:
    merged = str(tmp_path / "m")
    value = np.arange(12.0).reshape(6, 2)
    for again in range(2):
        parts = []
        for shard, rows in enumerate(("0,2", "2,4")):
            (tmp_path / f"temp{shard}").mkdir()
            part = str(tmp_path / f"temp{shard}" / "part")
            parts.append(part)
            with BundleWriter(part) as writer:
                piece = TensorSlice.parse(f"{rows}:-")
                writer.add_slice("w", [6, 2], piece, value[piece.index([6, 2])] + again)
                writer.add(f"own{shard}", np.full(2, shard))
        merge_bundles(parts, merged, delete_old_dirs=True)
        reader = BundleReader(merged)
        assert reader.names() == ["own0", "own1", "w"] and reader.shards == 2 + again
        same(reader.read("w"), value + again)
        same(reader.read("own1"), np.full(2, 1))
        assert len(os.listdir(tmp_path)) == 1 + reader.shards


def test_merging_refuses_doubles_and_missing_parts(tmp_path: Path) -> None:
    for part in "ab":
        with BundleWriter(str(tmp_path / part)) as writer:
            writer.add("w", np.ones(2))
    both = [str(tmp_path / "a"), str(tmp_path / "b")]
    with pytest.raises(errors.InvalidArgumentError, match="'w' is there twice"):
        merge_bundles(both, str(tmp_path / "m"), delete_old_dirs=False)
    with pytest.raises(errors.NotFoundError, match="none.index"):
        merge_bundles([str(tmp_path / "none")], str(tmp_path / "m"), delete_old_dirs=False)
    same(BundleReader(both[0]).read("w"), np.ones(2))


def test_threads_may_read_at_once(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    arrays = {f"t{i}": np.random.default_rng(i).random(50_000) for i in range(8)}
    with BundleWriter(prefix) as writer:
        for name, array in arrays.items():
            writer.add(name, array)
    reader = BundleReader(prefix)
    found: dict[str, np.ndarray] = {}
    threads = [
        threading.Thread(target=lambda n=name: found.update({n: reader.read(n)})) for name in arrays
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, array in arrays.items():
        same(found[name], array)


def test_remote_file_systems(tmp_path: Path) -> None:
    for form, (make, reader_of) in FORMATS.items():
        prefix = f"memory://formats/{form}/m"
        for value in (1.0, 2.0):
            with make(prefix) as writer:
                writer.add("w", np.full(3, value))
        with reader_of(prefix) as reader:
            same(reader.read("w"), np.full(3, 2.0))
        assert checkpoint_format(prefix) == form
    files.remove_tree("memory://formats")


def test_whatever_is_there_is_opened(tmp_path: Path) -> None:
    for form, (make, reader_of) in FORMATS.items():
        with make(str(tmp_path / form)) as writer:
            writer.add("w", np.ones(3))
        assert checkpoint_format(str(tmp_path / form)) == form
        with open_checkpoint(str(tmp_path / form)) as reader:
            assert type(reader) is reader_of
    for shard in range(2):
        with V1Writer(str(tmp_path / f"s-0000{shard}-of-00002")) as writer:
            writer.add_slice("w", [4], TensorSlice.parse(f"{2 * shard},2"), np.full(2, shard))
    same(open_checkpoint(str(tmp_path / "s-?????-of-00002")).read("w"), np.array([0, 0, 1, 1]))
    with pytest.raises(errors.NotFoundError, match="nothing.index"):
        open_checkpoint(str(tmp_path / "nothing"))
    with pytest.raises(errors.NotFoundError):
        BundleWriter(str(tmp_path / "no directory" / "m"))


# Crafted and corrupt files.


def crafted(prefix: str, header: Any, **entries: Any) -> None:
    sink = Sink(index_path(prefix))
    table = TableWriter(sink)
    table.add(b"", header.SerializeToString())
    for name, entry in sorted(entries.items()):
        table.add(name.encode(), entry.SerializeToString())
    table.finish()
    sink.close()
    Path(data_path(prefix, 0, 1)).write_bytes(bytes(64))


def entry_of(*dims: int, **fields: Any) -> Any:
    entry = BundleEntryProto(dtype=1, **fields)
    entry.shape.dim.extend(entry.shape.Dim(size=size) for size in dims)
    return entry


@pytest.mark.parametrize(
    "entry",
    [
        entry_of(1 << 50, size=1 << 52),
        entry_of(1 << 40, 1 << 40, size=4),
        entry_of(4, size=16, offset=60),
        entry_of(4, size=16, offset=-8),
        entry_of(4, size=16, shard_id=1),
        entry_of(4, size=16, shard_id=-1),
        entry_of(4, size=12),
        entry_of(-1, size=4),
        entry_of(4, size=16, crc32c=5),
    ],
)
def test_impossible_entries_are_data_loss(entry: Any, tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    crafted(prefix, BundleHeaderProto(num_shards=1), w=entry)
    with pytest.raises(errors.DataLossError, match="m.*tensor w"):
        BundleReader(prefix).read("w")


def test_headers_that_cannot_be(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    crafted(prefix, BundleHeaderProto(num_shards=1, endianness=1))
    with pytest.raises(errors.UnimplementedError, match="big-endian"):
        BundleReader(prefix)
    crafted(prefix, BundleHeaderProto(num_shards=0))
    with pytest.raises(errors.DataLossError, match="0 shards"):
        BundleReader(prefix)
    late = BundleHeaderProto(num_shards=1)
    late.version.min_consumer = 9
    crafted(prefix, late)
    with pytest.raises(errors.UnimplementedError, match="version 9"):
        BundleReader(prefix)


def all_of(reader_of: Any, path: str) -> dict[str, np.ndarray]:
    reader: TensorReader
    with reader_of(path) as reader:
        return {name: reader.read(name) for name in reader.names()}


def damages(content: bytes, rng: random.Random, every: bool) -> list[bytes]:
    """Single flipped bits, at every byte or at 200; and truncations."""
    places = range(len(content)) if every else [rng.randrange(len(content)) for _ in range(200)]
    flipped = []
    for at in places:
        damaged = bytearray(content)
        damaged[at] ^= 1 << rng.randrange(8)
        flipped.append(bytes(damaged))
    cuts = range(0, len(content), 7)
    return flipped + [content[:cut] for cut in cuts]


@pytest.mark.long
@every_format
def test_damage_is_data_loss_or_harmless(form: str, tmp_path: Path) -> None:
    make, reader_of = FORMATS[form]
    path = str(tmp_path / "m")
    tensors = {n: a for n, a in sample().items() if a.size}
    if form == "safetensors":
        tensors = {n: a for n, a in tensors.items() if a.dtype.name not in NOT_SAFE}
    with make(path) as writer:
        for name, array in tensors.items():
            writer.add(name, array)
        writer.add_slice("p", [4], TensorSlice.parse("0,1"), np.array([1]))
        writer.add_slice("p", [4], TensorSlice.parse("1,3"), np.array([2, 3, 4]))
    wanted = all_of(reader_of, path)
    lost = 0
    rng = random.Random(0)
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        # The blanks behind the header of a safetensors file are most of it.
        every = form != "safetensors"
        for damaged in damages(content, rng, every) if every else safe_damages(content, rng):
            file.write_bytes(damaged)
            try:
                found = all_of(reader_of, path)
            except errors.DataLossError as error:
                assert file.name in str(error)
                lost += 1
                continue
            # What still reads has the right values: a flip in padding, or in what nothing uses.
            assert set(found) == set(wanted) or form == "safetensors"
            for name, array in found.items():
                if name in wanted:
                    same(array, wanted[name])
        file.write_bytes(content)
    assert lost > 100


def safe_damages(content: bytes, rng: random.Random) -> list[bytes]:
    """Damage to the data of a safetensors file: its header has no checksum."""
    out = []
    for at in range(64 << 10, len(content)):
        damaged = bytearray(content)
        damaged[at] ^= 1 << rng.randrange(8)
        out += [bytes(damaged), content[:at]]
    return out


def test_a_flip_names_file_tensor_and_offset(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    with BundleWriter(prefix) as writer:
        writer.add("a", np.ones(4))
        writer.add("b", np.ones(4))
    data = Path(data_path(prefix, 0, 1))
    content = bytearray(data.read_bytes())
    content[40] ^= 1
    data.write_bytes(content)
    reader = BundleReader(prefix)
    same(reader.read("a"), np.ones(4))
    with pytest.raises(errors.DataLossError, match="m.data-00000-of-00001.*tensor b.*32.*checksum"):
        reader.read("b")
    data.unlink()
    with pytest.raises(errors.NotFoundError, match="m.data-00000-of-00001"):
        BundleReader(prefix).read("a")


def test_the_safetensors_package_reads_ours_and_writes_what_we_read(tmp_path: Path) -> None:
    import safetensors.numpy

    tensors = {n: a for n, a in sample().items() if a.dtype.name not in (*NOT_SAFE, "bfloat16")}
    tensors = {n: np.ascontiguousarray(a).reshape(a.shape) for n, a in tensors.items()}
    with SafetensorsWriter(str(tmp_path / "ours")) as writer:
        for name, array in tensors.items():
            writer.add(name, array)
    found = safetensors.numpy.load_file(tmp_path / "ours.safetensors")
    safetensors.numpy.save_file(tensors, tmp_path / "theirs.safetensors")
    theirs = SafetensorsReader(str(tmp_path / "theirs"))
    assert set(found) == set(theirs.names()) == set(tensors)
    for name, array in tensors.items():
        same(found[name], array)
        same(theirs.read(name), array)


def test_a_header_longer_than_its_room_moves_the_data(tmp_path: Path) -> None:
    with SafetensorsWriter(str(tmp_path / "m")) as writer:
        for at in range(900):
            writer.add(f"a/rather/long/name/of/a/tensor/{at}", np.full(3, at))
    reader = SafetensorsReader(str(tmp_path / "m"))
    same(reader.read("a/rather/long/name/of/a/tensor/899"), np.full(3, 899))
    assert os.listdir(tmp_path) == ["m.safetensors"]
