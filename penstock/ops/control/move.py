"""``_Move``: a value in the memory of another device of the same task.

Only ``codegen.moves`` makes it.  ``memory`` is torch's name of the device, "cuda:0", or "" for the
host.  Bytes that go to a GPU are copied to pinned memory first and travel on a stream of their own,
beside the kernels that run there meanwhile; what uses them waits for that stream alone.

State: that stream, one for each GPU.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import same_as


@cache
def _stream_to(memory: str) -> Any:
    return torch.cuda.Stream(torch.device(memory))


def move(value: torch.Tensor | None, memory: str) -> torch.Tensor | None:
    """A copy of a tensor in another memory; always memory of its own.

    Args:
      value: where it is now; None, in a branch that was not taken, is None everywhere.
      memory: "cuda:0" and the like, or "" for the host.
    """
    if value is None:
        return None
    if value.device.type != "cpu" or not memory.startswith("cuda"):
        return value.to(memory or "cpu", copy=True)
    stream = _stream_to(memory)
    with torch.cuda.stream(stream):
        # The pinned copy is ours: what is moved may be overwritten as soon as this returns.
        moved = value.pin_memory().to(memory, non_blocking=True)
    using = torch.cuda.current_stream(memory)
    using.wait_stream(stream)
    moved.record_stream(using)
    return moved


define_op(
    "_Move",
    "value: T -> output: T",
    attrs=["T: type", "memory: string"],
    shape=same_as("value"),
    kernel=move,
    no_gradient="made by passes only, after gradients are built",
    stateful=True,  # neither folded nor merged: its place is where its input is read
    internal=True,
)
