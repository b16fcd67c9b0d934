"""Values made of several tensors: ``IndexedSlices`` and ``SparseTensor``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.parted import Parted
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TypeSpec, type_spec_from_value
from penstock.foundation.opdef import static


class CompositeTensor(Parted):
    """A value made of several tensors that its spec takes apart and puts together."""

    def nest_parts(self) -> list[Any]:
        return list(self._type_spec._to_components(self))

    def nest_like(self, parts: Sequence[Any]) -> Any:
        return self._type_spec._from_components(parts)

    @property
    def _type_spec(self) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__} says no spec")


class _OfValues(Parted):
    """A tensor given by some of its values and where they are."""

    _values: Tensor
    _dense_shape: Any

    def nest_like(self, parts: Sequence[Any]) -> Any:
        return type(self)(*parts)

    @property
    def op(self) -> Any:
        """The operation that makes ``values``."""
        return self._values.op

    @property
    def dtype(self) -> dtypes.DType:
        """Element type."""
        return self._values.dtype

    @property
    def graph(self) -> Any:
        """The graph of the parts."""
        return self._values.graph

    @property
    def shape(self) -> shapes.TensorShape:
        """Static dense shape, as far as known."""
        if self._dense_shape is None:
            return shapes.TensorShape(None)
        return shapes.TensorShape(static.constant_value_as_shape(self._dense_shape, strict=False))


class IndexedSlices(_OfValues):
    """Rows ``values[i]`` of a larger tensor at positions ``indices[i]`` of its first dim.

    The gradient of a gather; an optimizer touches only the rows named.

    Args:
      values: tensor of shape [n, ...].
      indices: int32 or int64 tensor of shape [n]; repeated rows add up.
      dense_shape: shape of the larger tensor, or None.
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Any = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """Their positions."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """Shape of the dense tensor, as a tensor, or None."""
        return self._dense_shape

    @property
    def name(self) -> str:
        """Name of ``values``."""
        return self._values.name

    @property
    def device(self) -> str:
        """Device of ``values``."""
        return self._values.device

    @property
    def _type_spec(self) -> TypeSpec:
        return type_spec_from_value(self)

    def nest_parts(self) -> list[Any]:
        parts: list[Any] = [self._values, self._indices]
        return parts if self._dense_shape is None else [*parts, self._dense_shape]

    def consumers(self) -> list[Any]:
        """The operations that take the values as an input."""
        return self._values.consumers()

    def __neg__(self) -> IndexedSlices:
        values: Any = self._values
        return IndexedSlices(-values, self._indices, self._dense_shape)

    def __repr__(self) -> str:
        return f"IndexedSlices(indices={self._indices}, values={self._values})"


class IndexedSlicesValue(NamedTuple):
    """What running an IndexedSlices gives."""

    values: Any
    indices: Any
    dense_shape: Any


class SparseTensorValue(NamedTuple):
    """What running a SparseTensor gives, and what feeds one."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor(_OfValues):
    """A tensor given by its non-zero entries.

    Args:
      indices: int64 [n, rank], the positions.
      values: [n], the entries.
      dense_shape: int64 [rank].
    """

    _dense_shape: Tensor

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, "indices")
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, dtypes.int64, "dense_shape")
        positions = self._indices.shape.with_rank(2)
        positions[0].assert_is_compatible_with(self._values.shape.with_rank(1)[0])
        positions[1].assert_is_compatible_with(self._dense_shape.shape.with_rank(1)[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A SparseTensor from one, or from a SparseTensorValue."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        parts = sparse_tensor_value
        return cls(parts.indices, parts.values, parts.dense_shape)

    @property
    def indices(self) -> Tensor:
        """Positions, int64 [n, rank]."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """Entries, [n]."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """Shape, int64 [rank]."""
        return self._dense_shape

    def get_shape(self) -> shapes.TensorShape:
        """Static dense shape, as far as known."""
        return self.shape

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Runs the parts and returns a SparseTensorValue."""
        return scopes.session_for(session, self.graph, "SparseTensor.eval").run(self, feed_dict)

    @property
    def _type_spec(self) -> TypeSpec:
        return type_spec_from_value(self)

    def nest_parts(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def consumers(self) -> list[Any]:
        """Operations that take any of the parts."""
        return list(dict.fromkeys(op for part in self.nest_parts() for op in part.consumers()))

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices}, values={self._values},"
            f" dense_shape={self._dense_shape})"
        )
