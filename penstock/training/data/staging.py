"""Staging areas as users see them: ``tf.contrib.staging.StagingArea`` and its kin by key.

An area is a name; its nodes agree on it by their ``shared_name`` and live beside a ``NoOp`` that
stands for it.  The tensors are state of a session (``engine/resources/staging.py``).

Source: the staging areas of TensorFlow 1.15 (names of nodes, checks, what is returned).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import colocate_with, get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.control import control
from penstock.training.data.components import HoldsTuples


class BaseStagingArea(HoldsTuples):
    """What both kinds share; use one of the subclasses.

    Args:
      dtypes: types of a tuple's components.
      shapes: their shapes, or None.
      names: their names, or None; with names, tuples are dicts.
      shared_name: areas of one shared name are one; default: a name of its own.
      capacity: the most tuples; 0: no bound.
      memory_limit: the most bytes; 0: no bound.

    Raises:
      ValueError: as many shapes and names are needed as types; a shared name that is no string.
    """

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        if shared_name is None:
            shared_name = get_default_graph().unique_name(type(self).__name__)
        elif not isinstance(shared_name, str):
            raise ValueError(f"shared_name must be a string; found {shared_name!r}")
        self._name = shared_name
        self._dtypes = [_as_dtype(t) for t in dtypes]
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(dtypes):
                raise ValueError(
                    f"StagingArea {what} must be the same length as dtypes: {len(dtypes)} type(s),"
                    f" {len(given)} {what}"
                )
        self._shapes = [_as_shape(s) for s in (shapes or [None] * len(dtypes))]
        self._names = None if names is None else list(names)
        self._capacity, self._memory_limit = capacity, memory_limit
        with name_scope(f"{self._name}_root"):
            self._beside = control.no_op()

    @property
    def name(self) -> str:
        """The name under which the area is shared."""
        return self._name

    @property
    def capacity(self) -> int:
        """The most tuples; 0: no bound."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """The most bytes; 0: no bound."""
        return self._memory_limit

    def _make(self, op_type: str, *inputs: Any, name: str, **attrs: Any) -> Any:
        return make(
            op_type,
            *inputs,
            name=name,
            shared_name=self._name,
            capacity=self._capacity,
            memory_limit=self._memory_limit,
            **attrs,
        )

    def _look(self, op_type: str, name: str) -> Any:
        return self._make(op_type, name=name, dtypes=self._dtypes)

    def _checked(self, vals: Any, indices: Sequence[int] | None) -> tuple[list[Tensor], list[int]]:
        """The tensors to put in, and which components they are."""
        if isinstance(vals, Mapping):
            if not self._names:
                raise ValueError("a staging area must have names to put a dictionary in")
            if not set(vals) <= set(self._names):
                raise ValueError(
                    f"keys in dictionary to put do not match names of staging area: {sorted(vals)}"
                    f" and {sorted(self._names)}"
                )
            indices = [i for i, n in enumerate(self._names) if n in vals]
            vals = [vals[self._names[i]] for i in indices]
        elif self._names:
            raise ValueError("you must put a dictionary in a staging area with names")
        if indices is None:
            raise ValueError("indices must be given when a list of tensors is put in")
        if len(indices) != len(vals):
            raise ValueError(f"{len(vals)} value(s) need as many indices; found {list(indices)}")
        if len(vals) > len(self._dtypes):
            raise ValueError(f"a tuple has {len(self._dtypes)} component(s); found {len(vals)}")
        return [self._component(v, i) for v, i in zip(vals, indices)], list(indices)

    def _component(self, value: Any, index: int) -> Tensor:
        dtype = self._dtypes[index]
        if value.dtype.base_dtype != dtype:
            raise ValueError(
                f"datatypes do not match: component {index} is {dtype.name}, found"
                f" {value.dtype.name}"
            )
        value.get_shape().assert_is_compatible_with(self._shapes[index])
        return convert_to_tensor(value, dtype=dtype, name=f"component_{index}")

    def _returned(self, tensors: Any, indices: Sequence[int]) -> Any:
        listed = list(tensors) if isinstance(tensors, list | tuple) else [tensors]
        # Another device scope than the area's: the values are handed over there.
        if control.no_op().device != self._beside.device:
            listed = [control.identity(t) for t in listed]
        for tensor, i in zip(listed, indices):
            tensor.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: t for t, i in zip(listed, indices)}
        return listed


class StagingArea(BaseStagingArea):
    """A line of tuples that steps leave for later steps: prefetching by hand.

    Args:
      dtypes, shapes, names, shared_name, capacity, memory_limit: as ``BaseStagingArea`` says.

    >>> from penstock.contrib.staging import StagingArea
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     area = StagingArea([tf.float32])
    ...     session.run(area.put([tf.constant(2.0)]))
    ...     session.run(area.get())
    [np.float32(2.0)]
    """

    def put(self, values: Any, name: str | None = None) -> Any:
        """An operation that puts a tuple in; waits while the area is full.

        Args:
          values: a tensor, a list of tensors, or a dict where the area has names.

        Raises:
          ValueError: number, types, shapes or names do not fit the area.
        """
        with name_scope(name, f"{self._name}_put", _listed(values)) as scope:
            if not isinstance(values, list | tuple | Mapping):
                values = [values]
            tensors, _ = self._checked(values, range(len(values)))
            with colocate_with(self._beside):
                return self._make("Stage", tensors, name=scope)

    def get(self, name: str | None = None) -> Any:
        """Takes the first tuple out; waits while there is none.

        Returns:
          A list of tensors, or a dict where the area has names.
        """
        with colocate_with(self._beside):
            taken = self._look("Unstage", name or f"{self._name}_get")
        return self._returned(taken, range(len(self._dtypes)))

    def peek(self, index: Any, name: str | None = None) -> Any:
        """The tuple at a position, which stays; waits until there are as many.

        Args:
          index: an int32 scalar.

        Returns:
          As ``get``.
        """
        name = name or f"{self._name}_peek"
        with colocate_with(self._beside):
            found = self._make("StagePeek", index, name=name, dtypes=self._dtypes)
        return self._returned(found, range(len(self._dtypes)))

    def size(self, name: str | None = None) -> Any:
        """An int32 scalar: the number of tuples in the area."""
        return self._look("StageSize", name or f"{self._name}_size")

    def clear(self, name: str | None = None) -> Any:
        """An operation that drops all tuples."""
        return self._look("StageClear", name or f"{self._name}_clear")


class MapStagingArea(BaseStagingArea):
    """Tuples under int64 keys, put in and taken out whole or in parts.

    Args:
      dtypes, shapes, names, shared_name, capacity, memory_limit: as ``BaseStagingArea`` says;
        incomplete tuples count only towards ``memory_limit``.
      ordered: whether ``get`` without a key gives the smallest key.
    """

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._prefix = "Ordered" if ordered else ""

    def put(self, key: Any, vals: Any, indices: Any = None, name: str | None = None) -> Any:
        """An operation that puts components of a key's tuple in; waits while the area is full.

        Args:
          key: an int64 scalar tensor.
          vals: a list of tensors, or a dict where the area has names.
          indices: which components a list is.

        Raises:
          ValueError: number, types, shapes or names do not fit the area.
        """
        with name_scope(name, f"{self._name}_put", _listed(vals)) as scope:
            tensors, which = self._checked(vals, indices)
            with colocate_with(self._beside):
                return self._make(
                    f"{self._prefix}MapStage", key, which, tensors, name=scope, dtypes=self._dtypes
                )

    def get(self, key: Any = None, indices: Any = None, name: str | None = None) -> Any:
        """Takes components of a tuple out; waits until it is whole.

        Args:
          key: an int64 scalar tensor; None: of some key.
          indices: which components, by number or name; None: all of them.

        Returns:
          The key and the components (a list, or a dict where the area has names).
        """
        which, types = self._wanted(indices)
        with colocate_with(self._beside):
            if key is None:
                taken = self._make(
                    f"{self._prefix}MapUnstageNoKey",
                    which,
                    name=name or f"{self._name}_get_nokey",
                    dtypes=types,
                )
                key, values = taken[0], list(taken[0].op.outputs[1:])
            else:
                values = self._make(
                    f"{self._prefix}MapUnstage",
                    key,
                    which,
                    name=name or f"{self._name}_get",
                    dtypes=types,
                )
        if types and isinstance(key, Tensor) and key.op.type.endswith("NoKey"):
            # The key is handed over to the device at hand like the values.
            key = self._handed_over(key)
        return key, self._returned(values, which)

    def _handed_over(self, key: Tensor) -> Tensor:
        moved = control.no_op().device != self._beside.device
        return control.identity(key) if moved else key

    def peek(self, key: Any, indices: Any = None, name: str | None = None) -> Any:
        """Components of a key's tuple, which stay; waits until the tuple is whole.

        Args:
          key, indices, name: as for ``get``.

        Returns:
          The components.
        """
        which, types = self._wanted(indices)
        with colocate_with(self._beside):
            found = self._make(
                f"{self._prefix}MapPeek",
                key,
                which,
                name=name or f"{self._name}_pop",
                dtypes=types,
            )
        return self._returned(found, which)

    def size(self, name: str | None = None) -> Any:
        """An int32 scalar: the number of whole tuples in the area."""
        return self._look(f"{self._prefix}MapSize", name or f"{self._name}_size")

    def incomplete_size(self, name: str | None = None) -> Any:
        """An int32 scalar: the number of tuples that lack components."""
        op_type = f"{self._prefix}MapIncompleteSize"
        return self._look(op_type, name or f"{self._name}_incomplete_size")

    def clear(self, name: str | None = None) -> Any:
        """An operation that drops everything."""
        return self._look(f"{self._prefix}MapClear", name or f"{self._name}_clear")

    def _wanted(self, indices: Any) -> tuple[list[int], list[dtypes.DType]]:
        """Numbers and types of the components asked for."""
        if indices is None:
            which = list(range(len(self._dtypes)))
        else:
            which = [self._number(i) for i in indices]
        return which, [self._dtypes[i] for i in which]

    def _number(self, index: Any) -> int:
        if isinstance(index, str):
            if not self._names or index not in self._names:
                raise ValueError(f"component {index!r} is not among the names {self._names}")
            return self._names.index(index)
        if not isinstance(index, int) or not 0 <= index < len(self._dtypes):
            raise ValueError(
                f"a component is a number from 0 to {len(self._dtypes) - 1}; found {index!r}"
            )
        return index


def _as_dtype(value: Any) -> dtypes.DType:
    return dtypes.as_dtype(value)


def _as_shape(value: Any) -> shapes.TensorShape:
    return shapes.TensorShape(value)


def _listed(vals: Any) -> list[Any]:
    if isinstance(vals, Mapping):
        return list(vals.values())
    return list(vals) if isinstance(vals, list | tuple) else [vals]
