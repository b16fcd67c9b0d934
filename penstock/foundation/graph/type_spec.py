"""``tf.TypeSpec``: what is known of a value before it is there, and the spec of a tensor.

A spec serializes into a nesting of plain values, shapes, dtypes and specs.  Equality, the hash,
compatibility and the common type of two specs follow from that, so a class of specs says only what
it is made of, and how a value of it goes to tensors and back.

``flat``, ``to_flat``, ``from_flat`` and ``to_slices`` say how a value travels through the nodes of
datasets; by default as the tensors of its components.

State: the functions that find the spec of values of other classes, of the process.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import nest
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.parted import PartedSpec
from penstock.foundation.graph.tensor import Tensor


class TypeSpec(PartedSpec, abc.ABC):
    """What is known of a value that a program takes or returns: its class, shapes and dtypes.

    Subclasses have ``value_type``, ``_serialize`` (the arguments that make an equal spec),
    ``_component_specs`` (a nesting of specs), ``_to_components`` and ``_from_components``.

    >>> tf.SparseTensorSpec([None, 3], tf.int32).is_compatible_with(
    ...     tf.SparseTensor([[0, 1]], [5], [2, 3])
    ... )
    True
    """

    __slots__ = ()

    @property
    @abc.abstractmethod
    def value_type(self) -> Any:
        """The class of its values."""

    @abc.abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """A nesting of tuples of what makes an equal spec."""

    @property
    @abc.abstractmethod
    def _component_specs(self) -> Any:
        """A nesting of the specs of a value's components."""

    @abc.abstractmethod
    def _to_components(self, value: Any) -> Any:
        """The components of a value, nested as ``_component_specs``."""

    @abc.abstractmethod
    def _from_components(self, components: Any) -> Any:
        """The value of components."""

    @classmethod
    def _deserialize(cls, serialization: Any) -> Any:
        """The spec that ``_serialize`` wrote."""
        return cls(*serialization)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or each value of a spec, may be one of this spec."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            try:
                other = type_spec_from_value(other)
            except TypeError:
                return False
        return type(self) is type(other) and _compatible(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The spec of what may be of either.

        Raises:
          ValueError: there is none: the classes, dtypes or ranks of components differ.
        """
        if type(self) is not type(other):
            raise ValueError(
                f"No TypeSpec is compatible with both {self} and {other}: their classes differ"
            )
        return self._deserialize(_common(self._serialize(), other._serialize()))

    # ---- as a list of tensors

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return nest.flatten(self._component_specs, expand_composites=True)

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        """The tensors of a value's components.

        Raises:
          ValueError: the value is not one of this spec.
        """
        if not self.is_compatible_with(value):
            raise ValueError(f"{value!r} is not compatible with {self}")
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        """The value of components' tensors.

        Raises:
          ValueError: their number, dtypes or shapes do not fit.
        """
        wanted = self._flat_tensor_specs
        if len(tensor_list) != len(wanted):
            raise ValueError(
                f"Incompatible input: wrong number of tensors: {len(wanted)} are wanted for {self};"
                f" found {len(tensor_list)}"
            )
        for number, (found, spec) in enumerate(zip(tensor_list, wanted, strict=True)):
            if not spec.is_compatible_with(found):
                raise ValueError(
                    f"Incompatible input: tensor {number} ({found}) is incompatible with {spec}"
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        parts = nest.pack_sequence_as(self._component_specs, tensor_list, expand_composites=True)
        return self._from_components(parts)

    def nest_parts(self) -> list[Any] | None:
        return [self._component_specs]

    def nest_like(self, parts: Sequence[Any]) -> Any:
        return self._from_components(parts[0])

    def nest_match(self, first: Any, second: Any) -> None:
        one, other = (
            value if isinstance(value, TypeSpec) else type_spec_from_value(value)
            for value in (first, second)
        )
        one.most_specific_compatible_type(other)

    # ---- in datasets

    def flat(self) -> list[tuple[dtypes.DType, shapes.TensorShape]]:
        """Types and shapes of the tensors that carry a value."""
        return [(spec.dtype, spec.shape) for spec in self._flat_tensor_specs]

    def to_flat(self, value: Any) -> list[Tensor]:
        """The tensors that carry a value."""
        return self._to_tensor_list(value)

    def from_flat(self, tensors: Sequence[Any]) -> Any:
        """The value that tensors carry."""
        return self._from_compatible_tensor_list(tensors)

    def to_slices(self, value: Any) -> list[Tensor]:
        """The tensors whose slices carry the slices of a value."""
        raise NotImplementedError(f"values of {self} have no slices")

    def with_shape(self, shape: Any) -> Any:
        """The same for another shape."""
        raise NotImplementedError(f"values of {self} cannot be batched")

    # ---- as a value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))

    def _key(self) -> Any:
        return _comparable(self._serialize(), type(self).__name__)

    def __reduce__(self) -> Any:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


def _compatible(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(_compatible, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_compatible(one[k], other[k]) for k in one)
    if isinstance(one, TypeSpec | shapes.TensorShape | dtypes.DType):
        return bool(one.is_compatible_with(other))
    return bool(one == other)


def _common(one: Any, other: Any) -> Any:
    """What holds for both of two serialized specs, or for parts of them."""
    if type(one) is type(other):
        if isinstance(one, tuple) and len(one) == len(other):
            return tuple(map(_common, one, other))
        if isinstance(one, dict) and one.keys() == other.keys():
            return {key: _common(one[key], other[key]) for key in sorted(one)}
        if isinstance(one, shapes.TensorShape):
            return one.most_specific_compatible_shape(other)
        if isinstance(one, TypeSpec):
            return one.most_specific_compatible_type(other)
        if not isinstance(one, tuple | dict) and one == other:
            return one
    raise ValueError(f"Types are not compatible: {one!r} vs {other!r}")


def _comparable(value: Any, owner: str) -> Any:
    """A serialized spec as a nesting of tuples that has a hash."""
    if value is None or isinstance(value, int | float | str | bytes | dtypes.DType | TypeSpec):
        return value
    if isinstance(value, dict):
        return tuple((key, _comparable(value[key], owner)) for key in sorted(value))
    if isinstance(value, tuple):
        return tuple(_comparable(part, owner) for part in value)
    if isinstance(value, shapes.TensorShape):
        return "shape", value.sizes
    if isinstance(value, np.ndarray):
        return "array", value.shape, tuple(value.ravel().tolist())
    raise ValueError(
        f"Unsupported value type {type(value).__name__} returned by {owner}._serialize"
    )


class TensorSpec(TypeSpec):
    """Shape and dtype of a tensor.

    Args:
      shape: anything that makes a TensorShape.
      dtype: element type.
      name: a name, or None.

    >>> tf.TensorSpec([None, 2], tf.int32).is_compatible_with(tf.zeros([3, 2], tf.int32))
    True
    """

    __slots__ = ("_shape", "_dtype", "_name")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self._shape, self._dtype, self._name = shapes.as_shape(shape), dtypes.as_dtype(dtype), name

    @property
    def shape(self) -> shapes.TensorShape:
        """The shape."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The element type."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name."""
        return self._name

    @property
    def value_type(self) -> Any:
        """The class of its values."""
        return Tensor

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """A copy, with another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor or spec has this dtype and a shape that fits."""
        other = spec_or_tensor
        return bool(
            isinstance(other, TensorSpec | Tensor)
            and self._dtype.is_compatible_with(other.dtype)
            and self._shape.is_compatible_with(other.shape)
        )

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The spec of what may be either.

        Raises:
          ValueError: the dtypes differ.
        """
        if type(other) is not type(self) or other.dtype is not self._dtype:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return type(self)(self._shape.most_specific_compatible_shape(other.shape), self._dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Any) -> Any:
        return convert_to_tensor(value, self._dtype)

    def _from_components(self, components: Any) -> Any:
        return components

    def nest_parts(self) -> list[Any] | None:
        return None

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [self]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        return tensor_list[0]

    def to_flat(self, value: Any) -> list[Tensor]:
        return [value]

    def to_slices(self, value: Any) -> list[Tensor]:
        return [value]

    def with_shape(self, shape: Any) -> Any:
        return type(self)(shape, self._dtype)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class VariantSpec(TypeSpec):
    """What a variant tensor stands for: a base for specs of datasets and optional values.

    Args:
      shape: of the tensor of variants.
    """

    __slots__ = ("_shape",)

    def __init__(self, shape: Any = ()) -> None:
        self._shape = shapes.as_shape(shape)

    @property
    def shape(self) -> shapes.TensorShape:
        """The shape of the tensor of variants."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the tensor: variant."""
        return dtypes.variant

    @property
    def _component_specs(self) -> Any:
        return TensorSpec(self._shape, dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._variant_tensor

    def to_flat(self, value: Any) -> list[Tensor]:
        return [value._variant_tensor]


# ---- from values ---------------------------------------------------------------------------------

_converters: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec], allow_subclass: bool = False
) -> None:
    """Says how the spec of values of a class is found; what was said last counts.

    Args:
      type_object: the class.
      converter_fn: takes a value, returns its spec.
      allow_subclass: whether it is for subclasses as well.
    """
    _converters.append((type_object, converter_fn, allow_subclass))


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, a composite tensor or what becomes a tensor.

    Raises:
      TypeError: the value is none of these.
    """
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    for kind, converter, allow_subclass in reversed(_converters):
        if type(value) is kind or (allow_subclass and isinstance(value, kind)):
            made: TypeSpec = converter(value)
            return made
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype)
