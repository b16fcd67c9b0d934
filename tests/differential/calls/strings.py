"""Strings, and bytes that say what numbers are."""

from __future__ import annotations

from tests.differential.args import D, I, L, M, O, R, S, T, Z, call, each

WORDS = T(["ab c", "d,e,", "", "Xyz é"])
ERRORS = O("replace", "strict", "ignore", "x")
CODES = O("UTF-8", "UTF-16-BE", "latin1", "x")

CALLS = [
    call(
        "strings.as_string",
        R(2, 3),
        precision=O(-1, 0, 2, 40),
        scientific=O(False, True),
        shortest=O(False, True),
        width=O(-1, 8, 0),
        fill=O("", " ", "0", "xx", "-"),
    ),
    call("as_string", Z(2, 3), width=O(-1, 5), fill=O("", "0", "+")),
    call(
        "strings.format",
        O("{} a {}", "{}", "x", "%"),
        L(R(2, 3), Z(5)),
        placeholder=O("{}", "%"),
        summarize=O(3, 1, -1, 0),
    ),
    call("strings.join", L(WORDS, WORDS), O("", "-")),
    call("strings.length", WORDS, unit=O("BYTE", "UTF8_CHAR", "X")),
    *each("strings.lower strings.upper", WORDS, encoding=O("", "utf-8", "x")),
    call("strings.strip", T([" a ", "\tb\n", "", " "])),
    call("strings.reduce_join", T([["a", "b"], ["c", ""]]), M(I([0])), separator=O("", ",")),
    call("reduce_join", T([["a", "b"], ["c", ""]]), I(1), keep_dims=O(None, True)),
    call("strings.regex_full_match", WORDS, O("a.*", "", "[", ".*é")),
    call(
        "strings.regex_replace",
        WORDS,
        O("[a-c]", "(.)", "[", ""),
        O("x", r"\1\1", r"\2", ""),
        replace_global=O(True, False),
    ),
    call("strings.split", WORDS, O(None, " ", ",", "", "ab"), O(-1, 0, 1)),
    call("string_split", WORDS, O(None, " ", ",", "", ", "), skip_empty=O(True, False)),
    call("strings.substr", T(["abcdef", "ghé"]), S(1), S(2), unit=O("BYTE", "UTF8_CHAR", "X")),
    *each("strings.to_hash_bucket strings.to_hash_bucket_fast", WORDS, O(10, 1, 0, -1)),
    call("strings.to_hash_bucket_strong", WORDS, O(10, 1, 0), O([1, 2], [0, 0], [1])),
    call(
        "strings.to_number",
        T(["1", "-2.5", "1e3", " 7 "]),
        D("float32", "int32", "int64", "float64", "string"),
    ),
    call("string_to_number", T(["1", "0x1F", "inf", "nan"])),
    call("strings.unicode_script", I([65, 233, 0x4E00, -1, 0x110000])),
    call(
        "strings.unicode_transcode",
        WORDS,
        CODES,
        O("UTF-8", "UTF-16-BE", "UTF-32-BE", "x"),
        ERRORS,
        O(65533, 63, -1, 0x110000),
        O(False, True),
    ),
    call("strings.unsorted_segment_join", WORDS, I([0, 1, 0, 1]), S(2), O("", ",")),
    call("encode_base64", WORDS, O(False, True)),
    call("decode_base64", T(["YWI", "YWI=", "", "_-8"])),
    call(
        "decode_raw",
        T(["abcdefgh", "ABCDEFGH"]),
        D("uint8", "int32", "float32", "float64", "bool", "string"),
        O(True, False),
    ),
    call(
        "decode_csv",
        T(["1,2.5,a", "3,,b"]),
        L(Z(1), R(1), T([""])),
        O(",", ";", ""),
        O(True, False),
    ),
    call("io.decode_compressed", T(["abc", ""]), O("", "ZLIB", "GZIP", "x")),
    call("io.decode_json_example", T(["{}", '{"features": {}}'])),
    call("serialize_tensor", R(2, 3)),
    call(
        "io.parse_tensor",
        T(b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\x00\x00\x80\x3f\x00\x00\x00\xc0"),
        D("float32", "int32"),
    ),
    call("fingerprint", T(["abc", "d"]), O("farmhash64", "x")),
    call("substr", T(["abcdef", "ghijk"]), I([1, 2]), I([2, 1])),
    call("string_join", L(WORDS, T("x")), O("", "/")),
    call("string_to_hash_bucket", WORDS, O(7, 1)),
    call("string_strip", WORDS),
    call("regex_replace", WORDS, T("[a-c]"), T("x")),
    call("string_to_hash_bucket_fast", WORDS, O(7, 0)),
    call("io.encode_base64", WORDS),
]
