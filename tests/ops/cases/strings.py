"""Rows for strings: text of numbers, parts, case, expressions, hashes, splits, joins."""

from __future__ import annotations

import numpy as np

from tests.ops.opcase import OpCase, const, feed, real, strings

WORDS = strings([["a", "bc"], ["", "d e"]])
UNICODE = strings(["Grüße", "ΑΣ", "日本語", "\U0001f600x", ""])
BROKEN = strings([b"\xff\xfea", b"\xe6\x97", b"ok"])
SPACES = strings(["  a b ", "\t\n x\r\x0b\x0c", "", " ", "\u00a0z"])
EMPTY = feed(np.zeros((0, 3), object), "string")
NUMBERS = feed([0.0, -1.5, 3.14159265, 1e20, -1e-7, np.inf, -np.inf, 123456.789], "T")
WHOLE = ("int8", "int16", "int32", "int64")


def _number_rows():
    yield OpCase("AsString", [real(2, 3, lo=-9, hi=9)], {}, (*WHOLE, "bool", "float32", "float64"))
    yield OpCase("AsString", [real(3)], {"precision": 2}, ("complex64", "complex128"))
    for attrs in (
        {}, {"precision": 3}, {"scientific": True}, {"shortest": True},
        {"scientific": True, "precision": 1}, {"shortest": True, "precision": 3},
        {"width": 12}, {"width": 12, "fill": "0"}, {"width": 12, "fill": "-"}, {"fill": "+"},
        {"width": 9, "fill": " "}, {"precision": 0},
    ):  # fmt: skip
        yield OpCase("AsString", [NUMBERS], attrs, ("float32", "float64"))
    for attrs in (
        {"width": 5},
        {"width": 5, "fill": "0"},
        {"width": 5, "fill": "-"},
        {"fill": "+"},
    ):
        yield OpCase("AsString", [feed([0, -7, 123], "T")], attrs, WHOLE)
    for attrs in (
        {"precision": 2}, {"scientific": True}, {"shortest": True}, {"fill": "xy"}, {"fill": "x"},
    ):  # fmt: skip
        yield OpCase("AsString", [feed([1], "T")], attrs, ("int32",), raises=True)
    yield OpCase(
        "AsString", [feed([1.0], "T")], {"scientific": True, "shortest": True}, raises=True
    )
    yield OpCase("AsString", [real(0, 2)], {}, ("float32", "int32"))


def _part(texts, pos, size, unit="BYTE", raises=False, dtype="int32"):
    inputs = [texts, feed(pos, "T"), feed(size, "T")]
    return OpCase("Substr", inputs, {"unit": unit}, (dtype,), raises=raises)


def _pattern_rows():
    texts = strings(["abcabc", "", "aaa", "x\ny", "日本a語", "a.b"])
    for pattern, rewrite in (
        ("a", "X"), ("x*", "-"), ("(a)(b)?", r"<\2\1\0>"), ("", "-"), ("^a", "Z"), ("$", "!"),
        (".", "_"), ("[[:alpha:]]+", "w"), (r"\pL", "L"), ("(?i)A", "q"), (r"\.", r"\\"),
        ("(a)", r"\q"), (r"\b", "|"), ("(?P<n>b)", r"[\1]"), ("a*?", "."),
        ("b|", "_"),
    ):  # fmt: skip
        for everywhere in (True, False):
            attrs = {"replace_global": everywhere}
            yield OpCase(
                "StaticRegexReplace", [texts], {"pattern": pattern, "rewrite": rewrite, **attrs}
            )
        yield OpCase("RegexReplace", [texts, strings(pattern), strings(rewrite)], {})
    # Groups that the pattern has not are empty; 2.21 replaces nothing then.
    for pattern, rewrite in (("a", r"<\1>"), ("(a)|b", r"\2[\1]\9"), ("", r"\1-")):
        for everywhere in (True, False):
            attrs = {"pattern": pattern, "rewrite": rewrite, "replace_global": everywhere}
            yield OpCase("StaticRegexReplace", [texts], attrs, oracle="tf1")
        yield OpCase("RegexReplace", [texts, strings(pattern), strings(rewrite)], oracle="tf1")
    yield OpCase("StaticRegexReplace", [EMPTY], {"pattern": "a", "rewrite": "b"})
    for wrong in ("(", "a**", "(?=a)", r"\1", "[z-a]"):
        yield OpCase("StaticRegexReplace", [texts], {"pattern": wrong, "rewrite": ""}, raises=True)
        yield OpCase("RegexReplace", [texts, strings(wrong), strings("")], {}, raises=True)
        yield OpCase("StaticRegexFullMatch", [texts], {"pattern": wrong}, raises=True)
    yield OpCase("RegexReplace", [texts, strings(["a"]), strings("")], {}, raises=True)
    for pattern in ("a.*", ".*", r"\pL+", "(?s).*", "(?P<n>a)+"):
        yield OpCase("StaticRegexFullMatch", [texts], {"pattern": pattern})


