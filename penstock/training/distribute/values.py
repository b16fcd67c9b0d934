"""Values that differ from replica to replica, and variables that each device has a copy of.

``PerReplica`` holds what the replicas returned, ``Mirrored`` what is equal on all devices.  A
``MirroredVariable`` is a resource variable to whoever uses it: it stands for the component of the
replica (or update) that the code is for, and for the first component outside.  Assigning to it
changes all components alike.  A ``SyncOnReadVariable`` lets each replica change its own component
and brings them together where it is read outside (statistics of batch normalization).

    w (first device)     w:0
    w on the others      w/replica_1:0, ...; initialized with the first one's initial value
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor, register_tensor_conversion_function
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.resource_variable import ResourceVariable, UnreadVariable
from penstock.library.variables.variable import VariableAggregation
from penstock.ops.control import control
from penstock.storage.checkpoint.saveable import ResourceVariableSaveable, SaveSpec
from penstock.training.distribute import context, modes
from penstock.training.distribute.context import ReduceOp


class DistributedValues:
    """A value for each replica of this task.

    Args:
      values: one a replica, in order of the devices.
      devices: their devices.
    """

    def __init__(self, values: Sequence[Any], devices: Sequence[str]) -> None:
        self._values, self._devices = tuple(values), tuple(devices)

    @property
    def values(self) -> tuple[Any, ...]:
        """All values."""
        return self._values

    @property
    def devices(self) -> tuple[str, ...]:
        """Where they are."""
        return self._devices

    @property
    def primary(self) -> Any:
        """The first one."""
        return self._values[0]

    def get(self, device: str | None = None) -> Any:
        """The value of the current replica, or the one on ``device``."""
        if device is None:
            return self._values[context.current_index()]
        return self._values[self._devices.index(device)]

    def __repr__(self) -> str:
        rows = zip(self._devices, self._values, strict=True)
        return f"{type(self).__name__}:{{{', '.join(f'{d}: {v!r}' for d, v in rows)}}}"


class PerReplica(DistributedValues):
    """What each replica returned."""


class Mirrored(DistributedValues):
    """Values that are equal on all devices."""

    @property
    def name(self) -> str:
        """Name of the current replica's value."""
        return str(self.get().name)

    @property
    def op(self) -> Any:
        """The node of the current replica's value."""
        return self.get().op

    @property
    def graph(self) -> Any:
        """The graph of the values."""
        return self.primary.graph

    def _as_graph_element(self) -> Any:
        return self.get()


