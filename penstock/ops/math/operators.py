"""Python's operators on tensors.

``x + 1.0`` makes a node named ``add`` and a constant ``add/y``: the other operand is converted
inside the operator's scope, to the tensor's type where it can be.  ``==`` compares identity, so
that tensors can be keys; ``tf.equal`` compares elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import CompositeTensor, SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import slicing
from penstock.ops.linalg import matmul
from penstock.ops.math import binary, comparison, division, elementwise


def _add(x: Any, y: Any, name: str) -> Any:
    string = x.dtype.base_dtype is dtypes.string
    return make("Add" if string else "AddV2", x, y, name=name)


def _node(op_type: str) -> Callable[[Any, Any, str], Any]:
    return lambda x, y, name: make(op_type, x, y, name=name)


def _matmul(x: Any, y: Any, name: str) -> Any:
    return matmul.matmul(x, y, name=name)


# Operator to the scope's name and what builds the node under it.
_BINARY: dict[str, tuple[str, Callable[[Any, Any, str], Any]]] = {
    "add": ("add", _add),
    "sub": ("sub", _node("Sub")),
    "mul": ("mul", binary.product),
    "truediv": ("truediv", division.truediv),
    "div": ("div", division.div),
    "floordiv": ("floordiv", _node("FloorDiv")),
    "mod": ("mod", _node("FloorMod")),
    "pow": ("pow", _node("Pow")),
    "matmul": ("matmul", _matmul),
    "and": ("and", _node("LogicalAnd")),
    "or": ("or", _node("LogicalOr")),
    "xor": ("xor", comparison.logical_xor),
}
_COMPARISONS = {"lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual"}
_MIRRORED = {"Less": "__gt__", "LessEqual": "__ge__", "Greater": "__lt__", "GreaterEqual": "__le__"}
_SPARSE = frozenset(("mul", "truediv", "div"))


def _forward(scope_name: str, build: Callable[[Any, Any, str], Any]) -> Callable[..., Any]:
    reflected = f"__r{scope_name}__"

    def operator(x: Any, y: Any) -> Any:
        with name_scope(None, scope_name, [x, y]) as scope:
            if not isinstance(y, Tensor | SparseTensor):
                try:
                    y = convert_to_tensor(y, None, "y", x.dtype.base_dtype)
                except TypeError:
                    # The other operand may know what to do with a tensor.
                    if hasattr(type(y), reflected):
                        return NotImplemented
                    raise
            return build(x, y, scope)

    return operator


def _reflected(scope_name: str, build: Callable[[Any, Any, str], Any]) -> Callable[..., Any]:
    def operator(y: Any, x: Any) -> Any:
        with name_scope(None, scope_name, [x, y]) as scope:
            return build(convert_to_tensor(x, y.dtype.base_dtype, "x"), y, scope)

    return operator


def _sparse(scope_name: str) -> Callable[..., Any]:
    op_type = "SparseDenseCwiseMul" if scope_name == "mul" else "SparseDenseCwiseDiv"

    def operator(sparse: SparseTensor, y: Any) -> SparseTensor:
        with name_scope(None, scope_name, [sparse.indices, y]) as scope:
            y, values = convert_to_tensor(y, sparse.dtype.base_dtype, "y"), sparse.values
            if scope_name == "truediv":
                values, y = division.widened(values, y)
            made = make(op_type, sparse.indices, values, sparse.dense_shape, y, name=scope)
            return SparseTensor(sparse.indices, made, sparse.dense_shape)

    return operator


def _compare(op_type: str) -> Callable[[Any, Any], Any]:
    reflected = _MIRRORED[op_type]

    def operator(x: Any, y: Any) -> Any:
        # The other operand may know what to do with a tensor.
        if isinstance(y, CompositeTensor) and hasattr(type(y), reflected):
            return NotImplemented
        return make(op_type, x, y)

    return operator


def _getitem(tensor: Tensor, key: Any) -> Any:
    return slicing.getitem(tensor, key)


def _install() -> None:
    table: dict[str, Callable[..., Any]] = {
        "__abs__": elementwise.abs_,
        "__neg__": lambda x: make("Neg", x),
        "__invert__": lambda x: make("LogicalNot", x),
        "__getitem__": _getitem,
    }
    for name, (scope_name, build) in _BINARY.items():
        table[f"__{name}__"] = _forward(scope_name, build)
        table[f"__r{name}__"] = _reflected(scope_name, build)
        if name in _SPARSE:
            setattr(SparseTensor, f"__{name}__", _sparse(scope_name))
    for name, op_type in _COMPARISONS.items():
        table[f"__{name}__"] = _compare(op_type)
    for name, function in table.items():
        setattr(Tensor, name, function)
    Tensor.OVERLOADABLE_OPERATORS = {*table, "__eq__", "__ne__"}


_install()
