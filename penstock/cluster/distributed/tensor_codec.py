"""Run-time values as TensorValue messages and back.

A TensorValue has a type number, dims, and the elements as raw little-endian bytes, or as a list of
byte strings.  Values are torch tensors, NumPy arrays (of objects for strings) and Python numbers;
what comes back is a torch tensor with memory of its own, or an object array of bytes.  Everything
that a stranger could have got wrong is checked before memory is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.engine.runtime import values
from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import cluster_messages as messages

MAX_RANK = 64
_DTYPES: dict[torch.dtype, dtypes.DType] = {
    torch_dtype: dtype
    for number in range(1, 24)
    if (torch_dtype := values.torch_dtype(dtype := dtypes.DType(number))) is not None
    and not dtype.is_quantized  # these travel as their integers
}
_BY_NUMBER = {dtype.as_datatype_enum: kind for kind, dtype in _DTYPES.items()}
STRING = dtypes.string.as_datatype_enum


def is_dense(value: Any) -> bool:
    """Whether a value is a tensor that can travel: numbers or strings, no handle of a resource."""
    if isinstance(value, torch.Tensor):
        return value.layout is torch.strided and value.dtype in _DTYPES
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind != "O" or all(
            isinstance(each, bytes | str) for each in np.asarray(value).flat
        )
    return isinstance(value, bool | int | float | complex | bytes | str)


def encode(value: Any) -> Any:
    """The message of a value.

    Args:
      value: a torch tensor, a NumPy array or scalar, bytes, or a Python number (an int is int64, a
        float float64).

    Raises:
      tf.errors.InvalidArgumentError: it is no dense tensor.
    """
    value = as_tensor(value)
    if isinstance(value, torch.Tensor):
        return messages.TensorValue(
            dtype=number_of(value.dtype), dims=value.shape, content=content_of(value)
        )
    return messages.TensorValue(dtype=STRING, dims=value.shape, strings=value.ravel().tolist())


def decode(message: Any) -> Any:
    """The value of a message.

    Raises:
      tf.errors.InvalidArgumentError: its type, dims and contents do not agree.
    """
    dims = tuple(message.dims)
    if message.dtype == STRING:
        if message.content:
            raise errors.invalid(f"a string tensor has {len(message.content)} bytes of numbers")
        return strings(message.strings, dims)
    if message.strings:
        raise errors.invalid(f"a tensor of type {message.dtype} has {len(message.strings)} strings")
    check_size(message.dtype, dims, len(message.content))
    return tensor_of(bytearray(message.content), message.dtype, dims)


def as_tensor(value: Any) -> torch.Tensor | np.ndarray:
    """A value as a torch tensor on the host, or an object array of bytes.

    Raises:
      tf.errors.InvalidArgumentError: it is no dense tensor.
    """
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.dtype not in _DTYPES:
            raise errors.invalid(f"a {value.layout} tensor of {value.dtype} cannot be sent")
        if value.requires_grad:
            value = value.detach()  # what is sent is not recorded
        if value.is_conj() or value.is_neg():
            value = value.resolve_conj().resolve_neg()
        host: torch.Tensor = value if value.is_cpu else value.cpu()
        return host
    if isinstance(value, bool | int | float | complex | bytes | str | np.generic | np.ndarray):
        array = np.asarray(value, dtype=object if isinstance(value, bytes | str) else None)
        if array.dtype.kind in "OSU":
            return _as_bytes(array)
        try:
            made: torch.Tensor = values.from_array(array)
        except TypeError:
            raise errors.invalid(f"an array of {array.dtype} cannot be sent") from None
        return made
    raise errors.invalid(f"a {type(value).__name__} cannot be sent: it is no dense tensor")


def number_of(dtype: torch.dtype) -> int:
    """TensorFlow's number of a torch type."""
    return _DTYPES[dtype].as_datatype_enum


def check_size(number: int, dims: Sequence[int], size: int) -> None:
    """Checks that a tensor of a type and shape has a size in bytes.

    Raises:
      tf.errors.InvalidArgumentError: it has not, or there is no such type or shape.
    """
    expected = size_of(number, dims)
    if expected != size:
        raise errors.invalid(
            f"a {_DTYPES[_BY_NUMBER[number]].name} tensor of shape {tuple(dims)} has {expected}"
            f" bytes; found {size}"
        )