def _convert(
    value: Mirrored, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    return convert_to_tensor(value.get(), dtype, name, as_ref)


register_tensor_conversion_function(Mirrored, _convert)


def _delegated(attribute: str) -> Any:
    """A property that is the attribute of the current component."""
    return property(
        lambda self: getattr(self.get(), attribute),
        lambda self, value: setattr(self.get(), attribute, value),
    )


class DistributedVariable(ResourceVariable):
    """A resource variable with a component on each device."""

    def __init__(
        self, strategy: Any, devices: Sequence[str], components: Sequence[ResourceVariable]
    ) -> None:
        self._strategy, self._devices, self._components = strategy, devices, tuple(components)
        for component in components:
            component._distributed_container = weakref.ref(self)  # type: ignore[attr-defined]

    # What ResourceVariable keeps, taken from the component.
    _handle = _delegated("_handle")
    _graph_element = _delegated("_graph_element")
    _cached_value = _delegated("_cached_value")
    _initial_value = _delegated("_initial_value")
    _is_initialized_op = _delegated("_is_initialized_op")
    _dtype = _delegated("_dtype")
    _shape = _delegated("_shape")
    _trainable = _delegated("_trainable")
    _constraint = _delegated("_constraint")
    _synchronization = _delegated("_synchronization")
    _aggregation = _delegated("_aggregation")

    @property
    def values(self) -> tuple[ResourceVariable, ...]:
        """The components, in order of the devices."""
        return self._components

    @property
    def devices(self) -> Sequence[str]:
        """Where the components are."""
        return self._devices

    @property
    def primary(self) -> ResourceVariable:
        """The first component."""
        return self._components[0]

    @property
    def distribute_strategy(self) -> Any:
        """The strategy that made it."""
        return self._strategy

    def get(self, device: str | None = None) -> ResourceVariable:
        """The component of the current replica, or the one on ``device``."""
        if device is None:
            return self._components[context.current_index()]
        return next(c for c in self._components if c.device == device)

    @property
    def _initializer_op(self) -> Any:
        given = self.__dict__.get("_given_initializer")
        return (
            given
            if given is not None
            else control.group(*[component.initializer for component in self._components])
        )

    @_initializer_op.setter
    def _initializer_op(self, op: Any) -> None:
        self.__dict__["_given_initializer"] = op

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether all components have a value."""
        *first, last = self._components
        found = None
        for component in first:
            one = component.is_initialized()
            found = one if found is None else make("LogicalAnd", found, one)
        if found is None:
            return last.is_initialized(name)
        return make_tensor("LogicalAnd", found, last.is_initialized(), name=name)

    def after_write(self, op: Any, read_value: bool = True) -> Any:
        return UnreadVariable(self.get(), op) if read_value else op

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        """Sets the value; see the class for what that means here."""
        return self._update("assign", *args, **kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        """Adds; see ``assign``."""
        return self._update("assign_add", *args, **kwargs)

    def assign_sub(self, *args: Any, **kwargs: Any) -> Any:
        """Subtracts; see ``assign``."""
        return self._update("assign_sub", *args, **kwargs)

    def _update(self, method: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _component_saveables(self, name: str) -> Any:
        return _MirroredSaveable(self, name)


class MirroredVariable(DistributedVariable):
    """A variable whose components are kept equal."""

    def _update(self, method: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        def change(component: Any, *given: Any, **options: Any) -> Any:
            return getattr(component, method)(*given, **options)

        if modes.is_updating():
            return change(self.get(), value, *args, **kwargs)
        if modes.replica() is None:
            return self._strategy.extended.update(self, change, (value, *args), kwargs)
        if self.aggregation is VariableAggregation.NONE:
            raise ValueError(
                f"mirrored variable {self.name!r} has no aggregation: replicas that assign to it"
                " need one of VariableAggregation.SUM, MEAN or ONLY_FIRST_REPLICA"
            )

        def merged(strategy: Any, given: Any, *rest: Any, **options: Any) -> Any:
            extended = strategy.extended
            if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
                first = given.primary if isinstance(given, DistributedValues) else given
                given = extended.broadcast_to(first, self)
            else:
                op = ReduceOp.from_variable_aggregation(self.aggregation)
                given = extended.reduce_to(op, given, self)
            return extended.update(self, change, (given, *rest), options)

        return modes.replica().merge_call(merged, (value, *args), kwargs)


class SyncOnReadVariable(DistributedVariable):
    """A variable of which each replica changes its own component."""

    def _update(self, method: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if modes.is_updating() or not self._outside():
            return getattr(self.get(), method)(value, *args, **kwargs)
        if self.aggregation is VariableAggregation.SUM:
            if method != "assign":
                raise ValueError(
                    f"{method} of {self.name!r}: a variable that replicas sum up can only be"
                    " assigned to outside replicas"
                )
            value = value / len(self._components)

        def change(component: Any, *given: Any, **options: Any) -> Any:
            return getattr(component, method)(*given, **options)

        return self._strategy.extended.update(self, change, (value, *args), kwargs)

    def _outside(self) -> bool:
        return modes.replica() is None

    def value(self) -> Tensor:
        """The component's value; outside replicas, all components together."""
        if modes.is_updating() or not self._outside():
            return self.get().value()
        return self._together()

    def read_value(self) -> Tensor:
        """As ``value``, read anew."""
        if modes.is_updating() or not self._outside():
            return self.get().read_value()
        return self._together()

    def _together(self) -> Tensor:
        if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return self.primary.value()
        op = ReduceOp.from_variable_aggregation(self.aggregation)
        values = PerReplica([c.value() for c in self._components], self._devices)
        made: Tensor = self._strategy.extended._reduce(op, values)
        return made

    def _as_graph_element(self) -> Any:
        return self._together() if self._outside() else self.get()._as_graph_element()


class _MirroredSaveable(ResourceVariableSaveable):
    """Saves one value of a variable, under its name, and restores it to all components."""

    def __init__(self, var: DistributedVariable, name: str) -> None:
        super().__init__(var.primary, "", name)
        self._var = var
        if isinstance(var, SyncOnReadVariable):
            self.specs = [SaveSpec(var._together, "", name, dtype=var.dtype, device=var.device)]

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """Adds one assignment a component."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = make("Reshape", value, restored_shapes[0])
        if self._var.aggregation is VariableAggregation.SUM and isinstance(
            self._var, SyncOnReadVariable
        ):
            value = value / len(self._var.values)
        made = []
        for component in self._var.values:
            with scopes.device(component.device):
                made.append(make("AssignVariableOp", component.handle, make("Identity", value)))
        return control.group(*made)


# ---- nestings of values --------------------------------------------------------------------------


def _is_leaf(value: Any) -> bool:
    return not nest.is_sequence(value) or isinstance(value, IndexedSlices | SparseTensor)


def _container(value: Any) -> Any:
    if isinstance(value, UnreadVariable):  # a component as it is after an update: no component
        return None
    container = getattr(value, "_distributed_container", None)
    return container() if container is not None else None


def regroup(
    values: Sequence[Any], devices: Sequence[str], wrap: type[DistributedValues] = PerReplica
) -> Any:
    """One nesting of distributed values out of one nesting a replica.

    What is the same object for all stays itself; components of a variable become the variable.

    Raises:
      ValueError: the nestings differ.
    """
    first = values[0]
    if not _is_leaf(first):
        parts = [nest.parts_of(v, False) if not _is_leaf(v) else None for v in values]
        if any(p is None or len(p) != len(parts[0] or ()) for p in parts):
            raise ValueError(f"the replicas returned values that are nested differently: {values}")
        columns = zip(*[p or () for p in parts], strict=True)
        return nest.like(first, [regroup(column, devices, wrap) for column in columns])
    if len(values) == 1:  # what one replica returns stays as it is
        return first if wrap is PerReplica else wrap(values, devices)
    if all(v is first for v in values[1:]) and not isinstance(first, Tensor):
        return first
    container = _container(first)
    if container is not None and all(_container(v) is container for v in values):
        return container
    return wrap(values, devices)


def select(index: int, structure: Any) -> Any:
    """What one replica gets of a nesting of distributed values."""
    return _mapped(structure, lambda leaf: leaf.values[index])


def _mapped(structure: Any, pick: Callable[[Any], Any]) -> Any:
    if isinstance(structure, DistributedValues | DistributedVariable):
        return pick(structure)
    if _is_leaf(structure):
        return structure
    parts = nest.parts_of(structure, False) or []
    return nest.like(structure, [_mapped(part, pick) for part in parts])


def update_regroup(updates: Sequence[Any], devices: Sequence[str], group: bool) -> Any:
    """The results of an update on each device, as one thing to run.

    Args:
      updates: one result a device.
      devices: the devices.
      group: whether each result waits for all of them; else they are listed.
    """
    regrouped = regroup(updates, devices, Mirrored)
    if not group:
        return list(updates)
    if not isinstance(regrouped, DistributedValues):
        return regrouped
    grouped = control.group(*updates)
    if all(_is_node(update) for update in updates):
        return grouped
    finished = []
    for device, update in zip(devices, updates, strict=True):
        with scopes.device(device), scopes.control_dependencies([grouped]):
            finished.append(control.identity(update))
    return Mirrored(finished, devices)


def _is_node(update: Any) -> bool:
    return hasattr(update, "outputs") and not hasattr(update, "dtype")
