"""Lookup tables: keys to values, kept between steps.

State of a table: a dictionary from key to row, the values by row (a tensor, or an object array of
bytes) with room to grow, the rows that removals left free, one lock.  Keys are Python numbers,
bytes, or tuples where a key is a vector, so a look-up of n keys is n dictionary look-ups and one
gather, whatever the shape and dtype of the values.

``StaticTable`` is filled once, ``MutableTable`` whenever a step says so.  A ``DenseTable`` is one
whose keys are never two reserved ones; what it exports is laid out as an array of buckets, as
checkpoints hold it.

Source: the tables of TensorFlow 1.15: which arguments each accepts, and what it says otherwise.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors, hashing

_FEWEST_BUCKETS = 4


def _shown(shape: Any) -> str:
    return f"[{','.join(map(str, shape))}]"


def dtype_of(value: Any) -> Any:
    """The dtype of a tensor, or ``object`` for an array of strings."""
    return value.dtype if isinstance(value, torch.Tensor) else object


def _dtype_name(dtype: Any) -> str:
    return "string" if dtype is object else str(dtype).removeprefix("torch.")


def _empty(count: int, shape: tuple[int, ...], dtype: Any) -> Any:
    if dtype is object:
        return np.full((count, *shape), b"", dtype=object)
    return torch.zeros((count, *shape), dtype=dtype)


def _array(values: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    if dtype is object:
        made = np.empty((len(values), *shape), dtype=object)
        made[...] = np.array(values, dtype=object).reshape(made.shape) if values else made
        return made
    return torch.tensor(values, dtype=dtype).reshape(len(values), *shape)


class LookupTable:
    """What all tables do.

    Args:
      name: for messages.
      key_dtype, value_dtype: ``torch.dtype``, or ``object`` for strings.
      value_shape: shape of one value.
    """

    def __init__(
        self, name: str, key_dtype: Any, value_dtype: Any, value_shape: tuple[int, ...] = ()
    ) -> None:
        self.name = name
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.key_shape: tuple[int, ...] = ()
        self.value_shape = value_shape
        self._lock = threading.RLock()
        self._clear()

    def _clear(self) -> None:
        self._rows: dict[Any, int] = {}
        self._free: list[int] = []
        self._values = _empty(0, self.value_shape, self.value_dtype)

    def size(self) -> int:
        """How many keys it has."""
        return len(self._rows)

    # ---- looking up ----------------------------------------------------------------------------

    def find(self, keys: Any, default: Any) -> Any:
        """The values of ``keys``.

        Args:
          keys: any number of them.
          default: what keys have that are not in the table: one value, or one a key.

        Raises:
          tf.errors.InvalidArgumentError: other dtypes or shapes than the table's.
        """
        self._check_types(keys, default)
        lead = self._lead(keys)
        shape = tuple(default.shape)
        if shape != self.value_shape and shape != (*lead, *self.value_shape):
            raise errors.invalid(
                f"Expected shape {_shown(self.value_shape)} for default value, got {_shown(shape)}"
            )
        with self._lock:
            rows = [self._rows.get(k, -1) for k in self._listed(keys)]
            return self._gather(rows, default, (*lead, *self.value_shape))

    def _gather(self, rows: list[int], default: Any, shape: tuple[int, ...]) -> Any:
        missing = min(rows, default=0) < 0
        flat = (len(rows), *self.value_shape)
        if self.value_dtype is object:
            wanted = np.broadcast_to(np.asarray(default, dtype=object), shape).reshape(flat)
            if not self._rows:
                return wanted.reshape(shape).copy()
            index = np.array(rows, dtype=np.int64)
            found = self._values[index]
            if missing:
                found[index < 0] = wanted[index < 0]
            return found.reshape(shape)
        if not self._rows:
            return default.expand(shape).clone()
        places = torch.tensor(rows, dtype=torch.int64)
        taken = self._values[places]
        if missing:
            lacking = places < 0
            taken[lacking] = default.expand(shape).reshape(flat)[lacking]
        return taken.reshape(shape)

    # ---- changing ------------------------------------------------------------------------------

    def initialize(self, keys: Any, values: Any) -> None:
        """Fills a table that is filled once.

        Raises:
          tf.errors.InvalidArgumentError: it is of another kind.
        """
        raise errors.invalid(f"Table {self.name} is not initializable")

    def insert(self, keys: Any, values: Any) -> None:
        """Gives keys new values; of a key that comes twice the last counts."""
        self._check_values(keys, values)
        with self._lock:
            self._put(self._listed(keys), values)

    def remove(self, keys: Any) -> None:
        """Takes keys out; those that it lacks are left alone."""
        self._check_keys(keys)
        self._lead(keys)
        with self._lock:
            for key in self._listed(keys):
                row = self._rows.pop(key, None)
                if row is not None:
                    self._free.append(row)

    def import_values(self, keys: Any, values: Any) -> None:
        """Holds these keys and values and no others."""
        self._check_values(keys, values)
        with self._lock:
            self._clear()
            self._put(self._listed(keys), values)

    def export(self) -> tuple[Any, Any]:
        """All keys and their values, in order of insertion."""
        with self._lock:
            keys = _array(list(self._rows), self.key_shape, self.key_dtype)
            return keys, self._values[list(self._rows.values())]

    def _put(self, keys: list[Any], values: Any) -> None:
        rows = []
        for key in keys:
            row = self._rows.get(key)
            if row is None:
                row = self._free.pop() if self._free else len(self._rows) + len(self._free)
                self._rows[key] = row
            rows.append(row)
        self._grow(len(self._rows) + len(self._free))
        flat = values.reshape(len(keys), *self.value_shape)
        if len(set(rows)) == len(rows):
            self._values[rows] = flat
            return
        for row, value in zip(rows, flat, strict=True):  # one after the other: the last counts
            self._values[row] = value

    def _grow(self, count: int) -> None:
        held = len(self._values)
        if count <= held:
            return
        larger = _empty(max(count, 2 * held), self.value_shape, self.value_dtype)
        larger[:held] = self._values
        self._values = larger

    # ---- checks --------------------------------------------------------------------------------

    def _listed(self, keys: Any) -> list[Any]:
        if not self.key_shape:
            listed: list[Any] = keys.reshape(-1).tolist()
            return listed
        return [tuple(key) for key in keys.reshape(-1, *self.key_shape).tolist()]

    def _lead(self, keys: Any) -> tuple[int, ...]:
        """The shape of ``keys`` without that of one key."""
        shape, one = tuple(keys.shape), self.key_shape
        if one and shape[len(shape) - len(one) :] != one:
            raise errors.invalid(
                f"Input key shape {_shown(shape)} must end with the table's key shape {_shown(one)}"
            )
        return shape[: len(shape) - len(one)]

    def _check_keys(self, keys: Any) -> None:
        if dtype_of(keys) is not self.key_dtype:
            raise errors.invalid(
                f"Key dtype {_dtype_name(dtype_of(keys))} does not match the dtype of table"
                f" {self.name}, {_dtype_name(self.key_dtype)}"
            )

    def _check_types(self, keys: Any, values: Any) -> None:
        found = [dtype_of(keys), dtype_of(values)]
        if found != [self.key_dtype, self.value_dtype]:
            has, wants = (
                "->".join(map(_dtype_name, pair))
                for pair in (found, (self.key_dtype, self.value_dtype))
            )
            raise errors.invalid(
                f"Signature mismatch of table {self.name}: have {has}, expected {wants}"
            )

    def _check_values(self, keys: Any, values: Any) -> None:
        self._check_types(keys, values)
        expected = (*self._lead(keys), *self.value_shape)
        if tuple(values.shape) != expected:
            raise errors.invalid(
                f"Expected shape {_shown(expected)} for value, got {_shown(values.shape)}"
            )


class MutableTable(LookupTable):
    """A table that steps may change."""


class StaticTable(LookupTable):
    """A table that is filled once.

    State besides the base's: whether it is filled.
    """

    _filled = False

    def find(self, keys: Any, default: Any) -> Any:
        """As the base's.

        Raises:
          tf.errors.FailedPreconditionError: nothing filled it yet.
        """
        if not self._filled:
            raise errors.FailedPreconditionError(
                None,
                None,
                f"Table not initialized: {self.name}; run its initializer, for instance by"
                " tf.tables_initializer()",
            )
        return super().find(keys, default)

    def initialize(self, keys: Any, values: Any) -> None:
        """Fills it; where it is filled already only the number of keys is compared."""
        self._check_values(keys, values)
        listed = self._listed(keys)
        if not listed:
            raise errors.invalid(f"Table {self.name}: keys and values cannot be empty tensors.")
        with self._lock:
            if self._filled:
                if len(listed) != self.size():
                    raise errors.FailedPreconditionError(
                        None,
                        None,
                        f"Table was already initialized with different data: {self.name} has"
                        f" {self.size()} key(s), not {len(listed)}",
                    )
                return
            self._check_unique(listed, values.reshape(-1).tolist())
            self._put(listed, values)
            self._filled = True

    def _check_unique(self, keys: list[Any], values: list[Any]) -> None:
        seen: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            if seen.setdefault(key, value) != value:
                raise errors.FailedPreconditionError(
                    None,
                    None,
                    f"HashTable has different value for same key. Key {_text(key)} has"
                    f" {_text(seen[key])} and trying to add value {_text(value)}",
                )

    def import_values(self, keys: Any, values: Any) -> None:
        """Fills it."""
        self.initialize(keys, values)

    def export(self) -> tuple[Any, Any]:
        """All keys and their values.

        Raises:
          tf.errors.AbortedError: nothing filled it yet.
        """
        if not self._filled:
            raise errors.AbortedError(None, None, f"HashTable {self.name} is not initialized.")
        return super().export()

    def insert(self, keys: Any, values: Any) -> None:
        """Is not for such a table."""
        raise errors.UnimplementedError(
            None, None, f"Insert is not supported by {self.name}: it is filled once"
        )

    def remove(self, keys: Any) -> None:
        """Is not for such a table."""
        raise errors.UnimplementedError(
            None, None, f"Remove is not supported by {self.name}: it is filled once"
        )


def _text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


# ---- buckets -------------------------------------------------------------------------------------

_MASK = (1 << 64) - 1


def _place(key: Any) -> int:
    """Where the search for a key's bucket begins, before the number of buckets is known."""
    if isinstance(key, tuple):
        made = 0
        for part in key:
            mixed = _place(part) + 0x9E3779B97F4A7800 + (made << 10) + (made >> 4)
            made = (made ^ mixed) & _MASK
        return made
    return hashing.murmur64(key) if isinstance(key, bytes) else int(key) & _MASK


