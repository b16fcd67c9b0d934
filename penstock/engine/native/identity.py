"""What a native form is found by: where a program's kernels are, and what else decides."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from functools import cache, reduce
from typing import Any

import torch

from penstock.compiler.codegen.source import Source
from penstock.foundation.machine import hardware


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


def facts(source: Source) -> list[Any]:
    """What decides about the answer beside the text."""
    shapes = [
        [number, op.type, [[t.dtype.name, t.sizes] for t in (*op.inputs, *op.outputs)]]
        for number, op in sorted(source.line_ops.items())
    ]
    fed = [[t.dtype.name, t.sizes] for t in source.step.feeds]
    constants = [[n, str(a.dtype), list(a.shape)] for n, a in source.constants.items()]
    code = [
        [name, function.__code__.co_code.hex(), list(function.__code__.co_names)]
        for name, kernel in sorted(source.functions.items())
        for function in (kernel, getattr(kernel, "traced", None))
        if function is not None and hasattr(function, "__code__")
    ]
    return [shapes, fed, constants, code, _release(), machine()]


@cache
def _release() -> str:
    return str(importlib.import_module("penstock").__version__)


@cache
def machine() -> str:
    """The name of this machine and its torch, for what is kept."""
    return hardware.fingerprint(torch.__version__)
