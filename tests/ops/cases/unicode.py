"""Rows of Unicode: scripts and encodings; and of compressed strings."""

from __future__ import annotations

import gzip
import zlib

from tests.ops.opcase import OpCase, feed, strings

_STRING = ("string",)
_TEXTS = strings([
    "na\u00efve \u4e2d\u6587 \U0001f600", b"", b"a\xffb\xc3", b"\xe4\xb8z\xed\xa0\x80.",
    b"tab\t nul\0 del\x7f", b"\xf4\x90\x80\x80 \xc0\xaf \xf0\x9f\x98",
])  # fmt: skip
_WIDE = strings([b"\x00a\x00b\xd8\x3d\xde\x00", b"\xd8\x3d", b"\x00", b"\xfe\xff\x00a"])
_PACKED = zlib.compress(b"some")
_CODES = [0, 65, 0xE9, 0x3B1, 0x434, 0x5D0, 0x4E2D, 0x3042, 0xAC00, 0x301, 0x10FFFF, -1, 0x110000]


def _coded(texts, source, target, raises=False, **attrs):
    more = {"input_encoding": source, "output_encoding": target, **attrs}
    return OpCase("UnicodeTranscode", [texts], more, _STRING, raises=raises)


def _points(texts, encoding, raises=False, op="UnicodeDecodeWithOffsets", **attrs):
    return OpCase(op, [texts], {"input_encoding": encoding, **attrs}, _STRING, raises=raises)


def _text(codes, splits, encoding="UTF-8", raises=False, **attrs):
    inputs = [feed(codes, "int32"), feed(splits, "int64")]
    return OpCase("UnicodeEncode", inputs, {"output_encoding": encoding, **attrs}, ("int32",),
                  raises=raises)  # fmt: skip


CASES = [
    *(_points(_TEXTS, "UTF-8", op=op) for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets")),
    _points(_TEXTS, "UTF-8", errors="ignore"),
    _points(_TEXTS, "UTF-8", replacement_char=63, replace_control_characters=True),
    _points(_WIDE, "UTF-16-BE"),
    _points(strings([b"caf\xe9\x80"]), "ISO-8859-1"),
    _points(_TEXTS, "UTF-8", errors="strict", raises=True),
    *(_text([104, 0xE9], splits, "UTF-8", raises=True)
      for splits in ([1, 2], [0, 1], [0, 2, 1, 2], [0])),
    *(_text([104, 0xE9, 0x65E5, 0x1F600], [0, 2, 2, 4], encoding)
      for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE")),
    _text([65, 0x110000, -1, 66], [0, 4]),
    _text([65, 0x110000, 66], [0, 3], errors="ignore"),
    _text([65, 0x110000, 66], [0, 3], errors="strict", raises=True),
    OpCase("UnicodeScript", [feed(_CODES, "int32")], {}, ("int32",)),
    OpCase("UnicodeScript", [feed([[65, 66], [0x10400, 0x0E01]], "int32")], {}, ("int32",)),
    *(_coded(_TEXTS, "UTF-8", target) for target in ("UTF-8", "UTF-16-BE", "UTF-32-BE")),
    *(_coded(_TEXTS, "UTF-8", "UTF-8", errors="ignore", replace_control_characters=controls)
      for controls in (False, True)),
    _coded(_TEXTS, "UTF-8", "UTF-8", replacement_char=63, replace_control_characters=True),
    _coded(_WIDE, "UTF-16-BE", "UTF-8"),
    _coded(_WIDE, "UTF-16", "UTF-8"),
    _coded(strings([b"\xff\xfea\0", b"a\0", b"\xfe\xff\0a"]), "UTF-16", "UTF-8"),
    _coded(strings([b"\xff\xfe\0\0a\0\0\0", b"\0\0\0a"]), "UTF-32", "UTF-8"),
    _coded(strings([b"\0\0\0a", b"\0\x11\0\0", b"ab"]), "UTF-32-BE", "UTF-8"),
    _coded(strings([b"caf\xe9\x80"]), "ISO-8859-1", "UTF-8"),
    _coded(strings([b"caf\xe9\x80"]), "US-ASCII", "UTF-8"),
    _coded(strings(["fine"]), "UTF-8", "UTF-8", errors="strict"),
    _coded(_TEXTS, "UTF-8", "UTF-8", errors="strict", raises=True),
    _coded(_TEXTS, "UTF-8", "UTF-8", replacement_char=0x110000, raises=True),
    _coded(_TEXTS, "none such", "UTF-8", raises=True),
    _coded(_TEXTS, "utf-8-sig", "UTF-8", raises=True),
    _coded(_TEXTS, "rot13", "UTF-8", raises=True),
    *(
        OpCase("DecodeCompressed", [strings([pack(w) for w in (b"some", b"", b"a" * 5000)])],
               {"compression_type": kind}, _STRING)
        for kind, pack in (("", bytes), ("ZLIB", zlib.compress), ("GZIP", gzip.compress))
    ),
    OpCase("DecodeCompressed", [strings([_PACKED + b"more", b"", _PACKED * 2])],
           {"compression_type": "ZLIB"}, _STRING),
    OpCase("DecodeCompressed", [strings([_PACKED[:-1] + b"!"])], {"compression_type": "ZLIB"},
           _STRING, raises=True),
    OpCase("DecodeCompressed", [strings([b"a"])], {"compression_type": "LZ4"}, _STRING,
           raises=True),
    OpCase("DecodeCompressed", [strings([b"no packed string"])], {"compression_type": "ZLIB"},
           _STRING, raises=True),
]  # fmt: skip
