"""IDX files: the format in which MNIST's images and labels are published.

A file is four magic bytes (two zeros, a type code, the number of dimensions), one big-endian
unsigned 32-bit size a dimension, and the elements in row-major order::

    00 00 08 03 | 00 00 27 10 | 00 00 00 1c | 00 00 00 1c | pixels ...
    ubyte, 3-D  |       10000 |          28 |          28 |

A file may be gzipped; that is told from its content, not from its name.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

GZIP_MAGIC = b"\x1f\x8b"
DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


class IdxError(ValueError):
    """The file is missing, is no IDX file, or does not hold what its header says."""


def read_idx(path: Path | str) -> npt.NDArray[Any]:
    """Reads one IDX file, gzipped or not.

    Args:
        path: The file. Where it is missing, the same name with or without ``.gz`` is read.

    Returns:
        An array of the shape and element type that the header says, in native byte order.

    Raises:
        IdxError: The file is missing, damaged, not IDX, or shorter or longer than its header says.
    """
    found = find_idx(Path(path))
    if found is None:
        raise IdxError(f"no such file: {path} (nor with or without .gz)")
    return parse_idx(_content(found), str(found))


def find_idx(path: Path) -> Path | None:
    """Returns `path`, or its twin with or without ``.gz``, whichever exists first; else None."""
    twin = path.with_suffix("") if path.suffix == ".gz" else path.with_name(path.name + ".gz")
    return next((p for p in (path, twin) if p.is_file()), None)


def parse_idx(data: bytes, source: str = "data") -> npt.NDArray[Any]:
    """Parses the bytes of an IDX file; `source` names them in errors.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]))
    array([7, 8, 9], dtype=uint8)
    """
    if len(data) < 4:
        raise IdxError(f"{source}: {len(data)} bytes, too short for the 4 magic bytes of IDX")
    zeros, code, rank = struct.unpack(">HBB", data[:4])
    if zeros != 0 or code not in DTYPES:
        known = ", ".join(f"{c:02x}" for c in DTYPES)
        raise IdxError(
            f"{source}: bad magic {data[:4].hex(' ')}: IDX begins with 00 00, a type code"
            f" ({known}) and the number of dimensions"
        )
    start = 4 + 4 * rank
    if len(data) < start:
        raise IdxError(
            f"{source}: truncated header: {rank} dimensions need {start} bytes,"
            f" the file has {len(data)}"
        )
    shape = struct.unpack(f">{rank}I", data[4:start])
    dtype = np.dtype(DTYPES[code])
    wanted, got = math.prod(shape) * dtype.itemsize, len(data) - start
    if got != wanted:
        fault = "truncated" if got < wanted else "too long"
        raise IdxError(
            f"{source}: {fault}: shape {list(shape)} of {dtype.name} is {wanted} bytes,"
            f" {got} follow the header"
        )
    array = np.frombuffer(data, dtype, offset=start).reshape(shape)
    return array.astype(dtype.newbyteorder("="))


def _content(path: Path) -> bytes:
    raw = path.read_bytes()
    if not raw.startswith(GZIP_MAGIC):
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, OSError, zlib.error) as error:
        raise IdxError(f"{path}: damaged or truncated gzip: {error}") from error
