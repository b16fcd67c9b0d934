"""Iterators in the graph: handles, initialization, the next element, string handles, positions.

An iterator's handle stands for a ``resources.dataset.holder.IteratorHolder``, shared by container
and name; one that comes from a string is looked up when the step runs.  A one-shot iterator has the
function that makes its dataset as an attr.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.engine.resources.dataset import holder
from penstock.engine.resources.dataset.base import Context
from penstock.foundation.base import dtypes, errors, shapes
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, no_outputs, scalar, show
from penstock.foundation.opdef.shared_state import Request, SharedState
from penstock.ops.data.dataset import TYPES, element_dims

_REASON = "positions in a dataset are no numbers"


def _types(attrs: dict[str, Any]) -> list[Any]:
    return [
        object
        if t in (dtypes.string, dtypes.variant, dtypes.resource)
        else getattr(torch, dtypes.stored_as(t).name)
        for t in attrs["output_types"]
    ]


def _holder(attrs: dict[str, Any], name: str) -> holder.IteratorHolder:
    return holder.IteratorHolder(name, _types(attrs), attrs["output_shapes"])


def _one_shot(attrs: dict[str, Any], name: str) -> holder.IteratorHolder:
    factory = attrs["dataset_factory"]

    def make() -> Any:
        return Context().function(factory)()[0]

    return holder.IteratorHolder(name, _types(attrs), attrs["output_shapes"], make)


def _mismatch(first: Request, asked: Request) -> str | None:
    has, wanted = first.attrs["output_types"], asked.attrs["output_types"]
    if list(has) != list(wanted):
        found = [t.name for t in has], [t.name for t in wanted]
        return f"Data type mismatch of iterator {asked.name!r}: it has {found[0]}, not {found[1]}"
    shapes = first.attrs["output_shapes"], asked.attrs["output_shapes"]
    if not all(a.is_compatible_with(b) for a, b in zip(*shapes, strict=True)):
        return (
            f"Incompatible shapes of iterator {asked.name!r}: it has {shapes[0]}, not {shapes[1]}"
        )
    return None


for _name in ("IteratorV2", "Iterator"):
    define_op(
        _name,
        "-> handle: resource",
        attrs=["shared_name: string", "container: string", *TYPES],
        shape=scalar,
        state=SharedState("iterator", _holder, _mismatch),
        stateful=True,
        no_gradient=_REASON,
    )
define_op(
    "OneShotIterator",
    "-> handle: resource",
    attrs=[
        "dataset_factory: func",
        *TYPES,
        'container: string = ""',
        'shared_name: string = ""',
    ],
    shape=scalar,
    state=SharedState("iterator", _one_shot, _mismatch),
    stateful=True,
    no_gradient=_REASON,
)


def _from_string(string_handle: Any, output_types: list[Any], output_shapes: list[Dims]) -> Any:
    found = holder.find(string_handle.item())
    if output_types and len(output_types) != len(found.types):
        raise errors.invalid(
            f"Number of components does not match: expected {len(output_types)} types but got"
            f" {len(found.types)}: iterator {found.name!r} gives {_names(found.types)}"
        )
    if output_types and list(output_types) != found.types:
        raise errors.invalid(
            f"Data type mismatch: iterator {found.name!r} gives elements of types"
            f" {_names(found.types)}; its handle was taken for one of {_names(output_types)}"
        )
    for number, (wanted, has) in enumerate(zip(output_shapes, found.shapes, strict=False)):
        if not shapes.from_static(wanted).is_compatible_with(has):
            raise errors.invalid(
                f"Incompatible shapes at component {number}: expected {show(wanted)} but got"
                f" {show(has.sizes)}: the shape of what iterator {found.name!r} gives"
            )
    return found


def _names(types: Any) -> str:
    names = ["string" if t is object else str(t).removeprefix("torch.") for t in types]
    return f"[{', '.join(map(dtypes.message_name, names))}]"


for _name in ("IteratorFromStringHandleV2", "IteratorFromStringHandle"):
    define_op(
        _name,
        "string_handle: string -> resource_handle: resource",
        attrs=["output_types: list(type) = []", "output_shapes: list(shape) = []"],
        shape=scalar,
        kernel=_from_string,
        stateful=True,
        no_gradient=_REASON,
    )


def _handle(resource_handle: Any) -> Any:
    return np.array(resource_handle.handle, object)


def _get_next(iterator: Any) -> Any:
    return iterator.next()


def _make(dataset: Any, iterator: Any) -> None:
    iterator.initialize(dataset)


def _serialize(resource_handle: Any) -> Any:
    return np.array(resource_handle.save(), object)


def _deserialize(resource_handle: Any, serialized: Any) -> None:
    resource_handle.restore(serialized.item())


define_op(
    "MakeIterator",
    "dataset: variant, iterator: resource ->",
    shape=no_outputs,
    kernel=_make,
    writes=("iterator",),
    stateful=True,
    blocking=True,
    no_gradient=_REASON,
)
for _name in ("IteratorGetNext", "IteratorGetNextSync"):
    define_op(
        _name,
        "iterator: resource -> components: list(output_types)",
        attrs=TYPES,
        shape=element_dims,
        kernel=_get_next,
        writes=("iterator",),
        stateful=True,
        blocking=True,
        no_gradient=_REASON,
    )
define_op(
    "IteratorToStringHandle",
    "resource_handle: resource -> string_handle: string",
    shape=scalar,
    kernel=_handle,
    reads=("resource_handle",),
    stateful=True,
    no_gradient=_REASON,
)
define_op(
    "SerializeIterator",
    "resource_handle: resource -> serialized: variant",
    shape=scalar,
    kernel=_serialize,
    reads=("resource_handle",),
    stateful=True,
    blocking=True,
    no_gradient=_REASON,
    later=["external_state_policy: int"],
)
define_op(
    "DeserializeIterator",
    "resource_handle: resource, serialized: variant ->",
    shape=no_outputs,
    kernel=_deserialize,
    writes=("resource_handle",),
    stateful=True,
    blocking=True,
    no_gradient=_REASON,
)
