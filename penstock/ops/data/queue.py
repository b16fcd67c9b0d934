"""Queues in the graph: the ops that make them, put elements in and take them out.

Each op has two forms, rows of one table: version 2 names its queue by a resource handle, the older
form by a reference to a string.  The state behind both is one ``resources.queue.Queue``, shared by
container and name.  Enqueues and dequeues may wait for another step: they are *blocking*, so that
the session runs their steps where a deadline, or its closing, can end the wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from penstock.engine.resources import stores
from penstock.engine.resources.queue import Queue
from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs, scalar
from penstock.foundation.opdef.shared_state import (
    Mismatch,
    Request,
    SharedState,
    other,
    other_shapes,
    other_types,
)
from penstock.ops.strings.string_elements import stored_type

_NO_GRADIENT = "moves elements between steps"
_MANY = "component_types: list(type) >= 1"
_SHAPES = "shapes: list(shape) = []"
_SHARED = ["capacity: int = -1", 'container: string = ""', 'shared_name: string = ""']


# ---- making queues -------------------------------------------------------------------------------


def _components(attrs: dict[str, Any]) -> tuple[list[Any], list[stores.Dims]]:
    types = [stored_type(t) for t in attrs["component_types"]]
    dims = [s.sizes for s in attrs["shapes"]]
    return types, dims or [None] * len(types)


def _capacity(attrs: dict[str, Any]) -> int:
    return attrs["capacity"]


def _fifo(attrs: dict[str, Any], name: str) -> Queue:
    return Queue("FIFOQueue", name, _capacity(attrs), stores.Store(*_components(attrs)))


def _padding(attrs: dict[str, Any], name: str) -> Queue:
    store = stores.PaddingStore(*_components(attrs))
    return Queue("PaddingFIFOQueue", name, _capacity(attrs), store)


def _priority(attrs: dict[str, Any], name: str) -> Queue:
    types, dims = _components(attrs)
    store = stores.PriorityStore([torch.int64, *types], [(), *dims])
    return Queue("PriorityQueue", name, _capacity(attrs), store)


def _shuffle(attrs: dict[str, Any], name: str) -> Queue:
    seeds = [attrs["seed"], attrs["seed2"]]
    store = stores.ShuffledStore(*_components(attrs), seeds if any(seeds) else None)
    kept = attrs["min_after_dequeue"]
    capacity = _capacity(attrs)
    if kept < 0 or 0 <= capacity <= kept:
        raise errors.invalid(
            f"RandomShuffleQueue {name!r}: min_after_dequeue must be at least 0 and less than the"
            f" capacity, {capacity}; found {kept}"
        )
    return Queue("RandomShuffleQueue", name, capacity, store, kept)


def _mismatch(kind: str) -> Mismatch:
    """What queues of one name must agree on."""

    def mismatch(first: Request, asked: Request) -> str | None:
        made, wanted = first.attrs, asked.attrs
        if not first.op_type.removesuffix("V2") == asked.op_type.removesuffix("V2") == kind:
            return (
                f"Shared queue {asked.name!r} has type {first.op_type.removesuffix('V2')!r} that"
                f" does not match type of Node {asked.node!r}: {asked.op_type}"
            )
        found = other("capacity", _bound(made), _bound(wanted), asked, "queue")
        ranked = kind == "PriorityQueue"
        found = found or other_types(first, asked, "queue", "int64" * ranked)
        if not (kind == "PaddingFIFOQueue" and _compatible(made["shapes"], wanted["shapes"])):
            found = found or other_shapes(first, asked, "queue", "[]" * ranked)
        if kind == "RandomShuffleQueue":
            has, asks = made["min_after_dequeue"], wanted["min_after_dequeue"]
            found = found or other("min_after_dequeue", has, asks, asked, "queue")
            if any(_seeds(wanted)) and _seeds(made) != _seeds(wanted):  # none: any order will do
                found = found or (
                    f"Shared queue {asked.name!r} has random seeds {_seeds(made)} but requested"
                    f" seeds are {_seeds(wanted)}."
                )
        return found

    return mismatch


def _bound(attrs: Mapping[str, Any]) -> int:
    return max(attrs["capacity"], -1)


def _seeds(attrs: Mapping[str, Any]) -> tuple[int, int]:
    return attrs["seed"], attrs["seed2"]


def _compatible(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(
        a.is_compatible_with(b) for a, b in zip(first, second, strict=True)
    )


_MAKERS = [
    # op type, its own attrs, what makes the state
    ("FIFOQueue", [_MANY, _SHAPES], _fifo),
    ("PaddingFIFOQueue", [_MANY, _SHAPES], _padding),
    ("PriorityQueue", ["component_types: list(type) = []", "shapes: list(shape)"], _priority),
    ("RandomShuffleQueue", [_MANY, _SHAPES], _shuffle),
]
_SHUFFLING = ["min_after_dequeue: int = 0", "seed: int = 0", "seed2: int = 0"]
_FORMS = [
    # suffix of the op type, dtype of a handle, the shape of a made handle
    ("", "Ref(string)", lambda ctx: (2,)),
    ("V2", "resource", scalar),
]

for _name, _own, _make in _MAKERS:
    _extra = _SHUFFLING if _make is _shuffle else []
    for _suffix, _handle, _handle_shape in _FORMS:
        define_op(
            _name + _suffix,
            f"-> handle: {_handle}",
            attrs=[*_own, _SHARED[0], *_extra, *_SHARED[1:]],
            shape=_handle_shape,
            state=SharedState("queue", _make, _mismatch(_name)),
            stateful=True,
            no_gradient=_NO_GRADIENT,
        )


# ---- using them ----------------------------------------------------------------------------------


def _one_shape(ctx: ShapeContext) -> Any:
    # As in TensorFlow, the classes of `data.queues` say what is known; a handle says nothing.
    return [None] * len(ctx.attr("component_types"))


def _batch_shape(ctx: ShapeContext) -> Any:
    n = ctx.value("n")
    if n is not None and n < 0:
        raise ValueError(f"n must be at least 0; found {n}")
    return _one_shape(ctx)


def no_timeout(call: Any) -> None:
    """Refuses a time limit before anything runs, as TensorFlow; choosing the source is that early.

    Raises:
      tf.errors.InvalidArgumentError: ``timeout_ms`` is not -1.
    """
    timeout = call.attr("timeout_ms")
    if timeout != -1:
        raise errors.InvalidArgumentError(
            None,
            call.op,
            f"{call.op.type} {call.op.name!r}: Timeout not supported yet; timeout_ms is {timeout},"
            " only -1 (no time limit) is allowed",
        )


_TYPES_IN, _TYPES_OUT = "Tcomponents: list(type) >= 1", "component_types: list(type) >= 1"
_TIMEOUT = "timeout_ms: int = -1"
_USES = [
    # op type, inputs after the handle, outputs, attrs, shape rule, kernel
    ("QueueEnqueue", ", components: list(Tcomponents)", "", [_TYPES_IN, _TIMEOUT], no_outputs,
     "{handle}.enqueue({components})"),
    ("QueueEnqueueMany", ", components: list(Tcomponents)", "", [_TYPES_IN, _TIMEOUT], no_outputs,
     "{handle}.enqueue_many({components})"),
    ("QueueDequeue", "", "components: list(component_types)", [_TYPES_OUT, _TIMEOUT], _one_shape,
     "{handle}.dequeue()"),
    ("QueueDequeueMany", ", n: int32", "components: list(component_types)", [_TYPES_OUT, _TIMEOUT],
     _batch_shape, "{handle}.dequeue_many({n})"),
    ("QueueDequeueUpTo", ", n: int32", "components: list(component_types)", [_TYPES_OUT, _TIMEOUT],
     _batch_shape, "{handle}.dequeue_up_to({n})"),
]  # fmt: skip
_LOOKS = [
    # op type, outputs, attrs, shape rule, kernel, whether it changes the queue
    ("QueueClose", "", ["cancel_pending_enqueues: bool = False"], no_outputs,
     "{handle}.close({cancel_pending_enqueues})", True),
    ("QueueSize", "size: int32", [], scalar,
     "torch.tensor({handle}.size(), dtype=torch.int32)", False),
    ("QueueIsClosed", "is_closed: bool", [], scalar, "torch.tensor({handle}.closed)", False),
]  # fmt: skip

for _suffix, _handle, _ in _FORMS:
    for _name, _inputs, _outputs, _attrs, _shape, _kernel in _USES:
        define_op(
            _name + _suffix,
            f"handle: {_handle}{_inputs} -> {_outputs}".strip(),
            attrs=_attrs,
            shape=_shape,
            kernel=_kernel,
            inline=no_timeout,
            host=("n",) if "n: int32" in _inputs else (),
            writes=("handle",),
            stateful=_suffix == "V2",
            blocking=True,
            no_gradient=_NO_GRADIENT,
        )
    for _name, _outputs, _attrs, _shape, _kernel, _changes in _LOOKS:
        define_op(
            _name + _suffix,
            f"handle: {_handle} -> {_outputs}".strip(),
            attrs=_attrs,
            shape=_shape,
            kernel=_kernel,
            writes=("handle",) if _changes else (),
            reads=() if _changes else ("handle",),
            stateful=_suffix == "V2",
            # Closing waits for the enqueues that came before it.
            blocking=_changes,
            no_gradient=_NO_GRADIENT,
        )


# ---- in two parts, for steps that take from queues as well (`passes.blocking`) -------------------

for _suffix, _handle, _ in _FORMS:
    define_op(
        f"_QueueStartClose{_suffix}",
        f"handle: {_handle} -> ticket: variant",
        attrs=["cancel_pending_enqueues: bool = False"],
        shape=scalar,
        kernel="{handle}.start_close({cancel_pending_enqueues})",
        writes=("handle",),
        stateful=True,
        internal=True,
        no_gradient=_NO_GRADIENT,
    )
for _name in ("Enqueue", "EnqueueMany"):
    for _suffix, _handle, _ in _FORMS:
        _method = "start_enqueue_many" if _name == "EnqueueMany" else "start_enqueue"
        define_op(
            f"_QueueStart{_name}{_suffix}",
            f"handle: {_handle}, components: list(Tcomponents) -> ticket: variant",
            attrs=[_TYPES_IN],
            shape=scalar,
            kernel=f"{{handle}}.{_method}({{components}})",
            writes=("handle",),
            stateful=True,
            internal=True,
            no_gradient=_NO_GRADIENT,
        )
define_op(
    "_Settle",
    "ticket: variant ->",
    shape=no_outputs,
    kernel="{ticket}.settle()",
    stateful=True,
    effect=True,
    blocking=True,
    internal=True,
    no_gradient=_NO_GRADIENT,
)
