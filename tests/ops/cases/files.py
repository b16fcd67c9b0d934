"""Rows for the ops on files; tests/ops/test_save.py has those that write."""

from __future__ import annotations

from tests.ops.opcase import OpCase, strings

CASES = [
    OpCase("ReadFile", [strings("/dev/null")]),
    OpCase("ReadFile", [strings("/nowhere/file")], raises=True),
    OpCase("ReadFile", [strings(["/dev/null"])], raises=True),
    OpCase("WriteFile", [strings("/dev/null"), strings("text")]),
    OpCase("WriteFile", [strings(["/dev/null"]), strings("text")], raises=True),
    OpCase("MatchingFiles", [strings("/dev/nul?")]),
    OpCase("MatchingFiles", [strings(["/dev/zer[o]", "/dev/n*ll"])]),
    OpCase("MatchingFiles", [strings("/dev/nowhere*")]),
]
