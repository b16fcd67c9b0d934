"""Collective ops: what the tasks of a group compute together; see ``resources.collective``.

A node runs on every task of its group, at the same time and in the same order; its ``instance_key``
says which of the group's collectives it is.  A task takes part once: replicas in one task are
brought together by ordinary nodes first.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.engine.resources import collective
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, first_input, from_attr

_NO_GRADIENT = "TensorFlow has none: gradients are reduced, not what computes them"
_GROUP = [
    "T: {float, half, double, int32, int64}",
    "group_size: int",
    "group_key: int",
    "instance_key: int",
]
_HINT = 'communication_hint: string = "auto"'
_TRAITS: dict[str, Any] = {"stateful": True, "effect": True, "blocking": True}


def _reduce(
    input: torch.Tensor, group_size: int, group_key: int, instance_key: int, merge_op: str,
    final_op: str,
) -> torch.Tensor:  # fmt: skip
    return collective.reduce(
        input, group_size, group_key, instance_key, merge_op, final_op == "Div"
    )


def _send(input: torch.Tensor, group_size: int, group_key: int, instance_key: int) -> torch.Tensor:
    return collective.broadcast(input, group_size, group_key, instance_key, True)


def _receive(
    T: torch.dtype, group_size: int, group_key: int, instance_key: int, shape: tuple[int, ...]
) -> torch.Tensor:
    empty = torch.empty(shape, dtype=T)
    return collective.broadcast(empty, group_size, group_key, instance_key, False)


def _gather(
    input: torch.Tensor, group_size: int, group_key: int, instance_key: int
) -> torch.Tensor:
    return collective.gather(input, group_size, group_key, instance_key)


def _gathered_shape(ctx: ShapeContext) -> Any:
    dims = ctx["input"]
    if dims is None:
        return None
    if not dims:
        raise ValueError("a scalar cannot be gathered along its first dim")
    first = dims[0]
    return (None if first is None else first * ctx.attr("group_size"), *dims[1:])


define_op(
    "CollectiveReduce",
    "input: T -> data: T",
    attrs=[
        *_GROUP,
        'merge_op: {"Min", "Max", "Mul", "Add"}',
        'final_op: {"Id", "Div"}',
        "subdiv_offsets: list(int)",
        "wait_for: list(int) = []",
        _HINT,
    ],
    shape=first_input,
    kernel=_reduce,
    no_gradient=_NO_GRADIENT,
    **_TRAITS,
    role="collective",
)
define_op(
    "CollectiveBcastSend",
    "input: T -> data: T",
    attrs=[*_GROUP, "shape: shape", _HINT],
    shape=first_input,
    kernel=_send,
    aliases=("input",),
    no_gradient=_NO_GRADIENT,
    **_TRAITS,
    role="collective",
)
define_op(
    "CollectiveBcastRecv",
    "-> data: T",
    attrs=[*_GROUP, "shape: shape", _HINT],
    shape=from_attr(),
    kernel=_receive,
    no_gradient=_NO_GRADIENT,
    **_TRAITS,
    role="collective",
)
define_op(
    "CollectiveGather",
    "input: T -> data: T",
    attrs=[*_GROUP, "shape: shape", _HINT],
    shape=_gathered_shape,
    kernel=_gather,
    no_gradient=_NO_GRADIENT,
    **_TRAITS,
    role="collective",
)
