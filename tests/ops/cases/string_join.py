"""Rows for joining and matching strings."""

from __future__ import annotations

from tests.ops.opcase import OpCase, strings

WORDS = strings([["a", "bc"], ["", "d e"]])

CASES = [
    OpCase("StringJoin", [[WORDS, WORDS]]),
    OpCase("StringJoin", [[strings("x"), WORDS, strings("yz")]], {"separator": "/"}),
    OpCase("StringJoin", [[strings("x"), strings("y")]], {"separator": ", "}),
    OpCase("StringJoin", [[WORDS]]),
    OpCase("StringJoin", [[strings(["a", "b"]), strings(["a", "b", "c"])]], raises=True),
    OpCase("StaticRegexFullMatch", [WORDS], {"pattern": "[a-c]*"}),
    OpCase("StaticRegexFullMatch", [strings("s3://bucket/x")], {"pattern": "^s3://.*"}),
    OpCase("StaticRegexFullMatch", [WORDS], {"pattern": "("}, raises=True),
    OpCase("RegexFullMatch", [WORDS, strings("d\\s.")]),
    OpCase("RegexFullMatch", [WORDS, strings(["a", "b"])], raises=True),
]
