"""Damaged files are InvalidArgumentError or DataLossError, never a crash, a hang or huge memory.

Rows of images and TFRecords are as TensorFlow 1.15 has them, but where a comment says otherwise.
The fuzz test reads mutated files in a process of its own for ``PENSTOCK_FUZZ_SECONDS`` (default
20), from the seed ``PENSTOCK_FUZZ_SEED`` on.
"""

from __future__ import annotations

import functools
import os
import struct
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

import penstock as tf
from tests.ops import malformed
from tests.ops.malformed import ALLOWED, SUBJECTS, Child, read_of, record

INVALID, LOST = tf.errors.InvalidArgumentError, tf.errors.DataLossError

_files = functools.cache(lambda subject: SUBJECTS[subject].seeds())


@pytest.mark.parametrize("subject", SUBJECTS)
def test_valid_files_are_read(subject: str) -> None:
    for data in _files(subject):
        try:
            read_of(subject)(data)
        except INVALID as error:
            assert not data, error  # an empty message is valid, and lacks what is asked for


def _cut(data: bytes, count: int) -> bytes:
    return data[:count] if count >= 0 else data[: len(data) + count]


def _put(data: bytes, place: int, new: bytes) -> bytes:
    return data[:place] + new + data[place + len(new) :]


def _flip(data: bytes, place: int) -> bytes:
    place %= len(data)
    return _put(data, place, bytes([data[place] ^ 255]))


def _sized_png(data: bytes, width: int, height: int) -> bytes:
    return malformed.mended_png(_put(data, 16, struct.pack(">II", width, height)))


def _sized_jpeg(data: bytes, height: int, width: int) -> bytes:
    return _put(data, data.index(b"\xff\xc0") + 5, struct.pack(">HH", height, width))


def _sized_bmp(data: bytes, width: int, height: int) -> bytes:
    return _put(data, 18, struct.pack("<ii", width, height))


def _sized_gif(data: bytes, width: int, height: int) -> bytes:
    return _put(data, data.index(b",\0\0\0\0") + 5, struct.pack("<HH", width, height))


def _png(bits: int) -> bytes:
    return _files("png")[0 if bits == 8 else 5]


