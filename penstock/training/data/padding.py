"""``Dataset.padded_batch``: what shapes and values a batch is padded with."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.training.data import specs
from penstock.training.data.nodes import batch_dim, int64


def padded_batch(
    source: Any, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any
) -> tuple[Any, Any]:
    """The node, and the structure of a batch; the arguments are ``Dataset.padded_batch``'s."""
    structure = source.structure
    if any(type(s) is not specs.TensorSpec for s in specs.flatten(structure)):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    size = int64(batch_size, "batch_size")
    given = _shape_parts(structure, padded_shapes)
    leaves = specs.flatten(structure)
    wanted = [_shape_tensor(v, spec) for v, spec in zip(given, leaves, strict=True)]
    kinds = specs.flat_types(structure)
    values = [None] * len(kinds)
    if padding_values is not None:
        values = specs.flatten_as(structure, padding_values)
    padding = [_padding(v, kind) for v, kind in zip(values, kinds, strict=True)]
    whole = convert_to_tensor(drop_remainder, dtypes.bool, "drop_remainder")
    known = batch_dim(size, whole)
    dims = [static.constant_value_as_shape(t) for t in wanted]
    batch = [
        specs.TensorSpec(shapes.TensorShape([known]).concatenate(shapes.from_static(d)), kind)
        for d, kind in zip(dims, kinds, strict=True)
    ]
    result = specs.pack(structure, batch)
    variant = make(
        "PaddedBatchDatasetV2", source._variant_tensor, size, wanted, padding, whole,
        output_shapes=specs.flat_shapes(result),
    )  # fmt: skip
    return variant, result


def _shape_parts(structure: Any, given: Any) -> list[Any]:
    if not specs.is_nested(structure):
        return [given]
    if isinstance(structure, dict):
        pairs = [(structure[k], given[k]) for k in sorted(structure)]
    else:
        if len(structure) != len(given):
            raise ValueError(
                f"{len(structure)} shapes are wanted, as in {structure!r}; found {given!r}"
            )
        pairs = list(zip(structure, given, strict=True))
    return [leaf for inner, part in pairs for leaf in _shape_parts(inner, part)]


def _shape_tensor(value: Any, spec: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value if value.dtype is dtypes.int64 else make("Cast", value, DstT=dtypes.int64)
    if value is None or (isinstance(value, shapes.TensorShape) and value.ndims is None):
        raise ValueError(
            f"None values not supported.: the padded shape of a component {spec.shape} is not given"
        )
    if isinstance(value, list | tuple) and any(isinstance(d, list | tuple) for d in value):
        raise ValueError(
            f"Padded shape {value} must be a 1-D tensor of tf.int64 values, but its shape was"
            f" {np.shape(value)}."
        )
    dims = shapes.as_shape([None if d == -1 else d for d in _dims(value)])
    rank = spec.shape.ndims
    if rank is not None and dims.ndims is not None and rank != dims.ndims:
        raise ValueError(
            f"The padded shape {dims} is not compatible with the corresponding input component"
            f" shape {spec.shape}."
        )
    for wide, own in zip(dims.sizes or (), spec.shape.sizes or ()):
        if wide is not None and own is not None and wide < own:
            raise ValueError(
                f"The padded shape {dims} is not compatible with the corresponding input component"
                f" shape {spec.shape}."
            )
    sizes = [-1 if d is None else d for d in dims.sizes or ()]
    return convert_to_tensor(np.array(sizes, np.int64), dtypes.int64)


def _dims(value: Any) -> list[Any]:
    if isinstance(value, shapes.TensorShape):
        return list(value.sizes or ())
    return [getattr(d, "value", d) for d in (value if hasattr(value, "__iter__") else [value])]


def _padding(value: Any, kind: dtypes.DType) -> Tensor:
    if value is None:
        value = "" if kind is dtypes.string else np.zeros((), kind.as_numpy_dtype)
    made = convert_to_tensor(value, kind, "padding_value")
    if not made.shape.is_compatible_with([]):
        raise ValueError("Padding value should be a scalar, but is not.")
    return made
