"""Calls of a GraphDef's own functions, replaced by the functions' bodies.

TensorFlow 2 keeps what a SavedModel does in functions of the GraphDef's library and calls them by
``PartitionedCall`` nodes; TF 1's ``Defun`` makes nodes whose op type is the function's name.  A
body's nodes come in under the call's name; the call itself becomes an ``IdentityN`` (a ``NoOp``
where nothing is returned) of the same name, so that whatever names its outputs goes on to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import OPS, control_of

_NESTING = 100


def inlined(graph_def: Any, foreign: Mapping[str, OpDef]) -> Any:
    """The GraphDef without calls; itself when it has none.

    Args:
      graph_def: the GraphDef.
      foreign: definitions of op types that are not registered.

    Raises:
      ValueError: a call of a function that the library lacks, or calls without end.
    """
    functions = {f.signature.name: f for f in graph_def.library.function}
    if not functions or not any(_callee(node, functions) for node in graph_def.node):
        return graph_def
    made = GraphDef()
    made.versions.CopyFrom(graph_def.versions)
    expander = _Expander(functions, foreign, made)
    for node in graph_def.node:
        expander.add(node, 0)
    return made


def _callee(node: Any, functions: Mapping[str, Any]) -> str | None:
    """The name of the function that a node calls."""
    if control_of(node.op) == "call":
        return str(node.attr["f"].func.name)
    return node.op if node.op in functions else None


class _Expander:
    """Adds nodes to a GraphDef, bodies in place of calls."""

    def __init__(
        self, functions: Mapping[str, Any], foreign: Mapping[str, OpDef], made: Any
    ) -> None:
        self.functions, self.foreign, self.made = functions, foreign, made

    def add(self, node: Any, depth: int) -> None:
        name = _callee(node, self.functions)
        if name is None:
            self.made.node.add().CopyFrom(node)
            return
        if name not in self.functions:
            raise ValueError(f"node {node.name!r} calls {name!r}, which the library does not have")
        if depth > _NESTING:
            raise ValueError(f"node {node.name!r}: function {name!r} calls itself without end")
        self._expand(node, self.functions[name], depth)

    def _expand(self, call: Any, function: Any, depth: int) -> None:
        data = [text for text in call.input if not text.startswith("^")]
        controls = [text for text in call.input if text.startswith("^")]
        arguments = [arg.name for arg in function.signature.input_arg]
        if len(arguments) != len(data):
            raise ValueError(
                f"node {call.name!r} calls {function.signature.name!r} with {len(data)} tensor(s);"
                f" it takes {len(arguments)}"
            )
        sources = dict(zip(arguments, data, strict=True))
        bodies = {node.name: node for node in function.node_def}

        def renamed(text: str) -> str:
            return self._source(text, call.name, sources, bodies)

        attrs = {**call.attr["f"].func.attr, **call.attr}
        for body in function.node_def:
            node = type(call)()
            node.CopyFrom(body)
            node.name = f"{call.name}/{body.name}"
            node.input[:] = _controls_last([*map(renamed, body.input), *controls])
            fill_placeholders(node, attrs)
            if control_of(node.op) == "enter":
                # Two calls of one function are two runs of its loops.
                frame = node.attr["frame_name"]
                frame.s = f"{call.name}/".encode() + frame.s
            if "_class" in node.attr:
                groups = node.attr["_class"].list
                groups.s[:] = [_moved_group(group, call.name, bodies) for group in groups.s]
            self.add(node, depth + 1)
        results = [renamed(function.ret[arg.name]) for arg in function.signature.output_arg]
        after = [f"^{call.name}/{name}" for name in sorted(set(function.control_ret.values()))]
        self._result(call, function, results, [*after, *controls], attrs)

    def _result(
        self, call: Any, function: Any, results: list[str], controls: list[str], attrs: Any
    ) -> None:
        node = self.made.node.add(name=call.name, op="IdentityN" if results else "NoOp")
        node.input.extend(results)
        node.input.extend(dict.fromkeys(controls))
        node.device = call.device
        if results:
            args = function.signature.output_arg
            node.attr["T"].list.type.extend(a.type or attrs[a.type_attr].type for a in args)
        if "_output_shapes" in call.attr:
            node.attr["_output_shapes"].CopyFrom(call.attr["_output_shapes"])

    def _source(
        self, text: str, call: str, sources: Mapping[str, str], bodies: Mapping[str, Any]
    ) -> str:
        """An input of a body's node, as a GraphDef names it."""
        if text.startswith("^"):
            name = text[1:]
            outer = sources.get(name)
            return f"^{_node_of(outer)}" if outer is not None else f"^{call}/{name}"
        if text in sources:
            return sources[text]
        name, _, output = text.partition(":")
        if name not in bodies:
            raise ValueError(f"call {call!r}: the function takes {text!r}, which it does not have")
        return f"{call}/{name}:{self._position(bodies[name], output)}"

    def _position(self, node: Any, output: str) -> int:
        """Which output of a node ``"product:0"`` is."""
        wanted, _, index = output.partition(":")
        if _callee(node, self.functions) is not None and control_of(node.op) == "call":
            return int(index or 0)
        if node.op in self.functions:
            names = [arg.name for arg in self.functions[node.op].signature.output_arg]
            return names.index(wanted)
        definition = OPS[node.op] if node.op in OPS else self.foreign.get(node.op)
        if definition is None:
            # The import refuses such a node in a moment, by a better text.
            return int(index or 0)
        position = 0
        for arg in definition.outputs:
            if arg.name == wanted:
                return position + int(index or 0)
            position += _count(arg, node)
        raise ValueError(f"node {node.name!r} ({node.op}) has no output {wanted!r}")


def _count(arg: Any, node: Any) -> int:
    if arg.number_attr is not None:
        return int(node.attr[arg.number_attr].i)
    if arg.type_list_attr is not None:
        return len(node.attr[arg.type_list_attr].list.type)
    return 1


def _node_of(text: str) -> str:
    return text.lstrip("^").partition(":")[0]


def _controls_last(inputs: Iterable[str]) -> list[str]:
    every = list(inputs)
    data = [text for text in every if not text.startswith("^")]
    return data + list(dict.fromkeys(text for text in every if text.startswith("^")))


def fill_placeholders(node: Any, attrs: Mapping[str, Any]) -> None:
    """Gives attrs that the function leaves to its caller the caller's values."""
    for key in list(node.attr):
        if node.attr[key].WhichOneof("value") == "placeholder":
            wanted = node.attr[key].placeholder
            if wanted not in attrs:
                raise ValueError(f"node {node.name!r}: the call gives no attr {wanted!r}")
            node.attr[key].CopyFrom(attrs[wanted])


def _moved_group(group: bytes, call: str, bodies: Mapping[str, Any]) -> bytes:
    head, _, name = group.decode().partition("@")
    return f"{head}@{call}/{name}".encode() if name in bodies else group
