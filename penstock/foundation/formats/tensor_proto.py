"""NumPy arrays as ``TensorProto`` messages and back.

Numeric tensors are written as raw little-endian ``tensor_content`` (scalars in the typed field,
which is what other readers print); strings always in ``string_val``.  Reading takes all forms: raw
content, typed fields, and typed fields cut short (the last value repeats).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from penstock.foundation.base import dtypes

# The typed field of each element type; half and bfloat16 are stored as their 16 bits in ints.
_FIELDS = {
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.int8: "int_val",
    dtypes.int16: "int_val",
    dtypes.int32: "int_val",
    dtypes.uint8: "int_val",
    dtypes.uint16: "int_val",
    dtypes.int64: "int64_val",
    dtypes.bool: "bool_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    dtypes.qint8: "int_val",
    dtypes.quint8: "int_val",
    dtypes.qint16: "int_val",
    dtypes.quint16: "int_val",
    dtypes.qint32: "int_val",
}
_COMPLEX = (dtypes.complex64, dtypes.complex128)
_SIXTEEN_BITS = (dtypes.float16, dtypes.bfloat16)


def to_proto(array: np.ndarray, dtype: dtypes.DType) -> Any:
    """The message for an array.

    Args:
      array: values; object arrays of bytes for strings.
      dtype: the element type to declare.

    Returns:
      A ``TensorProto``.
    """
    dims = [TensorShapeProto.Dim(size=d) for d in array.shape]
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShapeProto(dim=dims))
    if dtype is dtypes.string:
        proto.string_val.extend(array.ravel().tolist())
        return proto
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.size != 1:
        proto.tensor_content = array.tobytes()
        return proto
    getattr(proto, _FIELDS[dtype]).extend(_typed_values(array.ravel(), dtype))
    return proto


# The types that TensorFlow's Python writes as raw content.
_AS_CONTENT = frozenset((
    dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.int8,
    dtypes.int64, dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32,
    dtypes.uint32, dtypes.uint64,
))  # fmt: skip


def written_by_type(array: np.ndarray, dtype: dtypes.DType, dims: Sequence[int]) -> Any:
    """The message as TensorFlow's ``make_tensor_proto`` writes it.

    Raw content where there is more than one element of a type that has it; the typed field
    otherwise.

    Args:
      array: values; object arrays of bytes for strings.
      dtype: the element type to declare.
      dims: the shape to declare, with room for more elements, which repeat the last one.

    Returns:
      A ``TensorProto``.
    """
    size = math.prod(dims)
    if size > 1 and size == array.size and dtype in _AS_CONTENT:
        return to_proto(array.reshape(dims), dtype)
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=d) for d in dims])
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape)
    fill_typed(proto, array, dtype)
    return proto


def fill_typed(proto: Any, array: np.ndarray, dtype: dtypes.DType) -> None:
    """Puts values into the typed field of a message, which is where V1 checkpoints have them."""
    if dtype is dtypes.string:
        proto.string_val.extend(array.ravel().tolist())
        return
    getattr(proto, _FIELDS[dtype]).extend(_typed_values(array.ravel(), dtype))


def typed_array(proto: Any, dtype: dtypes.DType, size: int) -> np.ndarray:
    """The `size` values of the typed field of a message, flat.

    Raises:
      TypeError: a type without such a field.
      ValueError: the field holds another number of values.
    """
    field = "string_val" if dtype is dtypes.string else _FIELDS.get(dtype)
    if field is None:
        raise TypeError(f"{dtype.name} tensors have no values in a message")
    count = len(getattr(proto, field)) // (2 if dtype in _COMPLEX else 1)
    if count != size:
        raise ValueError(f"a message holds {count} values of {dtype.name} where {size} belong")
    if dtype is dtypes.string:
        out = np.empty(size, dtype=object)
        out[:] = list(proto.string_val)
        return out
    return _from_typed(proto, dtype, np.dtype(dtype.as_numpy_dtype), size)


def _typed_values(flat: np.ndarray, dtype: dtypes.DType) -> list[Any]:
    if dtype in _COMPLEX:
        return [part for v in flat.tolist() for part in (v.real, v.imag)]
    if dtype in _SIXTEEN_BITS:
        return flat.view(np.uint16).tolist()  # type: ignore[no-any-return]
    if flat.dtype.fields:  # a quantized type
        flat = flat.view(flat.dtype[0])
    return flat.tolist()  # type: ignore[no-any-return]


def to_array(proto: Any) -> np.ndarray:
    """The array of a ``TensorProto``.

    Raises:
      TypeError: an element type that has no array form.
      ValueError: more values than the shape holds, or content of a wrong length.
    """
    dtype = dtypes.as_dtype(proto.dtype).base_dtype
    shape = tuple(d.size for d in proto.tensor_shape.dim)
    size = int(np.prod(shape, dtype=np.int64))
    if dtype is dtypes.string:
        values = list(proto.string_val)
        if proto.tensor_content:
            values = _strings_of(proto.tensor_content, size)
        result = np.empty(size, dtype=object)
        filled = values + values[-1:] * (size - len(values)) if values else [b""] * size
        result[:] = filled
        return result.reshape(shape)
    if dtype not in _FIELDS:
        raise TypeError(f"a {dtype.name} tensor has no array form")
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    if proto.tensor_content:
        content = np.frombuffer(proto.tensor_content, dtype=numpy_dtype.newbyteorder("<"))
        if content.size != size:
            raise ValueError(f"content holds {content.size} values; shape {shape} has {size}")
        return content.astype(numpy_dtype).reshape(shape)
    return _from_typed(proto, dtype, numpy_dtype, size).reshape(shape)


def string_content(values: list[bytes]) -> bytes:
    """Strings as ``tensor_content``: the lengths of all (as varints), then the strings."""
    lengths = bytearray()
    for value in values:
        length = len(value)
        while length >= 0x80:
            lengths.append(length & 0x7F | 0x80)
            length >>= 7
        lengths.append(length)
    return bytes(lengths) + b"".join(values)


def _strings_of(content: bytes, count: int) -> list[bytes]:
    """The ``count`` strings that ``string_content`` wrote."""
    lengths, place = [], 0
    for _ in range(count):
        length = shift = 0
        while True:
            if place == len(content):
                raise ValueError(f"content of {len(content)} byte(s) ends before {count} lengths")
            byte = content[place]
            place += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        lengths.append(length)
    if place + sum(lengths) != len(content):
        raise ValueError(
            f"content of {len(content)} byte(s) is not that of {count} strings of lengths {lengths}"
        )
    strings = []
    for length in lengths:
        strings.append(content[place : place + length])
        place += length
    return strings


def _from_typed(proto: Any, dtype: dtypes.DType, numpy_dtype: np.dtype, size: int) -> np.ndarray:
    values = getattr(proto, _FIELDS[dtype])
    if dtype in _COMPLEX:
        # A view and not a sum: that would lose the signs of zeros, and infinities.
        flat = np.array(values, dtype=np.float64).view(np.complex128).astype(numpy_dtype)
    elif dtype in _SIXTEEN_BITS:
        bits = np.array(values, dtype=np.uint16)
        flat = bits.view(ml_dtypes.bfloat16 if dtype is dtypes.bfloat16 else np.float16)
    else:
        flat = np.array(values, dtype=numpy_dtype)
    if flat.size > size:
        raise ValueError(f"{flat.size} values do not fit a tensor of {size}")
    if flat.size == size:
        return flat
    if flat.size == 0:
        return np.zeros(size, dtype=numpy_dtype)
    return np.concatenate([flat, np.repeat(flat[-1:], size - flat.size)])
