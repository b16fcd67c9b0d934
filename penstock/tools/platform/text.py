"""Strings and numbers in Python 2 and 3: ``tf.compat.as_bytes`` and its kin."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types",
    "integral_types", "path_to_str", "real_types",
]  # fmt: skip

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """A string as bytes.

    Args:
      bytes_or_text: bytes, a bytearray or a str.
      encoding: of the bytes that a str becomes.

    Raises:
      TypeError: it is none of these.

    >>> as_bytes("é"), as_bytes(b"as it is")
    (b'\\xc3\\xa9', b'as it is')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """A string as a str.

    Args:
      bytes_or_text: bytes or a str.
      encoding: of the bytes.

    Raises:
      TypeError: it is neither.

    >>> as_text(b"\\xc3\\xa9")
    'é'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any) -> str:
    """Anything as a str; bytes are decoded.

    >>> as_str_any(b"a"), as_str_any(1)
    ('a', '1')
    """
    return as_text(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """The str of a path object; everything else as it is.

    >>> import pathlib
    >>> path_to_str(pathlib.Path("a/./b")), path_to_str("a/./b")
    ('a/b', 'a/./b')
    """
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path
