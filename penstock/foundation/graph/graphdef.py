"""Nodes from ``GraphDef`` messages; ``graph_message`` writes them.

Missing attrs take their defaults, and shapes are inferred anew, so a GraphDef of any age that uses
known ops works.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.foundation.base import devices
from penstock.foundation.graph import (
    external,
    function_def,
    inline_functions,
    node_attrs,
    node_message,
    scopes,
    unknown_op,
    written_nodes,
)
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.input_map import converted_map
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scoping import check_imported_name
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.versions import check_versions
from penstock.foundation.opdef.opdef import REQUIRED, AttrDef, OpDef
from penstock.foundation.opdef.registry import OPS, control_of


def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Iterable[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of a ``GraphDef`` to the default graph.

    Args:
      graph_def: the message.
      input_map: from names in ``graph_def`` (``"x"``, ``"x:0"``, ``"^x"``) to tensors of the
        default graph (or values that convert) that replace them.
      return_elements: names in ``graph_def`` of operations and tensors to return.
      name: prefix of the new nodes; default ``"import"``, the empty string for none.
      op_dict: accepted for compatibility.
      producer_op_list: an ``OpList`` message; nodes of op types that Penstock does not have but
        this list describes are imported as well, and fail when a step needs them; attrs that only
        this list has are left out where they have their default.

    Returns:
      The elements of ``return_elements``, in order, or None.

    Raises:
      TypeError: ``graph_def`` is no GraphDef, or an argument has a wrong type.
      ValueError: op types that neither Penstock nor ``producer_op_list`` knows, a missing input,
        a malformed name, ``input_map`` entries that ``graph_def`` does not have, or a node whose
        attrs or input types do not fit its op type.

    A name that the graph has already gets ``_1`` and so on appended, as in TF.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default() as graph:
      ...     y = tf.multiply(tf.placeholder(tf.float32, [], "x"), 2.0, name="y")
      >>> (y,) = tf.import_graph_def(graph.as_graph_def(), return_elements=["y:0"], name="double")
      >>> with tf.Session() as session:
      ...     y.name, float(session.run(y, {"double/x:0": 21.0}))
      ('double/y:0', 42.0)
    """
    if not hasattr(graph_def, "node"):
        raise TypeError(f"graph_def must be a GraphDef; found {type(graph_def).__name__}")
    if input_map is not None and not isinstance(input_map, Mapping):
        raise TypeError(f"input_map must be a dict; found {type(input_map).__name__}")
    graph = scopes.get_default_graph()
    prefix = "import" if name is None else name
    with graph.name_scope(prefix if prefix else None) as scope:
        if not prefix:
            scope = f"{graph.get_name_scope()}/" if graph.get_name_scope() else ""
        mapped = converted_map(graph, input_map or {})
    # What brings inputs into a branch or loop that is being built is named outside the scope.
    importer = _Importer(graph, scope, mapped, producer_op_list)
    importer.add(graph_def)
    if return_elements is None:
        return None
    return [importer.element(e) for e in return_elements]


# Graphs of this version and before wrote the same for a placeholder of unknown shape and a scalar.
_SCALAR_WAS_UNKNOWN = 21


