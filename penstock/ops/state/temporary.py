"""State that ends: temporary variables, and variables that are destroyed."""

from __future__ import annotations

from typing import Any

import torch

from penstock.engine.resources.temporary import TemporaryVariable
from penstock.foundation.base import dtypes, errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import (
    first_input,
    from_attr,
    no_outputs,
)
from penstock.ops.state.state import STATE, UPDATE


def _destroy(resource: Any, ignore_lookup_error: bool) -> None:
    with resource.lock:
        if resource.initialized:
            del resource.value
        elif not ignore_lookup_error:
            raise errors.NotFoundError(None, None, f"resource {resource.name!r} does not exist")


define_op(
    "DestroyResourceOp",
    "resource: resource ->",
    attrs=["ignore_lookup_error: bool = true"],
    shape=no_outputs,
    kernel=_destroy,
    writes=("resource",),
    stateful=True,
    no_gradient=UPDATE,
)


def _destroy_temporary(ref: Any) -> torch.Tensor:
    value = ref.value.clone()
    del ref.value
    return value


def _make_temporary(attrs: dict[str, Any], name: str) -> TemporaryVariable:
    dims = attrs["shape"].sizes
    if dims is None or None in dims:
        raise ValueError(f"temporary variable {name!r} needs a fully known shape")
    kind = dtypes.stored_as(attrs["dtype"])
    return TemporaryVariable(name, dims, getattr(torch, kind.name))


define_op(
    "TemporaryVariable",
    "-> ref: Ref(dtype)",
    attrs=["shape: shape", "dtype: type", 'var_name: string = ""'],
    shape=from_attr("shape"),
    state=_make_temporary,
    stateful=True,
    no_gradient=STATE,
    moves=True,
)


define_op(
    "DestroyTemporaryVariable",
    "ref: Ref(T) -> value: T",
    attrs=["T: type", "var_name: string"],
    shape=first_input,
    kernel=_destroy_temporary,
    writes=("ref",),
    no_gradient=UPDATE,
)
