"""Variable scopes: prefixes of variable names, defaults for ``get_variable``, and sharing.

State: per graph and thread, the current ``VariableScope`` and how often each scope name was opened
(for the uniqueness of default names); the variables themselves are in ``store``.  A variable's name
depends on variable scopes only; each also opens a name scope for the nodes made inside.
"""

from __future__ import annotations

import threading
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables import store as stores
from penstock.library.variables.store import VariableStore
from penstock.library.variables.variable import VariableAggregation, VariableSynchronization

SCOPES = "variables.scopes"


def _runs_at_once() -> bool:
    return scopes.get_default_graph().executes


def no_regularizer(_: Any) -> None:
    """Given as a regularizer, stops one of an outer scope from applying."""
    return None


class VariableScope:
    """Name prefix and defaults for ``get_variable``; made by ``tf.variable_scope``.

    Args:
      reuse: True, False, None or AUTO_REUSE.
      name: prefix of variable names.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource,
        constraint: defaults for ``get_variable``.
      name_scope: the name scope that goes with it.
    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        # Where calls run at once, variables are shared by who holds them, and by a store's names.
        self._name, self._reuse = name, stores.AUTO_REUSE if _runs_at_once() else reuse
        self._initializer, self._regularizer = initializer, regularizer
        self._caching_device, self._partitioner = caching_device, partitioner
        self._custom_getter, self._name_scope = custom_getter, name_scope
        self._dtype, self._use_resource, self._constraint = dtype, use_resource, constraint

    @property
    def name(self) -> str:
        """Prefix of variable names."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope opened when this scope was made."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """True, False, None or AUTO_REUSE."""
        return self._reuse

    @property
    def initializer(self) -> Any:
        """Default initializer."""
        return self._initializer

    @property
    def dtype(self) -> Any:
        """Default element type."""
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        """Whether variables are resource variables."""
        return self._use_resource

    @property
    def regularizer(self) -> Any:
        """Default regularizer."""
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        """Default caching device."""
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        """Default partitioner."""
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        """Default custom getter."""
        return self._custom_getter

    @property
    def constraint(self) -> Any:
        """Default constraint."""
        return self._constraint

    def reuse_variables(self) -> None:
        """From now on, variables must exist already."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer."""
        self._initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        """Sets the default element type."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Says whether variables are resource variables."""
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Sets the default caching device."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Sets the default partitioner."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Sets the default custom getter."""
        self._custom_getter = custom_getter

    def get_collection(self, name: str) -> list[Any]:
        """Members of a collection whose names are in this scope."""
        return collecting.get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self) -> list[Any]:
        """Trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """Global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """Local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str | None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Any = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """The variable ``name`` of this scope in ``var_store``, found or made."""
        # Names depend on variable scopes only, so the name scope is left for the time being.
        with scopes.name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                _check_initializer_dtype(name, initializer, dtype)
            if _runs_at_once():
                reuse = stores.AUTO_REUSE
            return var_store.get_variable(
                # An empty name means the scope's own, exactly (slots are made so).
                f"{self._name}/" if name == "" else name_within(self, name),
                shape=shape,
                dtype=self._dtype if dtype is None else dtype,
                initializer=self._initializer if initializer is None else initializer,
                regularizer=self._regularizer if regularizer is None else regularizer,
                reuse=self._reuse if reuse is None else reuse,
                trainable=trainable,
                collections=collections,
                caching_device=caching_device or self._caching_device,
                partitioner=partitioner or self._partitioner,
                validate_shape=validate_shape,
                use_resource=self._use_resource if use_resource is None else use_resource,
                custom_getter=custom_getter or self._custom_getter,
                constraint=self._constraint if constraint is None else constraint,
                synchronization=synchronization,
                aggregation=aggregation,
            )


def _check_initializer_dtype(name: str | None, initializer: Any, dtype: Any) -> None:
    found = convert_to_tensor(initializer).dtype.base_dtype
    if found is not dtypes.as_dtype(dtype).base_dtype:
        raise ValueError(
            f"Initializer type '{found}' and explicit dtype '{dtypes.as_dtype(dtype)}' don't"
            f" match, of variable {name!r}"
        )


def name_within(scope: VariableScope, name: str | None) -> str:
    """The name of what is called ``name`` in a scope; its own where that is empty."""
    if not name:
        return scope.name
    return f"{scope.name}/{name}" if scope.name else name


class _Scopes(threading.local):
    """The current scope, and how often each scope was opened."""

    def __init__(self) -> None:
        self.current = VariableScope(False)
        self.counts: dict[str, int] = {}

    def open(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def close_inside(self, name: str) -> None:
        for key in self.counts:
            if key.startswith(f"{name}/"):
                self.counts[key] = 0

    def unique(self, prefix: str) -> str:
        """``prefix``, or with a number, not opened yet in the current scope."""
        full = name_within(self.current, prefix)
        if not self.counts.get(full):
            return prefix
        number = 1
        while self.counts.get(f"{full}_{number}"):
            number += 1
        return f"{prefix}_{number}"


def scopes_of_graph() -> _Scopes:
    attached = scopes.get_default_graph().attached
    found = attached.get(SCOPES)
    if found is None:
        found = attached[SCOPES] = _Scopes()
    return found


def get_variable_scope() -> VariableScope:
    """The current variable scope.

    Returns:
      The ``VariableScope`` that variables are made in now.

    Example:
      >>> import penstock as tf
      >>> with tf.variable_scope("model"):
      ...     loss = tf.get_variable("a", [2])
      ...     tf.get_variable_scope().reuse_variables()
      ...     tf.get_variable_scope().name, tf.get_variable("a", [2]) is loss
      ('model', True)
    """
    return scopes_of_graph().current


def _get_default_variable_store() -> VariableStore:
    return stores.default_store()
