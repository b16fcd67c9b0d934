"""Lookup tables that steps change, and checkpoints save.

``MutableHashTable`` takes any key; a ``MutableDenseHashTable`` has two reserved keys, and what it
exports (and a checkpoint has) is its array of buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.checkpoint.saveable import SaveableObject, SaveSpec
from penstock.training.data.lookup import LookupInterface, check_key_dtype


class _TableSaveable(SaveableObject):
    """The keys and values of a table, two tensors of a checkpoint."""

    def __init__(self, table: _MutableTable, name: str) -> None:
        keys, values = table.export()
        specs = [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")]
        super().__init__(table, specs, name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Operation:
        """Adds the op that makes these the table's only entries."""
        del restored_shapes  # what was saved says its shape
        with scopes.name_scope(f"{self.op.name}_table_restore"):
            made: Operation = make(
                "LookupTableImportV2", self.op.resource_handle, *restored_tensors
            )
        return made


class _MutableTable(LookupInterface):
    """What both kinds share."""

    _default_value: Tensor
    _resource_handle: Tensor

    @property
    def name(self) -> str:
        """Name of the table: that of its node, without scopes."""
        return self._resource_handle.op.name.rpartition("/")[2]

    @property
    def resource_handle(self) -> Tensor:
        """The handle of its state."""
        return self._resource_handle

    # Under which name a ``Checkpoint`` files it.
    _checkpoint_attribute = "table"

    @property
    def _shared_name(self) -> str:
        return self.name

    def _component_saveables(self, name: str) -> _TableSaveable:
        """What a ``Saver`` saves that is given the table itself."""
        return _TableSaveable(self, name)

    def _save_in_checkpoints(self) -> None:
        collecting.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _TableSaveable(self, self.name))

    def size(self, name: str | None = None) -> Tensor:
        """How many keys it has, an int64 scalar."""
        with scopes.name_scope(name, f"{self.name}_Size"):
            return make_tensor("LookupTableSizeV2", self._resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The values of keys.

        Args:
          keys: tensor of ``key_dtype``.

        Returns:
          A tensor: for each key its value, or the table's default.

        Raises:
          ValueError: keys of another type.
        """
        with scopes.name_scope(name, f"{self.name}_lookup_table_find"):
            tensor = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            return make_tensor(
                "LookupTableFindV2", self._resource_handle, tensor, self._default_value
            )

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """An op that gives keys new values.

        Args:
          keys: tensor of ``key_dtype``; of a key that comes twice the last value counts.
          values: tensor of ``value_dtype``.

        Returns:
          The op.

        Raises:
          ValueError: keys or values of another type.
        """
        with scopes.name_scope(name, f"{self.name}_lookup_table_insert"):
            tensor = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            given = convert_to_tensor(values, dtype=self._value_dtype, name="values")
            made: Operation = make("LookupTableInsertV2", self._resource_handle, tensor, given)
            return made

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """An op that takes keys out; those that the table lacks are left alone.

        Args:
          keys: tensor of ``key_dtype``.

        Returns:
          The op.

        Raises:
          TypeError: keys of another type.
        """
        tensor = convert_to_tensor(keys)
        check_key_dtype(tensor, self._key_dtype)
        with scopes.name_scope(name, f"{self.name}_lookup_table_remove"):
            made: Operation = make("LookupTableRemoveV2", self._resource_handle, tensor)
            return made

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values, in no particular order."""
        types: dict[str, Any] = {"Tkeys": self._key_dtype, "Tvalues": self._value_dtype}
        with scopes.name_scope(name, f"{self.name}_lookup_table_export_values"):
            keys, values = make("LookupTableExportV2", self._resource_handle, **types)
        return keys, values


class MutableHashTable(_MutableTable):
    """A table that steps change.

    Args:
      key_dtype, value_dtype: types of keys and values.
      default_value: the value of keys that are not in it: a scalar or a vector, as all values.
      name: name of the table.
      checkpoint: whether savers save it.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
      ...     sess.run(table.insert(["cat", "dog"], [1, 2]))
      ...     sess.run(table.lookup(["dog", "cow"])).tolist()
      [2, -1]
    """

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any,
        name: str = "MutableHashTable", checkpoint: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        shape = self._default_value.get_shape()
        vectors: dict[str, Any] = {"value_shape": shape} if shape.ndims else {}
        self._resource_handle = make(
            "MutableHashTableOfTensorsV2" if vectors else "MutableHashTableV2",
            name=name,
            use_node_name_sharing=checkpoint,
            key_dtype=self._key_dtype,
            value_dtype=self._value_dtype,
            **vectors,
        )
        if checkpoint:
            self._save_in_checkpoints()


class MutableDenseHashTable(_MutableTable):
    """A table that steps change, with two reserved keys.

    Args:
      key_dtype, value_dtype: types of keys and values.
      default_value: the value of keys that are not in it: a scalar or a vector, as all values.
      empty_key, deleted_key: two different keys that are never used; a scalar or a vector, as keys.
      initial_num_buckets: how many buckets it has at first; default 131072.
      name: name of the table.
      checkpoint: whether savers save it.
    """

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any,
        deleted_key: Any, initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable", checkpoint: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(
            default_value, dtype=self._value_dtype, name="default_value"
        )
        empty, deleted = (
            convert_to_tensor(key, dtype=self._key_dtype, name=role)
            for key, role in ((empty_key, "empty_key"), (deleted_key, "deleted_key"))
        )
        given: dict[str, Any] = {}
        if initial_num_buckets is not None:
            given["initial_num_buckets"] = initial_num_buckets
        self._resource_handle = make(
            "MutableDenseHashTableV2",
            empty,
            deleted,
            name=name,
            use_node_name_sharing=checkpoint,
            value_dtype=self._value_dtype,
            value_shape=self._default_value.get_shape(),
            **given,
        )
        if checkpoint:
            self._save_in_checkpoints()

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """As ``insert``."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Operation:
        """As ``remove``."""
        return self.remove(keys, name)
