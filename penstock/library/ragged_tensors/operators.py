"""The class with Python's operators, which are functions of ``dispatched``, and with slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.library.ragged_tensors import dispatched, selection
from penstock.library.ragged_tensors.tensor import RaggedTensor as RaggedTensor

_BINARY: dict[str, Callable[..., Any]] = {
    "add": dispatched.add,
    "sub": dispatched.subtract,
    "mul": dispatched.multiply,
    "truediv": dispatched.truediv,
    "div": dispatched.div,
    "floordiv": dispatched.floordiv,
    "mod": dispatched.floormod,
    "pow": dispatched.pow_,
    "and": dispatched.logical_and,
    "or": dispatched.logical_or,
    "xor": dispatched.logical_xor,
}
_COMPARISONS = {
    "lt": dispatched.less,
    "le": dispatched.less_equal,
    "gt": dispatched.greater,
    "ge": dispatched.greater_equal,
}


def _getitem(rt: RaggedTensor, key: Any) -> Any:
    return selection.getitem(rt, key)


def _reflected(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda y, x: function(x, y)


def _install() -> None:
    for name, function in _BINARY.items():
        setattr(RaggedTensor, f"__{name}__", lambda x, y, f=function: f(x, y))
        setattr(RaggedTensor, f"__r{name}__", _reflected(function))
    for name, function in _COMPARISONS.items():
        setattr(RaggedTensor, f"__{name}__", lambda x, y, f=function: f(x, y))
    one: dict[str, Callable[..., Any]] = {
        "abs": dispatched.abs_, "neg": dispatched.negative, "invert": dispatched.logical_not,
    }  # fmt: skip
    for name, function in one.items():
        setattr(RaggedTensor, f"__{name}__", lambda x, f=function: f(x))
    RaggedTensor.__getitem__ = _getitem  # type: ignore[method-assign]


_install()
