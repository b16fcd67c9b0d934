"""Strings made of numbers, trimmed, cut, measured, put in another case, and written as base64.

Strings are bytes; where an op has ``unit="UTF8_CHAR"`` or ``encoding="utf-8"`` it reads them as
UTF-8.  A character is then a byte that does not continue another.

Source: C's ``printf`` for ``AsString``; RFC 4648 (URL-safe alphabet) for base64.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import shapes
from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, RefusedAtBuild, ShapeContext, same_as
from penstock.ops.strings.string_elements import REASON, counted, mapped, shown, strings

# ---- numbers -------------------------------------------------------------------------------------


def _number_format(dtype: Any, precision: int, scientific: bool, shortest: bool) -> str:
    real = dtype.is_floating_point or dtype.is_complex
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    name = str(dtype).removeprefix("torch.")
    if not real and (scientific or shortest):
        raise invalid(f"scientific and shortest format not supported for datatype {name}")
    if not real and precision >= 0:
        raise invalid(f"precision not supported for datatype {name}")
    sign = "d" if not real else "e" if scientific else "g" if shortest else "f"
    return f".{precision}{sign}" if precision >= 0 else sign


def _as_string(
    input: torch.Tensor, precision: int, scientific: bool, shortest: bool, width: int, fill: str
) -> np.ndarray:
    kind = _number_format(input.dtype, precision, scientific, shortest)
    if len(fill) > 1:
        raise invalid(f"Fill string must be one or fewer characters; found {fill!r}")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise invalid(f'Fill argument not supported: "{fill}"; allowed are " ", "+", "-", "0", "#"')
    if input.dtype is torch.bool:
        texts = [b"true" if v else b"false" for v in input.reshape(-1).tolist()]
        return strings(texts, tuple(input.shape))
    size = "" if width < 0 else str(width)
    usual, unfilled = f"%{fill}{size}{kind}", f"%{fill.strip('0')}{size}{kind}"

    def text(value: Any) -> str:
        # C fills infinities and NaN with spaces.
        return (usual if math.isfinite(value) else unfilled) % value

    if input.dtype.is_complex:
        parts = [f"({text(v.real)},{text(v.imag)})" for v in input.reshape(-1).tolist()]
    else:
        parts = [text(v) for v in input.reshape(-1).tolist()]
    return strings([p.encode() for p in parts], tuple(input.shape))


define_op(
    "AsString",
    "input: T -> output: string",
    attrs=[
        "T: {int8, int16, int32, int64, complex64, complex128, float, double, bool}",
        "precision: int = -1", "scientific: bool = False", "shortest: bool = False",
        "width: int = -1", 'fill: string = ""',
    ],
    shape=same_as("input"),
    kernel=_as_string,
    no_gradient="its output is a string",
)  # fmt: skip


# ---- length and case -----------------------------------------------------------------------------


def _characters(text: bytes) -> int:
    return sum((byte & 0xC0) != 0x80 for byte in text)


def _length(input: Any, unit: str) -> torch.Tensor:
    return counted(len if unit == "BYTE" else _characters, input, torch.int32)


def _case(input: Any, encoding: str, upper: bool) -> np.ndarray:
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding!r}")
    if not encoding:
        return mapped(bytes.upper if upper else bytes.lower, input)
    change = str.upper if upper else str.lower
    # TensorFlow hands the text on as C does: it ends before the first zero byte.
    return mapped(
        lambda text: change(text.partition(b"\0")[0].decode("utf-8", "replace")).encode(), input
    )


def _lower(input: Any, encoding: str) -> np.ndarray:
    return _case(input, encoding, False)


def _upper(input: Any, encoding: str) -> np.ndarray:
    return _case(input, encoding, True)


def _strip(input: Any) -> np.ndarray:
    return mapped(bytes.strip, input)


_UNIT = "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'"
for _name, _attrs, _kernel, _type in (
    ("StringLength", [_UNIT], _length, "int32"),
    ("StringLower", ['encoding: string = ""'], _lower, "string"),
    ("StringUpper", ['encoding: string = ""'], _upper, "string"),
    ("StringStrip", [], _strip, "string"),
):
    define_op(
        _name,
        f"input: string -> output: {_type}",
        attrs=_attrs,
        shape=same_as("input"),
        kernel=_kernel,
        no_gradient=REASON,
    )


# ---- parts of strings ----------------------------------------------------------------------------


def _offsets(text: bytes) -> list[int]:
    """Where characters begin, and the end."""
    starts = [i for i, byte in enumerate(text) if (byte & 0xC0) != 0x80]
    return [*starts, len(text)]


def _part(text: bytes, pos: int, length: int, unit: str) -> bytes:
    places = None if unit == "BYTE" else _offsets(text)
    size = len(text) if places is None else len(places) - 1
    start = pos + size if pos < 0 else pos
    if not 0 <= start <= size:
        raise invalid(f"pos {pos} out of range for string b{shown(text)!r}")
    if length < 0 and places is not None:
        # Bytes go on to the end then, characters do not.
        if pos < 0:
            raise invalid(f"pos {pos} with len {length} for string {shown(text)!r}")
        return b""
    end = size if length < 0 else min(start + length, size)
    return text[start:end] if places is None else text[places[start] : places[end]]


def _substr(input: Any, pos: torch.Tensor, len: torch.Tensor, unit: str) -> np.ndarray:
    if pos.numel() == len.numel():
        len = len.reshape(pos.shape)
    if pos.shape != len.shape:
        raise invalid(
            f"pos and len should have the same shape, got: {list(pos.shape)} vs. {list(len.shape)}"
        )
    texts = np.asarray(input, dtype=object)
    try:
        whole, starts, sizes = np.broadcast_arrays(texts, pos.numpy(), len.numpy())
    except ValueError:
        raise invalid(
            f"Incompatible shapes: strings {list(texts.shape)}, positions {list(pos.shape)}"
        ) from None
    cut = [
        _part(text, start, size, unit)
        for text, start, size in zip(
            whole.ravel(), starts.ravel().tolist(), sizes.ravel().tolist(), strict=True
        )
    ]
    return strings(cut, whole.shape)


def _substr_shape(ctx: ShapeContext) -> Dims:
    pos, size = ctx["pos"], ctx["len"]
    if pos is not None and size is not None and len(pos) != len(size):
        raise RefusedAtBuild(
            f"Shape must be rank {len(size)} but is rank {len(pos)}: pos and len must have the same"
            f" rank; found {list(pos)}, {list(size)}"
        )
    if pos is not None and size is not None:
        try:
            pos = shapes.merge_static(pos, size)
        except ValueError as error:
            words = f"pos and len shapes must match: {list(pos)} vs. {list(size)}"
            raise ValueError(words) from error
    if ctx["input"] is None or pos is None:
        return None
    return shapes.broadcast_static(ctx["input"], pos)


define_op(
    "Substr",
    "input: string, pos: T, len: T -> output: string",
    attrs=["T: {int32, int64}", _UNIT],
    shape=_substr_shape,
    kernel=_substr,
    no_gradient=REASON,
)


# ---- base64 --------------------------------------------------------------------------------------

_ALPHABET = re.compile(rb"[A-Za-z0-9_-]*={0,2}")


def _encode(input: Any, pad: bool) -> np.ndarray:
    def one(text: bytes) -> bytes:
        coded = base64.urlsafe_b64encode(text)
        return coded if pad else coded.rstrip(b"=")

    return mapped(one, input)


def _decode_one(text: bytes) -> bytes:
    bare = text.rstrip(b"=")
    padded = len(bare) != len(text)
    if _ALPHABET.fullmatch(text) is None or padded and len(text) % 4 or len(bare) % 4 == 1:
        raise invalid(f"Invalid character found in base64. {shown(text)!r}")
    try:
        return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))
    except binascii.Error as error:
        raise invalid(f"{shown(text)!r} is not base64: {error}") from None


def _decode(input: Any) -> np.ndarray:
    return mapped(_decode_one, input)


define_op(
    "EncodeBase64",
    "input: string -> output: string",
    attrs=["pad: bool = False"],
    shape=same_as("input"),
    kernel=_encode,
    no_gradient=REASON,
)
define_op(
    "DecodeBase64",
    "input: string -> output: string",
    shape=same_as("input"),
    kernel=_decode,
    no_gradient=REASON,
)


# ---- public functions ----------------------------------------------------------------------------


def as_string(
    input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False,
    width: int = -1, fill: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Numbers as text, as C's ``printf`` writes them.

    Args:
      input: a tensor of numbers or booleans.
      precision: digits after the point; -1 for the usual six.
      scientific: with an exponent.
      shortest: with or without one, whichever is shorter.
      width: least width; shorter numbers are filled up.
      fill: ``" "``, ``"0"``, ``"-"`` (to the left), ``"+"`` or ``"#"``.

    Returns:
      A string tensor of the shape of ``input``.
    """
    return make(
        "AsString", input, precision=precision, scientific=scientific, shortest=shortest,
        width=width, fill=fill, name=name,
    )  # fmt: skip