def _damaged_pngs(bits: int) -> Iterator[tuple[str, str, bytes, type, str]]:
    png = _png(bits)
    size = f"size {len(png)}"
    for name, data, text in (
        ("half", _cut(png, len(png) // 2), "truncated"),
        ("no IEND", _cut(png, -12), f"truncated at {len(png) - 12}"),
        ("signature only", _cut(png, 8), "truncated at 8"),
        ("empty", b"", "got empty file"),
        ("pixels", _flip(png, 60), "wrong CRC"),
        ("pixels, right CRC", malformed.mended_png(_flip(png, 60)), "Invalid PNG data"),
        ("CRC of the header", _flip(png, 30), "IHDR' at 8 has a wrong CRC"),
        ("60000 x 60000", _sized_png(png, 60000, 60000), size),
        ("20000 x 8000", _sized_png(png, 20000, 8000), "are too few for 20000 x 8000"),
        ("no columns", _sized_png(png, 0, 20), "no such image"),
        ("2^31 columns", _sized_png(png, 2**31, 20), "too few"),
        ("no image", b"x" * 100, "got unknown format starting with b'xxxxxxxx"),
    ):
        yield "png", f"{bits} bits: {name}", data, INVALID, text
    if bits == 16:  # Pillow fills up the others with zeros, where TensorFlow refuses them too
        yield "png", "a row too many", _sized_png(png, 24, 21), INVALID, "Invalid PNG data"


def _damaged_images() -> Iterator[tuple[str, str, bytes, type, str]]:
    jpeg, gif, bmp = (_files(kind)[0] for kind in ("jpeg", "gif", "bmp"))
    yield "jpeg", "cut at 0", b"", INVALID, "got empty file"
    yield "jpeg", "cut at 2", _cut(jpeg, 2), INVALID, "got unknown format"
    for kept in (10, 100, 300, 600, -10, -2):
        yield "jpeg", f"cut at {kept}", _cut(jpeg, kept), INVALID, "Invalid JPEG data"
    for size in ((65535, 65535), (65500, 65500), (20000, 20000), (0, 24)):
        yield "jpeg", str(size), _sized_jpeg(jpeg, *size), INVALID, "Invalid JPEG data"
    yield "jpeg_cropped", "small", _sized_jpeg(jpeg, 3, 3), INVALID, "crop window"
    yield "jpeg_shape", "cut", _cut(jpeg, 20), INVALID, "Invalid JPEG data"
    for kept in (3, 6, 13, 100, len(gif) // 3, len(gif) // 2, -50, -2, -1):
        yield "gif", f"cut at {kept}", _cut(gif, kept), INVALID, f"(size {len(_cut(gif, kept))})"
    yield "gif", "a large frame", _sized_gif(gif, 65535, 65535), INVALID, "too few for the frame"
    yield "gif", "an empty frame", _sized_gif(_files("gif")[1], 0, 0), INVALID, "0 x 0"
    for kept in (2, 13, 30, 54, 60, -1):
        text = "Incomplete bmp content, requires at least"
        yield "bmp", f"cut at {kept}", _cut(bmp, kept), INVALID, text
    most = 2**31 - 1
    for size in ((most, most), (20000, 20000), (24, 21), (24, -(2**31))):
        yield "bmp", str(size), _sized_bmp(bmp, *size), INVALID, "Incomplete"
    for size in ((0, 0), (-5, 20)):
        yield "bmp", str(size), _sized_bmp(bmp, *size), INVALID, "width positive"
    for bits in (0, 1, 4, 16):
        data = _put(bmp, 28, struct.pack("<H", bits))
        yield "bmp", f"{bits} bits", data, INVALID, "must be 1, 3 or 4"
    yield "bmp", "start", _put(bmp, 10, b"\xff" * 4), INVALID, "header size must be nonnegative"
    yield "image", "unknown", b"TIFF" * 9, INVALID, "Unknown image file format"
    yield "image", "cut", _cut(jpeg, 100), INVALID, "Invalid JPEG data"
    wav = _files("wav")[0]
    yield "wav", "cut", _cut(wav, -3), INVALID, "Data too short"
    yield "wav", "no data", _cut(wav, 30), INVALID, ""


def _damaged_records() -> Iterator[tuple[str, str, bytes, type, str]]:
    (data,) = _files("tfrecord")
    for kept, place in ((12, 0), (20, 0), (40, 26), (1040, 26), (1055, 1042), (-1, 1058)):
        yield "tfrecord", f"cut at {kept}", _cut(data, kept), LOST, f"truncated record at {place}"
    # TensorFlow takes a file that ends within the 12 bytes before a record for its end.
    for kept, place in ((5, 0), (30, 26)):
        yield "tfrecord", f"cut at {kept}", _cut(data, kept), LOST, f"truncated record at {place}"
    for at, place in ((0, 0), (9, 0), (15, 0), (25, 0), (33, 26), (50, 26), (-1, 1058)):
        yield "tfrecord", f"flip {at}", _flip(data, at), LOST, f"corrupted record at {place}"
    yield "tfrecord", "follow-up", data + b"x" * 40, LOST, f"corrupted record at {len(data)}"
    length = struct.pack("<Q", 2**63)
    huge = length + malformed._crc(length) + b"data"
    yield "tfrecord", "2^63 bytes", huge, LOST, "truncated record at 0"
    for kind in ("gzip", "zlib"):
        subject = f"tfrecord_{kind}"
        (data,) = _files(subject)
        yield subject, "half", _cut(data, len(data) // 2), LOST, "at "
        yield subject, "header", _flip(data, 0), LOST, "incorrect header check"
        yield subject, "no header", b"qqqq" + data, LOST, "at 0"
        yield subject, "checksum", _flip(data, -5 if kind == "gzip" else -1), LOST, "data check"
        # TensorFlow ends without a word where the compressed data ends behind a record.
        yield subject, "no checksum", _cut(data, -3), LOST, f"truncated, at {len(data) - 3}"
    packed = zlib.compress(record(b"a") + _flip(record(b"b"), 12))
    yield "tfrecord_zlib", "wrong CRC", packed, LOST, "corrupted record at 17"
    (data,) = _files("lines_gzip")[:1]
    yield "lines_gzip", "flip", _flip(data, 20), LOST, "at 0"
    yield "lines_gzip", "cut", _cut(data, -9), LOST, f"truncated, at {len(data) - 9}"
    (data,) = _files("fixed_zlib")
    yield "fixed_zlib", "flip", _flip(data, 3), LOST, "at 0"


def _damaged_messages() -> Iterator[tuple[str, str, bytes, type, str]]:
    example, sequence = _files("example")[0], _files("sequence_example")[0]
    for subject in ("example", "single_example"):
        yield subject, "cut", _cut(example, -3), INVALID, "Could not parse example input"
        yield subject, "garbage", b"\xff" * 20, INVALID, "Could not parse example input"
    yield "sequence_example", "cut", _cut(sequence, -3), INVALID, "Could not parse sequence example"
    yield "sequence_example", "empty", b"", INVALID, "c"
    for name, data, text in (
        ("too few", b"1,2", "Expect 3 fields but have 2 in record 0"),
        ("too many", b"1,2,3,4", "Expect 3 fields but have 4 in record 0"),
        ("no number", b"x,2,3", "Field 0 in record 0 is not a valid int32: x"),
        ("underscore", b"1_0,2,3", "not a valid int32: 1_0"),
        ("too large", b"99999999999,2,3", "not a valid int32"),
        ("NUL", b"1\0,2,3", "not a valid int32"),
        ("bytes", b"\xff\xfe,2,3", "not a valid int32"),
        ("quote within", b'1,2"2,3', "Unquoted fields cannot have quotes"),
        ("quote open", b'1,2,"3', "Quoted field has to end"),
        ("quote closed early", b'1,2,"3"4', "has to be escaped"),
    ):
        yield "csv", name, data, INVALID, text
    for data in (b"A", b"AAAAA", b"A=B=", b"AA=", b"====", b"A\xff==", b"A+B/", b"A A="):
        yield "base64", repr(data), data, INVALID, ""
    yield "raw", "length", bytes(7), INVALID, "length 7 that is not a multiple of 4"
    for data in (b'{"a"', b'{"a":1}', b"[" * 100_000, b'{"features":' * 5000, b"\xff", b"[]",
                 b'{"features":{"feature":{"\xff":{}}}}', b""):  # fmt: skip
        yield "json", repr(data[:20]), data, INVALID, "Error while parsing JSON"
    for data in (b"", b"1_0", b"1e400", b"9" * 5000, b"0x10", b"\xd9\xa3"):
        yield "number", repr(data[:9]), data, INVALID, "could not correctly convert"
    for name, dims, kind in (
        ("negative", [-1], 3), ("overflow", [2**62, 2**62], 3), ("huge", [2**31, 2**20], 3),
        ("type 0", [3], 0), ("type 99", [3], 99), ("resource", [], 20),
    ):  # fmt: skip
        message = malformed.to_proto(malformed.np.zeros([], "i4"), tf.int32)
        message.dtype = kind
        del message.tensor_shape.dim[:]
        for size in dims:
            message.tensor_shape.dim.add(size=size)
        error = tf.errors.ResourceExhaustedError if name == "huge" else INVALID
        yield "tensor", name, message.SerializeToString(), error, ""


def _damaged() -> list[Any]:
    rows = [*_damaged_pngs(8), *_damaged_pngs(16), *_damaged_images(), *_damaged_records(),
            *_damaged_messages()]  # fmt: skip
    return [pytest.param(s, d, c, t, id=f"{s}: {n}") for s, n, d, c, t in rows]


@pytest.mark.parametrize(("subject", "data", "error", "text"), _damaged())
def test_damaged_files(subject: str, data: bytes, error: type, text: str) -> None:
    with pytest.raises(error) as caught:
        read_of(subject)(data)
    assert text in caught.value.message
    if error is LOST:
        assert "/malformed-" in caught.value.message  # the file


ALWAYS_REFUSED = {"png", "png_deep", "gif", "bmp", "wav"}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_cut_files(subject: str) -> None:
    """At up to forty places each."""
    for data in _files(subject)[:3]:
        for place in range(0, len(data), max(1, len(data) // 40)):
            try:
                read_of(subject)(data[:place])
            except (INVALID, LOST):
                continue
            assert subject not in ALWAYS_REFUSED, place


def test_recovered_jpeg() -> None:
    """As TensorFlow: what is missing at the end may be made up if that is asked for."""
    jpeg = _files("jpeg")[0]
    assert read_of("jpeg_recovered")(_cut(jpeg, -10)).shape == (10, 12, 3)


def test_gif_is_as_large_as_its_frames() -> None:
    """As TensorFlow, whatever the screen is said to be."""
    gif = _files("gif")[0]
    for size in (0, 20000, 65535):
        data = _put(gif, 6, struct.pack("<HH", size, size))
        assert read_of("gif")(data).shape == (3, 20, 24, 3)


def test_errors_of_a_csv_file_leave_the_other_records(tmp_path: Any) -> None:
    """As TensorFlow 1.15: the reading goes on in the next line; with the file and the line."""
    path = tmp_path / "data.csv"
    path.write_bytes(b'1,2\n1,2"2\n3,4\n\nx,5\n"7","8"\n1_0,1\n9,"10"1\n5,"6\n7,8\n')
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.data.experimental.CsvDataset(str(path), [tf.int32, tf.int32])
        following = tf.data.make_one_shot_iterator(rows).get_next()
        found: list[Any] = []
        for _ in range(20):
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                break
            except INVALID as error:
                found.append(error.message.split(f"{path}: ")[1].split(":")[0])
    assert found == [
        (1, 2), "line 2", (3, 4), "line 4", "line 5", (7, 8), "line 7", "line 8", "line 9",
    ]  # fmt: skip


# ---- fuzz ----------------------------------------------------------------------------------------

_NUMBERS = [
    struct.pack(form, value)
    for form, values in {
        "<B": (0, 1, 127, 128, 255),
        ">H": (0, 1, 255, 4096, 32768, 65535),
        "<H": (1, 4096, 65535),
        ">I": (0, 1, 65536, 2**31 - 1, 2**31, 2**32 - 1),
        "<I": (1, 65536, 2**31 - 1, 2**31, 2**32 - 1),
        "<Q": (1, 2**32, 2**63 - 1, 2**63, 2**64 - 1),
    }.items()
    for value in values
]


_CHANGES = ["flip", "flip", "byte", "byte", "number", "number", "cut", "drop", "twice", "other"]


@st.composite
def _mutated(draw: Any) -> tuple[str, bytes]:
    """A subject, and one of its files with one to four changes."""
    subject = draw(st.sampled_from(sorted(SUBJECTS)))
    data = draw(st.sampled_from(_files(subject)))
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 4]))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        change = draw(st.sampled_from(_CHANGES))
        if change == "flip" and data:
            data = _put(data, place, bytes([data[place] ^ 1 << draw(st.integers(0, 7))]))
        elif change == "byte":
            data = _put(data, place, draw(st.binary(min_size=1, max_size=4)))
        elif change == "number":
            data = _put(data, place, draw(st.sampled_from(_NUMBERS)))
        elif change == "cut":
            data = data[:place]
        else:
            end = place + draw(st.integers(1, 200))
            if change == "drop":
                data = data[:place] + data[end:]
            elif change == "twice":
                data = data[:end] + data[place:end] * draw(st.integers(1, 5)) + data[end:]
            else:
                other = draw(st.sampled_from(_files(draw(st.sampled_from(sorted(SUBJECTS))))))
                start = draw(st.integers(0, max(0, len(other) - 1)))
                data = data[:place] + other[start : start + end - place] + data[end:]
    return subject, SUBJECTS[subject].mend(data) if draw(st.booleans()) else data


def _check(child: Child, subject: str, data: bytes) -> str:
    found = child.outcome(subject, data)
    error = found["error"]
    # A tensor may be as large as its message says, with one value for all: so in TensorFlow.
    exhausted = subject == "tensor" and error == "ResourceExhaustedError"
    assert error in ("", *ALLOWED) or exhausted, f"{subject}: {found}"
    if error == "DataLossError":
        assert "/malformed-" in found["text"], found
    if not subject.startswith(("jpeg", "image", "tensor")):
        assert found["memory"] < malformed.MOST_MEMORY, found
    return str(error)


@pytest.mark.long
def test_the_process_tells_of_crashes() -> None:
    """What the fuzz test relies on: the end of the process is an outcome."""
    child = Child()
    try:
        assert child.outcome("bmp", b"")["error"] == "InvalidArgumentError"
        assert child.outcome("bmp", _files("bmp")[0])["error"] == ""
        process = child._process
        assert process is not None
        process.kill()
        process.wait()
        with pytest.raises((AssertionError, BrokenPipeError)):
            _check(child, "bmp", b"")
    finally:
        child.close()


@pytest.mark.long
@pytest.mark.timeout(0)
def test_fuzz() -> None:
    """Mutated files in a process of their own, by seeds 0, 1, ... until the time is over."""
    seconds = float(os.environ.get("PENSTOCK_FUZZ_SECONDS", "20"))
    first = int(os.environ.get("PENSTOCK_FUZZ_SEED", "0"))
    deadline = time.monotonic() + seconds
    child = Child()
    outcomes: Counter[str] = Counter()

    @hypothesis.settings(
        max_examples=500, deadline=None, derandomize=False, database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(_mutated())
    def reads(mutated: tuple[str, bytes]) -> None:
        outcomes[f"{mutated[0]} {_check(child, *mutated) or 'read'}"] += 1

    seed = first
    try:
        while time.monotonic() < deadline:
            hypothesis.seed(seed)(reads)()
            seed += 1
    finally:
        child.close()
        print(f"{outcomes.total()} files, seeds {first} to {seed - 1}")
        for name, count in sorted(outcomes.items()):
            print(f"  {name}: {count}")
    assert outcomes.total() > 100
