"""Python's operators on eager tensors: the usual operands take a way without scopes and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make, of_two
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.eager import indexing
from penstock.library.eager.tensor import EagerTensor

_ARITHMETIC = {
    "add": "AddV2", "sub": "Sub", "mul": "Mul", "floordiv": "FloorDiv", "mod": "FloorMod",
    "pow": "Pow",
}  # fmt: skip
_COMPARISONS = {"lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual"}


def _operand(graph: Any, x: EagerTensor, y: Any) -> Any:
    """The other operand, where it needs no thought: a tensor or a number of the same type."""
    kind = type(y)
    if kind is EagerTensor:
        return y if y.dtype is x.dtype else None
    dtype = x.dtype
    if kind is float and dtype.is_floating or kind is int and (dtype.is_floating or dtype.size > 2):
        if dtype is dtypes.bool or dtype is dtypes.string or not dtype.is_numpy_compatible:
            return None
        return graph.number(y, dtype)
    return None


def _making(op_type: str) -> Callable[..., Any]:
    return lambda x, y, name: make(op_type, x, y, name=name)


def _forward(op_type: str, usual: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(x: Any, y: Any, name: None) -> Any:
        graph: Any = get_default_graph()
        if graph.executes and x.dtype is not dtypes.string:
            other = _operand(graph, x, y)
            if other is not None:
                return straight(x, other)
        return usual(x, y)

    straight = of_two(op_type, _making(op_type))
    return of_two(op_type, operator)


def _reflected(op_type: str, usual: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(x: Any, y: Any) -> Any:
        graph: Any = get_default_graph()
        if graph.executes and x.dtype is not dtypes.string:
            other = _operand(graph, x, y)
            if other is not None:
                return straight(other, x)
        return usual(x, y)

    straight = of_two(op_type, _making(op_type))

    return operator


def install() -> None:
    """Puts the operators on the class."""
    for name, op_type in _ARITHMETIC.items():
        for method, wrap in ((f"__{name}__", _forward), (f"__r{name}__", _reflected)):
            setattr(EagerTensor, method, wrap(op_type, getattr(Tensor, method)))
    for name, op_type in _COMPARISONS.items():
        setattr(EagerTensor, f"__{name}__", _forward(op_type, getattr(Tensor, f"__{name}__")))
    usual = Tensor.__truediv__

    def truediv(x: Any, y: Any) -> Any:
        return real(x, y) if x.dtype.is_floating else usual(x, y)

    real = _forward("RealDiv", usual)
    EagerTensor.__truediv__ = truediv  # type: ignore[method-assign]
    indexing.install()