def _hash_rows():
    texts = strings(
        ["", "a", "abcdefg", "abcdefgh", "abcdefghi", "x" * 15, "y" * 16, "z" * 17, "w" * 32,
         "v" * 33, "u" * 64, "t" * 65, "s" * 200, b"\x00\xff", "日本語"]
    )  # fmt: skip
    for count in (1, 7, 1000003, 2**62 + 11):
        yield OpCase("StringToHashBucket", [texts], {"num_buckets": count})
        yield OpCase("StringToHashBucketFast", [texts], {"num_buckets": count})
        for key in ([1, 2], [0, 0], [2**62, 12345678901]):
            yield OpCase("StringToHashBucketStrong", [texts], {"num_buckets": count, "key": key})
    yield OpCase("StringToHashBucketStrong", [texts], {"num_buckets": 3, "key": [1]}, raises=True)
    yield OpCase("StringToHashBucketFast", [texts], {"num_buckets": 0}, raises=True)
    for op in ("StringToHashBucket", "StringToHashBucketFast"):
        yield OpCase(op, [EMPTY], {"num_buckets": 5})
    method = const("farmhash64", "string")
    types = ("float32", "float64", "int32", "uint8", "bool", "complex64", "half")
    for data in (real(3, 4), real(5), real(2, 2, 3), real(0, 3)):
        yield OpCase("Fingerprint", [data, method], {}, types)
    yield OpCase("Fingerprint", [WORDS, method], {})
    yield OpCase("Fingerprint", [texts, strings("farmhash64")], {})
    yield OpCase("Fingerprint", [real(3), const("md5", "string")], {}, raises=True)
    yield OpCase("Fingerprint", [real(), method], {}, raises=True)


def _split_rows():
    texts = strings(["a b  c", "", " x ", "a,b,,c,", ",", "日 本", "one"])
    for sign in (" ", "", ",", " ,", "]^", "ab"):
        for skip in (True, False):
            yield OpCase("StringSplit", [texts, strings(sign)], {"skip_empty": skip})
    for sign in ("", ",", " ", ", ", "b"):
        for most in (-1, 0, 1, 2):
            yield OpCase("StringSplitV2", [texts, strings(sign)], {"maxsplit": most})
    yield OpCase("StringSplitV2", [SPACES, strings("")], {})
    yield OpCase("StringSplitV2", [SPACES, strings("")], {"maxsplit": 1})
    none = feed(np.zeros(0, object), "string")
    for op in ("StringSplit", "StringSplitV2"):
        yield OpCase(op, [none, strings(" ")])
        yield OpCase(op, [WORDS, strings(" ")], raises=True)
        yield OpCase(op, [texts, strings([" ", ","])], raises=True)
    rows = strings(["a", "b", "c", "d", "e", "f"])
    attrs = {"separator": "|", "left_pad": "L", "right_pad": "R"}
    for widths in ([1], [2], [3, 1], [5]):
        for pad in (-1, 0, 1, 4):
            for short in (True, False):
                more = {"pad_width": pad, "preserve_short_sequences": short}
                for splits in ("int32", "int64"):
                    yield OpCase(
                        "StringNGrams",
                        [rows, feed([0, 3, 3, 4, 6], splits)],
                        {**attrs, "ngram_widths": widths, **more},
                    )
    yield OpCase(
        "StringNGrams", [rows, feed([0, 7], "int64")],
        {**attrs, "ngram_widths": [2], "pad_width": 0, "preserve_short_sequences": False},
        raises=True,
    )  # fmt: skip