def size_of(number: int, dims: Sequence[int]) -> int:
    """The bytes of a tensor of a type and shape.

    Raises:
      tf.errors.InvalidArgumentError: there is no such type or shape.
    """
    kind = _BY_NUMBER.get(number)
    if kind is None:
        raise errors.invalid(f"type {number} is no type of a dense tensor")
    return count_of(dims) * kind.itemsize


def check_strings(dims: Sequence[int], size: int) -> None:
    """Checks that a string tensor of a shape can have a size in bytes, 8 for each length included.

    Raises:
      tf.errors.InvalidArgumentError: it cannot.
    """
    if 8 * count_of(dims) > size:
        raise errors.invalid(f"a string tensor of shape {tuple(dims)} does not fit {size} bytes")


def tensor_of(
    buffer: bytearray | memoryview | torch.Tensor, number: int, dims: Sequence[int]
) -> torch.Tensor:
    """The tensor in a buffer, whose size has been checked; shares its memory.

    Raises:
      tf.errors.InvalidArgumentError: a bool is neither 0 nor 1.
    """
    kind = _BY_NUMBER[number]
    if not len(buffer):
        return torch.empty(tuple(dims), dtype=kind)
    if not isinstance(buffer, torch.Tensor):
        buffer = torch.frombuffer(buffer, dtype=torch.uint8)
    if kind is torch.bool and int(buffer.max()) > 1:
        raise errors.invalid(
            f"a bool tensor has a byte of {int(buffer.max())}; allowed are 0 and 1"
        )
    return _aligned(buffer).view(kind).reshape(tuple(dims))


def strings(parts: Sequence[bytes], dims: Sequence[int]) -> np.ndarray:
    """An object array of byte strings.

    Raises:
      tf.errors.InvalidArgumentError: the shape has another number of elements.
    """
    count = count_of(dims)
    if count != len(parts):
        raise errors.invalid(f"a string tensor of shape {tuple(dims)} has {len(parts)} elements")
    made = np.empty(count, dtype=object)
    made[:] = list(parts)
    return made.reshape(tuple(dims))


def as_bytes_tensor(value: torch.Tensor) -> torch.Tensor:
    """The memory of a tensor as a flat one of bytes; a copy only where it is not contiguous."""
    return value.contiguous().reshape(-1).view(torch.uint8)


def content_of(value: torch.Tensor) -> bytes:
    """The elements of a tensor as bytes, in C order."""
    if value.dtype is torch.bfloat16:  # which NumPy does not know
        value = value.contiguous().view(torch.int16)
    return value.numpy().tobytes()


def _aligned(buffer: torch.Tensor) -> torch.Tensor:
    # Types are viewed in place only at addresses that they are aligned to.
    return buffer if buffer.data_ptr() % 16 == 0 else buffer.clone()


def count_of(dims: Sequence[int]) -> int:
    """How many elements a shape has.

    Raises:
      tf.errors.InvalidArgumentError: it is no shape, or too large for any memory.
    """
    if len(dims) > MAX_RANK:
        raise errors.invalid(f"a tensor has {len(dims)} dims; at most {MAX_RANK} are allowed")
    if any(dim < 0 for dim in dims):
        raise errors.invalid(f"a tensor has shape {tuple(dims)}; dims must not be negative")
    count = math.prod(dims)
    # A dim of 0 hides the others, which must be such that strides can be computed.
    if math.prod(max(dim, 1) for dim in dims) >= 1 << 62:
        raise errors.invalid(f"a tensor of shape {tuple(dims)} is too large")
    return count


def _as_bytes(array: np.ndarray) -> np.ndarray:
    made = np.empty(array.size, dtype=object)
    for at, each in enumerate(array.ravel().tolist()):
        if isinstance(each, str):
            each = each.encode()
        if not isinstance(each, bytes):
            raise errors.invalid(f"a {type(each).__name__} cannot be sent: it is no dense tensor")
        made[at] = each
    return made.reshape(array.shape)
