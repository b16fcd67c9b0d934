"""``EagerVariableStore``: keeps the variables of layers that are called as functions."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from penstock.library.variables.resource_variable import ResourceVariable
from penstock.library.variables.store import KeptVariables


class EagerVariableStore:
    """Keeps the variables that functions such as ``tf.layers.dense`` make, where calls run at once.

    A call inside ``as_default`` finds the variables of an earlier one by name.

    Args:
      store: another store's variables, which are shared.

    Example:
      >>> import penstock as tf
      >>> store = tf.contrib.eager.EagerVariableStore()
      >>> sorted(v.name for v in store.variables())
      []
    """

    def __init__(self, store: Any = None) -> None:
        if store is not None and not isinstance(store, KeptVariables):
            raise ValueError(
                "Cannot construct EagerVariableStore from a VariableStore object that does not"
                f" hold eager variables; found {type(store).__name__}"
            )
        self._store = KeptVariables() if store is None else store

    def as_default(self) -> AbstractContextManager[None]:
        """Keeps the variables that a ``with`` block makes."""
        return self._store.as_default()

    def variables(self) -> list[Any]:
        """All variables, by name."""
        return self._store.all()

    def trainable_variables(self) -> list[Any]:
        """Those that are trained, by name."""
        return [v for v in self._store.all() if v.trainable]

    def non_trainable_variables(self) -> list[Any]:
        """The others, by name."""
        return [v for v in self._store.all() if not v.trainable]

    def copy(self) -> EagerVariableStore:
        """A store of variables with the same values."""
        copied = EagerVariableStore()
        for name, variable in self._store.items():
            stripped = variable.name.split(":")[0]
            made = ResourceVariable(variable.read_value(), name=stripped,
                                    trainable=variable.trainable)  # fmt: skip
            copied._store.add(name, made)
        return copied
