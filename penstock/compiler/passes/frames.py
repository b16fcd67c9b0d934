"""Loops, recovered from the primitives.

Each node of a step belongs to a *frame*: the step's own, or that of the loop whose ``Enter`` its
inputs came through.  A frame is a loop when it has the shape that ``tf.while_loop`` gives it:

* one ``LoopCond``;
* per variable one ``Merge`` of an ``Enter`` and a ``NextIteration``;
* per variable at most one ``Switch`` on the ``LoopCond`` that leads on to the body (output 1) and
  out through an ``Exit`` (output 0).

What depends on the body's side of a Switch is the body; what the ``LoopCond`` needs is the
condition.  Whatever else a frame holds makes it ``Unstructured``: it is for the dataflow executor.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.graph.operation import Operation, is_back_edge, is_given
from penstock.foundation.graph.tensor import Tensor


class Unstructured(Exception):
    """The graph's control flow does not nest; the text says where."""


@dataclass(eq=False)
class Variable:
    """A loop variable: where it begins, what it is in a round, what follows, where it leaves."""

    merge: Operation
    initial: Tensor
    following: Tensor
    exits: list[Operation] = field(default_factory=list)


@dataclass(eq=False)
class Loop:
    """A loop as one item of the frame around it."""

    name: str
    enters: list[Operation]
    variables: list[Variable]
    test: Operation
    # Nodes and inner loops, each list in a valid order.
    condition: list[Item]
    body: list[Item]

    @property
    def inputs(self) -> list[Tensor]:
        """What enters."""
        return [op.inputs[0] for op in self.enters]

    @property
    def controls(self) -> list[Operation]:
        """Nodes of the frame around it that must have run."""
        return [control for op in self.enters for control in op.control_inputs]

    @property
    def outputs(self) -> list[Tensor]:
        """What leaves."""
        return [op.outputs[0] for variable in self.variables for op in variable.exits]


Item = Operation | Loop