def _join_rows():
    cube = strings([[["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h"]]])
    for axes in ([0], [1], [2], [-1], [0, 1], [1, 0], [2, 0], [-1, -2, -3], [], 1):
        for attrs in ({}, {"keep_dims": True}, {"separator": ", "}):
            yield OpCase("ReduceJoin", [cube, const(axes)], attrs)
    yield OpCase("ReduceJoin", [cube, feed([0, 2], "int32")], {"separator": "-"})
    yield OpCase("ReduceJoin", [strings("a"), const(np.zeros(0, np.int32))])
    yield OpCase("ReduceJoin", [EMPTY, const([1])])
    yield OpCase("ReduceJoin", [EMPTY, const([0])])
    for wrong in ([3], [-4], [1, 1]):
        yield OpCase("ReduceJoin", [cube, const(wrong)], raises=True)
        yield OpCase("ReduceJoin", [cube, feed(wrong, "int32")], raises=True)
    texts = strings([["a", "b"], ["c", "d"], ["e", "f"]])
    for ids, count in (([0, 2, 0], 3), ([1, 1, 1], 2), ([[0, 1], [1, 0], [0, 0]], 2)):
        yield OpCase(
            "UnsortedSegmentJoin", [texts, feed(ids, "T"), const(count)], {"separator": ":"},
            ("int32", "int64"),
        )  # fmt: skip
    for ids in ([0, 1, 5], [-1, 0, 1], [0, 1]):
        inputs = [texts, feed(ids, "T"), const(2)]
        yield OpCase("UnsortedSegmentJoin", inputs, {}, ("int32",), raises=True)
    yield OpCase(
        "UnsortedSegmentJoin", [texts, feed([0, 1, 1], "T"), const(3, "int64")], {}, ("int32",)
    )


def _coded_rows():
    plain = strings(["", "a", "ab", "abc", b"\xff\xfe\xfd", "日本", "a" * 100])
    yield OpCase("EncodeBase64", [plain], {})
    yield OpCase("EncodeBase64", [plain], {"pad": True})
    yield OpCase("EncodeBase64", [EMPTY], {})
    yield OpCase("DecodeBase64", [strings(["", "YQ", "YWI", "YWJj", "__79", "YQ==", "YWI="])], {})
    for wrong in ("A", "YQ=", "a+b/", "YW J", "====", "Y=Q=", "YQ===", "YR", "YQ\n", "=", "YWJj="):
        yield OpCase("DecodeBase64", [strings([wrong])], {}, raises=wrong != "YR")


CASES = [
    *_number_rows(),
    *(
        OpCase("StringLength", [texts], {"unit": unit})
        for texts in (WORDS, UNICODE, BROKEN, EMPTY)
        for unit in ("BYTE", "UTF8_CHAR")
    ),
    *(
        OpCase(op, [texts], {"encoding": encoding})
        for op in ("StringLower", "StringUpper")
        for texts in (WORDS, UNICODE, BROKEN, strings(["ß İı ǆ ŉ", "ABC xyz", "ΌΣΟΣ"]))
        for encoding in ("", "utf-8")
    ),
    OpCase("StringLower", [WORDS], {"encoding": "latin1"}, raises=True),
    OpCase("StringStrip", [SPACES]),
    OpCase("StringStrip", [WORDS]),
    _part(strings(["hello", "wörld"]), 1, 3),
    _part(strings(["hello", "wörld"]), 1, 3, "UTF8_CHAR"),
    _part(strings(["hello", "日本語x"]), [-2, -3], [1, 2], "UTF8_CHAR"),
    _part(strings(["hello", "world"]), [-2, -5], [1, 9], dtype="int64"),
    _part(strings(["hello", "world"]), 5, 1),
    _part(strings(["hello", "world"]), [0, 1], [0, 2]),
    _part(strings("hello"), [0, 1, 2], [1, 2, 3]),
    _part(strings([["abc", "def"], ["ghi", "jkl"]]), [0, 1], [2, 2]),
    _part(strings([["abc", "def"], ["ghi", "jkl"]]), [[0], [1]], [[2], [2]]),
    _part(strings(["hello", "w"]), 2, 1, raises=True),
    _part(strings(["hello", "w"]), -6, 1, raises=True),
    _part(strings(["日本", "w"]), 3, 1, "UTF8_CHAR", raises=True),
    _part(strings(["日本", "w"]), -3, 1, "UTF8_CHAR", raises=True),
    _part(strings(["a", "b"]), [0, 0], 1, raises=True),
    _part(strings(["a", "b"]), [0, 0, 0], [1, 1, 1], raises=True),
    *_pattern_rows(),
    *_hash_rows(),
    *_split_rows(),
    *_join_rows(),
    *_coded_rows(),
]
