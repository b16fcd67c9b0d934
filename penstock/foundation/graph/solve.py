"""What a node's inputs and attrs must be: inputs become tensors, attrs are solved and checked.

This is below ``Graph``: ``build`` adds nodes by it, and so does ``Graph.create_op``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph import convert
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.solve_lists import ListInputs, describe
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import REQUIRED, ArgDef, AttrDef, OpDef

if TYPE_CHECKING:
    from penstock.foundation.graph.graph import Graph


class Solver(ListInputs):
    """Converts the inputs of one node and finds the attrs that they determine."""

    __slots__ = ("op_def", "graph", "name", "given", "solved", "source")

    def __init__(self, op_def: OpDef, graph: Graph, name: str, given: dict[str, Any]) -> None:
        self.op_def, self.graph, self.name, self.given = op_def, graph, name, given
        self.solved: dict[str, Any] = {}
        self.source: dict[str, Any] = {}
        for attr in op_def.inferred_attrs:
            if given.get(attr) is not None:
                value = given[attr]
                if attr in op_def.attrs and op_def.attrs[attr].kind == "type":
                    value = dtypes.as_dtype(value).base_dtype
                self.solved[attr] = value
                self.source[attr] = f"attr {attr}"

    def solve(self, inputs: Sequence[Any]) -> tuple[list[Tensor], dict[str, Any]]:
        """The inputs as tensors, flat, and the attrs that they determine."""
        flat: list[Tensor] = []
        for arg, value in zip(self.op_def.inputs, inputs, strict=True):
            if arg.number_attr is not None:
                flat.extend(self._homogeneous(arg, value))
            elif arg.type_list_attr is not None:
                flat.extend(self._heterogeneous(arg, value))
            else:
                flat.append(self._single(arg, value))
        return flat, self.solved

    def _single(self, arg: ArgDef, value: Any) -> Tensor:
        wanted = arg.dtype
        attr = arg.type_attr
        if wanted is None:
            wanted = self.solved.get(attr or "")
        tensor: Tensor = value
        if type(value) is not Tensor:
            tensor = self._convert(arg, value, wanted, arg.name)
        base = tensor.dtype.base_dtype
        if wanted is None:
            self.solved[attr or ""] = base
            self.source[attr or ""] = (arg.name, tensor)
        elif base is not wanted:
            self._fail_type(arg, tensor, wanted)
        if arg.is_ref and not tensor.dtype.is_ref:
            raise TypeError(
                f"{self.op_def.name} {self.name!r}: input {arg.name!r} must be a reference to a"
                f" variable; {tensor.name} is a plain {tensor.dtype.name} tensor"
            )
        return tensor

    def _convert(self, arg: ArgDef, value: Any, wanted: Any, name: str) -> Tensor:
        preferred = None
        if wanted is None and arg.type_attr is not None:
            default = self.op_def.attrs[arg.type_attr].default
            preferred = default if default is not REQUIRED else None
        if arg.dtype is dtypes.resource and hasattr(value, "handle"):
            value = value.handle
            if isinstance(value, Tensor):
                return value
        try:
            with default_graph_scope(self.graph), self.graph.name_scope(self.name + "/"):
                return convert.convert_to_tensor(value, wanted, name, preferred, as_ref=arg.is_ref)
        except (TypeError, ValueError) as error:
            source = self.source.get(arg.type_attr or "")
            because = ""
            if isinstance(source, tuple):
                because = f", the type of input {source[0]!r} ({describe(source[1])})"
            want = f" of type {wanted.name}{because}" if wanted is not None else ""
            raise type(error)(
                f"{self._refusal(arg, value, wanted, error)}: {self.op_def.name} {self.name!r}: "
                f"input {arg.name!r} must be a tensor{want}; {convert.shorten(value)} cannot become"
                " one"
            ) from error

    def _refusal(self, arg: ArgDef, value: Any, wanted: Any, error: Exception) -> str:
        """The words that TensorFlow has for a value that cannot become an input."""
        if isinstance(error, ValueError):
            return f"Tried to convert {arg.name!r} to a tensor and failed. Error: {error}"
        if wanted is None:
            return str(error)
        return (
            f"Expected {wanted.name} passed to parameter {arg.name!r} of op {self.op_def.name!r}, "
            f"got {convert.shorten(value)} of type {type(value).__name__!r} instead. Error: {error}"
        )

    def _fail_type(self, arg: ArgDef, value: Tensor, wanted: dtypes.DType) -> None:
        source = self.source.get(arg.type_attr or "")
        found = value.dtype.base_dtype.name
        words = (
            f"Input {arg.name!r} of {self.op_def.name!r} Op has type {found} that does not match"
        )
        because = ""
        if isinstance(source, tuple):
            words = f"{words} type {wanted.name} of argument {source[0]!r}"
            because = f", the type of input {source[0]!r} ({describe(source[1])})"
        else:
            words = f"{words} expected type of {wanted.name}"
            if source:
                because = f", as {source} says"
        raise TypeError(
            f"{words}: {self.op_def.name} {self.name!r}: input {arg.name!r} ({describe(value)}) has"
            f" type {found}, which is not {wanted.name}{because}"
        )


def complete_attrs(
    op_def: OpDef, name: str, solved: dict[str, Any], given: dict[str, Any]
) -> dict[str, Any]:
    """All attrs of a node from those that its inputs determine and those given, checked.

    Raises:
      TypeError, ValueError: as ``make`` does.
    """
    result: dict[str, Any] = {}
    for attr in op_def.attrs.values():
        key = attr.name
        if key in solved:
            value = solved[key]
            if attr.allowed is not None and attr.kind in ("type", "list(type)"):
                _check_allowed(op_def, name, attr, value)
            if attr.kind == "list(type)" and attr.minimum and len(value) < attr.minimum:
                raise ValueError(
                    f"Attr {key!r} of {op_def.name!r} Op passed list of length {len(value)} less"
                    f" than minimum {attr.minimum}."
                )
        elif key in given and not (given[key] is None and attr.default is REQUIRED):
            value = given[key]
            if value is None and attr.default is not None:
                value = attr.default
            value = _checked_attr(op_def, name, attr, value)
        elif attr.default is not REQUIRED:
            value = attr.default
        else:
            raise TypeError(f"{op_def.name} {name!r}: attr {key!r} ({attr.kind}) must be given")
        result[key] = value
    for key, value in given.items():
        if key not in op_def.attrs:
            if not key.startswith("_"):
                raise TypeError(
                    f"{op_def.name} {name!r}: no attr is called {key!r}; it has "
                    f"{sorted(op_def.attrs)}"
                )
            result[key] = value
    return result


def _check_allowed(op_def: OpDef, name: str, attr: AttrDef, value: Any) -> None:
    allowed = attr.allowed or frozenset()
    for one in value if isinstance(value, list | tuple) else (value,):
        if one not in allowed:
            shown = sorted(a.name if isinstance(a, dtypes.DType) else repr(a) for a in allowed)
            found = one.name if isinstance(one, dtypes.DType) else repr(one)
            kind = TypeError if isinstance(one, dtypes.DType) else ValueError
            taken_by = next(
                (a.name for a in op_def.inputs if attr.name in (a.type_attr, a.type_list_attr)),
                attr.name,
            )
            words = (
                f"Value passed to parameter {taken_by!r} has DataType {found} not in list of"
                " allowed values"
                if kind is TypeError
                else f"Attr {attr.name!r} of {op_def.name!r} Op passed string {found} not in"
            )
            raise kind(
                f"{words}: {', '.join(shown)}: {op_def.name} {name!r}: {attr.name} may not be"
                f" {found}; allowed are {', '.join(shown)}"
            )


_CASTS: dict[str, Any] = {
    "type": lambda v: dtypes.as_dtype(v).base_dtype,
    "list(type)": lambda v: [dtypes.as_dtype(d).base_dtype for d in v],
    "int": lambda v: _as_int(v),
    # GraphDefs hold float attrs in single precision; so do nodes, before and after a round trip.
    "float": lambda v: float(np.float32(v)),
    "bool": lambda v: _as_bool(v),
    "string": lambda v: v if isinstance(v, str) else _as_text(v),
    "shape": lambda v: None if v is None else shapes.as_shape(v),
    "list(int)": lambda v: [_as_int(i) for i in _as_list(v)],
    "list(float)": lambda v: [float(i) for i in _as_list(v)],
    "list(bool)": lambda v: [bool(i) for i in _as_list(v)],
    "list(string)": lambda v: [_as_text(i) for i in _as_list(v)],
    "list(shape)": lambda v: [shapes.as_shape(s) for s in _as_list(v)],
    "tensor": lambda v: v,
    "func": lambda v: v,
    "list(func)": list,
}


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise TypeError(f"expected a list, found {value!r}")
    return list(value)


def _as_int(value: Any) -> int:
    if isinstance(value, dimension.Dimension):
        value = value.value
    if isinstance(value, float) or value is None:
        raise TypeError(f"expected an int, found {value!r}")
    # As NumPy 1 reads it, an array of one element is a number.
    return int(value.item() if isinstance(value, np.ndarray) and value.size == 1 else value)


def _as_bool(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_ | int):
        raise TypeError(f"expected a bool, found {value!r}")
    return bool(value)


def _as_text(value: Any) -> Any:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if not isinstance(value, str):
        raise TypeError(f"expected a string, found {value!r}")
    return value


def _checked_attr(op_def: OpDef, name: str, attr: AttrDef, value: Any) -> Any:
    try:
        result = _CASTS[attr.kind](value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{op_def.name} {name!r}: attr {attr.name!r} is of kind {attr.kind}; {error}"
        ) from None
    if attr.allowed is not None:
        _check_allowed(op_def, name, attr, result)
    if attr.minimum is not None:
        size = result if isinstance(result, int) else len(result)
        if size < attr.minimum:
            raise ValueError(
                f"Attr {attr.name!r} of {op_def.name!r} Op passed {size} less than minimum"
                f" {attr.minimum}: {op_def.name} {name!r}: attr {attr.name!r} must be at least"
                f" {attr.minimum}; found {size}"
            )
    return result


def output_types(op_def: OpDef, attrs: dict[str, Any]) -> list[dtypes.DType]:
    """The dtype of each output of a node with these attrs."""
    types: list[dtypes.DType] = []
    for arg in op_def.outputs:
        if arg.type_list_attr is not None:
            types.extend(attrs[arg.type_list_attr])
            continue
        dtype = arg.dtype or attrs[arg.type_attr or ""]
        if arg.is_ref:
            dtype = dtype._as_ref
        if arg.number_attr is None:
            types.append(dtype)
        else:
            types.extend([dtype] * attrs[arg.number_attr])
    return types
