"""Parts as bytes: what a master registers with a worker.

A part is a protobuf message: for the step and for each block in it a GraphDef, whose nodes stand in
the part's order and have their static shapes, with the names of feeds, fetches and targets.  The
step's GraphDef has the library of all functions that nodes call.  The user's lines are numbers into
one list of strings.  The same part gives the same bytes.

``decode`` believes nothing: what it returns is a part that the verifier has seen, in which every
name can stand in a program's text, and anything else is an InvalidArgumentError.  Constants are no
larger than the bytes that spell them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto import graph_pb2

from penstock.compiler.partition.part import Part
from penstock.foundation.base import devices, dtypes, errors
from penstock.foundation.base.origin import Origin
from penstock.foundation.formats.message_table import make_messages
from penstock.foundation.graph import (
    function_def,
    graph_message,
    graphdef,
    node_attrs,
    node_message,
    written_nodes,
)
from penstock.foundation.graph.bodies import functions_of
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.handles import naming_only
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.region import Inputs, make_region
from penstock.foundation.graph.scoping import check_node_name
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.verify import verify
from penstock.foundation.opdef.opdef import REQUIRED, OpDef
from penstock.foundation.opdef.registry import OPS, role_of

_VERSION = 1
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "PartMessage": {
        "version": (1, "int32"),
        "task": (2, "string"),
        "step": (3, "PartStep"),
        "feeds": (4, "*int64"),
        "fetches": (5, "*int64"),
        # File and function names of the user's lines.
        "texts": (6, "*string"),
    },
    "PartStep": {
        "graph": (1, "tensorboard.GraphDef"),
        "feeds": (2, "*string"),
        "fetches": (3, "*string"),
        "targets": (4, "*string"),
        "feed_names": (5, "*string"),
        "regions": (6, "*PartRegion"),
        # Three numbers a node: file and function, as numbers into ``texts`` from 1 on, and the
        # line; zeros where there is none.
        "lines": (7, "*int64"),
        # Nodes that name state which lives longer than the block that they are in.
        "naming": (8, "*string"),
    },
    "PartRegion": {"node": (1, "string"), "blocks": (2, "*PartStep")},
}
_classes = make_messages("partition", _MESSAGES, imported=(graph_pb2,))
PartMessage: Any = _classes["PartMessage"]

_ORIGIN = "_origin"
_SHAPES = "_output_shapes"
_MOST_TENSORS = 1 << 20
_MOST_NESTED = 50
_BLOCKS = 2  # of a conditional or loop


# ---- out -----------------------------------------------------------------------------------------


def encode(part: Part) -> bytes:
    """A part as bytes.

    Raises:
      tf.errors.InvalidArgumentError: it does not fit into a message (2 GB).
    """
    return _Encoder().part(part)


class _Encoder:
    """State: the numbers of the strings in the list so far, and the functions by name."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.functions: dict[str, FunctionGraph] = {}

    def part(self, part: Part) -> bytes:
        message = PartMessage(
            version=_VERSION, task=part.task, feeds=part.feeds, fetches=part.fetches
        )
        self._step(part.step, message.step)
        library = message.step.graph.library
        for body in self.functions.values():
            library.function.add().CopyFrom(self._function(body))
            if body.gradient is not None:
                library.gradient.add(function_name=body.name, gradient_func=body.gradient.name)
        message.texts.extend(self.texts)
        try:
            found: bytes = message.SerializeToString(deterministic=True)
        except Exception as error:  # protobuf has several for this
            raise errors.invalid(
                f"the part of {part.task} does not fit into a message: {error}"
            ) from None
        return found

    def _step(self, step: StepGraph, message: Any) -> None:
        versions = message.graph.versions
        versions.producer, versions.min_consumer = step.graph._graph_def_versions
        for op in step.operations:
            node = node_message.node_def(op, message.graph.node.add())
            # An order that means something, which a NodeDef made for others does not keep.
            node.input[len(op.inputs) :] = [f"^{c.name}" for c in op.control_inputs]
            node_message.add_output_shapes(node, op)
            message.lines.extend(self._line(op.origin))
            if blocks_of(op):
                region = message.regions.add(node=op.name)
                for block in blocks_of(op):
                    self._step(block, region.blocks.add())
            elif op.type in OPS and op.op_def is not OPS[op.type]:
                message.naming.append(op.name)
        for body in functions_of(step.graph):
            self.functions.setdefault(body.name, body)
        message.feeds.extend(t.op.name for t in step.feeds)
        message.fetches.extend(t.name for t in step.fetches)
        message.targets.extend(op.name for op in step.targets)
        message.feed_names.extend(step.feed_names)

    def _line(self, origin: Origin | None) -> tuple[int, int, int]:
        if origin is None:
            return 0, 0, 0
        file, function = (
            self.texts.setdefault(text, len(self.texts) + 1)
            for text in (origin.filename, origin.function)
        )
        return file, function, origin.lineno

    def _function(self, body: FunctionGraph) -> Any:
        message = graph_message.function_message(body, self._body_node)
        for index, tensor in enumerate(body.inputs):
            shape = message.arg_attr[index].attr[_SHAPES].list.shape
            if not shape:
                shape.add().CopyFrom(node_message.shape_proto(tensor.shape))
        return message

    def _body_node(self, op: Operation, into: Any) -> Any:
        node = node_message.node_def(op, into)
        node_message.add_output_shapes(node, op)
        if op.origin is not None:
            node.attr[_ORIGIN].list.i.extend(self._line(op.origin))
        return node


