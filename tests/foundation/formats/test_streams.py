"""Sinks and sources: large arrays in spans, one CRC, the same bytes whatever the threads."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from penstock.foundation.base import errors
from penstock.foundation.formats import crc, streams
from penstock.foundation.formats.streams import CHUNK, Sink, Source


@pytest.fixture(autouse=True)
def _small_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_SPLIT", 2 * CHUNK)
    monkeypatch.setattr(streams, "_cores", lambda: 3)


@pytest.mark.parametrize("first, second", [(0, 0), (0, 5), (7, 0), (1, 1), (1000, 123_457)])
def test_combined_crc_is_that_of_all(first: int, second: int) -> None:
    data = np.random.RandomState(first).bytes(first + second)
    found = crc.combine(crc.extend(0, data[:first]), crc.extend(0, data[first:]), second)
    assert found == crc.extend(0, data)


@pytest.mark.parametrize("threads", [None, 1, 2])
@pytest.mark.parametrize("size", [2 * CHUNK - 1, 2 * CHUNK, 3 * CHUNK + 17, 7 * CHUNK])
def test_spans_give_the_bytes_and_crc_of_one_pass(
    tmp_path: Path, size: int, threads: int | None
) -> None:
    array = np.frombuffer(np.random.RandomState(size % 97).bytes(size), np.uint8)
    sink = Sink(str(tmp_path / "file"), threads)
    sink.write(b"head")
    assert sink.write_array(array) == crc.extend(0, array.tobytes())
    assert sink.length == 4 + size
    sink.write(b"tail")
    sink.close()
    assert (tmp_path / "file").read_bytes() == b"head" + array.tobytes() + b"tail"
    out = np.zeros(size, np.uint8)
    with Source(str(tmp_path / "file")) as source:
        assert source.read_array(4, out, "it") == crc.extend(0, array.tobytes())
    np.testing.assert_array_equal(out, array)


def test_large_arrays_are_moved_by_several_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[int] = set()
    put = Sink._put

    def watched(self: Sink, view: memoryview, offset: int) -> None:
        seen.add(threading.get_ident())
        put(self, view, offset)

    monkeypatch.setattr(Sink, "_put", watched)
    array = np.zeros(9 * CHUNK, np.uint8)
    for threads, wanted in ((None, 3), (1, 1)):
        seen.clear()
        sink = Sink(str(tmp_path / "file"), threads)
        sink.write_array(array)
        sink.close()
        # Threads that end early may hand their identity on.
        assert 1 <= len(seen) <= wanted and (len(seen) > 1) == (wanted > 1)


def test_an_error_in_a_span_is_raised_and_nobody_writes_on(tmp_path: Path) -> None:
    array = np.ones(6 * CHUNK, np.uint8)
    path = tmp_path / "short"
    path.write_bytes(bytes(6 * CHUNK))
    with Source(str(path)) as source:
        with open(path, "r+b") as file:
            file.truncate(5 * CHUNK)
        with pytest.raises(errors.DataLossError, match="the file ends here"):
            source.read_array(0, array, "it")
    assert not [t for t in threading.enumerate() if t.name.startswith("penstock-file")]
