"""Resource variables: a handle, with reads that are nodes of their own.

The nodes of ``tf.Variable(x, name="W", use_resource=True)`` are
``W/Initializer/initial_value``, ``W`` (VarHandleOp), ``W/IsInitialized/VarIsInitializedOp``,
``W/Assign`` and ``W/Read/ReadVariableOp``.
Every use converts by a read of its own, so control dependencies order it.
"""

from __future__ import annotations

import weakref
from contextlib import nullcontext
from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import convert, scopes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import initial_value as initial, reads
from penstock.library.variables.slice_info import SaveSliceInfo, with_scope
from penstock.library.variables.variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    resolved_collections,
    resolved_trainable,
)


class ResourceVariable(Variable):
    """A variable held by a ``VarHandleOp`` node; see ``tf.Variable`` for the arguments."""

    _cached_value: Tensor | None = None
    _handle: Tensor
    _graph_element: Tensor

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: Any = None,
        variable_def: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        distribute_strategy: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
    ) -> None:
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("give either variable_def or initial_value, not both")
            self._restore(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError(f"initial_value must be specified. ({name or 'Variable'!r} has none)")
        in_a_graph = isinstance(initial_value, Tensor) and not initial_value.has_value
        if in_a_graph and (initial_value.op._get_control_flow_context() is not None):
            raise ValueError(
                f"the initial value of variable {name!r} is inside a loop or conditional; give a"
                " function without arguments instead"
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(f"constraint must be callable; found {constraint!r}")
        self._trainable = resolved_trainable(trainable, synchronization, name)
        self._synchronization, self._aggregation = synchronization, aggregation
        self._constraint = constraint
        places = resolved_collections(collections, self._trainable)
        graph = scopes.get_default_graph()
        if graph.executes:
            self._begin(initial_value, name, dtype, shape, validate_shape)
            if GraphKeys.GLOBAL_STEP in places:  # the one variable that is found by a collection
                graph.add_to_collection(GraphKeys.GLOBAL_STEP, self)
            return
        with graph.control_dependencies(None):
            self._build(graph, initial_value, name, dtype, shape, caching_device, validate_shape)
        graph.add_to_collections(places, self)

    def _build(
        self, graph: Any, value: Any, name: Any, dtype: Any, shape: Any, caching_device: Any,
        validate_shape: bool,
    ) -> None:  # fmt: skip
        from_function = callable(value)
        values = [] if from_function else [value]
        with scopes.name_scope(name, "Variable", values) as scope:
            with initial.initializer_scope(graph, scope), graph.device(None):
                made = value() if from_function else value
                tensor = convert.convert_to_tensor(made, dtype, "initial_value")
            self._initial_value = tensor
            known = shapes.as_shape(shape) if shape is not None else tensor.get_shape()
            if not validate_shape and shape is None:
                # 1.15 keeps the shape of the initial value here, and lets any other be assigned;
                # programs that are made for a shape need to know that there is none.
                known = shapes.unknown_shape()
            self._dtype = tensor.dtype.base_dtype
            with graph._attr_scope({"_class": [f"loc:@{scope[:-1]}".encode()]}):
                self._handle = make(
                    "VarHandleOp", name=scope, dtype=self._dtype, shape=known,
                    shared_name=scope[:-1],
                )  # fmt: skip
            self._shape = known
            self._build_parts(graph, scope, caching_device)

    def _begin(
        self, value: Any, name: Any, dtype: Any, shape: Any, validate_shape: bool
    ) -> None:  # fmt: skip
        """Makes the variable where operations run as they are called: with its value."""
        with scopes.name_scope(name, "Variable") as scope:
            made = value() if callable(value) else value
            tensor = convert.convert_to_tensor(made, dtype, "initial_value")
            self._dtype, self._shape = tensor.dtype.base_dtype, tensor.get_shape()
            if shape is not None or not validate_shape:
                self._shape = shapes.as_shape(shape)
            self._handle = make("VarHandleOp", name=scope, dtype=self._dtype, shape=self._shape)
            make("AssignVariableOp", self._handle, tensor)
        # A tape that sees the handle asks which variable it is of.
        self._handle.op.attrs["_variable"] = weakref.ref(self)
        self._initial_value = self._initializer_op = self._is_initialized_op = None

    def _build_parts(self, graph: Any, scope: str, caching_device: Any) -> None:
        device = self._handle.device or None
        with scopes.name_scope("IsInitialized"):
            self._is_initialized_op = make("VarIsInitializedOp", self._handle)
        with (
            scopes.name_scope("Assign") as assign_name,
            graph.colocate_with(None, ignore_existing=True),
            _on(graph, device),
        ):
            guarded = initial.guarded(scope, self._initial_value)
            self._initializer_op = make("AssignVariableOp", self._handle, guarded, name=assign_name)
        with scopes.name_scope("Read"), _on(graph, device):
            self._graph_element = self._read()
            if caching_device is not None:
                with graph.colocate_with(None, ignore_existing=True), graph.device(caching_device):
                    self._cached_value = make("Identity", self._graph_element)

    def _restore(self, variable_def: Any, import_scope: str | None) -> None:
        if not variable_def.is_resource:
            raise ValueError("the VariableDef is of a reference variable")
        graph = scopes.get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(with_scope(name, import_scope))

        self._handle = element(variable_def.variable_name)
        self._dtype = self._handle.op.attrs["dtype"]
        self._shape = self._handle.op.attrs["shape"] or shapes.unknown_shape()
        self._initializer_op = element(variable_def.initializer_name)
        given = variable_def.initial_value_name
        self._initial_value = element(given) if given else None
        if variable_def.snapshot_name:
            snapshot = element(variable_def.snapshot_name)
            if snapshot.op.op_def.role != "read":
                self._cached_value = snapshot
                snapshot = snapshot.op.inputs[0]
            self._graph_element = snapshot
        else:
            self._graph_element = self._read()
        self._is_initialized_op = None
        self._trainable = variable_def.trainable
        self._synchronization = VariableSynchronization(variable_def.synchronization)
        self._aggregation = VariableAggregation(variable_def.aggregation)
        self._constraint = None
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(
                save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope
            )

    # ---- properties --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """``"W:0"``."""
        return f"{self._handle.op.name}:0"

    @property
    def dtype(self) -> dtypes.DType:
        """Element type."""
        return self._dtype

    @property
    def shape(self) -> shapes.TensorShape:
        """Static shape."""
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """Adds knowledge about the shape."""
        self._shape = self._shape.merge_with(shape)

    @property
    def handle(self) -> Tensor:
        """The handle, a resource tensor."""
        return self._handle

    @property
    def create(self) -> Any:
        """The op that sets the initial value."""
        return self._initializer_op

    def _ref(self) -> Tensor:
        return self._handle

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    def _dense_var_to_tensor(
        self, dtype: Any = None, name: str | None = None, as_ref: bool = False
    ) -> Any:
        if as_ref:
            # A resource variable stands for a reference only where an op reads it afresh.
            return self.read_value().op.inputs[0]
        return super()._dense_var_to_tensor(dtype, name, False)

    def _read(self) -> Tensor:
        if reads.listeners.active:
            reads.read(self)
        made: Tensor = make("ReadVariableOp", self._handle, dtype=self._dtype)
        if made.sizes is None and self._shape.rank is not None:
            made.set_shape(self._shape)
        return made

    def value(self) -> Tensor:
        """A read, where the value is used (or the cached one)."""
        if self._cached_value is not None:
            return self._cached_value
        graph = self._handle.graph
        if graph.executes:
            return self._read()
        with graph.colocate_with(None, ignore_existing=True), _on(graph, self._handle.device):
            return self._read()

    def read_value(self) -> Tensor:
        """A new read, which control dependencies can order."""
        if self._handle.graph.executes:
            return make_tensor("Identity", self._read())
        with scopes.name_scope("Read"):
            with _on(self._handle.graph, self._handle.device):
                value = self._read()
        return make_tensor("Identity", value)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it has a value, as a bool tensor."""
        return make_tensor("VarIsInitializedOp", self._handle, name=name)

    # ---- updates -------------------------------------------------------------------------------

    def _tensor(self, value: Any) -> Tensor:
        return convert.convert_to_tensor(value, self._dtype)

    def after_write(self, op: Any, read_value: bool = True) -> Any:
        if op is None:
            return self if read_value else None  # it has run
        return UnreadVariable(self, op) if read_value else op

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Sets the value; returns the variable as it is afterwards, or the op."""
        with _among_uses_of(self._handle):
            tensor = self._tensor(value)
            if not self._shape.is_compatible_with(tensor.shape):
                raise ValueError(
                    f"Shapes {self._shape} and {tensor.shape} are incompatible: variable"
                    f" {self.name!r} has the first, {tensor.name}, which is to be assigned to it,"
                    " the second"
                )
            op = make("AssignVariableOp", self._handle, tensor, name=name)
            return self.after_write(op, read_value)

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Adds ``delta``; returns as ``assign``."""
        with _among_uses_of(self._handle):
            op = make("AssignAddVariableOp", self._handle, self._tensor(delta), name=name)
            return self.after_write(op, read_value)

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Subtracts ``delta``; returns as ``assign``."""
        with _among_uses_of(self._handle):
            op = make("AssignSubVariableOp", self._handle, self._tensor(delta), name=name)
            return self.after_write(op, read_value)

    def count_up_to(self, limit: int) -> Tensor:
        """Increments a scalar integer variable until ``limit``; see ``tf.count_up_to``."""
        return make_tensor("ResourceCountUpTo", self._handle, limit=limit, T=self._dtype)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at ``indices``, without reading the rest."""
        if reads.listeners.active:
            reads.read(self)
        with scopes.name_scope("Gather" if name is None else name) as scope:
            value = make("ResourceGather", self._handle, indices, dtype=self._dtype, name=scope)
        return make_tensor("Identity", value)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at the index tuples ``indices``, without reading the rest."""
        with scopes.name_scope("GatherNd" if name is None else name) as scope:
            value = make("ResourceGatherNd", self._handle, indices, dtype=self._dtype, name=scope)
        return make_tensor("Identity", value)

    def _scatter(self, op_type: str, sparse_delta: Any, use_locking: bool, name: Any) -> Any:
        indices, values = initial.slices_of(sparse_delta)
        op = make(f"Resource{op_type}", self._handle, indices, self._tensor(values), name=name)
        return self.after_write(op)

    def _scatter_nd(self, op_type: str, indices: Any, updates: Any, name: Any) -> Any:
        op = make(f"Resource{op_type}", self._handle, indices, self._tensor(updates), name=name)
        return self.after_write(op)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """This as a ``VariableDef``; None when it is outside ``export_scope``."""
        if export_scope and not self._handle.name.startswith(export_scope):
            return None
        snapshot = self._cached_value if self._cached_value is not None else self._graph_element
        message = self._common_proto(snapshot.name, export_scope)
        message.is_resource = True
        return message

    # ---- with a value ---------------------------------------------------------------------------

    def numpy(self) -> Any:
        """The value, where operations run as they are called.

        Raises:
          NotImplementedError: nodes are being built.
        """
        if not scopes.get_default_graph().executes:
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        value: Any = self._read()
        return value.numpy()

    def __bool__(self) -> bool:
        return bool(self.value())

    __nonzero__ = __bool__

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __repr__(self) -> str:
        text = f"<tf.Variable '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}"
        if not scopes.get_default_graph().executes:
            return f"{text}>"
        value: Any = self._read()
        return f"{text}, numpy={value.value_text(True)}>"


class UnreadVariable(ResourceVariable):
    """A resource variable as it is after an update: every read waits for the update's op."""

    def __init__(self, variable: ResourceVariable, update: Any) -> None:
        self.__dict__.update(variable.__dict__)
        self._cached_value = None
        self._update = update
        with update.graph.control_dependencies([update]):
            self._graph_element = self._read()

    @property
    def name(self) -> str:
        """The name of the update's op, as collections of updates show it."""
        name: str = self._update.name
        return name

    @property
    def op(self) -> Any:
        """The op of the update."""
        return self._update

    def value(self) -> Tensor:
        """A read after the update."""
        with self._update.graph.control_dependencies([self._update]):
            return super().value()

    def read_value(self) -> Tensor:
        """A read after the update."""
        with self._update.graph.control_dependencies([self._update]):
            return super().read_value()


_HERE = nullcontext()


def _graph_for(handle: Tensor) -> Any:
    """Where nodes that use a handle are made: the body of a function that is being traced, else its
    own graph."""
    graph = scopes.get_default_graph()
    return graph if graph.building_function else handle.graph


def _among_uses_of(handle: Tensor) -> Any:
    """A context in which nodes that use a handle are made."""
    graph = _graph_for(handle)
    if graph.executes and graph is scopes.get_default_graph():  # a call costs what its scopes do
        return _HERE
    return graph.as_default()


def _on(graph: Any, device: str | None) -> Any:
    return graph.device(device) if device else nullcontext()


def is_resource_variable(var: Any) -> bool:
    """Whether a variable's state is a resource, or a class says that it acts so."""
    return isinstance(var, ResourceVariable) or hasattr(var, "_should_act_as_resource_variable")