# ---- in ------------------------------------------------------------------------------------------


def decode(data: bytes) -> Part:
    """The part that ``encode`` wrote.

    Raises:
      tf.errors.InvalidArgumentError: the bytes are no part.
    """
    try:
        message = PartMessage.FromString(data)
        return _Decoder(message).part()
    except errors.InvalidArgumentError:
        raise
    except Exception as error:  # whatever a hostile message may do to what reads it
        raise errors.invalid(f"malformed part of a graph ({len(data)} bytes): {error}") from None


class _Decoder:
    """State: the message, its functions."""

    def __init__(self, message: Any) -> None:
        self.message = message
        library = message.step.graph.library
        for function in library.function:
            _check_text(function.signature.name)
            for node in function.node_def:
                check_node_name(node.name, internal=True)
                _check_tensors(node)
        self.library = function_def.Library(library, graphdef.import_graph_def)
        self.seen: set[FunctionGraph] = set()

    def part(self) -> Part:
        message = self.message
        if message.version != _VERSION:
            raise ValueError(f"version {message.version}; this is {_VERSION}")
        devices.canonical_name(message.task)
        step = self._step(message.step, 0)
        feeds, fetches = list(message.feeds), list(message.fetches)
        for what, indices, count in (
            ("feeds", feeds, len(step.feeds)), ("fetches", fetches, len(step.fetches)),
        ):  # fmt: skip
            if len(indices) != count or any(i < 0 for i in indices):
                raise ValueError(f"{count} {what}, numbered {indices}")
        if len(step.feed_names) != len(feeds):
            raise ValueError(f"{len(feeds)} feeds, named {step.feed_names}")
        return Part(message.task, step, feeds, fetches)

    def _step(self, message: Any, depth: int) -> StepGraph:
        if depth > _MOST_NESTED:
            raise ValueError(f"blocks nested deeper than {_MOST_NESTED}")
        graph = Graph()
        versions = message.graph.versions
        graph._graph_def_versions = versions.producer, versions.min_consumer
        if len(message.lines) != 3 * len(message.graph.node):
            raise ValueError(f"{len(message.graph.node)} nodes, {len(message.lines)} line numbers")
        blocks = {
            region.node: [self._step(block, depth + 1) for block in region.blocks]
            for region in message.regions
        }
        naming = set(message.naming)
        for index, node in enumerate(message.graph.node):
            check_node_name(node.name, internal=True)
            _check_tensors(node)
            if role_of(node.op) in ("conditional", "loop"):
                op = self._region(graph, node, blocks.pop(node.name))
            else:
                op = self._node(graph, node, node.name in naming)
            op.origin = self._origin(message.lines[3 * index : 3 * index + 3])
            op.put_on(devices.canonical_name(node.device))
            _set_shapes(op, node)
        if blocks:
            raise ValueError(f"blocks of {sorted(blocks)}, which are no regions")
        return self._finished(graph, message)

    def _finished(self, graph: Graph, message: Any) -> StepGraph:
        for name in message.feed_names:
            _check_text(name)
        step = StepGraph(
            graph,
            [graph.by_name[name].outputs[0] for name in message.feeds],
            [_tensor(graph, name) for name in message.fetches],
            [graph.by_name[name] for name in message.targets],
            list(message.feed_names),
        )
        if len(set(step.feeds)) != len(step.feeds):
            raise ValueError("a feed is named twice")
        try:
            return verify(step, "decoding")
        except errors.InternalError as error:
            raise ValueError(error.message) from None

    def _node(self, graph: Graph, node: Any, naming: bool) -> Operation:
        definition = OPS[node.op]
        node_attrs.check(node, definition)
        attrs: dict[str, Any] = {}
        for key, value in node.attr.items():
            if key != _SHAPES:
                attrs[key] = self._attr(key, value, definition)
        _check_counts(definition, attrs)
        complete, types = written_nodes.solved_node(definition, node.name, attrs)
        if naming:
            definition = naming_only(definition)
        inputs, controls = _inputs(graph, node)
        op = Operation(graph, definition, node.name, inputs, controls, complete, types, None)
        graph.register(op)
        return op

    def _attr(self, key: str, value: Any, definition: OpDef) -> Any:
        known = definition.attrs.get(key)
        if key == "_class":
            return list(value.list.s)
        if known is not None and known.kind == "func":
            return self._function(value.func, key)
        if known is not None and known.kind == "list(func)":
            return [self._function(func, key) for func in value.list.func]
        plain = node_message.attr_from_any(value)
        if plain is None and known is not None and known.default is not REQUIRED:
            return known.default
        if key.startswith("_") and isinstance(plain, str):
            return plain.encode()
        return plain

    def _function(self, func: Any, user: str) -> FunctionGraph:
        body = self.library.function(func, user)
        self._restore_lines(body)
        return body

    def _restore_lines(self, body: FunctionGraph) -> None:
        if body in self.seen:
            return
        self.seen.add(body)
        for op in body.operations:
            op.origin = self._origin(op.attrs.pop(_ORIGIN, (0, 0, 0)))
        for inner in (*functions_of(body), body.gradient):
            if inner is not None:
                self._restore_lines(inner)

    def _region(self, graph: Graph, node: Any, blocks: Sequence[StepGraph]) -> Operation:
        inputs, controls = _inputs(graph, node)
        counts = [len(node.attr[t].list.type) for t in ("Tin", "Treads", "Twrites", "Tout")]
        args, reads, writes, outputs = counts
        first = 1 if role_of(node.op) == "conditional" else outputs
        if len(inputs) != first + args + reads + writes or len(blocks) != _BLOCKS:
            raise ValueError(
                f"{node.name!r} has {len(inputs)} inputs and {len(blocks)} blocks, which do not"
                " agree with its types"
            )
        values = iter(inputs)
        sorted_inputs = Inputs(
            *([next(values) for _ in range(n)] for n in (first, args, reads, writes))
        )
        _check_blocks(node, sorted_inputs, blocks, outputs)
        return make_region(graph, node.op, node.name, sorted_inputs, blocks, controls)

    def _origin(self, numbers: Sequence[int]) -> Origin | None:
        file, function, line = numbers
        if not file:
            return None
        texts = self.message.texts
        if not (1 <= file <= len(texts) and 1 <= function <= len(texts)):
            raise ValueError(f"line {list(numbers)} of {len(texts)} texts")
        return Origin(texts[file - 1], line, texts[function - 1])


