"""An optimizer's own variables: a slot of each kind for each variable that it updates, and others.

The slots of a mirrored variable are mirrored too; an update gets the component on its device.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.function import FunctionGraph
from penstock.library.variables import creation
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.training.distribute import context as distribution, modes
from penstock.training.train import slot_creator


def _var_key(var: Any) -> Any:
    # The slots of a mirrored variable are mirrored too; its components do not have their own.
    container = getattr(var, "_distributed_container", None)
    primary = var if container is None else container().primary
    primary = getattr(primary, "primary", primary)
    op = primary.op
    return op.graph, op if op.graph.executes else op.name


def _component(held: Any) -> Any:
    """A variable of the optimizer where an update stands: its component on that device."""
    is_mirrored = hasattr(held, "distribute_strategy") and modes.is_updating()
    return held.get() if is_mirrored else held


class Slots:
    """The variables; a base class of ``Optimizer``."""

    _slots: dict[str, dict[Any, Any]]
    _non_slot_dict: dict[Any, Any]

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot ``name`` of ``var``, or None when there is none.

        Args:
          var: a variable that ``apply_gradients`` was called with.
          name: one of ``get_slot_names()``.
        """
        return _component(self._slots.get(name, {}).get(_var_key(var)))

    def get_slot_names(self) -> list[str]:
        """Names of the kinds of slots made so far, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The optimizer's own variables in the default graph, by name."""
        graph = scopes.get_default_graph()
        found = list(self._non_slot_variables())
        found += [slot for slots in self._slots.values() for slot in slots.values()]
        return sorted((v for v in found if v.op.graph is graph), key=lambda v: v.name)

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer that goes with no other, one in each graph."""
        key = (name, colocate_with.graph)
        found = self._non_slot_dict.get(key)
        if found is None:
            with distribution.colocate_vars_with(colocate_with):
                found = creation.create(
                    initial_value, name=name, trainable=False,
                    use_resource=isinstance(colocate_with, ResourceVariable),
                )  # fmt: skip
            self._non_slot_dict[key] = found
        return found

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        while isinstance(graph, FunctionGraph) and (name, graph) not in self._non_slot_dict:
            graph = graph.outer  # variables are made outside of functions
        return _component(self._non_slot_dict.get((name, graph)))

    def _non_slot_variables(self) -> Any:
        return self._non_slot_dict.values()

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """The slot ``slot_name`` of ``var``, made as ``var/op_name`` with the value ``val``."""
        slots = self._slot_dict(slot_name)
        key = _var_key(var)
        if key not in slots:
            slots[key] = slot_creator.create_slot(var, val, op_name)
        return slots[key]

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        """As ``_get_or_make_slot``, the first value given by an initializer."""
        slots = self._slot_dict(slot_name)
        key = _var_key(var)
        if key not in slots:
            slots[key] = slot_creator.create_slot_with_initializer(
                var, initializer, shape, dtype, op_name
            )
        return slots[key]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """As ``_get_or_make_slot``, at first zeros."""
        slots = self._slot_dict(slot_name)
        key = _var_key(var)
        if key not in slots:
            slots[key] = slot_creator.create_zeros_slot(var, op_name)
        return slots[key]
