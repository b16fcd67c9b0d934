"""A loop that is being differentiated, and the loop backward that belongs to it.

The forward loop gets one more variable that counts its rounds.  The backward loop starts with that
count and goes down to 1, so that round ``i`` of it undoes round ``i`` of the forward loop::

    forward:   x0 --> body --> x1 --> body --> x2        count: 0, 1, 2
                        |push            |push
    backward:  g0 <-- grad <-- g1 <-- grad <-- g2        count: 2, 1
                        |pop             |pop

``GradContext`` replaces each forward tensor that a node of the backward body takes by what stands
for it there (see ``control_flow_history``).

State of a ``GradLoop``: both contexts, both counters, the synchronizing nodes, the tensors that
stand for forward ones, the Merge that each loop variable's gradient goes round by, the exits that
wait for each other (``gradients`` starts a loop's gradient when all its exits are ready), and what
rounds wait for because of what they keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.control_flow_walk import (
    Context,
    common,
    constant_enter,
    contains,
    inside,
    is_branch_switch,
    loop_around,
    output_context,
)
from penstock.library.control_flow.context import WhileContext
from penstock.ops.control import control_flow as primitives


def is_passed(op: Operation) -> bool:
    """Whether ``op`` gives what it takes; the read of a variable gives what it holds by then."""
    return op.op_def.role == "identity" and not op.inputs[0].dtype.is_ref


class GradContext(WhileContext):
    """The context of a backward loop; ``grad_state`` is its GradLoop."""

    def AddOp(self, op: Operation) -> None:
        """Takes ``op`` in; the size of a forward value is computed where that value is."""
        # It gives little for a large input: better to keep what it gives than what it takes.
        small = op.op_def.role == "shape"
        source = self.grad_state.reducible(op.inputs[0]) if small else None
        if source is None:
            self._AddOpInternal(op)
            return
        if source is not op.inputs[0]:
            op._update_input(0, source)
        context: Any = output_context(source.op)
        op._set_control_flow_context(context)
        if context is not None:
            with inside(op.graph, None):
                context._AddOpInternal(op)

    def _forward_value(self, val: Tensor) -> Tensor | None:
        """What stands here for a value of a round of the forward loop."""
        loop: GradLoop = self.grad_state
        return loop.value_of(val) if loop.is_forward(val) else None


class LoopVariables:
    """Variables of a loop under construction: ``now`` are their values in the body.

    Args:
      context: the loop, whose condition stands already.
      starts: what they are before the first round; made outside of the loop.
      name: name of their Enters and Exits.
      merge_name: name of their Merges.
      keep_shape: whether each round's value has the static shape of the start.
    """

    def __init__(
        self,
        context: WhileContext,
        starts: Sequence[Tensor],
        name: str,
        merge_name: str | None = None,
        keep_shape: bool = True,
    ) -> None:
        self.context, self.name = context, name
        self.merged = enter_merged(context, starts, name, merge_name, keep_shape)
        pairs = [primitives.switch(merged, context.pivot) for merged in self.merged]
        self.last = [no for no, _ in pairs]
        self.now = [yes for _, yes in pairs]

    def close(self, values: Sequence[Tensor]) -> list[Tensor]:
        """Makes ``values`` what the next round starts with; the variables when the loop ends."""
        following = [primitives.next_iteration(value) for value in values]
        for merged, value in zip(self.merged, following, strict=True):
            merged.op._update_input(1, value)
        results = [primitives.exit_(last, name=self.name) for last in self.last]
        for result in results:
            leave(self.context, result)
        return results


def enter_merged(
    context: WhileContext,
    starts: Sequence[Tensor],
    name: str,
    merge_name: str | None = None,
    keep_shape: bool = True,
) -> list[Tensor]:
    """The Merges that loop variables begin with; their way back is open yet."""
    entered = []
    for start in starts:
        context.AddName(start.name)
        entered.append(
            primitives.enter(
                start, context.name, False, context.parallel_iterations,
                use_input_shape=keep_shape, name=name,
            )
        )  # fmt: skip
    context.loop_enters.extend(entered)
    return [primitives.merge([e, e], name=merge_name)[0] for e in entered]


def leave(context: WhileContext, result: Tensor) -> None:
    """Tells the constructs around a loop of ``result``, which has left it."""
    context.loop_exits.append(result)
    context.ExitResult([result])


class Wait(NamedTuple):
    """That the next round waits for ``awaited``; in vain, unless ``reason`` is needed."""

    waiter: Operation
    awaited: Operation
    reason: Operation


class GradLoop:
    """See the module's docstring.

    Args:
      forward: the loop.
      outer: the state of the loop around it, where gradients go through that too.
      root: the context that ``tf.gradients`` was called in; stacks are made there.
      keep: ``keep(loop, tensor)`` makes what stands for a forward tensor in the backward loop.
    """

    def __init__(
        self,
        graph: Graph,
        forward: WhileContext,
        outer: GradLoop | None,
        root: Context,
        keep: Callable[[GradLoop, Tensor], Tensor],
    ) -> None:
        self.graph, self.forward_context, self.outer = graph, forward, outer
        # Where stacks are made: every round of the loops around must find the same one.
        self.stack_context = common(root, forward.outer_context)
        self._keep = keep
        self.kept: dict[str, Tensor] = {}
        self.merges: dict[Operation, Any] = {}
        self.exits: list[Tensor] = list(forward.loop_exits)
        self.pending_exits = len(self.exits)
        self.deferred_exits: list[Tensor] = []
        self.unused_exits: list[Tensor] = []
        self.grad_context: GradContext
        self.waits: list[Wait] = []
        self._forward_sync: Operation | None = None
        self._grad_sync: Operation | None = None
        with inside(graph, forward.outer_context):
            count = self._count_forward()
        around: Context = forward.outer_context
        if outer is not None:
            around = outer.grad_context
        elif contains(around, root):
            around = root
        with inside(graph, around):
            self.grad_context = GradContext(
                maximum_iterations=forward.maximum_iterations,
                parallel_iterations=forward.parallel_iterations,
                back_prop=forward.back_prop,
                swap_memory=forward.swap_memory,
                name=forward.name,
                grad_state=self,
            )
            if around is not None:
                count = around.AddValue(count)
            self._count_backward(count)

    # ---- counters ----------------------------------------------------------------------------

    def _count_forward(self) -> Tensor:
        """Adds the counter to the forward loop; gives the number of rounds."""
        forward, outer = self.forward_context, self.outer
        zero = constant(0, dtypes.int32, name="f_count")
        if outer is not None:
            # The pushes of this round come after those of the last round, inner loops' too.
            zero.op._add_control_input(outer.step)
        with inside(self.graph, forward):
            counter = LoopVariables(forward, [zero], "f_count")
            index = make("Add", counter.now[0], 1)
            self.step: Operation = index.op
            (count,) = counter.close([index])
        self.forward_next: Operation = counter.merged[0].op.inputs[1].op
        return count

    def _count_backward(self, count: Tensor) -> None:
        context = self.grad_context
        one = constant(1, dtypes.int32, name="b_count")
        with inside(self.graph, context):
            (merged,) = enter_merged(context, [count], "b_count")
            context.pivot_for_pred = merged
            more = make("GreaterEqual", merged, one)
            context.pivot = primitives.loop_cond(more, name="b_count")
            last, now = primitives.switch(merged, context.pivot)
            # The index is what nodes without inputs wait for.
            context.pivot_for_body = now
            index = make("Sub", now, one)
            context.pivot_for_body = index
            following = primitives.next_iteration(index)
            merged.op._update_input(1, following)
            self.grad_next: Operation = following.op
            result = primitives.exit_(last, name="b_count")
            leave(context, result)
        if self.outer is not None:
            # The pops of the outer loop's next round come after those of this loop.
            self.outer.wait(self.outer.grad_sync, result.op, context.pivot.op)

    # ---- synchronizing -----------------------------------------------------------------------

    @property
    def forward_sync(self) -> Operation:
        """What the next forward round waits for, which may itself wait for dead nodes."""
        if self._forward_sync is None:
            self._forward_sync = self._trigger("f_sync", self.forward_context)
            self.forward_next._add_control_input(self._forward_sync)
        return self._forward_sync

    @property
    def grad_sync(self) -> Operation:
        """The same for the backward loop."""
        if self._grad_sync is None:
            self._grad_sync = self._trigger("b_sync", self.grad_context)
            self.grad_next._add_control_input(self._grad_sync)
        return self._grad_sync

    def wait(self, waiter: Operation, awaited: Operation, reason: Operation) -> None:
        """Makes a round's end wait for a node that matters as long as ``reason`` does."""
        waiter._add_control_input(awaited)
        self.waits.append(Wait(waiter, awaited, reason))

    def drop_waits(self, needed: set[Operation]) -> None:
        """Lets rounds end without what was kept for no gradient that is needed."""
        vain = {(w.waiter, w.awaited) for w in self.waits if w.reason not in needed}
        triggers = {self._forward_sync: self.forward_next, self._grad_sync: self.grad_next}
        for waiter in dict.fromkeys(waiter for waiter, _ in vain):
            left = [c for c in waiter.control_inputs if (waiter, c) not in vain]
            waiter._remove_all_control_inputs()
            waiter._add_control_inputs(left)
            if waiter in triggers and not left:
                # A node that waits for nothing would not be in the loop.
                following = triggers[waiter]
                kept = [c for c in following.control_inputs if c is not waiter]
                following._remove_all_control_inputs()
                following._add_control_inputs(kept)

    def _trigger(self, name: str, context: Context) -> Operation:
        with inside(self.graph, None):
            trigger = primitives.control_trigger(name=name)
        trigger._set_control_flow_context(context)
        return trigger

    # ---- values of the forward loop ----------------------------------------------------------

    def is_forward(self, tensor: Tensor) -> bool:
        """Whether ``tensor`` is made in a round of the forward loop."""
        return loop_around(output_context(tensor.op)) is self.forward_context

    def reducible(self, tensor: Tensor) -> Tensor | None:
        """Where a size of ``tensor`` is to be computed in a forward loop; None: where it is asked.

        Of an invariant of an inner loop that is where the outer one makes it.
        """
        loop: GradLoop | None = self
        while loop is not None and not loop.is_forward(tensor):
            loop = loop.outer
        while loop is not None:
            enter = constant_enter(tensor)
            if enter is None:
                return None if loop.is_invariant(tensor) else tensor
            tensor, loop = enter.inputs[0], loop.outer
        return None

    def is_invariant(self, tensor: Tensor) -> bool:
        """Whether ``tensor`` of the forward loop is the same in all rounds of all loops."""
        if not self.is_forward(tensor):
            return self.outer is None or self.outer.is_invariant(tensor)
        enter = constant_enter(tensor)
        if enter is not None:
            return self.outer is None or self.outer.is_invariant(enter.inputs[0])
        op = tensor.op
        return (is_passed(op) or is_branch_switch(op)) and self.is_invariant(op.inputs[0])

    def value_of(self, tensor: Tensor) -> Tensor:
        """What stands in the backward loop for a tensor of the forward loop."""
        found = self.kept.get(tensor.name)
        if found is None:
            found = self.kept[tensor.name] = self._keep(self, tensor)
        return found
