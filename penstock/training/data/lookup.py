"""Lookup tables that are filled once: from keys to values, of strings and numbers.

A table holds the handle of its state and the node that fills it; the entries are state of a session
(``engine/resources/lookup_table.py``).  ``lookup_initializers`` has what fills tables,
``lookup_mutable`` the tables that steps change, ``lookup_vocabulary`` those between words and ids.

Source: the tables of TensorFlow 1.15 (names of nodes, checks).
"""

from __future__ import annotations

import uuid
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.training.data.lookup_initializers import FromKeysToValues, TableInitializerBase


class LookupInterface(FromKeysToValues):
    """A table from keys to values.

    Args:
      key_dtype, value_dtype: their types.
    """

    @property
    def name(self) -> str:
        """Name of the table: that of its node, without scopes."""
        raise NotImplementedError(f"{type(self).__name__} has no name")

    @property
    def resource_handle(self) -> Any:
        """The handle of its state."""
        raise NotImplementedError(f"{type(self).__name__} has no handle")

    def size(self, name: str | None = None) -> Tensor:
        """How many keys it has, an int64 scalar."""
        raise NotImplementedError(f"{type(self).__name__} has no size")

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys."""
        raise NotImplementedError(f"{type(self).__name__} looks nothing up")


def keys_of(keys: Any) -> Tensor:
    """The keys as a tensor: the values of a sparse tensor, or what converts to one."""
    if isinstance(keys, SparseTensor):
        return keys.values
    return convert_to_tensor(keys)


def check_key_dtype(keys: Tensor, wanted: dtypes.DType) -> None:
    """Raises TypeError unless the keys are of the table's type."""
    if keys.dtype.base_dtype != wanted:
        raise TypeError(
            f"Signature mismatch. Keys must be dtype {wanted!r}, got {keys.dtype.base_dtype!r}."
        )


def like(keys: Any, values: Tensor) -> Any:
    """``values`` in the structure of ``keys``: a sparse tensor's, if that is what was looked up."""
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, values, keys.dense_shape)
    return values


class InitializableLookupTableBase(LookupInterface):
    """A table that is filled once.

    Args:
      default_value: the value of keys that are not in it.
      initializer: what fills it.
    """

    _resource_handle: Tensor

    def __init__(self, default_value: Any, initializer: TableInitializerBase) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.get_shape().merge_with([])
        self._initializer = initializer
        self._resource_handle = self._make_handle()
        self._init_op = initializer.initialize(self)

    def _make_handle(self) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not make its state")

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not in it."""
        return self._default_value

    @property
    def initializer(self) -> Operation:
        """The op that fills it."""
        return self._init_op

    @property
    def name(self) -> str:
        """Name of the table: that of its node, without scopes."""
        return self._resource_handle.op.name.rpartition("/")[2]

    @property
    def resource_handle(self) -> Tensor:
        """The handle of its state."""
        return self._resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """How many keys it has, an int64 scalar; 0 before it is filled."""
        with scopes.name_scope(name, f"{self.name}_Size"):
            return make_tensor("LookupTableSizeV2", self._resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys.

        Args:
          keys: a tensor or SparseTensor of ``key_dtype``.

        Returns:
          A tensor of the shape of ``keys``, or a SparseTensor.

        Raises:
          TypeError: keys of another type.
        """
        tensor = keys_of(keys)
        check_key_dtype(tensor, self._key_dtype)
        with scopes.name_scope(name, f"{self.name}_Lookup"):
            found: Tensor = make(
                "LookupTableFindV2", self._resource_handle, tensor, self._default_value
            )
        found.set_shape(tensor.get_shape())
        return like(keys, found)


class StaticHashTable(InitializableLookupTableBase):
    """A table that is filled once.

    Args:
      initializer: what fills it.
      default_value: the value of keys that are not in it.
      name: name of the table; default ``hash_table``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     init = tf.lookup.KeyValueTensorInitializer(["cat", "dog"], [1, 2])
      ...     table = tf.lookup.StaticHashTable(init, default_value=-1)
      ...     sess.run(tf.tables_initializer())
      ...     sess.run(table.lookup(tf.constant(["dog", "cow"]))).tolist()
      [2, -1]
    """

    def __init__(
        self, initializer: TableInitializerBase, default_value: Any, name: str | None = None
    ) -> None:
        # As in TensorFlow: tables of several graphs of a server do not meet by their nodes' names.
        self._shared_name = initializer._shared_name or f"hash_table_{uuid.uuid4()}"
        self._given_name = name or "hash_table"
        super().__init__(default_value, initializer)

    def _make_handle(self) -> Tensor:
        return make_tensor(
            "HashTableV2",
            name=self._given_name,
            shared_name=self._shared_name,
            key_dtype=self._key_dtype,
            value_dtype=self._value_dtype,
        )

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and values, two vectors; in no particular order."""
        with scopes.name_scope(name, f"{self.name}_Export"):
            return self._export()

    def _export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        types = {"Tkeys": self._key_dtype, "Tvalues": self._value_dtype}
        keys, values = make("LookupTableExportV2", self._resource_handle, name=name, **types)
        values.set_shape(keys.get_shape().concatenate([]))
        return keys, values


class HashTable(StaticHashTable):
    """A table that is filled once, in ``tf.contrib.lookup``.

    Args:
      initializer: what fills it.
      default_value: the value of keys that are not in it.
      shared_name: tables of that name in one server are one.
      name: name of the table; default ``hash_table``.
    """

    def __init__(
        self, initializer: TableInitializerBase, default_value: Any,
        shared_name: str | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        self._shared_name = shared_name or ""
        self._given_name = name or "hash_table"
        InitializableLookupTableBase.__init__(self, default_value, initializer)

    @property
    def init(self) -> Operation:
        """The op that fills it."""
        return self._init_op

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and values, two vectors; in no particular order."""
        with scopes.name_scope(name, f"{self.name}_Export") as scope:
            return self._export(scope)
