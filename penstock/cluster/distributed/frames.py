"""Messages of links as bytes: a prefix, the dims, a header of the user's, the tensor.

    prefix   magic, kind, type number, rank, bytes of the header, bytes of the tensor
    dims     8 bytes each
    header   as the sender gave it
    tensor   elements in C order; of strings, their lengths (8 bytes each) and the strings

All numbers are little-endian.  Prefix, dims and header are the head.  ``Limits`` and the agreement
of sizes are checked before memory is taken.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from penstock.cluster.distributed import tensor_codec
from penstock.foundation.base import errors

_PREFIX = struct.Struct("<IBBHQQ")
_MAGIC = 0x314B4E4C  # "LNK1"
PREFIX_BYTES = _PREFIX.size
DATA, BYE = 0, 1


@dataclass(frozen=True)
class Limits:
    """How much a peer may make this process take.

    Args:
      header: bytes of a header.
      tensor: bytes of a tensor.
    """

    header: int
    tensor: int


@dataclass(frozen=True)
class Prefix:
    """What the prefix says."""

    kind: int
    type_number: int
    rank: int
    header_bytes: int
    tensor_bytes: int

    @property
    def head_bytes(self) -> int:
        """Bytes of the head."""
        return PREFIX_BYTES + 8 * self.rank + self.header_bytes


@dataclass(frozen=True)
class Head:
    """What the head says; ``type_number`` 0 means no tensor."""

    header: bytes
    type_number: int
    dims: tuple[int, ...]
    tensor_bytes: int


def pack(header: bytes, value: Any) -> tuple[bytes, torch.Tensor | None]:
    """The head of a message, and the bytes of its tensor, sharing the value's memory if possible.

    Raises:
      tf.errors.InvalidArgumentError: the value is no dense tensor.
    """
    if value is None:
        return _PREFIX.pack(_MAGIC, DATA, 0, 0, len(header), 0) + header, None
    value = tensor_codec.as_tensor(value)
    dims: tuple[int, ...] = tuple(value.shape)
    if isinstance(value, torch.Tensor):
        number, data = tensor_codec.number_of(value.dtype), tensor_codec.as_bytes_tensor(value)
    else:
        number, data = tensor_codec.STRING, _strings_tensor(value)
    size = data.numel()
    prefix = _PREFIX.pack(_MAGIC, DATA, number, len(dims), len(header), size)
    return prefix + struct.pack(f"<{len(dims)}q", *dims) + header, data if size else None


def bye() -> bytes:
    """The message after which the sender closes the link."""
    return _PREFIX.pack(_MAGIC, BYE, 0, 0, 0, 0)


def parse_prefix(data: bytes | memoryview, limits: Limits) -> Prefix:
    """Reads a prefix.

    Raises:
      tf.errors.InvalidArgumentError: it is none, or promises more than is allowed.
    """
    if len(data) < PREFIX_BYTES:
        raise errors.invalid(f"a message of {len(data)} bytes has no prefix")
    magic, kind, number, rank, header_bytes, tensor_bytes = _PREFIX.unpack_from(data)
    if magic != _MAGIC or kind not in (DATA, BYE):
        raise errors.invalid(f"a message begins with {bytes(data[:8])!r}, which is not Penstock's")
    if header_bytes > limits.header:
        raise errors.invalid(
            f"a header of {header_bytes} bytes; allowed are {limits.header}"
            " (PENSTOCK_MAX_MESSAGE_BYTES)"
        )
    if tensor_bytes > limits.tensor:
        raise errors.invalid(
            f"a tensor of {tensor_bytes} bytes; allowed are {limits.tensor}"
            " (PENSTOCK_MAX_TENSOR_BYTES)"
        )
    if rank > tensor_codec.MAX_RANK or (number == 0 and (rank or tensor_bytes)):
        raise errors.invalid(f"a tensor of type {number} with {rank} dims and {tensor_bytes} bytes")
    return Prefix(kind, number, rank, header_bytes, tensor_bytes)


def parse_head(prefix: Prefix, data: bytes | memoryview) -> Head:
    """Reads a head, whose prefix has been read.

    Raises:
      tf.errors.InvalidArgumentError: type, dims and size of the tensor do not agree.
    """
    dims = struct.unpack_from(f"<{prefix.rank}q", data, PREFIX_BYTES)
    number, size = prefix.type_number, prefix.tensor_bytes
    if number == tensor_codec.STRING:
        tensor_codec.check_strings(dims, size)
    elif number:
        tensor_codec.check_size(number, dims, size)
    header = bytes(data[PREFIX_BYTES + 8 * prefix.rank : prefix.head_bytes])
    return Head(header, number, dims, size)


def value_of(head: Head, data: bytearray | torch.Tensor) -> Any:
    """The tensor of a message, in the memory of ``data``; None if it has none.

    Raises:
      tf.errors.InvalidArgumentError: the bytes are not those of such a tensor.
    """
    if head.type_number == 0:
        return None
    if head.type_number != tensor_codec.STRING:
        return tensor_codec.tensor_of(data, head.type_number, head.dims)
    return _strings(head, data.numpy().tobytes() if isinstance(data, torch.Tensor) else data)


def read(
    take: Callable[[int], bytes], tensor: Callable[[int], torch.Tensor], limits: Limits
) -> tuple[bytes, Any] | None:
    """Reads a message.

    Args:
      take: the next so many bytes.
      tensor: the same, in a flat tensor of bytes of its own.
      limits: of what the other end sends.

    Returns:
      Header and tensor, or None when the other end has said that it closes.

    Raises:
      tf.errors.InvalidArgumentError: what came is malformed.
    """
    start = take(PREFIX_BYTES)
    prefix = parse_prefix(start, limits)
    if prefix.kind == BYE:
        return None
    head = parse_head(prefix, start + take(prefix.head_bytes - PREFIX_BYTES))
    return head.header, value_of(head, tensor(head.tensor_bytes))


def memory(data: torch.Tensor) -> memoryview:
    """The memory of a flat tensor of bytes."""
    array: Any = data.numpy()
    return memoryview(array)


def _strings_tensor(value: np.ndarray) -> torch.Tensor:
    parts = value.ravel().tolist()
    lengths = np.array([len(part) for part in parts], dtype="<u8").tobytes()
    data = bytearray(lengths + b"".join(parts))
    return torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)


def _strings(head: Head, data: bytes | bytearray) -> np.ndarray:
    count = 1
    for dim in head.dims:
        count *= dim
    lengths = np.frombuffer(data, dtype="<u8", count=count).tolist()
    if 8 * count + sum(lengths) != len(data):
        raise errors.invalid(
            f"{count} strings have {sum(lengths)} bytes; found {len(data) - 8 * count}"
        )
    ends = itertools.accumulate(lengths, initial=8 * count)
    parts = [bytes(data[start:end]) for start, end in itertools.pairwise(ends)]
    return tensor_codec.strings(parts, head.dims)


class Taker:
    """Takes bytes of what arrives and counts them; a subclass says where they come from."""

    received: int

    def _take(self, size: int) -> bytes:
        self.received += size
        data = bytearray(size)
        self._take_into(memoryview(data))
        return bytes(data)

    def _take_into(self, memory: memoryview) -> None:
        raise NotImplementedError
