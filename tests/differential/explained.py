"""Differences that are right as they are, each with its reason.

A row is (functions, or ``*`` for all; a pattern of the difference's text; why).
"""

from __future__ import annotations

import fnmatch
import re

EXPLAINED: tuple[tuple[str, str, str], ...] = (
    (
        "*",
        r"^class: (TypeError|ValueError) at (build|argument) .*TensorFlow raises"
        r" (AttributeError|IndexError|KeyError|AssertionError|UnboundLocalError|NameError"
        r"|ZeroDivisionError|RuntimeError|SystemError|OverflowError|Exception) at ",
        "TensorFlow's own Python stumbles over what it does not check",
    ),
    (
        "*",
        r"^(accepts|class|stage): .*TensorFlow raises (AttributeError|UnboundLocalError|NameError"
        r"|TypeError at build \((unsupported operand type\(s\) for .*'NoneType'"
        r"|'NoneType' object|object of type 'NoneType'|'[<>=]+' not supported between"
        r"|__int__ returned non-int|__index__ returned non-int)"
        r"|ValueError at build \((Cannot take the length of Shape with unknown rank"
        r"|as_list\(\) is not defined on an unknown TensorShape))",
        "TensorFlow's own Python stumbles over a shape that it does not know",
    ),
)  # fmt: skip


def why(name: str, text: str) -> str:
    """Why a function may differ so; empty if nothing says so."""
    for names, pattern, reason in EXPLAINED:
        if any(fnmatch.fnmatchcase(name, n) for n in names.split()):
            if re.search(pattern, text, re.S):
                return reason
    return ""
