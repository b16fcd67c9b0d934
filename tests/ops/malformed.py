"""Valid files, ways to damage them, and the ops that read them; and a process that runs those.

``SUBJECTS`` is the table: files and the session that reads one.  ``python -m tests.ops.malformed``
serves requests on stdin, a JSON line ``{"subject": "png", "size": 99}`` and the bytes; it replies
with a JSON line: the error's class and text (empty for none), and the memory that was taken.  So a
crash, a hang or a huge allocation is seen from outside, and ends that process alone.
"""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import resource
import select
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

import penstock as tf
from penstock.foundation.formats import crc
from penstock.foundation.formats.tensor_proto import to_proto
from penstock.ops.signal import audio_codec
from tests.suite.clock import Clock

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = ("InvalidArgumentError", "DataLossError")
# No damaged file of some KiB may take more, but for a JPEG: its size is not bounded by its length,
# and TensorFlow fills up what is missing, up to 2^29 values.
MOST_MEMORY = 512 << 20
HANG_SECONDS = 30.0
_ADDRESS_SPACE = 6 << 30

Read = Callable[[bytes], Any]


class Subject(NamedTuple):
    """What reads one kind of file.

    Attributes:
      seeds: makes valid files.
      build: makes the graph in which a file is read; gives the function that reads one.
      mend: makes the checksums of a damaged file right again, so that what is behind them is met.
    """

    seeds: Callable[[], list[bytes]]
    build: Callable[[], Read]
    mend: Callable[[bytes], bytes] = bytes


# ---- valid files ---------------------------------------------------------------------------------


def picture() -> np.ndarray:
    """An image [20, 24, 3] of uint8."""
    ramp = np.add.outer(np.arange(20), np.arange(24))[..., None] * [3, 5, 2]
    return ramp.astype(np.uint8)


def _saved(form: str, mode: str = "RGB", **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture()).convert(mode).save(buffer, form, **options)
    return buffer.getvalue()


@functools.cache
def _encoded() -> dict[str, bytes]:
    with tf.Graph().as_default(), tf.Session() as session:
        image = tf.constant(picture())
        samples = tf.constant(np.sin(np.arange(40.0)).reshape(20, 2), tf.float32)
        return session.run(
            {
                "png16": tf.image.encode_png(tf.cast(image, tf.uint16) * 200),
                "gray16": tf.image.encode_png(tf.cast(image[..., :1], tf.uint16) * 200),
                "wav": audio_codec.encode_wav(samples, 8000),
            }
        )


def pngs() -> list[bytes]:
    """Colours, grey, alpha, palettes, 16 bits."""
    made = [_saved("PNG", mode) for mode in ("RGB", "L", "RGBA", "1")]
    made.append(_saved("PNG", "P", transparency=3))
    return [*made, _encoded()["png16"], _encoded()["gray16"]]


def jpegs() -> list[bytes]:
    """Baseline, progressive, grey, four colours."""
    return [
        _saved("JPEG"), _saved("JPEG", progressive=True), _saved("JPEG", "L"),
        _saved("JPEG", "CMYK"), _saved("JPEG", restart_marker_blocks=1),
    ]  # fmt: skip


