"""Strings that were compressed with zlib or gzip.

What follows the end of compressed data is not looked at, and of data that are cut short comes what
could be read, as in TensorFlow.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from penstock.foundation.base import errors
from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import same_as
from penstock.ops.strings.string_elements import REASON, as_bytes, mapped

# Compression -> zlib's wbits: the largest window, with zlib's or gzip's header.
_FORMATS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}


def _check(compression_type: Any) -> str:
    kind = as_bytes(compression_type).decode()
    if kind not in ("", *_FORMATS):
        raise invalid(f"Only ZLIB, GZIP or NONE are supported compressions; found {kind!r}")
    return kind


def _decompress(bytes: Any, compression_type: Any) -> np.ndarray:
    kind = _check(compression_type)
    if not kind:
        return mapped(lambda data: data, bytes)

    def one(data: Any) -> Any:
        try:
            return zlib.decompressobj(_FORMATS[kind]).decompress(data)
        except zlib.error as error:
            raise errors.DataLossError(
                None, None, f"a string of {len(data)} bytes is no {kind} data: {error}"
            ) from None

    return mapped(one, bytes)


define_op(
    "DecodeCompressed",
    "bytes: string -> output: string",
    attrs=['compression_type: string = ""'],
    shape=same_as("bytes"),
    kernel=_decompress,
    no_gradient=REASON,
)


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """Decompresses strings.

    Args:
      bytes: strings, each compressed by itself.
      compression_type: "ZLIB", "GZIP", or "" for strings that are not compressed.

    Returns:
      Strings of the same shape.

    Raises:
      InvalidArgumentError: when it is run, another ``compression_type``.
      DataLossError: when it is run, a string that is damaged or cut.
    """
    return make("DecodeCompressed", bytes, compression_type=compression_type, name=name)