@dataclass(eq=False)
class Frame:
    """The nodes of one frame, in order; ``name`` is empty for the step itself."""

    name: str
    parent: Frame | None
    items: list[Any] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many loops are around."""
        return 0 if self.parent is None else self.parent.depth + 1


class Frames:
    """The frames of a step's nodes, with inner loops folded into one item each.

    Args:
      ordered: the nodes, each after what it needs but for the back edges of loops.
      fed: tensors that are given, whatever would make them.

    State: the frame of each node; ``root``, whose items are the step's.
    """

    def __init__(self, ordered: Sequence[Operation], fed: set[Tensor]) -> None:
        self.fed = fed
        self.root = Frame("", None)
        self.frame_of: dict[Operation, Frame] = {}
        self._children: dict[tuple[Frame, str], Frame] = {}
        for op in ordered:
            frame = self._place(op)
            self.frame_of[op] = frame
            frame.items.append(op)
        for frame in sorted(self._children.values(), key=lambda f: -f.depth):
            parent = frame.parent
            assert parent is not None
            frame.items = _in_order(frame.items, fed)
            parent.items[parent.items.index(frame)] = _as_loop(frame, fed)
        self.root.items = _in_order(self.root.items, fed)

    def _place(self, op: Operation) -> Frame:
        inside = self._frame_of_inputs(op)
        if op.op_def.control != "enter":
            return inside
        name = op.attrs["frame_name"]
        name = name.decode() if isinstance(name, bytes) else name
        child = self._children.get((inside, name))
        if child is None:
            child = self._children[inside, name] = Frame(name, inside)
            inside.items.append(child)  # it is folded into a loop in this place
        return child

    def _frame_of_inputs(self, op: Operation) -> Frame:
        found: tuple[Frame, str] | None = None
        for source, label in self._sources(op):
            frame = self.frame_of[source]
            if source.op_def.control == "exit":
                frame = frame.parent or frame
            if found is not None and found[0] is not frame:
                raise errors.InvalidArgumentError(
                    None, op,
                    f"the inputs of {op.name!r} are in different loops: {found[1]!r} is in"
                    f" {_loop(found[0])}, {label!r} in {_loop(frame)}; a value enters a loop"
                    " through Enter and leaves it through Exit",
                )  # fmt: skip
            found = (frame, label)
        return self.root if found is None else found[0]

    def _sources(self, op: Operation) -> list[tuple[Operation, str]]:
        if is_given(op, self.fed):
            return []
        sources = [
            (t.op, t.name) for t in op.inputs if t not in self.fed and not is_back_edge(op, t)
        ]
        return sources + [(c, f"^{c.name}") for c in op.control_inputs]


def _loop(frame: Frame) -> str:
    return f"loop {frame.name!r}" if frame.parent else "no loop"


def _in_order(items: Sequence[Item], fed: set[Tensor]) -> list[Item]:
    """The items, each after what it needs: a loop stands after all that enters it."""
    if not any(isinstance(item, Loop) for item in items):
        return list(items)
    position = {item: index for index, item in enumerate(items)}
    maker = _maker_of(items)
    followers: dict[Item, list[Item]] = {}
    missing: dict[Item, int] = {}
    for item in items:
        needs = set(_makers(item, maker, fed)) - {item}
        missing[item] = len(needs)
        for need in needs:
            followers.setdefault(need, []).append(item)
    ready = [position[item] for item in items if not missing[item]]
    ordered: list[Item] = []
    while ready:
        item = items[heapq.heappop(ready)]
        ordered.append(item)
        for follower in followers.get(item, ()):
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, position[follower])
    return ordered


def _maker_of(items: Iterable[Item]) -> dict[Operation, Item]:
    """The item that makes what a node gives: for an Exit its loop."""
    maker: dict[Operation, Item] = {}
    for item in items:
        for op in [item] if isinstance(item, Operation) else [t.op for t in item.outputs]:
            maker[op] = item
    return maker


def _as_loop(frame: Frame, fed: set[Tensor]) -> Loop:
    """What a frame whose inner loops are folded already is as a loop."""
    operations = [item for item in frame.items if isinstance(item, Operation)]
    tests = [op for op in operations if op.op_def.control == "test"]
    if len(tests) != 1:
        raise Unstructured(f"frame {frame.name!r} has {len(tests)} LoopCond nodes")
    test = tests[0]
    merges = {op: _variable(frame, op) for op in operations if _is_loop_merge(op)}
    switches = [
        op for op in operations
        if op.op_def.control == "switch" and op.inputs[1].op is test
    ]  # fmt: skip
    for op in switches:
        if op.inputs[0].op not in merges:
            raise Unstructured(f"{op.name!r} switches what is no variable of loop {frame.name!r}")
    passed: set[Operation] = set()
    for op in operations:
        if op.op_def.control == "exit":
            passed |= _note_exit(op, switches, merges)
    _check_passed(passed, frame)
    enters = [op for op in operations if op.op_def.control == "enter"]
    _check_enters(enters, set(operations), merges)
    skipped = {test, *merges, *switches, *enters, *passed}
    rest = [
        item for item in frame.items
        if item not in skipped
        and not (isinstance(item, Operation) and item.op_def.control in ("exit", "next"))
    ]  # fmt: skip
    condition, body = _split(rest, test, switches, fed)
    return Loop(frame.name, enters, list(merges.values()), test, condition, body)


def _is_loop_merge(op: Operation) -> bool:
    return op.op_def.control == "merge" and any(is_back_edge(op, t) for t in op.inputs)


def _variable(frame: Frame, merge: Operation) -> Variable:
    ends = merge.inputs
    entered = len(ends) == 2 and ends[0].op.op_def.control == "enter"
    if not entered or not is_back_edge(merge, ends[1]):
        raise Unstructured(f"{merge.name!r} in loop {frame.name!r} is no merge of a start and a"
                           " next round")  # fmt: skip
    if merge.outputs[1].uses:
        raise Unstructured(f"{merge.outputs[1].name!r}, which tells the first round, is used")
    return Variable(merge, ends[0].op.inputs[0], ends[1].op.inputs[0])


def _note_exit(
    op: Operation, switches: Sequence[Operation], merges: dict[Operation, Variable]
) -> set[Operation]:
    """Notes what an Exit takes out; gives what stands between the two.

    That is an Identity which waits for the Switch alone: where a gradient goes on in the loop and
    leaves it too (that of a first state which is trained), both ways begin with one.
    """
    source, passed = op.inputs[0], set()
    while source.op.op_def.passes_through and _waits_for(source.op.control_inputs, switches):
        passed.add(source.op)
        source = source.op.inputs[0]
    if source.op not in switches or source.value_index != 0:
        raise Unstructured(f"{op.name!r} takes out what is no variable at the loop's end")
    merges[source.op.inputs[0].op].exits.append(op)
    return passed


def _waits_for(controls: Iterable[Operation], switches: Sequence[Operation]) -> bool:
    """Whether what is waited for are switches, directly or gathered in a NoOp."""
    return all(
        op in switches or (op.op_def.does_nothing and _waits_for(op.control_inputs, switches))
        for op in controls
    )


def _check_passed(passed: set[Operation], frame: Frame) -> None:
    for item in frame.items if passed else ():
        leaves = isinstance(item, Operation) and (item in passed or item.op_def.control == "exit")
        makers = [*(t.op for t in item.inputs), *controls_of(item)]
        if not leaves and not passed.isdisjoint(makers):
            raise Unstructured(f"what leaves loop {frame.name!r} is used in it")


def _check_enters(
    enters: Iterable[Operation], inside: set[Operation], merges: dict[Operation, Variable]
) -> None:
    for op in enters:
        if op.attrs.get("is_constant"):
            continue
        if any(c in inside and c not in merges for c in op.outputs[0].uses):
            raise Unstructured(f"{op.name!r} is there in the first round only")


def _split(
    items: Sequence[Item], test: Operation, switches: Sequence[Operation], fed: set[Tensor]
) -> tuple[list[Item], list[Item]]:
    """What runs before the loop's test and what runs after it.

    A node that both need and that is a plain function is in both.
    """
    maker = _maker_of(items)
    after: set[Any] = set()
    for item in items:
        if _needs_body(item, switches, fed) or any(m in after for m in _makers(item, maker, fed)):
            after.add(item)
    needed: set[Any] = set()
    stack = [maker[o] for o in (test.inputs[0].op, *test.control_inputs) if o in maker]
    while stack:
        item = stack.pop()
        if item not in needed:
            needed.add(item)
            stack.extend(_makers(item, maker, fed))
    if needed & after:
        raise Unstructured(f"the condition {test.name!r} needs what the body makes")
    condition = [i for i in items if i in needed or (i not in after and not _is_plain(i))]
    first = set(condition)
    body = [item for item in items if item not in first]
    shared = _shared(body, first, maker, fed)
    return condition, [i for i in items if i in shared or i not in first]


def _shared(
    body: Iterable[Item], first: set[Any], maker: dict[Operation, Item], fed: set[Tensor]
) -> set[Any]:
    found: set[Any] = set()
    stack = [m for item in body for m in _data_makers(item, maker, fed) if m in first]
    while stack:
        item = stack.pop()
        if item in found:
            continue
        if not _is_plain(item):
            raise Unstructured("a body uses what the condition makes with an effect")
        found.add(item)
        stack.extend(m for m in _data_makers(item, maker, fed) if m in first)
    return found


def _is_plain(item: Item) -> bool:
    if isinstance(item, Loop):
        return False
    definition = item.op_def
    return definition.pure and not definition.random and not definition.blocking


def _needs_body(item: Item, switches: Sequence[Operation], fed: set[Tensor]) -> bool:
    """Whether it takes a variable behind the test."""
    return any(t.op in switches and t.value_index == 1 for t in item.inputs if t not in fed)


def _data_makers(item: Item, maker: dict[Operation, Item], fed: set[Tensor]) -> list[Item]:
    if not isinstance(item, Operation):
        inputs = item.inputs
    else:
        inputs = [t for t in item.inputs if not is_back_edge(item, t)]
    return [maker[t.op] for t in inputs if t not in fed and t.op in maker]


def _makers(item: Item, maker: dict[Operation, Item], fed: set[Tensor]) -> list[Item]:
    return _data_makers(item, maker, fed) + [maker[c] for c in controls_of(item) if c in maker]


def controls_of(item: Item) -> Sequence[Operation]:
    """The nodes that must have run before it."""
    return item.control_inputs if isinstance(item, Operation) else item.controls