def _check_text(text: str) -> None:
    """What may stand in a comment of a program: it must not end its line."""
    if not text.isprintable():
        raise ValueError(f"{text!r} is not a valid name")


def _check_tensors(node: Any) -> None:
    """A constant must bring all its elements: a few bytes must not ask for gigabytes."""
    for key, value in node.attr.items():
        if value.WhichOneof("value") != "tensor":
            continue
        proto, size = value.tensor, 1
        for dim in proto.tensor_shape.dim:
            size *= dim.size
            if dim.size < 0 or size > 1 << 40:
                raise ValueError(f"attr {key!r} of {node.name!r} has the dims of no tensor")
        given = len(proto.string_val) if proto.dtype == dtypes.string.as_datatype_enum else 1
        if size > given and not proto.tensor_content:
            raise ValueError(f"attr {key!r} of {node.name!r} lacks elements")


def _check_counts(definition: OpDef, attrs: dict[str, Any]) -> None:
    for arg in (*definition.inputs, *definition.outputs):
        count = attrs.get(arg.number_attr) if arg.number_attr else None
        if isinstance(count, int) and not 0 <= count <= _MOST_TENSORS:
            raise ValueError(f"{arg.number_attr} is {count}")


def _inputs(graph: Graph, node: Any) -> tuple[list[Tensor], list[Operation]]:
    inputs, controls = [], []
    for text in node.input:
        if text.startswith("^"):
            controls.append(graph.by_name[text[1:]])
        else:
            inputs.append(_tensor(graph, text))
    return inputs, controls


def _tensor(graph: Graph, text: str) -> Tensor:
    name, _, index = text.partition(":")
    position = int(index or 0)
    if position < 0:
        raise ValueError(f"{text!r} is no tensor")
    return graph.by_name[name].outputs[position]


def _set_shapes(op: Operation, node: Any) -> None:
    shapes = node.attr[_SHAPES].list.shape if _SHAPES in node.attr else ()
    if len(shapes) != len(op.outputs):
        raise ValueError(f"{op.name!r} has {len(op.outputs)} outputs, {len(shapes)} shapes")
    for tensor, shape in zip(op.outputs, shapes, strict=True):
        tensor.sizes = node_message.shape_from_proto(shape).sizes


def _check_blocks(node: Any, inputs: Inputs, blocks: Sequence[StepGraph], outputs: int) -> None:
    """Blocks take what the region is given, and give what it gives."""
    loop = role_of(node.op) == "loop"
    given = [*(inputs.first if loop else ()), *inputs.args]
    types = [t.dtype.base_dtype for t in given]
    last = [t.dtype.base_dtype for t in blocks[1].fetches]
    first = [t.dtype.base_dtype for t in blocks[0].fetches]
    wanted = types[:outputs] if loop else first
    agree = all([t.dtype.base_dtype for t in block.feeds] == types for block in blocks)
    agree = agree and last == wanted and len(last) == outputs
    if loop:
        agree = agree and first == [dtypes.bool]
    else:
        agree = agree and inputs.first[0].dtype.base_dtype is dtypes.bool
    if not agree:
        raise ValueError(f"the blocks of {node.name!r} do not fit its inputs and outputs")
