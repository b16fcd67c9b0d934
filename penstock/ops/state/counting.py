"""Counting in a variable, up to a limit: CountUpTo."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import errors, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import (
    ShapeContext,
)
from penstock.ops.state.state import UPDATE, is_reference, state_dims


def _count(ref: Any, limit: int) -> torch.Tensor:
    with ref.lock:
        value = ref.value
        if int(value) >= limit:
            raise errors.OutOfRangeError(None, None, f"reached the limit of {limit}")
        before = value.clone()
        value.add_(1)
        return before


def _count_resource(resource: Any, limit: int) -> torch.Tensor:
    return _count(resource, limit)


def _scalar_state(ctx: ShapeContext, dims: Any) -> tuple[int, ...]:
    if dims:
        raise ValueError(f"the variable must be a scalar; found {shapes.format_static(dims)}")
    return ()


define_op(
    "CountUpTo",
    "ref: Ref(T) -> output: T",
    attrs=["limit: int", "T: {int32, int64}"],
    shape=lambda ctx: _scalar_state(ctx, ctx["ref"]),
    kernel=_count,
    writes=("ref",),
    no_gradient=UPDATE,
)


define_op(
    "ResourceCountUpTo",
    "resource: resource -> output: T",
    attrs=["limit: int", "T: {int32, int64}"],
    shape=lambda ctx: _scalar_state(ctx, state_dims(ctx.tensor("resource"))),
    kernel=_count_resource,
    writes=("resource",),
    stateful=True,
    no_gradient=UPDATE,
)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """Increments a scalar integer variable, up to ``limit``.

    Args:
      ref: an int32 or int64 scalar Variable.
      limit: running the result when the variable has reached it raises OutOfRangeError.

    Returns:
      The value before the increment.
    """
    if is_reference(ref):
        return make("CountUpTo", ref, name=name, limit=limit)
    return make("ResourceCountUpTo", ref.handle, name=name, limit=limit, T=ref.dtype)
