"""The dataflow executor: one run of a step by tokens, as the dataflow papers have it.

A node runs once for each (frame, round) in which all its inputs have come.  A value is a run-time
value, an ``Operation`` where it stands for that node's state, or ``Dead``: what comes out of the
side of a ``Switch`` that is not taken.

* A node with a dead input or control input does not run, and is dead itself.
* A ``Merge`` runs at the first live input (and with all controls there, dead or not); it is dead
  when all its inputs are.  A ``ControlTrigger`` always runs.
* ``Enter`` hands its value to the first round of a frame, a constant one to every round;
  ``NextIteration`` to the next round, which a live one starts; ``Exit`` to the round of the frame
  around.  What is dead neither starts a round nor leaves one: a dead ``Exit`` of the last round is
  told outside when the frame has ended, so that a loop on a side not taken is dead as a whole.

Of the nodes that are ready the one that runs is of the earliest round of the outermost frame, and
of those the one made first; nodes that may wait for other nodes run when nothing else can.  Rounds
are therefore run one after the other, and two runs do the same in the same order.

State: of one run only, frames with their rounds; a round holds the inputs that wait in it and is
dropped when nothing can come into it any more.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any

import torch

from penstock.engine.resources import waiting
from penstock.engine.runtime.dataflow_frames import Dead, Frame, Round, Waiting
from penstock.engine.runtime.dataflow_graph import DataflowGraph, Node, made_at
from penstock.foundation.base import errors
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

# ``compute(node, inputs)``: the outputs of an ordinary node.
Compute = Callable[[Node, list[Any]], Sequence[Any]]
# ``read(tensor, node)``: the value of the variable that ``node`` makes.
Read = Callable[[Tensor, Operation], Any]
# ``noted(node, outputs)``: told of each node that ran.
Noted = Callable[[Node, Sequence[Any]], None]


class Run:
    """One run.

    Args:
      graph: the nodes.
      args: the values fed.
      compute: runs an ordinary node.
      read: reads a variable.
      noted: told of each node that ran, or None.
    """

    def __init__(
        self,
        graph: DataflowGraph,
        args: Sequence[Any],
        compute: Compute,
        read: Read,
        noted: Noted | None = None,
    ) -> None:
        self._graph = graph
        self._args = args
        self._compute = compute
        self._read = read
        self._noted = noted
        self._alarm = waiting.alarm()
        self._ready: list[Any] = []
        self._root = Frame(None, None)
        self._fetched: dict[int, Any] = {}

    def results(self) -> list[Any]:
        """Runs the step; the values of its fetches, in order.

        Raises:
          tf.errors.InvalidArgumentError: a fetch is dead or has no value, or a node gets a second
            value in one round.
        """
        first = self._root.rounds[0]
        for node in self._graph.sources:
            self._start(node, first, self._inputs(node), None)
        while self._ready:
            *_, node, round_, inputs, dead = heapq.heappop(self._ready)
            self._run(node, round_, inputs, dead)
        return [self._result(i, t) for i, t in enumerate(self._graph.step.fetches)]

    def _result(self, index: int, tensor: Tensor) -> Any:
        value = self._fetched.get(index)
        if isinstance(value, Dead):
            raise self._dead_fetch(tensor, value)
        if index not in self._fetched:
            raise self._no_value(tensor)
        return value

    # ---- inputs ------------------------------------------------------------------------------

    def _inputs(self, node: Node) -> list[Any]:
        values: list[Any] = [None] * node.inputs
        for slot, number in node.fed:
            values[slot] = self._args[number]
        return values

    def _wait(self, node: Node, round_: Round) -> Waiting | None:
        """What has come for a node; None if it has started."""
        found = round_.waiting.get(node)
        if found is not None:
            return found
        if node in round_.started:
            return None
        if node.kind == "merge":
            made = Waiting(node.controls, [])
        else:
            made = Waiting(node.inputs - len(node.fed) + node.controls, self._inputs(node))
        round_.waiting[node] = made
        return made

    def _arrive(self, node: Node, slot: int, token: Any, round_: Round, whole: bool) -> None:
        """Gives a node an input; ``whole``: if it is dead, so is the frame (a dead ``Enter``)."""
        got = self._wait(node, round_)
        if node.kind == "merge":
            if got is not None and not got.live:
                self._arrive_at_merge(node, slot, token, round_, got, whole)
            return
        if got is None:
            raise _second_value(node.op, slot)
        got.values[slot] = token
        if isinstance(token, Dead):
            got.dead = got.dead or token
        self._count_down(node, round_, got)

    def _arrive_at_merge(
        self, node: Node, slot: int, token: Any, round_: Round, got: Waiting, whole: bool
    ) -> None:
        if isinstance(token, Dead):
            got.dead_count = node.inputs if whole else got.dead_count + 1
            got.dead = got.dead or token
        else:
            got.live = True
            got.values = [token, slot]
        if not got.left:
            self._start_merge(node, round_, got)

    def _start_merge(self, node: Node, round_: Round, got: Waiting) -> None:
        if got.live:
            self._start(node, round_, got.values, None)
        elif got.dead_count >= node.inputs:
            self._start(node, round_, [], got.dead)

    def _arrive_control(self, node: Node, dead: Dead | None, round_: Round) -> None:
        got = self._wait(node, round_)
        if got is None:
            raise _second_value(node.op, None)
        if node.kind != "merge":
            got.dead = got.dead or dead
            self._count_down(node, round_, got)
            return
        got.left -= 1
        if not got.left:
            self._start_merge(node, round_, got)

    def _count_down(self, node: Node, round_: Round, got: Waiting) -> None:
        got.left -= 1
        if not got.left:
            self._start(node, round_, got.values, got.dead)

    def _start(self, node: Node, round_: Round, inputs: list[Any], dead: Dead | None) -> None:
        round_.waiting.pop(node, None)
        round_.started.add(node)
        round_.busy += 1
        late = 0 if dead else node.late
        entry = (late, round_.path, node.rank, id(round_), node, round_, inputs, dead)
        heapq.heappush(self._ready, entry)

    # ---- nodes -------------------------------------------------------------------------------

    def _run(self, node: Node, round_: Round, inputs: list[Any], dead: Dead | None) -> None:
        if self._alarm:
            waiting.check_running()
        if node.kind == "trigger":
            dead = None
        if dead is not None:
            outputs: Sequence[Any] = [dead] * len(node.users)
        else:
            outputs = self._outputs(node, inputs)
            if self._noted is not None:
                self._noted(node, outputs)
        if node.kind == "enter":
            self._enter(node, round_, outputs, dead)
        elif node.kind == "exit" and round_.frame.around is not None:
            self._exit(node, round_, outputs, dead)
        elif node.kind == "next":
            if dead is None:
                self._hand_on(node, self._next_round(round_), outputs, None)
        else:
            self._hand_on(node, round_, outputs, dead)
        round_.busy -= 1
        self._settle(round_)

    def _outputs(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        kind = node.kind
        if kind == "node" or kind == "constant" or kind == "state":
            return self._compute(node, inputs)
        if kind == "switch":
            return self._switch(node, inputs)
        if kind == "merge":
            return inputs[0], torch.tensor(inputs[1], dtype=torch.int32)
        if kind == "feed":
            return [self._args[self._graph.step.feeds.index(node.op.outputs[0])]]
        return inputs[: len(node.users)]

    def _switch(self, node: Node, inputs: list[Any]) -> list[Any]:
        data, pred = inputs
        if isinstance(pred, Operation):
            pred = self._read(node.op.inputs[1], pred)
        if pred.dim():
            raise errors.InvalidArgumentError(
                None, node.op,
                f"{node.op.type} {node.op.name!r} failed: its predicate must be a scalar; found"
                f" shape {list(pred.shape)}{made_at(node.op)}",
            )  # fmt: skip
        taken = bool(pred)
        outputs = [Dead(node.op, 0), Dead(node.op, 1)]
        outputs[taken] = data
        return outputs

    def _hand_on(
        self, node: Node, round_: Round, outputs: Sequence[Any], dead: Dead | None,
        whole: bool = False,
    ) -> None:  # fmt: skip
        """Tells the users of a node what it made."""
        if round_.frame is self._root:
            for slot, index in node.fetched:
                self._fetched[index] = outputs[slot]
        for token, users in zip(outputs, node.users, strict=True):
            for user, slot in users:
                self._arrive(user, slot, token, round_, whole)
        for user in node.after:
            self._arrive_control(user, dead, round_)

    # ---- frames ------------------------------------------------------------------------------

    def _enter(self, node: Node, round_: Round, outputs: Sequence[Any], dead: Dead | None) -> None:
        loop = node.child
        assert loop is not None
        frame = round_.children.get(loop)
        if frame is None:
            frame = round_.children[loop] = Frame(loop, round_)
            round_.busy += 1
        frame.pending -= 1
        if node.constant:
            frame.constants.append((node, outputs[0]))
            for inner in list(frame.rounds.values()):
                self._hand_on(node, inner, outputs, dead)
        else:
            self._hand_on(node, frame.rounds[0], outputs, dead, dead is not None)
        self._settle(frame.rounds[min(frame.rounds)])

    def _exit(self, node: Node, round_: Round, outputs: Sequence[Any], dead: Dead | None) -> None:
        frame = round_.frame
        if dead is None:
            assert frame.around is not None
            self._hand_on(node, frame.around, outputs, None)
        elif round_.number == frame.last:
            frame.dead_exits.append((node, dead))

    def _next_round(self, round_: Round) -> Round:
        frame = round_.frame
        number = round_.number + 1
        if number > frame.last:
            frame.last = number
            frame.dead_exits.clear()
            made = frame.rounds[number] = Round(frame, number)
            for node, token in frame.constants:
                dead = token if isinstance(token, Dead) else None
                self._hand_on(node, made, [token], dead)
        return frame.rounds[number]

    def _settle(self, round_: Round) -> None:
        """Drops rounds into which nothing can come any more, and ends the frame with the last."""
        frame = round_.frame
        if frame.around is None:
            return
        number = round_.number
        if number - 1 in frame.rounds or frame.pending:
            return
        while number in frame.rounds and not frame.rounds[number].busy:
            del frame.rounds[number]
            number += 1
        if frame.rounds or frame.loop not in frame.around.children:
            return
        around = frame.around
        for node, dead in frame.dead_exits:
            self._hand_on(node, around, [dead], dead)
        del around.children[frame.loop]
        around.busy -= 1
        self._settle(around)

    # ---- errors ------------------------------------------------------------------------------

    def _dead_fetch(self, tensor: Tensor, dead: Dead) -> errors.OpError:
        step = self._graph.step
        fed = dict(zip(step.feeds, step.feed_names, strict=True))
        pred = dead.switch.inputs[1]
        side = ("false", "true")[dead.side]
        return errors.InvalidArgumentError(
            None, tensor.op,
            f"{tensor.name!r} has no value in this step: it is in a branch that was not taken, the"
            f" {side} side of {fed.get(pred, pred.name)!r} (at {dead.switch.type}"
            f" {dead.switch.name!r}){made_at(tensor.op)}",
        )  # fmt: skip

    def _no_value(self, tensor: Tensor) -> errors.OpError:
        waiting = [node.op.name for node in self._root.rounds[0].waiting]
        shown = ", ".join(map(repr, waiting[:5])) or "none"
        return errors.InvalidArgumentError(
            None, tensor.op,
            f"{tensor.name!r} got no value: the control flow that leads to it does not end; nodes"
            f" that still wait for inputs: {shown}{made_at(tensor.op)}",
        )  # fmt: skip


def _second_value(op: Operation, slot: int | None) -> errors.OpError:
    which = "a control input" if slot is None else f"input {slot} ({op.inputs[slot].name!r})"
    return errors.InvalidArgumentError(
        None, op,
        f"{op.type} {op.name!r} failed: {which} comes a second time in one round; a loop may hand"
        f" out a value once{made_at(op)}",
    )  # fmt: skip