def string_strip(input: Any, name: str | None = None) -> Tensor:
    """Strings without the white space at their ends."""
    return make("StringStrip", input, name=name)


def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in lower case: ASCII letters, or all with ``encoding="utf-8"``."""
    return make("StringLower", input, encoding=encoding, name=name)


def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in upper case: ASCII letters, or all with ``encoding="utf-8"``."""
    return make("StringUpper", input, encoding=encoding, name=name)


def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The lengths of strings, int32; ``unit`` is ``"BYTE"`` or ``"UTF8_CHAR"``."""
    return make("StringLength", input, unit=unit, name=name)


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Parts of strings.

    Args:
      input: string tensor.
      pos: where they begin; below 0 from the end.
      len: how long they are at most; of the shape of ``pos``, which broadcasts with ``input``.
      unit: what both count: ``"BYTE"`` or ``"UTF8_CHAR"``.

    Returns:
      A string tensor.

    Raises:
      tf.errors.InvalidArgumentError: when run, a position outside of its string.
    """
    return make("Substr", input, pos, len, unit=unit, name=name)


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Strings in web-safe base64; ``pad`` fills them up with ``=``."""
    return make("EncodeBase64", input, pad=pad, name=name)


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """What web-safe base64 stands for; padding may be missing."""
    return make("DecodeBase64", input, name=name)
