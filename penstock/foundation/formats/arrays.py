"""The arrays that checkpoints take: their element types, and strings with their lengths and CRCs.

Source: the layout of string tensors in TensorFlow's tensor bundle: varint lengths, a masked CRC of
the lengths (each as 4 bytes, or 8 where 4 do not do), the bytes.
"""

from __future__ import annotations

import itertools

import numpy as np

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.dtypes import DType
from penstock.foundation.formats import crc as _crc
from penstock.foundation.formats.coding import read_varints, varint
from penstock.foundation.formats.streams import Sink

_STRINGS_AT_ONCE = 4096
_FOUR_BYTES = 1 << 32
CRC_SIZE = 4


def checked(name: str, array: np.ndarray, dtype: DType | None) -> tuple[np.ndarray, DType]:
    """An array as it is to be stored, and its element type.

    Args:
      name: of the tensor, for errors.
      array: the values; strings as objects (bytes or str) or as NumPy's strings.
      dtype: the type to declare, where the array's own says less (int8 for qint8).

    Raises:
      InvalidArgumentError: values of a type that cannot be stored, or not of `dtype`.
    """
    array = np.asarray(array)
    if array.dtype.kind in "OSU":
        return _as_bytes(name, array), dtypes.string
    try:
        found = dtypes.as_dtype(array.dtype)
    except TypeError as error:
        text = f"tensor {name}: {array.dtype} is the dtype of no tensor"
        raise errors.invalid(text) from error
    if dtype is None or dtype.base_dtype is found:
        return array, found
    wanted = np.dtype(dtype.as_numpy_dtype)
    if wanted.fields and wanted[0] == array.dtype:
        return array, dtype.base_dtype
    text = f"tensor {name}: the values are {found.name}, not {dtype.name}"
    raise errors.invalid(text)


def _as_bytes(name: str, array: np.ndarray) -> np.ndarray:
    out = np.empty(array.size, dtype=object)
    for at, value in enumerate(array.ravel().tolist()):
        if isinstance(value, str):
            value = value.encode()
        if not isinstance(value, bytes):
            text = f"tensor {name}: an element is {type(value).__name__}; need bytes or str"
            raise errors.invalid(text)
        out[at] = value
    return out.reshape(array.shape)


def write_strings(sink: Sink, array: np.ndarray) -> int:
    """Appends a string tensor to a data file; returns the CRC of it."""
    values = array.ravel().tolist()
    crc = 0
    for some in _batches(values):
        sink.write(b"".join(varint(len(value)) for value in some))
        crc = _crc.extend(crc, _lengths([len(value) for value in some]))
    sealed = _crc.mask(crc).to_bytes(CRC_SIZE, "little")
    sink.write(sealed)
    crc = _crc.extend(crc, sealed)
    for some in _batches(values):
        joined = b"".join(some)
        sink.write(joined)
        crc = _crc.extend(crc, joined)
    return crc


def parse_strings(data: bytes, count: int) -> tuple[list[bytes], int]:
    """The strings of a tensor, and the CRC of it.

    Args:
      data: what the data file holds of the tensor.
      count: how many elements the tensor has.

    Raises:
      ValueError: the data is corrupt.
    """
    if count > len(data):
        raise ValueError(f"{count} strings do not fit {len(data)} bytes")
    lengths, at = read_varints(data, count)
    if at + CRC_SIZE + sum(lengths) != len(data):
        raise ValueError("the lengths of the strings do not add up to the size of the tensor")
    crc = _crc.extend(0, _lengths(lengths))
    sealed = data[at : at + CRC_SIZE]
    if int.from_bytes(sealed, "little") != _crc.mask(crc):
        raise ValueError("checksum mismatch of the lengths of the strings")
    at += CRC_SIZE
    crc = _crc.extend(_crc.extend(crc, sealed), memoryview(data)[at:])
    ends = itertools.accumulate(lengths, initial=at)
    return [data[start:end] for start, end in itertools.pairwise(ends)], crc


def _batches(values: list[bytes]) -> list[list[bytes]]:
    starts = range(0, len(values), _STRINGS_AT_ONCE)
    return [values[start : start + _STRINGS_AT_ONCE] for start in starts]


def _lengths(lengths: list[int]) -> bytes:
    if max(lengths, default=0) < _FOUR_BYTES:
        return np.array(lengths, dtype="<u4").tobytes()
    return b"".join(n.to_bytes(4 if n < _FOUR_BYTES else 8, "little") for n in lengths)
