"""``BatchFunction``: a function whose calls by several steps run as one batch.

The node gathers in ``engine.resources.batching``.  Nodes of one shared name share batches, and the
step that completes one runs the function of its own node for all of them.
"""

from __future__ import annotations

from typing import Any

from penstock.engine.resources.batching import Batcher
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext
from penstock.foundation.opdef.shared_state import SharedState


def _batcher(attrs: dict[str, Any], name: str) -> Batcher:
    return Batcher(
        attrs["shared_name"] or name,
        attrs["num_batch_threads"],
        attrs["max_batch_size"],
        attrs["batch_timeout_micros"] / 1e6,
        attrs["max_enqueued_batches"],
        attrs["allowed_batch_sizes"],
    )


def _run(state: Batcher, f: Any, in_tensors: list[Any], captured_tensors: list[Any]) -> list[Any]:
    call = f.instance()
    return state(in_tensors, lambda batch: call(*batch, *captured_tensors))


def _refuse_gradient(op: Any, *grads: Any) -> Any:
    raise LookupError(
        f"No gradient defined for operation {op.name!r} (op type: {op.type}): the rows of a batch"
        " are other steps' as well"
    )


def _unknown(ctx: ShapeContext) -> Any:
    return [None] * len(ctx.attr("Tout"))


define_op(
    "BatchFunction",
    "in_tensors: list(Tin), captured_tensors: list(Tcaptured) -> out_tensors: list(Tout)",
    attrs=[
        "f: func", "num_batch_threads: int", "max_batch_size: int", "batch_timeout_micros: int",
        "max_enqueued_batches: int = 10", "allowed_batch_sizes: list(int) = []",
        'container: string = ""', 'shared_name: string = ""', 'batching_queue: string = ""',
        "Tin: list(type) >= 1", "Tcaptured: list(type)", "Tout: list(type) >= 1",
    ],
    later=[
        "low_priority_max_batch_size: int = 0", "low_priority_batch_timeout_micros: int = 0",
        "low_priority_allowed_batch_sizes: list(int) = []",
        "low_priority_max_enqueued_batches: int = 0",
        'mixed_priority_policy: string = "low_priority_padding_with_max_batch_size"',
        'batch_padding_policy: string = "PAD_UP"', "enable_large_batch_splitting: bool = False",
    ],
    shape=_unknown,
    kernel=_run,
    state=SharedState("batches", _batcher, outputs_are_values=True),
    stateful=True,
    effect=True,
    blocking=True,
    gradient=_refuse_gradient,
)  # fmt: skip
