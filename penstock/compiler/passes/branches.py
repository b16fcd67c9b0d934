"""Conditionals, recovered from Switch and Merge: the *guards* of nodes, and nodes put under them.

A node's guard is the set of literals (predicate, branch) under which it runs: what its inputs and
control inputs run under, and for an output of a Switch the Switch's own.  A Merge of two values
whose guards differ in one predicate runs under what they share; it becomes the value that an
``if`` gives (``phis``).  Nodes under one predicate are gathered into as few ``Branch`` items as
their order allows: what is ready and under no guard comes first, then everything ready under the
first predicate that waits, and so on.  A gradient's branch may use values of the branch that it
differentiates: these *escape* from the first ``if`` and are used in the second, under the same
predicate.

What no nesting of guards explains (a Merge of two values that both live) is ``Unstructured``.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.compiler.passes.frames import Item, Loop, Unstructured, controls_of
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static

Literal = tuple[Tensor, int]
Guard = frozenset[Literal]
_ALWAYS: Guard = frozenset()


@dataclass(eq=False)
class Branch:
    """An ``if``: its predicate, what runs on either side, and the Merges that it decides."""

    pred: Tensor
    # By the value of the predicate: [0] where it is false.
    sides: tuple[list[Block], list[Block]]
    phis: list[Phi]
    # Values made inside that are used after it, with the side that makes them.
    escapes: dict[Tensor, int] = field(default_factory=dict)


@dataclass(eq=False)
class Phi:
    """A Merge that an ``if`` decides: which of its inputs counts on either side."""

    merge: Operation
    # Input number by the value of the predicate.
    chosen: tuple[int, int]


Block = Operation | Loop | Branch


class Guards:
    """The guards of a list of items in a valid order.

    State: the guard of each item and the predicate that decides each Merge.
    """

    def __init__(self, items: Sequence[Item], fed: set[Tensor]) -> None:
        self.fed = fed
        self.position = {item: index for index, item in enumerate(items)}
        self.of: dict[Item, Guard] = {}
        self.phis: dict[Operation, tuple[Tensor, Phi]] = {}
        # The item that makes what an operation makes: a loop for its exits.
        self.maker: dict[Operation, Item] = {}
        self._paths: dict[Guard, list[Literal]] = {}
        self._sources: dict[Item, list[Item]] = {}
        for item in items:
            self.of[item] = self._guard(item)
            if isinstance(item, Loop):
                self.maker.update(dict.fromkeys((t.op for t in item.outputs), item))
            else:
                self.maker[item] = item

    def _guard(self, item: Item) -> Guard:
        if isinstance(item, Operation) and item.op_def.control == "merge":
            return self._merged(item)
        guard = _ALWAYS
        if isinstance(item, Operation) and item.op_def.control == "trigger":
            return guard  # it waits for its control inputs, dead or alive
        for tensor in item.inputs:
            guard |= self.of_tensor(tensor)
        for control in controls_of(item):
            guard |= self.of_operation(control)
        if len(guard) > 1 and len({pred for pred, _ in guard}) != len(guard):
            name = item.name
            raise Unstructured(f"{name!r} needs both branches of one condition, so it never runs")
        return guard

    def of_operation(self, op: Operation) -> Guard:
        """The guard of a node; none for what is outside."""
        item = self.maker.get(op)
        return _ALWAYS if item is None else self.of[item]

    def of_tensor(self, tensor: Tensor) -> Guard:
        """The guard of a value."""
        op = tensor.op
        if tensor in self.fed:
            return _ALWAYS
        guard = self.of_operation(op)
        if op.op_def.control == "switch" and op in self.maker:
            guard |= {self._literal(predicate(op, self.fed), tensor.value_index)}
        return guard

    def _literal(self, pred: Tensor, side: int) -> Literal:
        """A test of which input a Merge has taken (a Merge's gradient) is its predicate's again."""
        if pred.op.type == "Equal" and pred not in self.fed:
            taken, number = pred.op.inputs
            phi = self.phis.get(taken.op)
            value = static.constant_value(number)
            if phi is not None and taken.value_index == 1 and value in (0, 1):
                chosen = phi[1].chosen
                return phi[0], chosen.index(int(value) if side else 1 - int(value))
        return pred, side

    def _merged(self, merge: Operation) -> Guard:
        if len(merge.inputs) != 2:
            raise Unstructured(f"{merge.name!r} merges {len(merge.inputs)} values")
        first, second = (self.of_tensor(t) for t in merge.inputs)
        shared = first & second
        left, right = first - shared, second - shared
        if len(left) != 1 or len(right) != 1:
            raise Unstructured(f"the inputs of {merge.name!r} are not two sides of one condition")
        (pred, side), (other, other_side) = *left, *right
        if pred is not other or side == other_side or self.path(first)[-1][0] is not pred:
            raise Unstructured(f"the inputs of {merge.name!r} are not two sides of one condition")
        self.phis[merge] = (pred, Phi(merge, (0, 1) if side == 0 else (1, 0)))
        for control in merge.control_inputs:
            shared |= self.of_operation(control)
        return shared

    def sources(self, item: Item) -> list[Item]:
        """The items that make what an item takes, or that it comes after."""
        found = self._sources.get(item)
        if found is None:
            maker, fed = self.maker, self.fed
            made = [maker.get(t.op) for t in item.inputs if t not in fed]
            made += [maker.get(c) for c in controls_of(item)]
            if isinstance(item, Operation) and item in self.phis:
                pred = self.phis[item][0]
                made.append(None if pred in fed else maker.get(pred.op))
            found = self._sources[item] = [m for m in made if m is not None]
        return found

    def path(self, guard: Guard) -> list[Literal]:
        """The literals of a guard, outermost first."""
        path = self._paths.get(guard)
        if path is None:
            path = self._paths[guard] = sorted(guard, key=self._depth)
        return path

    def _depth(self, literal: Literal) -> tuple[int, int, str]:
        pred = literal[0]
        item = self.maker.get(pred.op)
        if pred in self.fed or item is None:
            return 0, -1, pred.name
        return len(self.of_tensor(pred)), self.position[item], pred.name


def predicate(switch: Operation, fed: set[Tensor]) -> Tensor:
    """The predicate of a Switch, seen through the identities that ``tf.cond`` puts before it.

    What is fed is not what its node would make.
    """
    tensor = switch.inputs[1]
    while tensor not in fed:
        op = tensor.op
        same = op.op_def.role == "identity" and not op.inputs[0].dtype.is_ref
        if not same and not (op.op_def.control == "enter" and op.attrs["is_constant"]):
            return tensor
        tensor = op.inputs[0]
    return tensor


class _Schedule:
    """One level of nesting: items whose guards agree up to ``depth``."""

    def __init__(self, guards: Guards, items: Sequence[Item], depth: int) -> None:
        self.guards = guards
        self.depth = depth
        self.position = guards.position
        self.followers: dict[Item, list[Item]] = {}
        self.missing: dict[Item, int] = {}
        self.straight: list[tuple[int, Item]] = []
        self.waiting: dict[Tensor, list[Item]] = {}
        own = set(items)
        for item in items:
            needs = {m for m in self._needs(item) if m in own and m is not item}
            self.missing[item] = len(needs)
            for need in needs:
                self.followers.setdefault(need, []).append(item)
        for item in items:
            if not self.missing[item]:
                self._ready(item)
        self.left = len(items)

    def _needs(self, item: Item) -> list[Item]:
        guards = self.guards
        found = guards.sources(item)
        path = guards.path(guards.of[item])
        if len(path) > self.depth:
            pred = path[self.depth][0]
            made = None if pred in guards.fed else guards.maker.get(pred.op)
            if made is not None:
                return [*found, made]
        return found

    def _pred(self, item: Item) -> Tensor | None:
        """The predicate of the ``if`` at this level that the item belongs to."""
        path = self.guards.path(self.guards.of[item])
        if len(path) > self.depth:
            return path[self.depth][0]
        if isinstance(item, Operation) and item in self.guards.phis:
            return self.guards.phis[item][0]
        return None

    def _ready(self, item: Item) -> None:
        pred = self._pred(item)
        if pred is None:
            heapq.heappush(self.straight, (self.position[item], item))
        else:
            self.waiting.setdefault(pred, []).append(item)

    def _done(self, item: Item) -> None:
        self.left -= 1
        for follower in self.followers.get(item, ()):
            self.missing[follower] -= 1
            if not self.missing[follower]:
                self._ready(follower)

    def blocks(self) -> list[Block]:
        """The items in order, those under further guards gathered into branches."""
        result: list[Block] = []
        while self.left:
            while self.straight:
                item = heapq.heappop(self.straight)[1]
                result.append(item)
                self._done(item)
            if not self.left:
                break
            if not self.waiting:
                raise Unstructured("conditions wait for each other")
            pred = min(self.waiting, key=lambda p: min(self.position[i] for i in self.waiting[p]))
            result.append(self._branch(pred))
        return result

    def _branch(self, pred: Tensor) -> Branch:
        inside: tuple[list[Item], list[Item]] = ([], [])
        phis: list[Operation] = []
        while self.waiting.get(pred):
            for item in self.waiting.pop(pred):
                if isinstance(item, Operation) and self._is_phi(item):
                    phis.append(item)
                    continue
                side = self.guards.path(self.guards.of[item])[self.depth][1]
                inside[side].append(item)
                self._done(item)
        for items in inside:
            items.sort(key=self.position.__getitem__)
        sides = tuple(_Schedule(self.guards, items, self.depth + 1).blocks() for items in inside)
        for merge in phis:
            self._done(merge)
        phis.sort(key=self.position.__getitem__)
        return Branch(pred, sides, [self.guards.phis[m][1] for m in phis])  # type: ignore[arg-type]

    def _is_phi(self, op: Operation) -> bool:
        return op in self.guards.phis and len(self.guards.of[op]) == self.depth


def branched(items: Sequence[Item], fed: set[Tensor]) -> tuple[list[Block], Guards]:
    """Puts the items of one frame under their conditions.

    Args:
      items: nodes and loops, each after what it needs.
      fed: tensors that are given.

    Returns:
      The same items in a valid order, nested; and the guards.

    Raises:
      Unstructured: no nesting says when the items run.
    """
    guards = Guards(items, fed)
    return _Schedule(guards, items, 0).blocks(), guards
