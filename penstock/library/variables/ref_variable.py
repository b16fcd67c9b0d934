"""Reference variables, the default style: a ref tensor, its initializer and a cached read.

The nodes of ``tf.Variable(x, name="W")`` are ``W/initial_value``, ``W``, ``W/Assign`` and
``W/read``; of one whose initial value is a function, ``W/Initializer/...`` instead of the first.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import convert, scopes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import initial_value as initial
from penstock.library.variables.slice_info import SaveSliceInfo, with_scope
from penstock.library.variables.variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    resolved_collections,
    resolved_trainable,
)
from penstock.ops.state import counting, state, state_update


class RefVariable(Variable):
    """A variable held by a ``VariableV2`` node; see ``tf.Variable`` for the arguments."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> None:
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("give either variable_def or initial_value, not both")
            self._restore(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError(f"initial_value must be specified. ({name or 'Variable'!r} has none)")
        if constraint is not None and not callable(constraint):
            raise ValueError(f"constraint must be callable; found {constraint!r}")
        self._trainable = resolved_trainable(trainable, synchronization, name)
        self._synchronization, self._aggregation = synchronization, aggregation
        self._constraint = constraint
        self._caching_device = caching_device
        places = resolved_collections(collections, self._trainable)
        graph = scopes.get_default_graph()
        with graph.control_dependencies(None):
            self._build(graph, initial_value, name, dtype, validate_shape)
        graph.add_to_collections(places, self)

    def _build(self, graph: Any, value: Any, name: Any, dtype: Any, validate_shape: bool) -> None:
        values = [] if callable(value) else [value]
        with scopes.name_scope(name, "Variable", values) as scope:
            if callable(value):
                with initial.initializer_scope(graph, scope), graph.device(None):
                    self._initial_value = convert.convert_to_tensor(value(), dtype, "initial_value")
                self._check_initial(scope, validate_shape)
                with graph._attr_scope({"_class": [f"loc:@{scope[:-1]}".encode()]}):
                    self._variable = self._node(scope, validate_shape)
            else:
                self._initial_value = convert.convert_to_tensor(value, dtype, "initial_value")
                self._check_initial(scope, validate_shape)
                self._variable = self._node(scope, validate_shape)
            first = self._initial_value
            if first.op.inputs or first.op.op_def.role == "variable":
                first = initial.guarded(scope, first)
            self._initializer_op = make(
                "Assign", self._variable, first, validate_shape=validate_shape
            ).op
            self._snapshot = self._read_node(graph)

    def _check_initial(self, scope: str, validate_shape: bool) -> None:
        value = self._initial_value
        if value.op._get_control_flow_context() is not None:
            raise ValueError(
                f"the initial value of variable {scope[:-1]!r} is inside a loop or conditional;"
                " give a function without arguments instead"
            )
        if validate_shape and not value.get_shape().is_fully_defined():
            raise ValueError(
                f"the initial value of variable {scope[:-1]!r} has shape {value.get_shape()}; it"
                " must be fully known, or validate_shape must be False"
            )

    def _node(self, scope: str, validate_shape: bool) -> Tensor:
        value = self._initial_value
        shape = value.get_shape() if validate_shape else shapes.unknown_shape()
        return make_tensor("VariableV2", name=scope, shape=shape, dtype=value.dtype.base_dtype)

    def _read_node(self, graph: Any) -> Tensor:
        made: Tensor
        if self._caching_device is not None:
            with graph.device(self._caching_device):
                made = make("Identity", self._variable, name="read")
        else:
            with graph.colocate_with(self._variable.op):
                made = make("Identity", self._variable, name="read")
        return made

    def _restore(self, variable_def: Any, import_scope: str | None) -> None:
        graph = scopes.get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(with_scope(name, import_scope))

        self._variable = element(variable_def.variable_name)
        self._initializer_op = element(variable_def.initializer_name)
        given = variable_def.initial_value_name
        self._initial_value = element(given) if given else None
        self._snapshot = element(variable_def.snapshot_name)
        self._trainable = variable_def.trainable
        self._synchronization = VariableSynchronization(variable_def.synchronization)
        self._aggregation = VariableAggregation(variable_def.aggregation)
        self._constraint = self._caching_device = None
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(
                save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope
            )

    # ---- properties --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """``"W:0"``."""
        return self._variable.name

    @property
    def dtype(self) -> dtypes.DType:
        """The ref type, ``float32_ref``."""
        return self._variable.dtype

    @property
    def shape(self) -> shapes.TensorShape:
        """Static shape."""
        return self._variable.get_shape()

    def set_shape(self, shape: Any) -> None:
        """Adds knowledge about the shape (of a variable made with validate_shape=False)."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    def _ref(self) -> Tensor:
        return self._variable

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def value(self) -> Tensor:
        """The variable's ``read`` node; reads when that node runs."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """A new read, which control dependencies can order."""
        return make_tensor("Identity", self._variable, name="read")

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it has a value, as a bool tensor."""
        return make_tensor("IsVariableInitialized", self._variable, name=name)

    # ---- updates -------------------------------------------------------------------------------

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Sets the value; returns the reference afterwards, or the op when not ``read_value``."""
        made = state.assign(self._variable, value, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Adds ``delta``; returns as ``assign``."""
        made = state_update.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Subtracts ``delta``; returns as ``assign``."""
        made = state_update.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def count_up_to(self, limit: int) -> Tensor:
        """Increments a scalar integer variable until ``limit``; see ``tf.count_up_to``."""
        made: Tensor = counting.count_up_to(self._variable, limit)
        return made

    def _scatter(self, op_type: str, sparse_delta: Any, use_locking: bool, name: Any) -> Any:
        indices, values = initial.slices_of(sparse_delta)
        return make(op_type, self._variable, indices, values, use_locking=use_locking, name=name)

    def _scatter_nd(self, op_type: str, indices: Any, updates: Any, name: Any) -> Any:
        return make(op_type, self._variable, indices, updates, use_locking=True, name=name)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """This as a ``VariableDef``; None when it is outside ``export_scope``."""
        if export_scope and not self._variable.name.startswith(export_scope):
            return None
        return self._common_proto(self._snapshot.name, export_scope)

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}>"
