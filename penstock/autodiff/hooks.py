"""What control flow adds to backpropagation, without this room knowing it.

Loops need state while gradients are made (a backward loop for each forward one, stacks of saved
values).  A room for control flow registers how that state is made; ``gradients`` calls it at the
points below.  ``Switch`` needs zeros of its own kind: an op type may register how zeros for one of
its outputs are made.  No such room exists yet: the gradient of a loop is an error that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from penstock.graph.operation import Operation
from penstock.graph.tensor import Tensor


class LoopExits(Protocol):
    """Exits of one loop: they are visited together, when all of them are ready."""

    deferred_exits: list[Tensor]
    unused_exits: list[Tensor]
    pending_exits_count: int


class LoopState(Protocol):
    """State of the backward loops while one ``gradients`` call runs."""

    def process_unused_loop_exits(
        self, pending: dict[Operation, int], to_ops: set[Operation]
    ) -> list[Tensor]:
        """Exits of loops that gradients reach, but that no gradient comes to."""

    def zeros_like_for_exit(self, tensor: Tensor) -> Tensor:
        """Zeros for an unused exit."""

    def enter(self, op: Operation, before: bool) -> None:
        """Enters the backward loop context of ``op``."""

    def exit(self, op: Operation, before: bool) -> None:
        """Leaves it."""

    def zeros_like(self, op: Operation, index: int) -> Any:
        """Zeros for output ``index`` of ``op``, or None."""

    def is_loop_switch(self, op: Operation) -> bool:
        """Whether ``op`` is the Switch of a loop: it is visited twice."""

    def grad_state(self, op: Operation) -> LoopExits:
        """The exits of the loop that the Exit ``op`` belongs to."""

    def post_processing(self) -> None:
        """Closes what is open when all gradients are made."""


LoopStateFactory = Callable[[Sequence[Operation], set[Operation], bool], LoopState | None]
ZerosMaker = Callable[[Operation, int], Tensor | None]

_loop_state_factory: list[LoopStateFactory] = []
_zeros_makers: dict[str, ZerosMaker] = {}


def register_loop_state(factory: LoopStateFactory) -> None:
    """Registers ``factory(between_list, between_set, colocate) -> state or None``."""
    _loop_state_factory[:] = [factory]


def register_zeros(op_type: str, maker: ZerosMaker) -> None:
    """Registers how zeros for an output of ``op_type`` are made when it gets no gradient."""
    _zeros_makers[op_type] = maker


def make_loop_state(
    between: Sequence[Operation], members: set[Operation], colocate: bool
) -> LoopState | None:
    """The loop state for the ops between ys and xs; None when there are no loops.

    Raises:
      NotImplementedError: there is a loop, but nothing that can differentiate it.
    """
    exits = [op for op in between if op.type in ("Exit", "RefExit")]
    if not exits:
        return None
    if not _loop_state_factory:
        raise NotImplementedError(
            f"{exits[0].name!r} is the exit of a loop; no gradient of loops is registered"
        )
    return _loop_state_factory[0](between, members, colocate)


def zeros_maker(op_type: str) -> ZerosMaker | None:
    """The registered maker of zeros for ``op_type``."""
    return _zeros_makers.get(op_type)
