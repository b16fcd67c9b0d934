"""What goes through a construct: nestings of values, TensorArrays by their flow, and their shapes.

A TensorArray is known by its form: it has ``flow``, a tensor that orders its reads and writes, and
``_with_flow(flow)``, which makes one over the same elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph import nest
from penstock.foundation.graph.composite import (
    CompositeTensor,
    IndexedSlices,
    SparseTensor,
    SparseTensorValue,
)  # fmt: skip
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TypeSpec
from penstock.foundation.opdef import static

Shape = shapes.TensorShape


def is_tensor_array(value: Any) -> bool:
    """Whether the value is a TensorArray."""
    return hasattr(value, "_with_flow")


def to_flow(value: Any) -> Any:
    """A TensorArray's flow; anything else as it is."""
    return value.flow if is_tensor_array(value) else value


def with_flows(values: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
    """The tensors, with TensorArrays for the flows of those among ``values``."""
    if len(values) != len(tensors):
        raise ValueError(
            f"Lengths of original Tensor list and new list do not match: {len(values)} vs."
            f" {len(tensors)}"
        )
    return [
        value._with_flow(tensor) if is_tensor_array(value) else tensor
        for value, tensor in zip(values, tensors, strict=True)
    ]


def as_value(value: Any) -> Any:
    """A tensor, or a value of several tensors as it is."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if nest.is_composite(value) else convert_to_tensor(value)


# ---- shapes that hold in every round -------------------------------------------------------------


def less_or_equal(shape: Shape, bound: Shape) -> bool:
    """Whether every shape that ``shape`` allows is allowed by ``bound``."""
    given, allowed = shape.sizes, bound.sizes
    if allowed is None:
        return True
    if given is None or len(given) != len(allowed):
        return False
    return all(a is None or a == g for g, a in zip(given, allowed, strict=True))


def invariant(value: Any, shape: Any = None) -> Any:
    """The shape that a loop variable has in every round.

    Args:
      value: the variable's first value.
      shape: what the user says: a TensorShape, a spec with ``shape`` and ``dtype``, or None.

    Returns:
      A shape; of a value of several tensors a list of theirs, in order.

    Raises:
      TypeError: what the user says is no shape, or a spec of another dtype.
    """
    if nest.is_composite(value):
        return _invariants_of_parts(value, shape)
    if shape is None:
        return value.shape
    dtype = getattr(shape, "dtype", None)
    if dtype is not None and hasattr(shape, "shape"):
        if value.dtype != dtype:
            raise TypeError(f"TensorSpec {shape!r} is not compatible with {value!r}")
        return shape.shape
    return shape


def _invariants_of_parts(value: Any, shape: Any) -> list[Shape]:
    if isinstance(value, CompositeTensor):
        spec = shape if isinstance(shape, TypeSpec) else value._type_spec
        return [part.shape for part in spec._component_specs]
    if shape is not None and not isinstance(shape, Shape):
        raise TypeError(f"Expected shape to be a TypeSpec or TensorShape, got {shape!r}")
    if isinstance(value, SparseTensor):
        return _sparse(value, shape)
    return _slices(value, shape)


def _sparse(value: SparseTensor, shape: Shape | None) -> list[Shape]:
    """Of a SparseTensor the user gives ``[rank]``."""
    if shape is None:
        rank = value.shape.ndims
    elif shape.ndims not in (None, 1):
        raise ValueError(
            f"the shape invariant of a SparseTensor is [rank], a shape of 1 dim; found {shape}"
        )
    else:
        rank = None if shape.sizes is None else shape.sizes[0]
    return [Shape([None, rank]), Shape([None]), Shape([rank])]


def _slices(value: IndexedSlices, shape: Shape | None) -> list[Shape]:
    """Of IndexedSlices the user gives the shape of ``values``."""
    if shape is None:
        count = value.indices.shape.merge_with(value.values.shape[:1])
        inner = value.values.shape[1:]
    else:
        count, inner = shape[:1], shape[1:]
    found = [count.concatenate(inner), count]
    if value.dense_shape is None:
        return found
    ndims = Shape([None]).concatenate(inner)
    if shape is None:
        ndims = ndims.merge_with(Shape(static.constant_value_as_shape(value.dense_shape)))
    return [*found, Shape([ndims.ndims])]


def flat_shapes(invariants: Any, count: int) -> list[Shape]:
    """Shapes in order, one a tensor.

    Raises:
      ValueError: something else than shapes, or another number of them.
    """
    flat = nest.flatten(invariants)
    if not all(isinstance(s, Shape) for s in flat):
        raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
    if len(flat) != count:
        raise ValueError(f"{count} shape invariant(s) are needed, one a tensor; found {len(flat)}")
    return flat


def tensors_of(values: Any) -> list[Tensor]:
    """All tensors of a nesting of values."""
    return nest.flatten(values, expand_composites=True)
