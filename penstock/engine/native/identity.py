"""What a native form is found by: where a program's kernels are, and what else decides."""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from types import CodeType
from typing import Any

import torch

from penstock.compiler.codegen.source import Source
from penstock.compiler.stretches.lines import marked_lines
from penstock.foundation.machine import hardware

# Raised when what is made of a request changes.
_FORM = 8


def key_of(source: Source, functions: Mapping[str, str], marked: bool = False) -> str:
    """What the answer for a program is found by: known before any step, and made in no time.

    It is made of the compiled text, in which no remark and no name of a graph's node is.

    Args:
      source: the program.
      functions: where its kernels are.
      marked: whether only what asks for it may be compiled.
    """
    code = [] if source.code is None else list(_code(source.code))
    used = [list(source.resources), list(source.constants), sorted(functions.items())]
    known = [_FORM, code, used, facts(source, marked)]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:40]


def _code(code: CodeType) -> Iterator[str]:
    """What a compiled text does, where it says so."""
    yield code.co_code.hex()
    yield code.co_linetable.hex()
    yield repr((code.co_names, code.co_varnames))
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _code(each)
        else:
            yield repr(each)


def references(functions: Mapping[str, Any]) -> dict[str, str]:
    """Where kernels are found again; those that are not have no native form."""
    found = {}
    for name, function in functions.items():
        if isinstance(function, torch._ops.OpOverload):
            found[name] = f"torch.ops:{function}"
            continue
        module = getattr(function, "__module__", None)
        path = getattr(function, "__qualname__", "")
        try:
            if reduce(getattr, path.split("."), sys.modules[str(module)]) is function:
                found[name] = f"{module}:{path}"
        except (AttributeError, KeyError):
            continue
    return found


def facts(source: Source, marked: bool) -> list[Any]:
    """What decides about the answer beside the text."""
    shapes = [
        [
            number, op.type, bool(op.attrs.get("use_locking")),
            [[t.dtype.name, t.sizes] for t in (*op.inputs, *op.outputs)],
        ]
        for number, op in sorted(source.line_ops.items())
    ]  # fmt: skip
    fed = [[t.dtype.name, t.sizes] for t in source.step.feeds]
    constants = [[n, str(a.dtype), list(a.shape)] for n, a in source.constants.items()]
    code = [
        [name, function.__code__.co_code.hex(), list(function.__code__.co_names)]
        for name, kernel in sorted(source.functions.items())
        for function in (kernel, getattr(kernel, "traced", None))
        if function is not None and hasattr(function, "__code__")
    ]
    asked = marked and marked_lines(source)
    return [shapes, fed, constants, code, asked, sys.version_info[:3], _release(), machine()]


@cache
def _release() -> str:
    return str(importlib.import_module("penstock").__version__)


@cache
def machine() -> str:
    """The name of this machine and its torch, for what is kept."""
    return hardware.fingerprint(torch.__version__)
