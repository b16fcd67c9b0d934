"""GatherTree: whole beams from what a beam search found in each step."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext


def _shape(ctx: ShapeContext) -> Dims:
    steps, parents = ctx.rank("step_ids", 3), ctx.rank("parent_ids", 3)
    lengths = ctx.rank("max_sequence_lengths", 1)
    ctx.rank("end_token", 0)
    if steps is not None and parents is not None:
        steps = tuple(_same(a, b) for a, b in zip(steps, parents, strict=True))
    known = steps if steps is not None else parents
    if known is None:
        return (None, None if lengths is None else lengths[0], None)
    if lengths is not None:
        return (known[0], _same(known[1], lengths[0]), known[2])
    return known


def _same(first: int | None, second: int | None) -> int | None:
    if first is not None and second is not None and first != second:
        raise ValueError(f"dims must be equal, but are {first} and {second}")
    return second if first is None else first


def _kernel(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any) -> Any:
    _check(step_ids, parent_ids, max_sequence_lengths, end_token)
    times, batch, width = step_ids.shape
    beams = end_token.expand(times, batch, width).clone()
    last = (max_sequence_lengths.clamp(max=times) - 1).to(torch.int64)[:, None]
    # Which beam of the step each beam came through, from its last step backwards.
    at = torch.arange(width, device=step_ids.device).expand(batch, width)
    for time in range(int(last.max()) if batch else -1, -1, -1):
        live = last >= time
        if bool((live & ((at < 0) | (at >= width))).any()):
            raise ValueError(f"a parent id of step {time + 1} is not in [0, {width})")
        safe = at.clamp(0, max(width - 1, 0))
        beams[time] = torch.where(live, step_ids[time].gather(1, safe), beams[time])
        at = torch.where(live, parent_ids[time].gather(1, safe).to(torch.int64), at)
    # After the first end token of a beam there are only end tokens.
    ended = (beams == end_token).to(torch.int32).cumsum(0)
    return torch.where(ended > 0, end_token, beams)


def _check(steps: Any, parents: Any, lengths: Any, end_token: Any) -> None:
    if steps.dim() != 3 or parents.shape != steps.shape:
        raise ValueError(
            "step_ids and parent_ids must have one shape [time, batch, beam], but are"
            f" {list(steps.shape)} and {list(parents.shape)}"
        )
    if list(lengths.shape) != [steps.shape[1]]:
        raise ValueError(
            f"max_sequence_lengths must have shape [{steps.shape[1]}], but has"
            f" {list(lengths.shape)}"
        )
    if end_token.dim():
        raise ValueError(f"end_token must be a scalar, but has shape {list(end_token.shape)}")


define_op(
    "GatherTree",
    "step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T -> beams: T",
    attrs=["T: {int32}"],
    shape=_shape,
    kernel=_kernel,
    no_gradient="it picks ids",
)