class _Importer:
    """Adds nodes in dependency order."""

    def __init__(
        self, graph: Graph, scope: str, input_map: dict[str, Any], op_list: Any = None
    ) -> None:
        self.graph = graph
        self.scope = scope
        self.input_map = input_map
        self.op_list = op_list
        self.foreign: dict[str, OpDef] = {}
        self.values = external.ExternalValues()
        self.used: set[str] = set()
        self.ops: dict[str, Operation] = {}
        self.names: dict[str, str] = {}
        self.library: Any = None
        self.scalars_unknown = False
        self.nodes: dict[str, Any] = {}
        self.back_edges: list[tuple[Operation, int, str]] = []

    def add(self, message: Any) -> None:
        check_versions(message.versions)
        self.library = function_def.Library(message.library, import_graph_def)
        versions = message.versions
        self.scalars_unknown = 0 < message.versions.producer <= _SCALAR_WAS_UNKNOWN
        message = self._expanded(message)
        nodes = {node.name: node for node in message.node}
        if len(nodes) != len(message.node):
            raise ValueError("graph_def has two nodes of one name")
        self._choose_names(nodes)
        self.nodes = nodes
        with self.graph.lock:
            self._add_nodes(nodes)
        unused = {key for key in self.input_map if key not in self.used and not self._has(key)}
        if unused:
            raise ValueError(
                "Attempted to map inputs that were not found in graph_def: "
                f"[{', '.join(sorted(unused))}]"
            )
        self._take_versions(versions)

    def _add_nodes(self, nodes: dict[str, Any]) -> None:
        """Adds all of them while no other thread writes the graph out."""
        context = self.graph._get_control_flow_context()
        self.graph._set_control_flow_context(None)
        try:
            for node in self._ordered(nodes):
                self.ops[node.name] = self._node(node)
            self._close_loops()
        finally:
            self.graph._set_control_flow_context(context)
        if context is not None:
            self._put_into(context)

    def _take_versions(self, versions: Any) -> None:
        """The graph is now as old as its oldest part, and asks for what its parts ask for."""
        producer, min_consumer = self.graph._graph_def_versions
        if versions.producer:
            producer = min(producer, versions.producer)
        self.graph._graph_def_versions = producer, max(min_consumer, versions.min_consumer)

    def _choose_names(self, nodes: Iterable[str]) -> None:
        """Gives every node its name here: TF's, with ``_1`` and so on where that is taken."""
        taken = self.graph.by_name
        wanted = {f"{self.scope}{name}" for name in nodes}
        for name in nodes:
            full = candidate = f"{self.scope}{name}"
            check_imported_name(name, internal=self.graph.building_function)
            count = 0
            while candidate in taken or (count and candidate in wanted):
                count += 1
                candidate = f"{full}_{count}"
            self.names[name] = candidate
            wanted.add(candidate)

    def _has(self, key: str) -> bool:
        """Whether graph_def has the node or tensor that a key of the map names."""
        name, _, index = key.lstrip("^").partition(":")
        op = self.ops.get(name)
        return op is not None and int(index or 0) < max(len(op.outputs), key.startswith("^"))

    def _expanded(self, message: Any) -> Any:
        """The message without calls; refuses ops that nothing describes before a node is made."""
        bodies = [message.node, *(function.node_def for function in message.library.function)]
        used = {node.op for body in bodies for node in body}
        self.foreign = unknown_op.definitions(self.op_list, used)
        message = inline_functions.inlined(message, self.foreign)
        missing: dict[str, list[str]] = {}
        for node in message.node:
            if node.op not in OPS and node.op not in self.foreign:
                missing.setdefault(node.op, []).append(node.name)
        if missing:
            raise ValueError(unknown_op.missing_message(missing))
        return message

    def _ordered(self, nodes: dict[str, Any]) -> list[Any]:
        order: list[Any] = []
        state: dict[str, int] = {}
        for root in nodes:
            stack = [(root, False)]
            while stack:
                name, leaving = stack.pop()
                if leaving:
                    state[name] = 2
                    order.append(nodes[name])
                    continue
                if state.get(name):
                    continue
                state[name] = 1
                stack.append((name, True))
                node = nodes[name]
                for text in reversed(node.input):
                    other = _node_of(text)
                    if _goes_back(node, text, nodes):
                        continue
                    if other in nodes and not state.get(other):
                        stack.append((other, False))
        return order

    def _node(self, node: Any) -> Operation:
        definition = self.foreign.get(node.op) or OPS[node.op]
        ignored = node_attrs.check(node, definition, self.op_list)
        attrs = {}
        for key, value in node.attr.items():
            if key in ignored:
                continue
            attrs[key] = self._attr(key, value, definition.attrs.get(key))
        if self.scalars_unknown and node.op == "Placeholder" and not node.attr["shape"].shape.dim:
            attrs.pop("shape", None)
        where = attrs.pop(external.ATTR, None)
        if where is not None:
            attrs["value"] = self.values.load(where, node.name)
        inputs: list[Tensor] = []
        controls: list[Operation] = []
        back: list[tuple[int, str]] = []
        for text in node.input:
            if text.startswith("^"):
                controls.append(self._control(text, node.name))
            elif _goes_back(node, text, self.nodes):
                back.append((len(inputs), text))
                inputs.append(self._first_forward(node))
            else:
                inputs.append(self._tensor(text, node.name))
        full = self.names[node.name]
        self._claim(full)
        try:
            op = written_nodes.add_checked(self.graph, definition, inputs, attrs, full, controls)
        except TypeError as error:
            raise ValueError(str(error)) from None
        if node.device:
            op.put_on(devices.canonical_name(node.device))
        if back:
            # What a round of the loop gives is not known yet.
            op.outputs[0].sizes = None
            self.back_edges.extend((op, *edge) for edge in back)
        self._check_shapes(op, node)
        return op

    def _put_into(self, context: Any) -> None:
        """Gives the nodes to the branch or loop that is being built, once all are there."""
        for op in self.ops.values():
            op._set_control_flow_context(context)
        for op in self.ops.values():
            for tensor in op.inputs:
                home = tensor.op._get_control_flow_context()
                if home is not None and home is not context:
                    home.check_use(op, tensor.op)
            context.AddOp(op)

    def _first_forward(self, node: Any) -> Tensor:
        """The input that stands in for those that come later, as in a loop made here."""
        for text in node.input:
            if not text.startswith("^") and not _goes_back(node, text, self.nodes):
                return self._tensor(text, node.name)
        raise ValueError(f"node {node.name!r} ({node.op}): the loop has no Enter")

    def _close_loops(self) -> None:
        for op, index, text in self.back_edges:
            tensor = self._tensor(text, op.name)
            if tensor.dtype.base_dtype is not op.outputs[0].dtype.base_dtype:
                raise ValueError(
                    f"node {op.name!r} ({op.type}) takes {op.outputs[0].dtype.name};"
                    f" {text!r} is {tensor.dtype.name}"
                )
            op._update_input(index, tensor)

    def _attr(self, key: str, value: Any, definition: AttrDef | None) -> Any:
        if key == "_class":
            return [self._colocation(group) for group in value.list.s]
        if definition is not None and definition.kind == "func":
            return self.library.function(value.func, key)
        if definition is not None and definition.kind == "list(func)":
            return [self.library.function(func, key) for func in value.list.func]
        plain = node_message.attr_from_any(value)
        if plain is None and definition is not None and definition.default is not REQUIRED:
            return definition.default
        if key.startswith("_") and isinstance(plain, str):
            return plain.encode()
        return plain

    def _colocation(self, group: bytes) -> bytes:
        head = b"loc:@"
        if not group.startswith(head):
            return group
        name = group[len(head) :].decode()
        return head + self.names.get(name, f"{self.scope}{name}").encode()

    def _claim(self, full: str) -> None:
        """Marks the name, and the scopes that it implies, as used."""
        parts = full.split("/")
        for end in range(1, len(parts) + 1):
            self.graph._names_in_use.setdefault("/".join(parts[:end]).lower(), 1)

    def _control(self, text: str, user: str) -> Operation:
        if text in self.input_map:
            self.used.add(text)
            return self.input_map[text]  # type: ignore[no-any-return]
        found = self.ops.get(text[1:])
        if found is None:
            raise ValueError(f"node {user!r} depends on {text!r}, which graph_def does not have")
        return found

    def _tensor(self, text: str, user: str) -> Tensor:
        name, _, index = text.partition(":")
        key = f"{name}:{index or 0}"
        if key in self.input_map:
            self.used.add(key)
            return self.input_map[key]  # type: ignore[no-any-return]
        op = self.ops.get(name)
        if op is None:
            raise ValueError(f"node {user!r} takes {text!r}, which graph_def does not have")
        if int(index or 0) >= len(op.outputs):
            raise ValueError(
                f"node {user!r} takes {text!r}, but {name!r} has {len(op.outputs)} output(s)"
            )
        return op.outputs[int(index or 0)]

    @staticmethod
    def _check_shapes(op: Operation, node: Any) -> None:
        given = node.attr.get("_output_shapes") if "_output_shapes" in node.attr else None
        if given is not None:
            for tensor, proto in zip(op.outputs, given.list.shape, strict=False):
                tensor.set_shape(node_message.shape_from_proto(proto))
            op.attrs.pop("_output_shapes", None)

    def element(self, name: str | bytes) -> Any:
        """An operation or tensor by its name in the message."""
        if not isinstance(name, str | bytes):
            raise TypeError(f"return_elements are names; found {name!r}")
        text = name.decode() if isinstance(name, bytes) else name
        if ":" in text:
            return self._returned(text)
        if text not in self.ops:
            raise ValueError(f"Requested return node {text!r} not found in graph def")
        return self.ops[text]

    def _returned(self, text: str) -> Tensor:
        name, _, index = text.partition(":")
        op = self.ops.get(name)
        if text not in self.input_map and op is None:
            raise ValueError(f"Requested return tensor {text!r} not found in graph def")
        if op is not None and int(index) >= len(op.outputs):
            raise ValueError(
                f"Invalid return output {index} of node {name!r}, which has"
                f" {len(op.outputs)} output(s)"
            )
        return self._tensor(text, "return_elements")


def _node_of(text: str) -> str:
    return text.lstrip("^").partition(":")[0]


def _goes_back(node: Any, text: str, nodes: Mapping[str, Any]) -> bool:
    """Whether an input is the way back of a loop, whose node comes after those it depends on."""
    if control_of(node.op) != "merge" or text.startswith("^"):
        return False
    other = nodes.get(_node_of(text))
    return other is not None and control_of(other.op) == "next"
