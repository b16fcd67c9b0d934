"""Barriers in the graph: elements put together by key; the state is ``resources.barrier.Barrier``.

Taking may wait for another step: it is *blocking*.  ``wait_for_incomplete`` is accepted and changes
nothing, as in TensorFlow: a take that wants all its elements waits for incomplete ones anyway, and
one that allows a small batch never does once the barrier is closed.
"""

from __future__ import annotations

from typing import Any

from penstock.engine.resources.barrier import Barrier
from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs, scalar
from penstock.foundation.opdef.shared_state import Request, SharedState, other_shapes, other_types
from penstock.ops.data.queue import no_timeout
from penstock.ops.strings.string_elements import stored_type

_NO_GRADIENT = "moves elements between steps"


def _make_state(attrs: dict[str, Any], name: str) -> Barrier:
    types = [stored_type(t) for t in attrs["component_types"]]
    # A shape that is not declared is a scalar's.
    dims = [() if s.sizes is None else s.sizes for s in attrs["shapes"]]
    if attrs["capacity"] != -1:
        _refuse(name, f"only capacity -1 (no bound) is allowed; found {attrs['capacity']}")
    if len(dims) != len(types) or any(None in shape for shape in dims):
        _refuse(name, f"the shapes of {len(types)} component(s) must be specified; found {dims}")
    return Barrier(name, types, dims)


def _mismatch(first: Request, asked: Request) -> str | None:
    return other_types(first, asked, "barrier") or other_shapes(first, asked, "barrier")


def _refuse(name: str, why: str) -> None:
    raise errors.invalid(f"Barrier {name!r}: {why}")


define_op(
    "Barrier",
    "-> handle: Ref(string)",
    attrs=[
        "component_types: list(type) >= 1",
        "shapes: list(shape) = []",
        "capacity: int = -1",
        'container: string = ""',
        'shared_name: string = ""',
    ],
    shape=lambda ctx: (2,),
    state=SharedState("barrier", _make_state, _mismatch),
    stateful=True,
    no_gradient=_NO_GRADIENT,
)


def _insert_shape(ctx: ShapeContext) -> Any:
    keys, values = ctx["keys"], ctx["values"]
    ctx.rank("keys", 1)
    ctx.rank_at_least("values", 1)
    if keys is not None and values is not None and None not in (keys[0], values[0]):
        if keys[0] != values[0]:
            raise ValueError(f"{keys[0]} key(s) need as many rows of values; found {values[0]}")
    return no_outputs(ctx)


def _insert(handle: Barrier, keys: Any, values: Any, component_index: int) -> None:
    handle.insert_many(component_index, keys, values)


def _take_shape(ctx: ShapeContext) -> Any:
    return [None] * (2 + len(ctx.attr("component_types")))


define_op(
    "BarrierInsertMany",
    "handle: Ref(string), keys: string, values: T ->",
    attrs=["T: type", "component_index: int"],
    shape=_insert_shape,
    kernel=_insert,
    writes=("handle",),
    no_gradient=_NO_GRADIENT,
)
define_op(
    "BarrierTakeMany",
    "handle: Ref(string), num_elements: int32"
    " -> indices: int64, keys: string, values: list(component_types)",
    attrs=[
        "component_types: list(type) >= 1",
        "allow_small_batch: bool = False",
        "wait_for_incomplete: bool = False",
        "timeout_ms: int = -1",
    ],
    shape=_take_shape,
    kernel="{handle}.take_many({num_elements}, {allow_small_batch})",
    inline=no_timeout,
    host=("num_elements",),
    writes=("handle",),
    blocking=True,
    no_gradient=_NO_GRADIENT,
)
define_op(
    "BarrierClose",
    "handle: Ref(string) ->",
    attrs=["cancel_pending_enqueues: bool = False"],
    shape=no_outputs,
    kernel="{handle}.close({cancel_pending_enqueues})",
    writes=("handle",),
    no_gradient=_NO_GRADIENT,
)
for _name, _method in (
    ("BarrierReadySize", "ready_size"),
    ("BarrierIncompleteSize", "incomplete_size"),
):
    define_op(
        _name,
        "handle: Ref(string) -> size: int32",
        shape=scalar,
        kernel=f"torch.tensor({{handle}}.{_method}(), dtype=torch.int32)",
        reads=("handle",),
        no_gradient=_NO_GRADIENT,
    )
