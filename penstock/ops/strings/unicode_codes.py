"""Text as code points and back: UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode."""

from __future__ import annotations

import codecs
import threading
from typing import Any

import numpy as np
import torch

from penstock.foundation.base.errors import invalid
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.strings.string_elements import REASON, shown, strings
from penstock.ops.strings.string_unicode import codec_of

_MARK = "\udfff"  # no decoded text contains it
_SPANS = "penstock.spans"
_SPLITS = "Tsplits: {int32, int64} = int64"
_ERRORS = "errors: {'strict', 'replace', 'ignore'} = 'replace'"
_REPLACED = 0xFFFD
# Encodings whose byte order a mark tells: what they are without one, and what each mark says.
_ORDERS = {
    "utf-16": ("utf-16-be", {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}),
    "utf-32": ("utf-32-be", {codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be"}),
}
_found = threading.local()


def _noted(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    _found.spans.append((error.start, error.end))
    return _MARK, error.end


codecs.register_error(_SPANS, _noted)


def _codes(text: bytes, codec: str) -> list[tuple[int | None, int]]:
    """The code points, None for bytes that are no text, each with where it starts."""
    at = 0
    if codec in _ORDERS:
        codec, marks = _ORDERS[codec]
        mark = next((m for m in marks if text.startswith(m)), b"")
        codec, at, text = marks.get(mark, codec), len(mark), text[len(mark) :]
    offset = at
    _found.spans = []
    decoded = text.decode(codec, _SPANS)
    spans = iter(_found.spans)
    found: list[tuple[int | None, int]] = []
    for character in decoded:
        if character == _MARK:
            start, end = next(spans)
            found.append((None, start + offset))
            at = end + offset
        else:
            found.append((ord(character), at))
            at += len(character.encode(codec))
    return found


def _decode(
    input: Any, input_encoding: str, errors: str, replacement_char: int,
    replace_control_characters: bool, Tsplits: Any,
) -> list[torch.Tensor]:  # fmt: skip
    return _decode_with_offsets(
        input, input_encoding, errors, replacement_char, replace_control_characters, Tsplits
    )[:2]


def _decode_with_offsets(
    input: Any, input_encoding: str, errors: str, replacement_char: int,
    replace_control_characters: bool, Tsplits: Any,
) -> list[torch.Tensor]:  # fmt: skip
    codec = codec_of(input_encoding)
    values: list[int] = []
    starts: list[int] = []
    splits = [0]
    for text in np.asarray(input, object).ravel().tolist():
        for code, start in _codes(text, codec):
            if code is None or (replace_control_characters and code < 0x20):
                if errors == "strict":
                    raise invalid(f"Invalid formatting on input string: {shown(text)!r}")
                if errors == "ignore":
                    continue
                code = replacement_char
            values.append(code)
            starts.append(start)
        splits.append(len(values))
    return [
        torch.tensor(splits, dtype=Tsplits), torch.tensor(values, dtype=torch.int32),
        torch.tensor(starts, dtype=torch.int64),
    ]  # fmt: skip


def _decode_shape(ctx: ShapeContext) -> list[Dims]:
    dims = ctx["input"]
    count: int | None = 1
    for dim in dims or (None,) * (dims is None):
        count = None if None in (count, dim) else count * dim
    vectors: list[Dims] = [(None,)] * (len(ctx.op.outputs) - 1)
    return [(None if count is None else count + 1,), *vectors]


for _name, _kernel, _outputs in (
    ("UnicodeDecode", _decode, ""),
    ("UnicodeDecodeWithOffsets", _decode_with_offsets, ", char_to_byte_starts: int64"),
):
    define_op(
        _name,
        f"input: string -> row_splits: Tsplits, char_values: int32{_outputs}",
        attrs=[
            "input_encoding: string", _ERRORS, "replacement_char: int = 65533",
            "replace_control_characters: bool = False", _SPLITS,
        ],
        shape=_decode_shape,
        kernel=_kernel,
        no_gradient=REASON,
    )  # fmt: skip


def _is_no_character(code: int) -> bool:
    outside = not 0 <= code <= 0x10FFFF
    return outside or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _check_splits(splits: list[int], count: int) -> None:
    # TensorFlow 1.15 reads what lies before or behind its values; later ones refuse as here.
    if splits[0] != 0:
        raise invalid(f"First value in input_splits must be zero, found {splits[0]}")
    if any(after < before for before, after in zip(splits, splits[1:])):
        raise invalid(f"Values in input_splits must be equal or in ascending order: {splits}")
    if splits[-1] != count:
        raise invalid(
            "Last value in input_splits must be equal to length of input_tensor: found"
            f" {splits[-1]}, and {count} values"
        )


def _encoded_shape(ctx: ShapeContext) -> tuple[int | None]:
    (count,) = ctx.rank("input_splits", 1)
    if count == 0:
        raise ValueError("Negative dimension size: input_splits must hold at least one value")
    return (None if count is None else count - 1,)


def _encode(
    input_values: Any, input_splits: Any, errors: str, output_encoding: str, replacement_char: int
) -> np.ndarray:
    codes, splits = input_values.tolist(), input_splits.tolist()
    _check_splits(splits, len(codes))
    made = []
    for start, end in zip(splits, splits[1:]):
        text = []
        for code in codes[start:end]:
            if _is_no_character(code):
                if errors == "strict":
                    raise invalid(
                        f"Code point value out of valid Unicode range. {code:#x} is no character"
                    )
                if errors == "ignore":
                    continue
                code = replacement_char
            text.append(chr(_REPLACED if 0xD800 <= code < 0xE000 else code))
        made.append("".join(text).encode(output_encoding))
    return strings(made, (len(made),))


define_op(
    "UnicodeEncode",
    "input_values: int32, input_splits: Tsplits -> output: string",
    attrs=[
        "errors: {'ignore', 'replace', 'strict'} = 'replace'",
        "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}",
        "replacement_char: int = 65533", _SPLITS,
    ],
    shape=_encoded_shape,
    kernel=_encode,
    no_gradient=REASON,
)  # fmt: skip
