"""Strings spread over buckets by hashes, and fingerprints of tensors.

The fast hash is FarmHash's Fingerprint64, the strong one SipHash-2-4 with a key of the user's, the
old one Murmur's: the same on all machines and in all versions, since models depend on them.
"""

from __future__ import annotations

from typing import Any

import farmhash
import numpy as np
import siphashc
import torch

from penstock.foundation.base import hashing
from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, same_as
from penstock.ops.strings.string_elements import REASON, as_bytes, counted

_MASK = (1 << 64) - 1


def _murmur(string_tensor: Any, num_buckets: int) -> torch.Tensor:
    return counted(lambda t: hashing.murmur64(t) % num_buckets, string_tensor, torch.int64)


def _farm(input: Any, num_buckets: int) -> torch.Tensor:
    return counted(lambda text: farmhash.fingerprint64(text) % num_buckets, input, torch.int64)


def _sip(input: Any, num_buckets: int, key: list[int]) -> torch.Tensor:
    if len(key) != 2:
        raise invalid(f"Key must have 2 elements, got: {len(key)}")
    secret = b"".join((part & _MASK).to_bytes(8, "little") for part in key)
    return counted(lambda t: siphashc.siphash(secret, t) % num_buckets, input, torch.int64)


for _name, _input, _attrs, _kernel in (
    ("StringToHashBucket", "string_tensor", [], _murmur),
    ("StringToHashBucketFast", "input", [], _farm),
    ("StringToHashBucketStrong", "input", ["key: list(int)"], _sip),
):
    define_op(
        _name,
        f"{_input}: string -> output: int64",
        attrs=["num_buckets: int >= 1", *_attrs],
        shape=same_as(_input),
        kernel=_kernel,
        no_gradient=REASON,
    )


def _fingerprint(data: Any, method: Any) -> torch.Tensor:
    kind = as_bytes(method)
    if kind != b"farmhash64":
        raise invalid(f"Unsupported fingerprint method: {kind!r}; allowed is b'farmhash64'")
    if not data.ndim:
        raise invalid("data to fingerprint must have rank at least 1; found a scalar")
    count = len(data)
    if isinstance(data, np.ndarray):
        flat = data.reshape(count, -1) if count else data.reshape(0, 1)
        rows = [
            row[0] if len(row) == 1 else b"".join(_eight(farmhash.fingerprint64(t)) for t in row)
            for row in flat
        ]
    else:
        rows = [_bytes_of(row) for row in data]
    prints = bytearray(b"".join(_eight(farmhash.fingerprint64(row)) for row in rows))
    if not count:
        return torch.empty((0, 8), dtype=torch.uint8)
    return torch.frombuffer(prints, dtype=torch.uint8).reshape(count, 8)


def _eight(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _bytes_of(row: torch.Tensor) -> bytes:
    if not row.numel():
        return b""
    return row.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def _fingerprint_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank_at_least("data", 1)
    ctx.rank("method", 0)
    method = ctx.value("method")
    if method is not None and as_bytes(method) != b"farmhash64":
        raise ValueError(f"unsupported fingerprint method {as_bytes(method)!r}; farmhash64 is one")
    return (None if dims is None else dims[0], None if method is None else 8)


define_op(
    "Fingerprint",
    "data: T, method: string -> fingerprint: uint8",
    attrs=["T: type"],
    shape=_fingerprint_shape,
    kernel=_fingerprint,
    no_gradient="a hash has none",
)


def string_to_hash_bucket(
    string_tensor: Any = None, num_buckets: int | None = None, name: str | None = None,
    input: Any = None,
) -> Tensor:  # fmt: skip
    """Numbers of buckets by an old hash; ``string_to_hash_bucket_fast`` is the one to use.

    Args:
      string_tensor, input: the strings; two names of one argument.
      num_buckets: how many buckets there are.

    Returns:
      int64, of the shape of the strings.

    Raises:
      ValueError: both names of the strings are given.
    """
    if string_tensor is not None and input is not None:
        raise ValueError("Cannot specify both 'string_tensor' and 'input'")
    given = input if string_tensor is None else string_tensor
    return make("StringToHashBucket", given, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """Numbers of buckets by a hash that is the same everywhere.

    Args:
      input: string tensor.
      num_buckets: how many buckets there are.

    Returns:
      int64, of the shape of ``input``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.string_to_hash_bucket_fast(["Hello", "TensorFlow"], 3)).tolist()
      [0, 2]
    """
    return make("StringToHashBucketFast", input, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Any, name: str | None = None
) -> Tensor:
    """Numbers of buckets by a hash whose collisions need its key to be found.

    Args:
      input: string tensor.
      num_buckets: how many buckets there are.
      key: two integers of 64 bits.

    Returns:
      int64, of the shape of ``input``.
    """
    return make(
        "StringToHashBucketStrong", input, num_buckets=num_buckets, key=list(key), name=name
    )
