"""Inputs of a node that are lists of tensors: of one type, or each of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import convert
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.inference import show
from penstock.foundation.opdef.opdef import ArgDef, OpDef

if TYPE_CHECKING:
    from penstock.foundation.graph.graph import Graph


def describe(tensor: Any) -> str:
    """A tensor in an error message: name, dtype, static shape."""
    if not isinstance(tensor, Tensor):
        return repr(tensor)
    return f"{tensor.name} {tensor.dtype.name}{show(tensor.sizes)}"


class ListInputs:
    """Inputs that are lists of tensors; a base class of ``Solver``."""

    op_def: OpDef
    graph: Graph
    name: str
    solved: dict[str, Any]
    source: dict[str, Any]

    __slots__ = ()

    if TYPE_CHECKING:

        def _single(self, arg: ArgDef, value: Any) -> Tensor: ...

        def _convert(self, arg: ArgDef, value: Any, wanted: Any, name: str) -> Tensor: ...

    def _homogeneous(self, arg: ArgDef, values: Any) -> list[Tensor]:
        if not isinstance(values, list | tuple):
            raise TypeError(
                f"{self.op_def.name} {self.name!r}: input {arg.name!r} takes a list of tensors;"
                f" found {type(values).__name__}"
            )
        attr = arg.type_attr or ""
        if arg.dtype is None and attr not in self.solved:
            for one in values:
                known = getattr(one, "dtype", None)
                if isinstance(known, dtypes.DType):
                    self.solved[attr] = known.base_dtype
                    self.source[attr] = (arg.name, one)
                    break
        number = arg.number_attr or ""
        wanted_count = self.solved.setdefault(number, len(values))
        if wanted_count != len(values):
            raise ValueError(
                f"{self.op_def.name} {self.name!r}: list input {arg.name!r} has {len(values)} "
                f"element(s), but {number} is {wanted_count}"
            )
        minimum = self.op_def.attrs[number].minimum
        if minimum is not None and len(values) < minimum:
            raise ValueError(
                f"List argument {arg.name!r} to {self.op_def.name!r} Op with length {len(values)}"
                f" shorter than minimum length {minimum}: {self.op_def.name} {self.name!r}: list"
                f" input {arg.name!r} needs at least {minimum} element(s); found {len(values)}"
            )
        wanted = arg.dtype or self.solved.get(attr)
        converted = []
        try:
            for index, value in enumerate(values):
                if type(value) is not Tensor:
                    value = self._convert(arg, value, wanted, f"{arg.name}_{index}")
                converted.append(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{self._list_types(arg, values, wanted)}: {error}") from error
        if len({tensor.dtype.base_dtype for tensor in converted}) > 1:
            raise TypeError(
                f"{self._list_types(arg, values, wanted)}: {self.op_def.name} {self.name!r} takes"
                f" tensors of one type; found"
                f" {', '.join(describe(tensor) for tensor in converted)}"
            )
        return [self._single(arg, tensor) for tensor in converted]

    def _list_types(self, arg: ArgDef, values: Any, wanted: Any) -> str:
        """What is wrong with a list of tensors, in TensorFlow's words."""
        found = []
        for value in values:
            known = getattr(value, "dtype", None)
            if not isinstance(known, dtypes.DType):
                try:
                    with default_graph_scope(self.graph.scratch()):
                        known = convert.convert_to_tensor(value).dtype
                except (TypeError, ValueError):
                    known = None
            found.append("<NOT CONVERTIBLE TO TENSOR>" if known is None else known.base_dtype.name)
        source = self.source.get(arg.type_attr or "")
        why = "that don't all match" if arg.number_attr is not None else "that are invalid"
        if arg.dtype is not None:
            why = f"that do not match expected type {wanted.name}"
        elif isinstance(source, tuple) and source[0] != arg.name:
            why = f"that do not match type {wanted.name} inferred from earlier arguments"
        return (
            f"Tensors in list passed to {arg.name!r} of {self.op_def.name!r} Op have types"
            f" [{', '.join(found)}] {why}"
        )

    def _heterogeneous(self, arg: ArgDef, values: Any) -> list[Tensor]:
        attr = arg.type_list_attr or ""
        wanted = self.solved.get(attr)
        result = []
        for index, value in enumerate(values):
            dtype = dtypes.as_dtype(wanted[index]) if wanted is not None else None
            if type(value) is not Tensor:
                try:
                    value = self._convert(arg, value, dtype, f"{arg.name}_{index}")
                except (TypeError, ValueError) as error:
                    text = self._list_types(arg, values, None)
                    raise TypeError(f"{text}. Tensors: {values}: {error}") from error
            result.append(value)
        minimum = self.op_def.attrs[attr].minimum
        if minimum is not None and len(result) < minimum:
            raise ValueError(
                f"Attr {attr!r} of {self.op_def.name!r} Op passed list of length {len(result)} less"
                f" than minimum {minimum}: list input {arg.name!r} of {self.name!r} is too short"
            )
        self.solved[attr] = [t.dtype.base_dtype for t in result]
        return result
