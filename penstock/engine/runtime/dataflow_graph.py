"""A step's nodes as the dataflow executor sees them: who waits for what, who is told.

A *frame* is the run of a loop; a value comes into it through ``Enter`` and leaves it through
``Exit``.  Which frame a node is in is known beforehand, and nodes with inputs of two are refused.

State: none of a run; the nodes also keep the programs compiled for them, which outlive runs.
"""

from __future__ import annotations

from typing import Any

from penstock.compiler.codegen.plan import is_silent
from penstock.foundation.base import errors
from penstock.foundation.graph.operation import Operation, is_back_edge
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

# What the executor does itself; all else is "node" and has a program.
_HANDLED = frozenset({"switch", "merge", "enter", "exit", "next", "test", "trigger"})


class Loop:
    """A frame before it runs: how many ``Enter`` nodes lead into it."""

    __slots__ = ("name", "around", "enters")

    def __init__(self, name: str, around: Loop | None) -> None:
        self.name = name
        self.around = around
        self.enters = 0


class Node:
    """One node.

    ``users[i]`` are the nodes, with the position, that take output ``i``; ``after`` those that only
    wait for it.  ``fed`` are the inputs that are fed: (position, number of the feed).
    """

    __slots__ = (
        "op", "kind", "rank", "late", "inputs", "controls", "users", "after", "fed", "child",
        "constant", "hands_on", "fetched", "wanted", "programs", "line",
    )  # fmt: skip

    def __init__(self, op: Operation, rank: int) -> None:
        self.op = op
        definition = op.op_def
        self.kind = _kind(op)
        self.rank = rank
        # What may wait for another node of the step runs when nothing else can.
        self.late = (1 + bool(op.outputs)) if definition.blocking else 0
        self.inputs = len(op.inputs)
        self.controls = len(op.control_inputs)
        self.users: list[list[tuple[Node, int]]] = [[] for _ in op.outputs]
        self.after: list[Node] = []
        self.fed: list[tuple[int, int]] = []
        self.child: Loop | None = None
        self.constant = bool(op.attrs.get("is_constant")) and self.kind == "enter"
        # Whether a reference that comes in goes out, to be read where it is used.
        self.hands_on = definition.passes_through
        self.fetched: list[tuple[int, int]] = []
        self.wanted: list[bool] = []
        self.programs: dict[tuple[Operation | None, ...], Any] = {}
        self.line = 0


def _kind(op: Operation) -> str:
    control, role = op.op_def.control, op.op_def.role
    if control in _HANDLED:
        return str(control)
    if role in ("constant", "feed"):
        return str(role)
    return "state" if is_silent(op) else "node"


class DataflowGraph:
    """The nodes of a step with their edges turned round.

    Args:
      step: the step, with primitives.

    Raises:
      tf.errors.InvalidArgumentError: a node's inputs are in different loops, or something inside a
        loop is fetched.
    """

    def __init__(self, step: StepGraph) -> None:
        self.step = step
        self.nodes = {op: Node(op, rank) for rank, op in enumerate(step.operations)}
        self.loop_of: dict[Operation, Loop | None] = {}
        self._loops: dict[tuple[Loop | None, str], Loop] = {}
        number = {feed: index for index, feed in enumerate(step.feeds)}
        for node in self.nodes.values():
            self._connect(node, number)
        for node in self.nodes.values():
            self._place(node)
        for index, tensor in enumerate(step.fetches):
            self._check_outside(tensor)
            node = self.nodes[tensor.op]
            node.fetched.append((tensor.value_index, index))
            node.hands_on = False
        for node in self.nodes.values():
            fetched = {slot for slot, _ in node.fetched}
            node.wanted = [bool(users) or i in fetched for i, users in enumerate(node.users)]
        self._note_late_reads()
        self.sources = [n for n in self.nodes.values() if n.inputs == len(n.fed) and not n.controls]

    def _connect(self, node: Node, number: dict[Tensor, int]) -> None:
        for slot, tensor in enumerate(node.op.inputs):
            if tensor in number and node.kind != "merge":
                # What is fed is there in each round of each loop.
                node.fed.append((slot, number[tensor]))
            else:
                self.nodes[tensor.op].users[tensor.value_index].append((node, slot))
        for control in node.op.control_inputs:
            self.nodes[control].after.append(node)

    # ---- frames ------------------------------------------------------------------------------

    def _place(self, node: Node) -> None:
        op = node.op
        fed = {slot for slot, _ in node.fed}
        sources = [
            (t.op, t.name) for slot, t in enumerate(op.inputs)
            if slot not in fed and not is_back_edge(op, t)
        ] + [(c, f"^{c.name}") for c in op.control_inputs]  # fmt: skip
        found: list[tuple[Loop | None, str]] = []
        for source, label in sources:
            found.append((self._left_by(source), label))
            if found[0][0] is not found[-1][0]:
                self._refuse_inputs(op, found[0], found[-1])
        inside = found[0][0] if found else None
        if node.kind == "enter":
            name = op.attrs["frame_name"]
            name = name.decode() if isinstance(name, bytes) else name
            key = (inside, name)
            node.child = self._loops.setdefault(key, Loop(name, inside))
            node.child.enters += 1
            inside = node.child
        self.loop_of[op] = inside

    def _left_by(self, source: Operation) -> Loop | None:
        """The frame in which what a node makes is."""
        loop = self.loop_of[source]
        if self.nodes[source].kind == "exit" and loop is not None:
            return loop.around
        return loop

    def _refuse_inputs(
        self, op: Operation, first: tuple[Loop | None, str], other: tuple[Loop | None, str]
    ) -> None:
        raise errors.InvalidArgumentError(
            None, op,
            f"the inputs of {op.name!r} are in different loops: {first[1]!r} is in"
            f" {_label(first[0])}, {other[1]!r} in {_label(other[0])}; a value enters a loop"
            f" through Enter and leaves it through Exit{made_at(op)}",
        )  # fmt: skip

    def _check_outside(self, tensor: Tensor) -> None:
        loop = self._left_by(tensor.op)
        if loop is not None:
            raise errors.InvalidArgumentError(
                None, tensor.op,
                f"{tensor.name!r} cannot be fetched: it is inside loop {loop.name!r} and has a"
                f" value in each round; fetch what the loop returns{made_at(tensor.op)}",
            )  # fmt: skip

    # ---- references --------------------------------------------------------------------------

    def _note_late_reads(self) -> None:
        """An identity of a reference that waits for something with an effect reads there."""
        definitions = ((node, node.op.op_def) for node in self.nodes.values())
        stack = [node for node, known in definitions if known.effect or known.blocking]
        behind = set(stack)
        while stack:
            node = stack.pop()
            users = [user for group in node.users for user, _ in group]
            following = [n for n in users + node.after if n not in behind]
            behind.update(following)
            stack.extend(following)
        for node in behind:
            if any(self.nodes[c] in behind for c in node.op.control_inputs):
                node.hands_on = False


def _label(loop: Loop | None) -> str:
    return "no loop" if loop is None else f"loop {loop.name!r}"


def made_at(op: Operation) -> str:
    """The user's line of a node, as messages end."""
    return f"\nmade at {op.origin}" if op.origin else ""