def gifs() -> list[bytes]:
    """Three frames, and one with a transparent colour."""
    frames = [Image.fromarray(a) for a in (picture(), picture()[::-1], picture() // 2)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=40)
    return [buffer.getvalue(), _saved("GIF", "P", transparency=1)]


def bmps() -> list[bytes]:
    """24, 32 and 8 bits a pixel."""
    return [_saved("BMP"), _saved("BMP", "RGBA"), _saved("BMP", "L")]


RECORDS = [b"a" * 10, b"b" * 1000, b"", b"c" * 3]


def record(data: bytes) -> bytes:
    """A record of a TFRecord file."""
    length = struct.pack("<Q", len(data))
    return length + _crc(length) + data + _crc(data)


def _crc(data: bytes) -> bytes:
    return struct.pack("<I", crc.masked_crc32c(data))


def records() -> list[bytes]:
    """A TFRecord file."""
    return [b"".join(map(record, RECORDS))]


def packed(files: Callable[[], list[bytes]], kind: str) -> Callable[[], list[bytes]]:
    """The files compressed."""
    if kind == "GZIP":
        return lambda: [gzip.compress(f, mtime=0) for f in files()]
    return lambda: [zlib.compress(f) for f in files()]


def examples() -> list[bytes]:
    """Serialized ``Example`` messages."""
    made = tf.train.Example()
    made.features.feature["i"].int64_list.value.extend([1, 300])
    made.features.feature["f"].float_list.value.extend([0.5, -2.0, 3.0])
    made.features.feature["s"].bytes_list.value.extend([b"one", b""])
    return [made.SerializeToString(deterministic=True), b""]


def sequences() -> list[bytes]:
    """Serialized ``SequenceExample`` messages."""
    made = tf.train.SequenceExample()
    made.context.feature["c"].int64_list.value.append(7)
    for step in range(3):
        made.feature_lists.feature_list["f"].feature.add().float_list.value.extend([step, 1.0])
        made.feature_lists.feature_list["s"].feature.add().bytes_list.value.extend([b"x"] * step)
    return [made.SerializeToString(deterministic=True)]


_CSV = [b'1,2.5,"a ""b"", c"\n-3,4e3,d\n', b'7,0.5,"two\nlines"\n8,1,\n']
_CSV_LINES = [b'1,2.5,"a ""b"", c"', b"-3,,d", b'7,4e3,"two\nlines"']
_JSON = [
    b'{"features": {"feature": {"i": {"int64List": {"value": ["1", 300]}},'
    b' "f": {"floatList": {"value": [0.5, "NaN"]}}, "s": {"bytesList": {"value": ["b25l"]}}}}}'
]


def tensors() -> list[bytes]:
    """Serialized ``TensorProto`` messages of int32."""
    arrays = [np.arange(6, dtype=np.int32).reshape(2, 3), np.array(7, np.int32)]
    return [to_proto(a, tf.int32).SerializeToString() for a in arrays]


# ---- sessions that read them ---------------------------------------------------------------------


def reader(make: Callable[[Any], Any]) -> Callable[[], Read]:
    """A graph that makes something of the content, a string scalar."""

    def build() -> Read:
        with tf.Graph().as_default() as graph:
            content = tf.placeholder(tf.string, [])
            made = make(content)
        session = tf.Session(graph=graph)
        return lambda data: session.run(made, {content: data})

    return build


def dataset(make: Callable[[Any], Any]) -> Callable[[], Read]:
    """A graph that reads all elements of a dataset of a file."""

    def build() -> Read:
        folder = tempfile.TemporaryDirectory(prefix="malformed-")  # goes with ``read``
        path = os.path.join(folder.name, "data")
        with tf.Graph().as_default() as graph:
            iterator = tf.data.make_initializable_iterator(make(tf.constant(path)))
            following = iterator.get_next()
        session = tf.Session(graph=graph)

        def read(data: bytes) -> list[Any]:
            Path(folder.name, "data").write_bytes(data)
            session.run(iterator.initializer)
            found: list[Any] = []
            # An element is at least a byte, or an empty line, or 16 bytes of a record.
            for _ in range(1100 * len(data) + 16):
                try:
                    found.append(session.run(following))
                except tf.errors.OutOfRangeError:
                    return found
            raise AssertionError(f"{len(found)} elements of {len(data)} bytes")

        return read

    return build


def _iterated(data: bytes) -> list[bytes]:
    with tempfile.NamedTemporaryFile(prefix="malformed-") as file:
        file.write(data)
        file.flush()
        return list(tf.python_io.tf_record_iterator(file.name))


def _example(content: Any) -> Any:
    features = {
        "i": tf.VarLenFeature(tf.int64), "f": tf.FixedLenFeature([3], tf.float32),
        "s": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    }  # fmt: skip
    return tf.parse_example([content, content], features)


def _single(content: Any) -> Any:
    features = {"i": tf.FixedLenFeature([2], tf.int64, [0, 0]), "s": tf.VarLenFeature(tf.string)}
    return tf.parse_single_example(content, features)


def _sequence(content: Any) -> Any:
    return tf.io.parse_single_sequence_example(
        content,
        {"c": tf.FixedLenFeature([], tf.int64)},
        {"f": tf.FixedLenSequenceFeature([2], tf.float32), "s": tf.VarLenFeature(tf.string)},
    )


_DEFAULTS = [[0], [0.0], [b""]]
_TYPES: list[Any] = [tf.int32, tf.float32, tf.string]


def mended_png(data: bytes) -> bytes:
    """A PNG file whose chunks have right CRCs, as far as they can be made out."""
    made, position = bytearray(data), 8
    while position + 12 <= len(made):
        (size,) = struct.unpack_from(">I", made, position)
        end = position + 8 + size
        if end + 4 > len(made):
            break
        struct.pack_into(">I", made, end, zlib.crc32(made[position + 4 : end]))
        position = end + 4
    return bytes(made)


def mended_records(data: bytes) -> bytes:
    """A TFRecord file with right CRCs, as far as records can be made out."""
    made, position = bytearray(data), 0
    while position + 12 <= len(made):
        length = bytes(made[position : position + 8])
        made[position + 8 : position + 12] = _crc(length)
        end = position + 12 + int.from_bytes(length, "little")
        if end + 4 > len(made):
            break
        made[end : end + 4] = _crc(bytes(made[position + 12 : end]))
        position = end + 4
    return bytes(made)


SUBJECTS = {
    "png": Subject(pngs, reader(tf.image.decode_png), mended_png),
    "png_deep": Subject(pngs, reader(lambda c: tf.image.decode_png(c, 3, tf.uint16)), mended_png),
    "jpeg": Subject(jpegs, reader(tf.image.decode_jpeg)),
    "jpeg_recovered": Subject(
        jpegs, reader(lambda c: tf.image.decode_jpeg(c, 3, 2, try_recover_truncated=True))
    ),
    "jpeg_cropped": Subject(
        jpegs, reader(lambda c: tf.image.decode_and_crop_jpeg(c, [1, 2, 5, 6], 3))
    ),
    "jpeg_shape": Subject(jpegs, reader(tf.image.extract_jpeg_shape)),
    "gif": Subject(gifs, reader(tf.image.decode_gif)),
    "bmp": Subject(bmps, reader(tf.image.decode_bmp)),
    "image": Subject(
        lambda: [f for files in (pngs, jpegs, gifs, bmps) for f in files()],
        reader(tf.image.decode_image),
        mended_png,
    ),
    "wav": Subject(lambda: [_encoded()["wav"]], reader(audio_codec.decode_wav)),
    "tfrecord": Subject(records, dataset(tf.data.TFRecordDataset), mended_records),
    "tfrecord_gzip": Subject(
        packed(records, "GZIP"), dataset(lambda p: tf.data.TFRecordDataset(p, "GZIP"))
    ),
    "tfrecord_zlib": Subject(
        packed(records, "ZLIB"), dataset(lambda p: tf.data.TFRecordDataset(p, "ZLIB"))
    ),
    "tfrecord_iterator": Subject(records, lambda: _iterated, mended_records),
    "lines_gzip": Subject(
        packed(lambda: _CSV, "GZIP"), dataset(lambda p: tf.data.TextLineDataset(p, "GZIP"))
    ),
    "fixed_zlib": Subject(
        packed(lambda: [bytes(64)], "ZLIB"),
        dataset(lambda p: tf.data.FixedLengthRecordDataset(p, 8, compression_type="ZLIB")),
    ),
    "csv_dataset": Subject(
        lambda: _CSV,
        dataset(
            lambda p: tf.data.experimental.CsvDataset(p, _TYPES).apply(
                tf.data.experimental.ignore_errors()
            )
        ),
    ),
    "example": Subject(examples, reader(_example)),
    "single_example": Subject(examples, reader(_single)),
    "sequence_example": Subject(sequences, reader(_sequence)),
    "csv": Subject(lambda: _CSV_LINES, reader(lambda c: tf.decode_csv(c, _DEFAULTS))),
    "base64": Subject(lambda: [b"AbCd_-09", b"QQ==", b"QUI"], reader(tf.io.decode_base64)),
    "raw": Subject(lambda: [bytes(range(24))], reader(lambda c: tf.decode_raw(c, tf.int32))),
    "raw_big": Subject(
        lambda: [bytes(range(24))],
        reader(lambda c: tf.decode_raw(c, tf.float64, little_endian=False)),
    ),
    "json": Subject(lambda: _JSON, reader(tf.io.decode_json_example)),
    "tensor": Subject(tensors, reader(lambda c: tf.io.parse_tensor(c, tf.int32))),
    "number": Subject(
        lambda: [b"-12", b" 2147483647 "], reader(lambda c: tf.string_to_number(c, tf.int32))
    ),
}


@functools.cache
def read_of(subject: str) -> Read:
    """The function that reads a file in a session."""
    return SUBJECTS[subject].build()


# ---- the process that reads them -----------------------------------------------------------------


def _memory(field: str) -> int:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return 0


def outcome(subject: str, data: bytes) -> dict[str, Any]:
    """What comes of reading a file: the error, and how much memory it took at its peak."""
    read = read_of(subject)
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    before = _memory("VmRSS")
    error = text = ""
    try:
        read(data)
    except Exception as raised:
        error, text = type(raised).__name__, str(raised)[:2000]
    return {"error": error, "text": text, "memory": _memory("VmHWM") - before}


def serve() -> None:
    """Answers requests until stdin ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for subject, row in SUBJECTS.items():
        row.seeds()[0]
        read_of(subject)
    limit = _memory("VmSize") + _ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("ready", file=replies, flush=True)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        data = sys.stdin.buffer.read(request["size"])
        print(json.dumps(outcome(request["subject"], data)), file=replies, flush=True)


class Child:
    """The process, made anew after a crash or a hang."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def outcome(self, subject: str, data: bytes) -> dict[str, Any]:
        """As ``outcome``; a crash and a hang are errors of these names."""
        process = self._process or self._start()
        assert process.stdin is not None
        request = {"subject": subject, "size": len(data)}
        process.stdin.write(json.dumps(request).encode() + b"\n" + data)
        process.stdin.flush()
        line = self._line(process)
        if line is None:
            code = self.close()
            what = "crash" if code is not None else "hang"
            return {"error": what, "text": f"exit status {code}", "memory": 0}
        found: dict[str, Any] = json.loads(line)
        return found

    def _start(self) -> subprocess.Popen[bytes]:
        # One thread: the machine's others have work too, and so the memory is the same everywhere.
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.ops.malformed"], cwd=ROOT, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        if self._line(self._process) is None:
            raise RuntimeError(f"the process did not start: {self.close()}")
        return self._process

    @staticmethod
    def _line(process: subprocess.Popen[bytes]) -> bytes | None:
        assert process.stdout is not None
        clock = Clock()
        while not select.select([process.stdout], [], [], 1.0)[0]:
            if clock.seconds() > HANG_SECONDS:
                return None
        return process.stdout.readline() or None

    def close(self) -> int | None:
        """Ends the process; its exit status, None where it had to be killed."""
        process, self._process = self._process, None
        if process is None:
            return 0
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        try:
            return process.wait(3.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None


if __name__ == "__main__":
    serve()
