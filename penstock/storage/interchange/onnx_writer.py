"""An ONNX graph being written: nodes, constants, and the names of values.

Images are channels-last in TensorFlow and channels-first in ONNX.  What a layer makes has two
forms: the value as TensorFlow has it, by a transpose, and its *twin*, which the next layer takes
instead; transposes that nobody needs are dropped at the end, so that a convolutional network has
them at its ends only.

State: the scopes that are open (the graph, and the bodies of loops and branches within); names by
tensor; twins by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from penstock.foundation.base import dtypes
from penstock.foundation.base.dtypes import DType
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.interchange.model import Unportable, refuse

MOST = np.iinfo(np.int64).max
Rule = Callable[["Writer", Operation], Any]
# Up to so many numbers, equal constants are written once.
_SMALL = 64


@dataclass(frozen=True)
class Array:
    """What is known of a TensorArray: the type and dims of its elements, how many they are."""

    dtype: DType
    dims: tuple[int | None, ...] | None
    size: int | None = None


def onnx_type(dtype: DType) -> int:
    """ONNX's number for a dtype.

    Raises:
      ValueError: it has none.
    """
    base = dtypes.stored_as(dtype.base_dtype)
    if base is dtypes.bfloat16:
        return int(onnx.TensorProto.BFLOAT16)
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(base.as_numpy_dtype)))


class Writer:
    """Writes nodes into the innermost open scope.

    Args:
      rules: by op type, the function that writes a node.
    """

    def __init__(self, rules: dict[str, Rule]) -> None:
        self._rules = rules
        self._scopes: list[list[Any]] = [[]]
        self._names: dict[Tensor, str] = {}
        self._twins: dict[str, str] = {}
        self._wide: dict[str, str] = {}
        self._used: set[str] = set()
        self._constants: dict[Any, str] = {}
        self._vectors: dict[str, list[int]] = {}
        self._arrays: dict[str, np.ndarray] = {}
        self._makers: dict[str, Any] = {}
        self._kept: list[Any] = []
        self._op: Operation | None = None
        self.arrays: dict[Tensor, Array] = {}
        # Dims of what is written to an array, by the node that makes it.
        self.written: dict[Operation, tuple[int | None, ...] | None] = {}
        # Element types of values that are no tensor of the step: what flows of arrays stand for.
        self.types: dict[str, DType] = {}
        self.initializers: list[Any] = []

    # ---- values ------------------------------------------------------------------------------

    def __getitem__(self, tensor: Tensor) -> str:
        """The name of a tensor's value."""
        known = self._names.get(tensor)
        if known is None:
            array = self.value(tensor)
            if array is None:
                raise self.refuse(f"it needs {tensor.name}, which is not exported")
            known = self.const(array, tensor.op.name)
        return known

    def __setitem__(self, tensor: Tensor, name: str) -> None:
        self._names[tensor] = name

    def value(self, tensor: Tensor) -> np.ndarray | None:
        """The value of a constant, else None."""
        if tensor.op.op_def.role != "constant":
            return None
        found: np.ndarray = np.asarray(tensor.op.attrs["value"])
        return found.view(found.dtype[0]) if found.dtype.fields else found

    def const(self, value: Any, hint: str = "const", dtype: Any = None) -> str:
        """The name of a constant."""
        array = np.asarray(value, dtype)
        if array.dtype == object:
            raise self.refuse("strings are not exported")
        key: Any = (array.dtype.str, array.dtype.name, array.shape, array.tobytes())
        if array.size > _SMALL:
            key = (id(value), array.dtype.name)
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = self.unique(hint)
            self.initializers.append(numpy_helper.from_array(np.array(array, order="C"), known))
            self._kept.append(value)  # its id stays its own
            if array.dtype == np.int64 and array.ndim == 1:
                self._vectors[known] = array.tolist()
        return known

    def ints(self, *values: int) -> str:
        """The name of a vector of int64."""
        return self.const(np.array(values, np.int64))

    def known_ints(self, name: str) -> list[int] | None:
        """The value of a constant vector of int64, by its name."""
        return self._vectors.get(name)

    def turned(self, tensor: Tensor, perm: Sequence[int]) -> str:
        """A constant with its dims in another order: once, however many nodes take it."""
        key = (tensor, tuple(perm))
        if key not in self._constants:
            value = self.value(tensor)
            assert value is not None
            made = np.ascontiguousarray(value.transpose(perm))
            self._constants[key] = self.const(made, tensor.op.name)
            self._arrays[self._constants[key]] = made
        return self._constants[key]

    def reshaped(self, name: str, dims: Sequence[int]) -> str:
        """A value in other dims; of a constant, a constant."""
        array = self._arrays.get(name)
        if array is None:
            return self.node("Reshape", name, self.ints(*dims))
        return self.const(array.reshape(dims), f"{name}/reshaped")

    def with_bias(self, name: str, bias: Tensor, rank: int) -> str:
        """A channels-first value plus a number for each channel."""
        value = self.value(bias)
        if value is not None:
            return self._with_constant_bias(name, bias, value, rank)
        shape = self.ints(-1, *[1] * (rank - 2))
        return self.node("Add", name, self.node("Reshape", self[bias], shape))

    def _with_constant_bias(self, name: str, bias: Tensor, value: np.ndarray, rank: int) -> str:
        maker = self._makers.get(name)
        if maker is not None and maker.op_type == "Conv" and len(maker.input) == 2:
            # Beside the convolution without it, which is dropped if nobody takes that.
            attrs = {each.name: helper.get_attribute_value(each) for each in maker.attribute}
            return self.node("Conv", *maker.input, self[bias], **attrs)
        wide = value.reshape((-1, *[1] * (rank - 2)))
        return self.node("Add", name, self.const(wide, bias.op.name))

    def extend(self, nodes: Sequence[Any]) -> None:
        """Writes nodes of a scope that is closed into the one that is open."""
        self._scopes[-1].extend(nodes)

    def unique(self, hint: str) -> str:
        """A name that no value has yet."""
        name, count = hint, 0
        while name in self._used or not name:
            count += 1
            name = f"{hint}_{count}"
        self._used.add(name)
        return name

    # ---- nodes -------------------------------------------------------------------------------

    def node(self, op_type: str, *inputs: str, **attrs: Any) -> str:
        """Writes a node with one output; returns the output's name."""
        return self.nodes(op_type, inputs, 1, **attrs)[0]

    def nodes(self, op_type: str, inputs: Sequence[str], count: int, **attrs: Any) -> list[str]:
        """Writes a node; returns the names of its outputs."""
        hint = self._op.name if self._op is not None else op_type
        names = [self.unique(hint if i == 0 else f"{hint}:{i}") for i in range(count)]
        given = {k: v for k, v in attrs.items() if v is not None}
        made = helper.make_node(op_type, list(inputs), names, name=names[0], **given)
        self._scopes[-1].append(made)
        self._makers[names[0]] = made
        return names

    def cast(self, name: str, dtype: DType) -> str:
        """A value as another type."""
        made = self.node("Cast", name, to=onnx_type(dtype))
        if dtype is dtypes.int32:
            self._wide[made] = name
        return made

    def long(self, tensor: Tensor) -> str:
        """The value of a tensor of integers as int64."""
        value = self.value(tensor)
        if value is not None:
            return self.const(value.astype(np.int64))
        return self.long_of(self[tensor], tensor.dtype.base_dtype)

    def long_of(self, name: str, dtype: DType) -> str:
        """The same of a value."""
        if dtype is dtypes.int64:
            return name
        return self._wide.get(name) or self.cast(name, dtypes.int64)

    def short(self, name: str, dtype: DType) -> str:
        """A value of int64 as the integers that the op gives."""
        return name if dtype is dtypes.int64 else self.cast(name, dtype)

    def number(self, value: float, dtype: DType) -> str:
        """A scalar of a dtype."""
        return self.const(np.array(value, dtypes.stored_as(dtype.base_dtype).as_numpy_dtype))

    # ---- channels first ----------------------------------------------------------------------

    def first(self, name: str, rank: int) -> str:
        """A channels-last value with channels first."""
        twin = self._twins.get(name)
        if twin is None:
            perm = [0, rank - 1, *range(1, rank - 1)]
            twin = self._twins[name] = self.node("Transpose", name, perm=perm)
        return twin

    def last(self, name: str, rank: int) -> str:
        """A channels-first value with channels last; the two are twins from now on."""
        made = self.node("Transpose", name, perm=[0, *range(2, rank), 1])
        self._twins[made] = name
        return made

    def twin(self, name: str) -> str | None:
        """The channels-first form of a value, where there is one."""
        return self._twins.get(name)

    def each(self, op: Operation, made_of: Callable[[str], str]) -> str:
        """A function of each element of the only input: in the form that it has."""
        return self.each_of(op.inputs[0], made_of)

    def each_of(self, tensor: Tensor, made_of: Callable[[str], str]) -> str:
        """The same of a tensor."""
        name = self[tensor]
        twin = self.twin(name)
        sizes = tensor.sizes
        if twin is None or sizes is None:
            return made_of(name)
        return self.last(made_of(twin), len(sizes))

    def pair(self, op: Operation, made_of: Callable[[str, str], str]) -> str:
        """A function of the elements of two inputs: channels first where both can be so."""
        names = [self[t] for t in op.inputs]
        sizes = op.outputs[0].sizes
        if sizes is not None and any(self.twin(name) for name in names):
            firsts = [self._as_first(t, name, len(sizes)) for t, name in zip(op.inputs, names)]
            if firsts[0] is not None and firsts[1] is not None:
                return self.last(made_of(firsts[0], firsts[1]), len(sizes))
        return made_of(names[0], names[1])

    def _as_first(self, tensor: Tensor, name: str, rank: int) -> str | None:
        """A channels-first form of an operand, where that costs nothing."""
        twin = self.twin(name)
        if twin is not None:
            return twin if tensor.sizes is not None and len(tensor.sizes) == rank else None
        value = self.value(tensor)
        if value is None or value.ndim > rank:
            return None
        if value.ndim == 0:
            return name
        whole = value.reshape((1,) * (rank - value.ndim) + value.shape)
        return self.const(np.moveaxis(whole, -1, 1))

    def reduce(self, kind: str, op: Operation, name: str) -> str:
        """A reduction of a value along the axes that the second input gives."""
        tensor, keep = op.inputs[0], int(op.attrs["keep_dims"])
        axes = self.value(op.inputs[1])
        if axes is None:
            return self.node(
                kind, name, self.long(op.inputs[1]), keepdims=keep, noop_with_empty_axes=1
            )
        if not axes.size:
            return name
        flat = [int(axis) for axis in axes.reshape(-1)]
        rank = None if tensor.sizes is None else len(tensor.sizes)
        twin = self.twin(name)
        if twin is not None and rank is not None:
            moved = [0, *range(2, rank), 1]  # where a channels-last axis is in the twin
            inner = sorted(moved[axis] for axis in flat)
            if keep:
                return self.last(self.node(kind, twin, self.ints(*inner), keepdims=1), rank)
            if 1 not in inner and set(range(2, rank)) <= set(inner):  # only channels are left
                return self.node(kind, twin, self.ints(*inner), keepdims=0)
        return self.node(kind, name, self.ints(*flat), keepdims=keep)

    # ---- steps -------------------------------------------------------------------------------

    def write(self, op: Operation) -> None:
        """Writes a node of the step, and names its outputs."""
        self._op = op
        rule = self._rules.get(op.type)
        if rule is None:
            raise self.refuse("it has no rule")
        try:
            made = rule(self, op)
        except Unportable:
            raise
        except (ValueError, TypeError, KeyError, LookupError) as error:
            raise self.refuse(str(error)) from error
        names = [made] if isinstance(made, str) else list(made or ())
        for tensor, name in zip(op.outputs, names):
            self._names[tensor] = name

    def refuse(self, why: str) -> Unportable:
        """The error that the node being written has no form in ONNX."""
        if self._op is None:
            return Unportable(why)
        return refuse(self._op, why, "ONNX")

    @contextmanager
    def scope(self) -> Iterator[list[Any]]:
        """A scope within: what is named in it is not known outside."""
        before = dict(self._names), dict(self._twins), dict(self._wide)
        self._scopes.append([])
        try:
            yield self._scopes[-1]
        finally:
            self._scopes.pop()
            self._names, self._twins, self._wide = before

    @property
    def outermost(self) -> list[Any]:
        """The nodes of the graph itself."""
        return self._scopes[0]

    def subgraph(
        self, nodes: list[Any], name: str, inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> Any:
        """The graph of a branch or body."""
        return helper.make_graph(nodes, name, list(inputs), list(outputs))

    def info(self, name: str, dtype: DType, dims: Any = None) -> Any:
        """The description of a value; without dims where they are not known."""
        return helper.make_tensor_value_info(name, onnx_type(dtype), dims)


def drop_unused(graph: Any) -> set[str]:
    """Drops nodes whose outputs nobody takes; returns the names that the graph takes from outside.

    Args:
      graph: a ``GraphProto``, changed in place.
    """
    needed = {output.name for output in graph.output}
    kept = []
    for node in reversed(graph.node):
        if not needed.intersection(node.output):
            continue
        kept.append(node)
        needed.update(filter(None, node.input))
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                needed |= drop_unused(attribute.g)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    constants = [each for each in graph.initializer if each.name in needed]
    del graph.initializer[:]
    graph.initializer.extend(constants)
    return needed