class DenseTable(MutableTable):
    """A table with two keys that stand for "empty" and "deleted" and are never in it.

    State besides the base's: those two keys, set by the first step.

    Args:
      name, key_dtype, value_dtype, value_shape: as the base's.
      buckets: how many it has at first; a power of 2.
      load: how full it may be before it gets twice as many.
    """

    def __init__(
        self, name: str, key_dtype: Any, value_dtype: Any, value_shape: tuple[int, ...],
        buckets: int, load: float,
    ) -> None:  # fmt: skip
        super().__init__(name, key_dtype, value_dtype, value_shape)
        if len(value_shape) > 1:
            raise errors.invalid(
                f"Empty value must be a scalar or a vector, got shape {_shown(value_shape)}"
            )
        if buckets < _FEWEST_BUCKETS or buckets & (buckets - 1):
            raise errors.invalid(
                f"Number of buckets must be at least {_FEWEST_BUCKETS} and a power of 2, got:"
                f" {buckets}"
            )
        if not 0 < load < 1:
            raise errors.invalid(f"max_load_factor must be between 0 and 1, got: {load:g}")
        self._buckets, self._load = buckets, load
        self._reserved: dict[Any, str] | None = None

    def reserve(self, empty: Any, deleted: Any) -> None:
        """Sets the reserved keys; later calls change nothing.

        Raises:
          tf.errors.InvalidArgumentError: they are one, or of different shapes.
        """
        if self._reserved is not None:
            return
        shapes = tuple(empty.shape), tuple(deleted.shape)
        if shapes[0] != shapes[1]:
            raise errors.invalid(
                "Empty and deleted keys must have same shape, got shapes: "
                + " and ".join(map(_shown, shapes))
            )
        self.key_shape = shapes[0]
        keys = self._listed(empty) + self._listed(deleted)
        if keys[0] == keys[1]:
            raise errors.invalid("Empty and deleted keys cannot be equal")
        self._reserved = {keys[0]: "empty_key", keys[1]: "deleted_key"}

    def _listed(self, keys: Any) -> list[Any]:
        listed = super()._listed(keys)
        if self._reserved is not None:
            for reserved, role in self._reserved.items():
                if reserved in listed:
                    raise errors.invalid(f"Using the {role} as a table key is not allowed")
        return listed

    def find(self, keys: Any, default: Any) -> Any:
        """As the base's; there is one default for all keys."""
        if tuple(default.shape) != self.value_shape:
            raise errors.invalid(
                f"Expected shape {_shown(self.value_shape)} for default value, got"
                f" {_shown(default.shape)}"
            )
        return super().find(keys, default)

    def import_values(self, keys: Any, values: Any) -> None:
        """Holds what the buckets hold, as ``export`` gives them."""
        self._check_types(keys, values)
        rows = keys.reshape(-1, *self.key_shape)
        listed = LookupTable._listed(self, rows)
        reserved = self._reserved or {}
        held = [i for i, key in enumerate(listed) if key not in reserved]
        with self._lock:
            self._clear()
            values = values.reshape(len(listed), *self.value_shape)[held]
            self._put([listed[i] for i in held], values)

    def export(self) -> tuple[Any, Any]:
        """The buckets: keys [buckets, size of a key] and values [buckets, size of a value]."""
        with self._lock:
            count = self._buckets
            while self.size() > self._load * count:
                count *= 2
            empty = next(iter(self._reserved or {}), None)
            keys: list[Any] = [empty] * count
            values = _empty(count, self.value_shape, self.value_dtype)
            places, rows = [], []
            for key, row in self._rows.items():
                place, probes = _place(key) & (count - 1), 0
                while keys[place] != empty:
                    probes += 1
                    place = (place + probes) & (count - 1)
                keys[place] = key
                places.append(place)
                rows.append(row)
            values[places] = self._values[rows]
            key_size = self.key_shape or (1,)
            made = _array(keys, key_size, self.key_dtype)
            return made, values.reshape(count, *(self.value_shape or (1,)))
