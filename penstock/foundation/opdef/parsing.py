"""Signatures and attrs of op types, read from the lines in which they are written.

    "values: N * T, axis: Tidx -> output: T"    "T: {float, double} = float"

Each is parsed once, at import.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.opdef.opdef import REQUIRED, ArgDef, AttrDef

_ARG = re.compile(r"^(\w+)\s*:\s*(?:(\w+)\s*\*\s*)?(Ref\()?(list\()?(\w+)\)*$")


_ATTR = re.compile(r"^(\w+)\s*:\s*(.+?)(?:\s*>=\s*(-?\d+))?(?:\s*=\s*(.+))?$", re.DOTALL)


_TYPE_NAMES = {name for name in dir(dtypes) if isinstance(getattr(dtypes, name), dtypes.DType)} | {
    "float",
    "double",
    "half",
    "bool",
}


def parse_arg(text: str) -> ArgDef:
    """Parses ``"values: N * T"``, ``"ref: Ref(T)"``, ``"data: list(T)"`` or ``"axis: int32"``."""
    match = _ARG.match(text.strip())
    if match is None:
        raise ValueError(f"malformed argument {text!r}; expected 'name: [N *] type'")
    name, number, ref, is_list, kind = match.groups()
    if is_list:
        return ArgDef(name, type_list_attr=kind, is_ref=bool(ref))
    if kind in _TYPE_NAMES:
        dtype = dtypes.as_dtype(kind)
        return ArgDef(name, dtype=dtype, number_attr=number, is_ref=bool(ref))
    return ArgDef(name, type_attr=kind, number_attr=number, is_ref=bool(ref))


def parse_signature(text: str) -> tuple[tuple[ArgDef, ...], tuple[ArgDef, ...]]:
    """Splits ``"a: T -> b: T"`` into its inputs and outputs; either side may be empty."""
    left, arrow, right = text.partition("->")
    if not arrow:
        raise ValueError(f"signature {text!r} has no '->'")
    sides = ([a for a in side.split(",") if a.strip()] for side in (left, right))
    inputs, outputs = (tuple(parse_arg(arg) for arg in side) for side in sides)
    return inputs, outputs


def _literal(text: str) -> Any:
    text = text.strip()
    lowered = {"true": True, "false": False, "null": None, "none": None}
    if text.lower() in lowered:
        return lowered[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text.strip("'\"")


def _braced(text: str) -> list[str]:
    return [item.strip() for item in text.strip()[1:-1].split(",") if item.strip()]


def parse_attr(text: str) -> AttrDef:
    """Parses one attr line; see the module docstring for the forms."""
    match = _ATTR.match(text.strip())
    if match is None:
        raise ValueError(f"malformed attr {text!r}; expected 'name: kind [>= n] [= default]'")
    name, kind, minimum, default_text = match.groups()
    kind = kind.strip()
    allowed: frozenset[Any] | None = None
    inner = kind[5:-1] if kind.startswith("list({") else kind
    if inner.startswith("{"):
        items = _braced(inner)
        is_string = items[0][0] in "'\""
        base = "string" if is_string else "type"
        allowed = frozenset(
            item.strip("'\"") if is_string else dtypes.as_dtype(item) for item in items
        )
        kind = f"list({base})" if kind.startswith("list({") else base
    default = REQUIRED if default_text is None else _default(kind, default_text)
    return AttrDef(name, kind, default, allowed, int(minimum) if minimum else None)


def _default(kind: str, text: str) -> Any:
    if kind == "type":
        return dtypes.as_dtype(text.strip().strip("'\""))
    if kind == "list(type)":
        return [dtypes.as_dtype(item.strip("'\" ")) for item in _braced(text)]
    if kind == "tensor":
        name, bracket, rest = text.strip().partition("[")
        array = np.array(_literal(bracket + rest), dtypes.as_dtype(name).as_numpy_dtype)
        array.setflags(write=False)
        return array
    value = _literal(text)
    return float(value) if kind == "float" else value
