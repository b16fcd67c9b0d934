"""What an element of a dataset is made of: specs, and nestings of them.

A nesting is of tuples, namedtuples and dicts (keys in order); a list is one tensor.  A spec says of
one leaf which tensors carry it through the dataset's node: a dense tensor itself, a sparse tensor
packed into a variant, a dataset its variant, a TensorArray that is a list its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.composite import CompositeTensor, SparseTensor, SparseTensorValue
from penstock.foundation.graph.composite_specs import SparseTensorSpec as SparseTensorSpec
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TensorSpec as TensorSpec, VariantSpec
from penstock.library.control_flow.tensor_array import TensorArray, TensorArraySpec

# ---- nestings ------------------------------------------------------------------------------------


def is_nested(value: Any) -> bool:
    """Whether a value has parts of its own."""
    return isinstance(value, tuple | Mapping) and not isinstance(value, SparseTensorValue)


def flatten(value: Any) -> list[Any]:
    """The leaves in order; those of a dict in the order of its sorted keys."""
    return list(_leaves(value))


def _leaves(value: Any) -> Iterator[Any]:
    if not is_nested(value):
        yield value
        return
    parts = [value[k] for k in sorted(value)] if isinstance(value, Mapping) else value
    for part in parts:
        yield from _leaves(part)


def pack(structure: Any, flat: Sequence[Any]) -> Any:
    """A nesting as ``structure`` of other leaves."""
    return _packed(structure, iter(flat))


def _packed(structure: Any, flat: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(flat)
    if isinstance(structure, Mapping):
        made = {key: _packed(structure[key], flat) for key in sorted(structure)}
        return type(structure)((key, made[key]) for key in structure)  # type: ignore[call-arg]
    parts = [_packed(part, flat) for part in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)


def map_leaves(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """A nesting of what ``function`` makes of the leaves of nestings of one form."""
    columns = [flatten(structure), *(flatten_as(structure, other) for other in others)]
    return pack(structure, [function(*leaves) for leaves in zip(*columns, strict=True)])


def flatten_as(structure: Any, value: Any) -> list[Any]:
    """The leaves of ``value``, whose nesting is that of ``structure``.

    Raises:
      TypeError, ValueError: the nestings differ.
    """
    if not is_nested(structure):
        return [value]
    if isinstance(structure, Mapping):
        if not isinstance(value, Mapping):
            raise TypeError(f"a dict like {structure!r} is wanted; found {value!r}")
        if set(structure) != set(value):
            raise ValueError(f"keys differ: {sorted(structure)} are wanted; found {sorted(value)}")
        pairs = [(structure[k], value[k]) for k in sorted(structure)]
    else:
        if not isinstance(value, tuple | list):
            raise TypeError(f"a tuple like {structure!r} is wanted; found {value!r}")
        if len(structure) != len(value):
            raise ValueError(
                f"{len(structure)} parts are wanted, as in {structure!r}; found {len(value)}"
            )
        pairs = list(zip(structure, value, strict=True))
    return [leaf for inner, part in pairs for leaf in flatten_as(inner, part)]


# ---- specs ---------------------------------------------------------------------------------------


def unbatched(spec: Any) -> Any:
    """The spec of a slice along the first dim."""
    dims = spec.shape.sizes
    return spec.with_shape(None if dims is None else dims[1:])


def batched(spec: Any, size: int | None) -> Any:
    """The spec of a batch."""
    return spec.with_shape(shapes.TensorShape([size]).concatenate(spec.shape))


# ---- values and specs ----------------------------------------------------------------------------


def normalized(element: Any) -> Any:
    """An element with its leaves made tensors, sparse tensors or datasets."""
    with name_scope("normalize_element"):
        flat = flatten(element)
        return pack(element, [leaf(v, f"component_{i}") for i, v in enumerate(flat)])


def leaf(value: Any, name: str) -> Any:
    if isinstance(value, SparseTensor | SparseTensorValue):
        return SparseTensor.from_value(value)
    if isinstance(value, CompositeTensor | TensorArray):
        return value
    return value if hasattr(value, "_variant_tensor") else convert_to_tensor(value, name=name)


def spec_of(value: Any) -> Any:
    """The spec, or nesting of specs, of a value whose leaves are normalized."""
    return map_leaves(_spec_of_leaf, value)


def _spec_of_leaf(value: Any) -> Any:
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, TensorArray):
        return TensorArraySpec.from_value(value)
    if hasattr(value, "_variant_tensor"):
        return value.own_spec()
    return TensorSpec(value.shape, value.dtype.base_dtype)


def are_compatible(structure: Any, other: Any) -> bool:
    """Whether nestings of specs have one form, and specs that fit."""
    try:
        pairs = list(zip(flatten(structure), flatten_as(structure, other), strict=True))
    except (TypeError, ValueError):
        return False
    return all(one.is_compatible_with(theirs) for one, theirs in pairs)


def to_flat(structure: Any, value: Any) -> list[Tensor]:
    """The tensors that carry a nesting of values."""
    leaves = zip(flatten(structure), flatten_as(structure, value), strict=True)
    return [tensor for spec, leaf in leaves for tensor in spec.to_flat(leaf)]


def from_flat(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """The nesting of values that tensors carry."""
    rest = list(tensors)
    made = []
    for spec in flatten(structure):
        count = len(spec.flat())
        made.append(spec.from_flat(rest[:count]))
        del rest[:count]
    if rest:
        raise ValueError(f"{len(tensors)} tensors are too many for {structure!r}")
    return pack(structure, made)


def flat_types(structure: Any) -> list[dtypes.DType]:
    """Dtypes of the tensors that carry an element."""
    return [dtype for spec in flatten(structure) for dtype, _ in spec.flat()]


def flat_shapes(structure: Any) -> list[shapes.TensorShape]:
    """Their shapes."""
    return [shape for spec in flatten(structure) for _, shape in spec.flat()]


# ---- the older form: types, shapes and classes apart ---------------------------------------------


def _legacy(structure: Any, part: str) -> Any:
    """A part of each spec; what has no such parts (a dataset, an optional) is its spec in each."""
    return map_leaves(
        lambda spec: spec if isinstance(spec, VariantSpec) else getattr(spec, part), structure
    )


def legacy_types(structure: Any) -> Any:
    """The nesting of dtypes."""
    return _legacy(structure, "dtype")


def legacy_shapes(structure: Any) -> Any:
    """The nesting of shapes."""
    return _legacy(structure, "shape")


def legacy_classes(structure: Any) -> Any:
    """The nesting of classes."""
    return _legacy(structure, "value_type")


def from_legacy(types: Any, given_shapes: Any = None, classes: Any = None) -> Any:
    """The nesting of specs from types, shapes (unknown where None) and classes."""
    types = map_leaves(lambda t: t if isinstance(t, VariantSpec) else dtypes.as_dtype(t), types)
    flat = flatten(types)
    dims = [None] * len(flat) if given_shapes is None else shapes_as(types, given_shapes)
    kinds = [Tensor] * len(flat) if classes is None else flatten_as(types, classes)
    specs: list[Any] = []
    for dtype, shape, kind in zip(flat, dims, kinds, strict=True):
        if isinstance(dtype, VariantSpec):
            specs.append(dtype)
        else:
            specs.append(_OF_KIND.get(kind, TensorSpec)(shape, dtype))
    return pack(types, specs)


# Class of a value -> its spec, from a shape and a dtype.
_OF_KIND: dict[Any, Callable[[Any, Any], Any]] = {
    SparseTensor: SparseTensorSpec, TensorArray: TensorArraySpec.of_legacy,
}  # fmt: skip


def shapes_as(structure: Any, value: Any) -> list[Any]:
    """Shapes in a nesting; at its leaves a tuple or list is a shape."""
    if not is_nested(structure):
        return [None if isinstance(structure, VariantSpec) else shapes.as_shape(value)]
    if isinstance(structure, Mapping):
        parts = [(structure[k], value[k]) for k in sorted(structure)]
    else:
        if not isinstance(value, tuple | list) or len(value) != len(structure):
            raise ValueError(
                f"{len(structure)} shapes are wanted, as in {structure!r}; found {value!r}"
            )
        parts = list(zip(structure, value, strict=True))
    return [shape for inner, part in parts for shape in shapes_as(inner, part)]


class Structured:
    """What datasets and iterators tell of their elements; ``structure`` nests specs."""

    structure: Any

    @property
    def element_spec(self) -> Any:
        """Nesting of specs of an element."""
        return self.structure

    @property
    def output_types(self) -> Any:
        """Nesting of dtypes of an element."""
        return legacy_types(self.structure)

    @property
    def output_shapes(self) -> Any:
        """Nesting of shapes of an element."""
        return legacy_shapes(self.structure)

    @property
    def output_classes(self) -> Any:
        """Nesting of classes of an element."""
        return legacy_classes(self.structure)
