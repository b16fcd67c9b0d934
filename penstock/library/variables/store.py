"""The variables that ``get_variable`` shares, by full name.

State: one store a graph, two dictionaries: whole variables, and partitioned ones.  ``reuse`` False
means "must be new", True "must exist", AUTO_REUSE "either".
"""

from __future__ import annotations

import difflib
import enum
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import initializers, partition
from penstock.library.variables.slice_info import SaveSliceInfo
from penstock.library.variables.variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    resolved_trainable,
)

_STORE = "variables.store"


class ReuseMode(enum.Enum):
    """Modes of sharing besides True and False."""

    AUTO_REUSE = 1


AUTO_REUSE = ReuseMode.AUTO_REUSE


class VariableStore:
    """The variables of one graph that ``get_variable`` made."""

    def __init__(self) -> None:
        self._vars: dict[str, Variable] = {}
        self._partitioned_vars: dict[str, partition.PartitionedVariable] = {}

    def get_variable(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """The variable of that full name, found or made; see ``tf.get_variable``."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"custom_getter must be callable; found {custom_getter!r}")
        trainable = resolved_trainable(trainable, synchronization, name)
        arguments = {
            "shape": shape, "dtype": dtypes.as_dtype(dtype).base_dtype, "initializer": initializer,
            "regularizer": regularizer, "reuse": reuse, "trainable": trainable,
            "collections": collections,
            "caching_device": caching_device, "partitioner": partitioner,
            "validate_shape": validate_shape, "use_resource": use_resource,
            "constraint": constraint,
            "synchronization": synchronization, "aggregation": aggregation,
        }  # fmt: skip
        if custom_getter is None:
            return self._true_getter(name, **arguments)
        if not _takes(custom_getter, "constraint"):
            # Getters written before constraints existed.
            del arguments["constraint"]
        return custom_getter(getter=self._true_getter, name=name, **arguments)

    def _true_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        is_scalar = isinstance(shape, Sequence) and not shape
        arguments = {
            "shape": shape, "dtype": dtypes.as_dtype(dtype), "initializer": initializer,
            "regularizer": regularizer, "reuse": reuse, "trainable": trainable,
            "collections": collections,
            "caching_device": caching_device, "validate_shape": validate_shape,
            "use_resource": use_resource, "constraint": constraint, "synchronization":
            synchronization,
            "aggregation": aggregation,
        }  # fmt: skip
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(f"partitioner must be callable; found {partitioner!r}")
            with scopes.name_scope(None):
                return self._partitioned(name, partitioner, **arguments)
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self._partitioned(name, None, **arguments)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                f"variable {name!r} was made with a partitioner"
                f"{_made_at(self._vars[f'{name}/part_0'])}; get it with the same one"
            )
        return self._single(name, **arguments)

    # ---- one variable ------------------------------------------------------------------------

    def _single(
        self,
        name: str,
        *,
        shape: Any,
        dtype: Any,
        initializer: Any,
        regularizer: Any,
        reuse: Any,
        partition_info: Any = None,
        **arguments: Any,
    ) -> Variable:
        constant = initializer is not None and not callable(initializer)
        if shape is not None and constant:
            raise ValueError(f"variable {name!r}: give no shape when the initializer is a constant")
        dtype = dtypes.as_dtype(dtype)
        wanted = shapes.as_shape(shape)
        if name in self._vars:
            return self._found(name, wanted, dtype, reuse)
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did"
                f" you mean to set reuse=tf.AUTO_REUSE in VarScope?{self.nearest(name)}"
            )
        if initializer is None:
            initializer = default_initializer(name, dtype)
        value, value_dtype = _initial(name, initializer, constant, wanted, dtype, partition_info)
        variable: Variable = Variable(
            initial_value=value, name=name, dtype=value_dtype, **arguments
        )
        self._vars[name] = variable
        if regularizer:
            _regularize(name, variable, regularizer)
        return variable

    def _found(self, name: str, shape: Any, dtype: Any, reuse: Any) -> Variable:
        variable = self._vars[name]
        if reuse is False:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or"
                " reuse=tf.AUTO_REUSE in VarScope? Originally defined at:"
                f" {name!r} exists already{_made_at(variable)}"
            )
        if not shape.is_compatible_with(variable.get_shape()):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shape} and found shape"
                f" {variable.get_shape()}{_made_at(variable)}"
            )
        if dtype.base_dtype is not variable.dtype.base_dtype:
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype"
                f" {variable.dtype.name}{_made_at(variable)}"
            )
        return variable

    def nearest(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._vars, 3)
        return f"; there are {', '.join(near)}" if near else ""

    # ---- partitioned variables -----------------------------------------------------------------

    def _partitioned(
        self, name: str, partitioner: Any, *, shape: Any, dtype: Any, initializer: Any, reuse: Any,
        **arguments: Any,
    ) -> partition.PartitionedVariable:  # fmt: skip
        if name in self._vars:
            raise ValueError(
                f"variable {name!r} was made without a partitioner{_made_at(self._vars[name])}; get"
                " it without one"
            )
        full = shapes.as_shape(shape)
        if isinstance(initializer, Tensor):
            full = full.merge_with(initializer.get_shape())
        parts = None
        if not reuse or partitioner is not None:
            parts = partition.call_partitioner(partitioner, full, dtype)
        if name in self._partitioned_vars:
            return self._found_partitioned(name, full, dtype, reuse, parts)
        if reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with"
                " tf.get_variable(). Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in"
                " VarScope?"
            )
        dims = [d for d in full.as_list() if d is not None]
        made = []
        axis, count = partition.axis_and_count(parts or [])
        for index, (offset, size) in enumerate(partition.iter_slices(dims, count, axis)):
            part_name = f"{name}/part_{index}"
            value, part_shape, part_dtype = _part_initializer(
                part_name, initializer, offset, size, dtype
            )
            with scopes.name_scope(None):
                variable = self._single(
                    part_name, shape=part_shape, dtype=part_dtype, initializer=value, reuse=reuse,
                    partition_info=partition.PartitionInfo(dims, offset), **arguments,
                )  # fmt: skip
            variable._set_save_slice_info(SaveSliceInfo(name, dims, offset, size))
            made.append(variable)
        result = partition.PartitionedVariable(name, full, dtype, made, parts or [])
        self._partitioned_vars[name] = result
        return result

    def _found_partitioned(
        self, name: str, shape: Any, dtype: Any, reuse: Any, parts: Any
    ) -> partition.PartitionedVariable:
        found = self._partitioned_vars[name]
        first = _made_at(found._get_variable_list()[0])
        if reuse is False:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set"
                f" reuse=True or reuse=tf.AUTO_REUSE in VarScope?{first}"
            )
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified shape {shape} and"
                f" found shape {found.get_shape()}{first}"
            )
        if dtype.base_dtype is not found.dtype.base_dtype:
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified dtype {dtype.name} and"
                f" found dtype {found.dtype.name}{first}"
            )
        if parts is not None and found._get_partitions() != parts:
            raise ValueError(
                f"partitioned variable {name!r} has partitions {found._get_partitions()}; {parts}"
                f" were asked for{first}"
            )
        return found


def _made_at(variable: Any) -> str:
    origin = variable.op.origin
    return f"; it was made at {origin}" if origin else ""


def _takes(function: Callable[..., Any], parameter: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == parameter or p.kind is p.VAR_KEYWORD for p in parameters)


def default_initializer(name: str, dtype: dtypes.DType) -> Any:
    """Glorot uniform for floating types, zeros for integers, bools and strings.

    Raises:
      ValueError: there is no default for the type.
    """
    if dtype.is_floating:
        return initializers.glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_bool or dtype is dtypes.string:
        return initializers.zeros_initializer()
    raise ValueError(f"variable {name!r} of type {dtype.name} needs an initializer")


def _initial(
    name: str, initializer: Any, constant: bool, shape: Any, dtype: Any, partition_info: Any
) -> tuple[Any, Any]:
    """What to give ``tf.Variable`` as initial value and dtype."""
    if constant:
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        extra: dict[str, Any] = {}
        if _takes(initializer, "partition_info"):
            extra["partition_info"] = partition_info
        dims = shape.as_list()
        return lambda: initializer(dims, dtype=dtype, **extra), dtype.base_dtype
    needed = [
        p for p in inspect.signature(initializer).parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]  # fmt: skip
    if needed:
        raise ValueError(
            f"variable {name!r}: shape {shape} must be fully known, unless the initializer is a"
            " constant or a function without arguments"
        )
    return initializer, None


def _regularize(name: str, variable: Any, regularizer: Callable[[Any], Any]) -> None:
    graph = scopes.get_default_graph()
    with (
        graph.colocate_with(variable.op),
        scopes.name_scope(f"{name}/Regularizer/"),
        graph.control_dependencies(None),
    ):
        loss = regularizer(variable)
    if loss is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def _part_initializer(
    name: str, initializer: Any, offset: list[int], size: list[int], dtype: Any
) -> tuple[Any, Any, Any]:
    """Initializer, shape and dtype of one part."""
    with scopes.name_scope(f"{name}/PartitionedInitializer"):
        if initializer is None or callable(initializer):
            return initializer, size, dtype
        whole = convert_to_tensor(initializer, None if isinstance(initializer, Tensor) else dtype)
        return make("Slice", whole, offset, size), None, whole.dtype.base_dtype


_held: list[VariableStore] = []  # stores for variables that calls make, where those run at once


class KeptVariables(VariableStore):
    """The variables that calls of layers make where these run at once; made once a name."""

    def get_variable(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The variable of that full name, found or made."""
        kwargs["reuse"] = AUTO_REUSE
        return super().get_variable(name, *args, **kwargs)

    def all(self) -> list[Any]:
        """All variables, by name."""
        return [variable for _, variable in sorted(self._vars.items())]

    def add(self, name: str, variable: Any) -> None:
        """Keeps a variable."""
        self._vars[name] = variable

    def items(self) -> list[tuple[str, Any]]:
        """Names and variables."""
        return list(self._vars.items())

    @contextmanager
    def as_default(self) -> Iterator[None]:
        """Keeps the variables that a ``with`` block makes."""
        _held.append(self)
        try:
            yield
        finally:
            _held.pop()


def default_store() -> VariableStore:
    """The variable store of the default graph."""
    graph = scopes.get_default_graph()
    if graph.executes:
        # Variables are kept by who uses them, unless a store is held for them.
        return _held[-1] if _held else VariableStore()
    attached = graph.attached
    store = attached.get(_STORE)
    if store is None:
        store = attached[_STORE] = VariableStore()
    return store
