"""The IDX reader: what MNIST publishes is read, and a damaged file is told apart and explained."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from penstock.models.idx import DTYPES, IdxError, parse_idx, read_idx

CODES = {np.dtype(text).newbyteorder("="): code for code, text in DTYPES.items()}


def idx_bytes(array: np.ndarray) -> bytes:
    """The IDX file of an array."""
    header = struct.pack(f">HBB{array.ndim}I", 0, CODES[array.dtype], array.ndim, *array.shape)
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


IMAGES = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_reads_images(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "images"
    path.write_bytes(gzip.compress(idx_bytes(IMAGES)) if packed else idx_bytes(IMAGES))
    got = read_idx(path)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, IMAGES)


@given(st.sampled_from(sorted(CODES, key=str)).flatmap(lambda d: hnp.arrays(d, hnp.array_shapes())))
def test_any_array_comes_back(array: np.ndarray) -> None:
    got = parse_idx(idx_bytes(array))
    assert got.dtype == array.dtype and got.dtype.isnative
    np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize(("stored", "asked"), [("a.gz", "a"), ("a", "a.gz")])
def test_finds_the_file_with_or_without_gz(tmp_path: Path, stored: str, asked: str) -> None:
    (tmp_path / stored).write_bytes(gzip.compress(idx_bytes(IMAGES)))
    assert read_idx(tmp_path / asked).shape == IMAGES.shape


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes, too short"),
        (b"\0\0\x08", "3 bytes, too short"),
        (b"\x89PNG\r\n", "bad magic 89 50 4e 47"),
        (b"\0\0\x07\x01\0\0\0\0", "bad magic 00 00 07 01"),
        (b"\0\0\x08\x03\0\0\0\x02", "truncated header: 3 dimensions need 16 bytes"),
        (idx_bytes(IMAGES)[:-1], r"truncated: shape \[2, 3, 4\] of uint8 is 24 bytes, 23 follow"),
        (idx_bytes(IMAGES) + b"\0", "too long: .* is 24 bytes, 25 follow"),
    ],
    ids=["empty", "short", "png", "type", "header", "truncated", "long"],
)
def test_bad_files_are_explained(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "digits-idx"
    path.write_bytes(data)
    with pytest.raises(IdxError, match=message) as caught:
        read_idx(path)
    assert str(path) in str(caught.value)


def test_a_cut_gzip_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    path.write_bytes(gzip.compress(idx_bytes(IMAGES))[:-9])
    with pytest.raises(IdxError, match="truncated gzip"):
        read_idx(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(IdxError, match="no such file: .*absent"):
        read_idx(tmp_path / "absent")
