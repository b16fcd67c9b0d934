"""Functions as ``FunctionDef`` messages of a GraphDef's library, out and in.

In a FunctionDef an input of a node is the name of an argument or ``node:output:index``, with the
output's name in the op definition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.foundation.base import dtypes
from penstock.foundation.graph import inline_functions
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import default_graph_scope
from penstock.foundation.graph.scoping import check_imported_name
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.registry import OPS


class Library:
    """The functions of a GraphDef, read when they are asked for.

    Args:
      message: the ``FunctionDefLibrary``.
      add_nodes: ``import_graph_def``.

    State: the functions made so far, by name and the attrs that a caller gave them; the names of
    those that are being read.
    """

    def __init__(self, message: Any, add_nodes: Callable[..., Any]) -> None:
        self._message, self._add_nodes = message, add_nodes
        self._functions: Mapping[str, Any] = {f.signature.name: f for f in message.function}
        self._gradients = {g.function_name: g.gradient_func for g in message.gradient}
        self._made: dict[tuple[str, bytes], FunctionGraph] = {}

    def function(self, func: Any, user: str) -> FunctionGraph:
        """The function that a ``NameAttrList`` names.

        Raises:
          ValueError: there is none, or it calls itself.
        """
        name = func.name
        if name not in self._functions:
            raise ValueError(
                f"attr {user!r} names function {name!r}, which the library does not have"
            )
        attrs = {k: v for k, v in func.attr.items() if not k.startswith("_")}
        key = name, b"".join(k.encode() + attrs[k].SerializeToString() for k in sorted(attrs))
        if key not in self._made:
            if name in _reading:
                raise ValueError(
                    f"function {name!r} calls itself ({' -> '.join((*_reading, name))}); recursive"
                    " functions are not supported: a step has the bodies in place of the calls"
                )
            _reading.append(name)
            try:
                made = self._made[key] = self._read_checked(self._functions[name], attrs)
                gradient = self._gradients.get(name)
                if gradient:
                    made.gradient = self.function(NameAttrList(name=gradient), "gradient_func")
            finally:
                _reading.pop()
        return self._made[key]

    def _read_checked(self, source: Any, attrs: Mapping[str, Any]) -> FunctionGraph:
        try:
            return self._read(source, attrs)
        except KeyError as error:
            raise ValueError(
                f"function {source.signature.name!r} names what it does not have: {error}"
            ) from None

    def _read(self, source: Any, attrs: Mapping[str, Any]) -> FunctionGraph:
        body = FunctionGraph(source.signature.name, unique=False)
        given: dict[str, Tensor] = {}
        for index, arg in enumerate(source.signature.input_arg):
            check_imported_name(arg.name, internal=True)
            dtype = arg.type or attrs[arg.type_attr].type
            given[arg.name] = body.add_input(
                dtypes.as_dtype(dtype), _argument_dims(source, index), arg.name
            )
        nodes = {node.name: node for node in source.node_def}

        def renamed(text: str) -> str:
            if text.startswith("^"):
                return text
            if text in given:
                return f"_argument/{text}"
            name, _, output = text.partition(":")
            return f"{name}:{self._position(nodes[name], output)}"

        graph_def = GraphDef()
        graph_def.library.CopyFrom(self._message)
        used = set()
        for node in source.node_def:
            made = graph_def.node.add()
            made.CopyFrom(node)
            # An argument is there before the body runs: nothing waits for it.
            kept = [t for t in node.input if not (t.startswith("^") and t[1:] in given)]
            made.input[:] = map(renamed, kept)
            inline_functions.fill_placeholders(made, attrs)
            used.update(made.input)
        replaced = {f"_argument/{n}": t for n, t in given.items() if f"_argument/{n}" in used}
        with default_graph_scope(body):
            self._add_nodes(graph_def, input_map=replaced, name="")
        for arg in source.signature.output_arg:
            text = source.ret[arg.name]
            found = given.get(text)
            if found is None:
                name, _, output = text.partition(":")
                op: Operation = body.get_operation_by_name(name)
                found = op.outputs[self._position(nodes[name], output)]
            body.outputs.append(found)
        return body

    def _position(self, node: Any, output: str) -> int:
        called = self._functions.get(node.op)
        if called is None:
            return _position(node, output)
        names = [arg.name for arg in called.signature.output_arg]
        return names.index(output.partition(":")[0])


# The functions that are being read, from the outermost on.
_reading: list[str] = []


def _argument_dims(source: Any, index: int) -> Any:
    """The static dims of an argument, where the message has them."""
    found = source.arg_attr[index].attr if index in source.arg_attr else {}
    shapes: Any = found["_output_shapes"].list.shape if "_output_shapes" in found else ()
    if len(shapes) != 1 or shapes[0].unknown_rank:
        return None
    return tuple(None if d.size < 0 else d.size for d in shapes[0].dim)


def _position(node: Any, output: str) -> int:
    """Which output of a node ``"product:0"`` is."""
    wanted, _, index = output.partition(":")
    position = 0
    if node.op not in OPS:
        # The import refuses such a node in a moment, by a better text.
        return int(index or 0)
    for arg in OPS[node.op].outputs:
        if arg.name == wanted:
            return position + int(index or 0)
        if arg.number_attr is not None:
            position += int(node.attr[arg.number_attr].i)
        elif arg.type_list_attr is not None:
            position += len(node.attr[arg.type_list_attr].list.type)
        else:
            position += 1
    raise ValueError(f"node {node.name!r} ({node.op}) has no output {wanted!r}")
