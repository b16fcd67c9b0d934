"""Collective ops: what the tasks of a group compute together; see ``resources.collective``.

A node runs on every task of its group, at the same time and in the same order; its ``instance_key``
says which of the group's collectives it is.  A task takes part once: replicas in one task are
brought together by ordinary nodes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from penstock.engine.resources import collective
from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, first_input, from_attr

_GROUP = [
    "T: {float, half, double, int32, int64}",
    "group_size: int",
    "group_key: int",
    "instance_key: int",
]
_HINT = 'communication_hint: string = "auto"'
_TRAITS: dict[str, Any] = {
    "stateful": True, "effect": True, "blocking": True, "role": "collective",
    "no_gradient": "TensorFlow has none: gradients are reduced, not what computes them",
    "later": ["timeout_seconds: float = 0.0"],
}  # fmt: skip


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
    **_TRAITS,
)
define_op(
    "CollectiveBcastSend",
    "input: T -> data: T",
    attrs=[*_GROUP, "shape: shape", _HINT],
    shape=first_input,
    kernel=_send,
    aliases=("input",),
    **_TRAITS,
)
define_op(
    "CollectiveBcastRecv",
    "-> data: T",
    attrs=[*_GROUP, "shape: shape", _HINT],
    shape=from_attr(),
    kernel=_receive,
    **_TRAITS,
)
define_op(
    "CollectiveGather",
    "input: T -> data: T",
    attrs=[*_GROUP, "shape: shape", _HINT],
    shape=_gathered_shape,
    kernel=_gather,
    **_TRAITS,
)


# ---- functions -----------------------------------------------------------------------------------


def _check_size(function: str, group_size: int) -> None:
    if group_size <= 1:
        raise ValueError(
            f"Parameter group_size to {function} must be at least 2. Found {group_size}."
        )


def all_reduce(
    t: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: str,
    final_op: str,
    subdiv_offsets: Sequence[int] = (0,),
    communication_hint: str = "auto",
) -> Tensor:
    """What the tensors of all tasks of a group make together.

    Args:
      t: this task's tensor; all have one shape.
      group_size: how many tasks take part, at least 2.
      group_key: which group; the same in all its tasks.
      instance_key: which of the group's collectives; the same in all its tasks.
      merge_op: "Add", "Mul", "Min" or "Max".
      final_op: "Id", or "Div" for a division by ``group_size``.
      subdiv_offsets, communication_hint: taken for TensorFlow's sake; they are attrs of the node.

    Raises:
      ValueError: for a group of one.
    """
    _check_size("all_reduce", group_size)
    made: Tensor = make(
        "CollectiveReduce", t, group_size=group_size, group_key=group_key,
        instance_key=instance_key, merge_op=merge_op, final_op=final_op,
        subdiv_offsets=list(subdiv_offsets), communication_hint=communication_hint.lower(),
    )  # fmt: skip
    return made


def all_gather(
    t: Any, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto"
) -> Tensor:
    """The tensors of all tasks of a group, one behind the other along the first dim.

    Args:
      t: this task's tensor, of at least one dim; all have one shape.
      group_size, group_key, instance_key, communication_hint: as in ``all_reduce``.

    Raises:
      ValueError: for a group of one.
    """
    _check_size("all_gather", group_size)
    made: Tensor = make(
        "CollectiveGather", t, group_size=group_size, group_key=group_key,
        instance_key=instance_key, shape=[0], communication_hint=communication_hint.lower(),
    )  # fmt: skip
    return made


def broadcast_send(
    t: Tensor,
    shape: Any,
    dtype: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """Gives a tensor to all other tasks of a group, which call ``broadcast_recv``.

    Args:
      t: the tensor.
      shape, dtype: what it is; the others are told the same.
      group_size, group_key, instance_key, communication_hint: as in ``all_reduce``.

    Returns:
      ``t``.

    Raises:
      ValueError: for a group of one, or if ``t`` has another shape or dtype.
    """
    _check_size("broadcast_send", group_size)
    if t.shape != shape:
        raise ValueError(
            f"Shape of broadcast_send tensor not equal to declared shape: {t.shape}, not {shape}"
        )
    if t.dtype != dtypes.as_dtype(dtype):
        raise ValueError(
            f"Type of broadcast_send tensor not equal to declared type: {t.dtype}, not {dtype}"
        )
    made: Tensor = make(
        "CollectiveBcastSend", t, group_size=group_size, group_key=group_key,
        instance_key=instance_key, shape=shape, communication_hint=communication_hint.lower(),
    )  # fmt: skip
    return made


def broadcast_recv(
    shape: Any,
    dtype: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """The tensor that another task of a group gives with ``broadcast_send``.

    Args:
      shape, dtype: what it is.
      group_size, group_key, instance_key, communication_hint: as in ``all_reduce``.

    Raises:
      ValueError: for a group of one.
    """
    _check_size("broadcast_recv", group_size)
    made: Tensor = make(
        "CollectiveBcastRecv", T=dtypes.as_dtype(dtype), group_size=group_size,
        group_key=group_key, instance_key=instance_key, shape=shape,
        communication_hint=communication_hint.lower(),
    )  # fmt: skip
    return made
