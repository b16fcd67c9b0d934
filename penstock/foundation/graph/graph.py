"""The dataflow graph.

State: operations by name in creation order, names in use, collections, and a thread-local bundle of
scopes (name, device, control dependencies, colocation, container, attrs) that is applied to every
operation as it is made.  A graph only grows; ``mutation_version`` counts the rare changes to nodes
that exist, so that a session knows when its compiled programs no longer hold.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.foundation.base import devices, dtypes, origin
from penstock.foundation.base.dtypes import as_dtype
from penstock.foundation.graph import drawing, graph_message, node_message, written_nodes
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.executing import Executing
from penstock.foundation.graph.handles import note_write
from penstock.foundation.graph.lookup import Lookup
from penstock.foundation.graph.operation import Operation, infer_shapes
from penstock.foundation.graph.scoping import Scoping, ThreadScopes, check_node_name
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.versions import GRAPH_DEF_VERSION
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import OPS


class Graph(Executing, Lookup, Scoping):
    """A dataflow graph.

    Example:
      >>> import penstock as tf
      >>> g = tf.Graph()
      >>> with g.as_default():
      ...     c = tf.constant(30.0)
      >>> c.graph is g
      True
    """

    # What the outputs of its nodes are.
    tensor_class: type[Tensor] = Tensor
    # Whether its nodes may be those of other graphs, too (``step.StepNodes``).
    shares_nodes = False

    def __init__(self) -> None:
        # Held while a node is added or an existing one is changed, and while the graph is written
        # out, so that nobody takes a node that another thread has half made.
        self.lock = threading.RLock()
        self.operations: list[Operation] = []
        self.by_name: dict[str, Operation] = {}
        self._names_in_use: dict[str, int] = {}
        self._collections: dict[Any, list[Any]] = {}
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Any] = set()
        self._first_scopes: dict[str, list[Any]] = {}
        self.scopes = ThreadScopes(self._first_scopes)
        self._finalized = False
        self._seed: int | None = None
        self.mutation_version = 0
        self._building_function = False
        self._graph_def_versions: tuple[int, int] = (GRAPH_DEF_VERSION, 0)
        # State of other rooms (variable stores, caches), by room key.
        self.attached: dict[str, Any] = {}

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return drawing.graph_html(self)

    @property
    def _c_graph(self) -> Graph:
        """What functions of ``pywrap_tensorflow`` are given for it: itself."""
        return self

    # ---- making operations -------------------------------------------------------------------

    def add_operation(
        self,
        op_def: OpDef,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        output_types: Sequence[dtypes.DType],
        name: str,
        controls: Iterable[Operation] = (),
    ) -> Operation:
        """Adds a node whose inputs and attrs are already checked.

        Args:
          op_def: the op type's definition.
          inputs: tensors of this graph, in order.
          attrs: every attr, as plain Python values.
          output_types: one dtype for each output.
          name: the node's full name, unique already.
          controls: control inputs, besides those of the current scopes.

        Returns:
          The operation, with its static output shapes inferred.

        Raises:
          ValueError: when the shape rule refuses the inputs.
          RuntimeError: when the graph is finalized.
        """
        if self._finalized:
            raise RuntimeError(f"Graph is finalized and cannot be modified: adding {name!r}")
        scopes = self.scopes
        controls = list(dict.fromkeys(controls))
        if scopes.controllers:
            known = self.control_inputs_for(inputs)
            controls.extend(c for c in known if c not in controls)
        # What a pass makes gets the line of what it stands for.
        line = None if self.shares_nodes else origin.capture()
        op = Operation(self, op_def, name, inputs, controls, attrs, output_types, line)
        flow = op._control_flow_context = scopes.control_flow
        for tensor in inputs:
            home = tensor.op._control_flow_context
            if home is not None and home is not flow:
                home.check_use(op, tensor.op)
        if scopes.attrs:
            self._apply_attr_scopes(op)
        if op_def.name in scopes.gradient_overrides:
            attrs["_gradient_op_type"] = scopes.gradient_overrides[op_def.name].encode()
        if op_def.name in scopes.kernel_labels:
            attrs["_kernel"] = scopes.kernel_labels[op_def.name].encode()
        if scopes.original_op is not None:
            op._original_op = scopes.original_op
        if scopes.container and "container" in attrs and not attrs["container"]:
            attrs["container"] = scopes.container
        infer_shapes(op)
        if op_def.writes:
            note_write(self, op)
        if scopes.devices:
            self._apply_device_functions(op)
        if scopes.colocation:
            self._apply_colocation(op)
        with self.lock:
            self.register(op)
            if flow is not None:
                flow.AddOp(op)  # gives it other inputs, made after it
        if scopes.controllers:
            self._record_op_seen_by_control_dependencies(op)
        return op

    def register(self, op: Operation) -> None:
        check_node_name(op.name, internal=True)
        with self.lock:
            self.add_copy(op)

    def add_copy(self, op: Operation) -> None:
        """Adds a copy of a node to a graph that one thread alone makes; its name was checked."""
        if op.name in self.by_name:
            raise ValueError(f"operation name {op.name!r} is already used in this graph")
        op.id = len(self.operations)
        self.operations.append(op)
        self.by_name[op.name] = op
        for tensor in op.inputs:
            tensor.uses.append(op)

    def control_inputs_for(self, inputs: Sequence[Tensor]) -> list[Operation]:
        """Controls of the active scopes, without those that an input implies."""
        result: list[Operation] = []
        input_ops = {t.op for t in inputs}
        for controller in self.scopes.controllers:
            if input_ops.isdisjoint(controller.seen):
                result.extend(c for c in controller.ops if c not in input_ops and c not in result)
        return result

    def _record_op_seen_by_control_dependencies(self, op: Operation) -> None:
        for controller in self.scopes.controllers:
            controller.seen.add(op)

    def _get_control_flow_context(self) -> Any:
        """The branch or loop that nodes are being made for; see ``library.control_flow``."""
        return self.scopes.control_flow

    def _set_control_flow_context(self, context: Any) -> None:
        self.scopes.control_flow = context

    def _apply_attr_scopes(self, op: Operation) -> None:
        for key, value in self.scopes.attrs.items():
            made = value(op.node_def) if callable(value) else value
            if made is not None:
                op.attrs[key] = node_message.attr_from_any(made, key)

    def _apply_device_functions(self, op: Any) -> None:
        """Innermost wins field by field; a device function sees what inner scopes chose."""
        spec, put_on = op.device or "", getattr(op, "put_on", None)
        for scope in reversed(self.scopes.devices):
            if scope is None:
                break
            if callable(scope):
                chosen = scope(op) or ""
                devices.canonical_name(chosen)  # refuses a malformed one
                # As the function wrote it, until an outer scope is merged in: TF does the same.
                spec = chosen.to_string() if hasattr(chosen, "to_string") else str(chosen)
            else:
                merged = devices.DeviceSpec.from_string(scope)
                merged.merge_from(devices.DeviceSpec.from_string(spec))
                spec = merged.to_string()
            (put_on or getattr(op, "_set_device_from_string"))(spec)  # noqa: B009  a stand-in's

    def _apply_colocation(self, op: Operation) -> None:
        groups: list[bytes] = []
        for other in self.scopes.colocation:
            groups.extend(other.colocation_groups())
            if other.device and not op.device:
                op.put_on(other.device)
        # What attr scopes have said gives way, as in TF: a variable made beside another is in the
        # other's group alone.
        op.attrs["_class"] = sorted(set(groups))

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[Any] | None = None,
        input_types: Sequence[Any] | None = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Adds a node of ``op_type``; the low-level way, as in TF 1.x.

        Args:
          op_type: a registered op type.
          inputs: its input tensors, flattened, in order.
          dtypes: output dtypes, checked against what the op type says.
          name: base name; made unique in the current name scope.
          attrs: attr values, plain or as ``AttrValue`` messages.
          input_types, op_def, compute_shapes, compute_device: accepted for compatibility.

        Returns:
          The new operation.
        """
        given = (attrs or {}).items()
        plain = {key: node_message.attr_from_any(value, key) for key, value in given}
        definition = OPS[op_type]
        full = self.node_name(name, op_type)
        op = written_nodes.add_checked(self, definition, list(inputs), plain, full)
        if dtypes is not None:
            found = [t.dtype.base_dtype for t in op.outputs]
            wanted = [as_dtype(d).base_dtype for d in dtypes]
            if found != wanted:
                raise TypeError(f"{op_type} {full!r} makes {found}, but {wanted} were asked for")
        return op

    def node_name(self, name: str | bytes | None, op_type: str) -> str:
        """Full unique node name for ``name``; a trailing slash means that it is full already.

        Args:
          name: as given; None means the op type, which may be internal.
          op_type: the node's op type.

        Raises:
          ValueError: no node may have that name.
        """
        name = name.decode() if isinstance(name, bytes) else name
        if name and name.endswith("/"):
            return name[:-1]
        if name == "":
            raise ValueError(f"'' is not a valid node name: one of type {op_type} was to have it")
        full = self.unique_name(name or op_type)
        check_node_name(full, internal=not name or self._building_function)
        return full

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Makes ``name`` unique in the current scope: ``x``, ``x_1``, ``x_2``, ...

        Names that differ only in case count as the same.
        """
        prefix = self.scopes.name
        if prefix:
            name = f"{prefix}/{name}"
        key = name.lower()
        in_use = self._names_in_use
        with self.lock:
            count = in_use.get(key, 0)
            if mark_as_used:
                in_use[key] = count + 1
            if not count:
                return name
            candidate = key
            while candidate in in_use:
                candidate = f"{key}_{count}"
                count += 1
            if mark_as_used:
                in_use[candidate] = 1
            return f"{name}_{count - 1}"

    # ---- looking things up -------------------------------------------------------------------

    @property
    def version(self) -> int:
        """A number that rises with every node added."""
        return len(self.operations)

    def note_mutation(self) -> None:
        """An existing node changed, so compiled programs are stale."""
        with self.lock:
            self.mutation_version += 1

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The Tensor or Operation of this graph that ``obj`` (an element or a name) means.

        Raises:
          TypeError: ``obj`` is no graph element.
          ValueError: it belongs to another graph, or the name is malformed.
          KeyError: no such name.
        """
        if isinstance(obj, Tensor | Operation):
            return self._own_element(obj, allow_tensor, allow_operation)
        convert = getattr(obj, "_as_graph_element", None)
        if convert is not None:
            return self._own_element(convert(), allow_tensor, allow_operation)
        obj = obj.decode() if isinstance(obj, bytes) else obj
        if isinstance(obj, str):
            return self.named_element(obj, allow_tensor, allow_operation)
        wanted = " or ".join(
            n for n, ok in (("a Tensor", allow_tensor), ("an Operation", allow_operation)) if ok
        )
        kinds = wanted.replace("a Tensor", "Tensor").replace("an Operation", "Operation")
        raise TypeError(
            f"Can not convert a {type(obj).__name__} into a {kinds}: cannot take {obj!r} for"
            f" {wanted}"
        )

    def _own_element(self, element: Any, allow_tensor: bool, allow_operation: bool) -> Any:
        if isinstance(element, Tensor) and not allow_tensor:
            raise TypeError(f"Can not convert a Tensor into a Operation: {element!r}")
        if isinstance(element, Operation) and not allow_operation:
            raise TypeError(f"Can not convert a Operation into a Tensor: {element!r}")
        if element.graph is not self and not self.shares_nodes:
            kind = "Tensor" if isinstance(element, Tensor) else "Operation"
            raise ValueError(
                f"{kind} {element.name!r} is not an element of this graph ({self.described()});"
                f" it is one of {element.graph.described()}"
            )
        return element

    # ---- collections, seeds, flags -----------------------------------------------------------

    @property
    def collections(self) -> list[Any]:
        """The names of all collections."""
        return list(self._collections)

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Appends ``value`` to the collection ``name``."""
        self._check_not_finalized()
        with self.lock:
            self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Appends ``value`` to every collection in ``names`` (a name or a sequence)."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection's own list, made when absent."""
        with self.lock:
            return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of the collection; ``scope`` is a regular expression that names start with."""
        items = list(self._collections.get(name, ()))
        if scope is None:
            return items
        pattern = re.compile(scope)
        return [i for i in items if hasattr(i, "name") and pattern.match(i.name)]

    def get_all_collection_keys(self) -> list[Any]:
        """Names of all collections that are strings."""
        return [key for key in self._collections if isinstance(key, str)]

    def clear_collection(self, name: Any) -> None:
        """Removes a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)

    def operation_seed(self) -> int:
        """The seed of a random operation made now that has none of its own."""
        return self.version

    @property
    def seed(self) -> int | None:
        """The graph-level random seed."""
        return self._seed

    @seed.setter
    def seed(self, value: int | None) -> None:
        self._seed = value

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def finalized(self) -> bool:
        """Whether the graph is read-only."""
        return self._finalized

    @property
    def building_function(self) -> bool:
        """Whether this graph is the body of a function."""
        return self._building_function

    @property
    def outermost(self) -> Graph:
        """The graph around all functions that this one is in."""
        return self

    def capture(self, tensor: Tensor) -> Tensor:
        """The tensor of this graph that stands for ``tensor``; see ``FunctionGraph``."""
        return tensor

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Marks ``tensor`` as not feedable."""
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether ``tensor`` may be fed."""
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        """Marks ``op`` as not fetchable."""
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a tensor or operation may be fetched."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    @staticmethod
    def scratch() -> Graph:
        """An empty graph, for nodes that are made to see whether they can be."""
        return Graph()

    def emptied(self) -> Graph:
        """What is the default graph after a reset: another one."""
        return Graph()

    def as_default(self) -> Any:
        """A context manager that makes this graph the default."""
        return default_graph_scope(self)

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """This graph as a ``GraphDef`` message."""
        return graph_message.graph_def(self, from_version=from_version, add_shapes=add_shapes)

    @property
    def graph_def_versions(self) -> Any:
        """The ``VersionDef`` of GraphDefs made from this graph."""
        return self.as_graph_def(from_version=self.version).versions
