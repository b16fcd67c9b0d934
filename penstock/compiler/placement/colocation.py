"""Which nodes must be on one device: groups, by union-find.

Four rules join nodes.  A node and

1. the node whose state it takes, by reference or by handle;
2. the node that makes a value which cannot be copied between devices (a stack, a TensorArray, a
   list, a dataset, an iterator), also through the walls of conditionals and loops;
3. the nodes that name the same state again in the blocks of a region;
4. the nodes of its ``loc:@name`` groups (the ``_class`` attr), and the node of that name.

A group asks for what its nodes ask for, part by part.  Where the user of a state (rule 1 and 2)
asks for another device than the state does, the state's stands and the user's is passed over, as
in TensorFlow; any other disagreement is an error, unless soft placement lets the group go without
the type and number that are disputed.

State: per root its parts, who asked for each, its nodes, and why each node joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn, cast

from penstock.compiler.placement.available import parts_of
from penstock.compiler.placement.edges import Edges
from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.devices import DeviceSpec, Parts
from penstock.foundation.graph.handles import wants_handle
from penstock.foundation.graph.operation import Operation
from penstock.foundation.opdef.shared_state import SharedState

_NAMES = ("jobs", "replicas", "tasks", "types", "ids")
_TYPE = 3
_NOTHING: Parts = (None, None, None, None, None)
_UNCOPIABLE = (dtypes.resource, dtypes.variant)


@dataclass(eq=False)
class Group:
    """Nodes that go to one device.

    Attributes:
      asked: the parts of a device name that they ask for.
      askers: for each part, the node that asked for it first.
      members: the nodes.
      joined: why a node is in the group, for errors.
      assigned: the device where the state of the group is since an earlier step, and whose.
    """

    asked: Parts
    askers: list[Operation | None]
    members: list[Operation]
    joined: dict[Operation, str] = field(default_factory=dict)
    assigned: str = ""
    assigned_by: Operation | None = None

    @property
    def free(self) -> bool:
        """Whether nothing is asked for."""
        return self.asked == _NOTHING

    @property
    def device(self) -> str:
        """The partial name that the group asks for."""
        return DeviceSpec(*self.asked).to_string()


class Colocation:
    """The groups of a step's nodes.

    Args:
      edges: the nodes.
      soft: whether disputes about device types and numbers are dropped.
      earlier: the devices of stateful nodes since an earlier step, by node name.

    Attributes:
      passed_over: for each node whose request is passed over, a message that says why.

    Raises:
      tf.errors.InvalidArgumentError: nodes that must be together ask for different devices.
    """

    def __init__(self, edges: Edges, soft: bool, earlier: Mapping[str, str] | None = None) -> None:
        self._soft = soft
        self.passed_over: dict[str, str] = {}
        self._earlier = earlier or {}
        self._parent: dict[Operation, Operation] = {}
        self._groups: dict[Operation, Group] = {}
        for op in edges.operations:
            self._add(op)
        self._join_state(edges)
        self._join_names(edges)
        self._join_classes(edges)

    def group(self, op: Operation) -> Group:
        """The group of a node."""
        return self._groups[self._root(op)]

    @property
    def groups(self) -> list[Group]:
        """All groups, in the order of their first nodes."""
        return list(self._groups.values())

    def _root(self, op: Operation) -> Operation:
        parent = self._parent
        root = op
        while parent[root] is not root:
            root = parent[root]
        while parent[op] is not root:
            parent[op], op = root, parent[op]
        return root

    def _add(self, op: Operation) -> None:
        parts = requested(op)
        group = Group(parts, [op if p is not None else None for p in parts], [op])
        device = self._earlier.get(op.name) if keeps_its_device(op) else None
        if device is not None:
            group.asked, group.askers = parts_of(device), [op] * len(parts)
            group.assigned, group.assigned_by = device, op
        self._parent[op] = op
        self._groups[op] = group

    # ---- the rules ---------------------------------------------------------------------------

    def _join_state(self, edges: Edges) -> None:
        for op in edges.operations:
            wanted = wants_handle(op) if op.inputs else []
            for tensor, handle in zip(op.inputs, wanted, strict=True):
                if not handle and tensor.dtype.base_dtype not in _UNCOPIABLE:
                    continue
                why = "takes its state" if handle else "takes a value that stays on its device"
                for source in edges.sources(tensor):
                    self._follow(source, op, why)
        for feed, outer in edges.stands_for.items():
            if feed.dtype.base_dtype in _UNCOPIABLE:
                for source in [s for tensor in outer for s in edges.sources(tensor)]:
                    self._follow(source, feed.op, "stands for its state")

    def _join_names(self, edges: Edges) -> None:
        first: dict[str, Operation] = {}
        for op in edges.operations:
            if op.op_def.state is not None:
                self._join(first.setdefault(op.name, op), op, "names the same state")

    def _join_classes(self, edges: Edges) -> None:
        named = {op.name: op for op in reversed(edges.operations)}
        for op in edges.operations:
            for group in op.attrs.get("_class") or ():
                if group.startswith(b"loc:@"):
                    # Where the node itself is not of this step, the first of its group stands in.
                    other = named.setdefault(group[5:].decode(), op)
                    self._join(other, op, f"has the colocation group {group.decode()!r}")

    # ---- joining -----------------------------------------------------------------------------

    def _follow(self, source: Operation, user: Operation, why: str) -> None:
        """Joins the user of a state to it; where they disagree the user gives way."""
        left, right = self.group(source), self.group(user)
        if left is not right and not right.assigned and _dispute(left, right) is not None:
            self.passed_over[user.name] = (
                f"Ignoring device specification {right.device} for node {user.name!r}, which"
                f" {why}: {source.name!r} is on {left.device}"
            )
            right.asked, right.askers = _NOTHING, [None] * len(_NOTHING)
        self._join(source, user, why)

    def _join(self, one: Operation, other: Operation, why: str) -> None:
        root, gone = self._root(one), self._root(other)
        if root is gone:
            return
        left, right = self._groups[root], self._groups[gone]
        for group in (left, right):
            _free_streams(group)
        if left.assigned and right.assigned and left.assigned != right.assigned:
            _refuse(one, other, left, right, why, _TYPE + 1)
        self._merge_asked(one, other, left, right, why)
        if right.assigned and not left.assigned:
            left.assigned, left.assigned_by = right.assigned, right.assigned_by
        left.members.extend(right.members)
        left.joined.update(right.joined)
        left.joined.setdefault(other, f"{why}: {one.name!r}")
        self._parent[gone] = root
        del self._groups[gone]

    def _merge_asked(
        self, one: Operation, other: Operation, left: Group, right: Group, why: str
    ) -> None:
        part = _dispute(left, right)
        parts = [b if a is None else a for a, b in zip(left.asked, right.asked, strict=True)]
        askers = [b if a is None else a for a, b in zip(left.askers, right.askers, strict=True)]
        if part is not None:
            hard = bool(left.assigned or right.assigned)
            if not self._soft or part < _TYPE:
                _refuse(one, other, left, right, why, part)
            if hard:
                kept = left if left.assigned else right
                parts, askers = list(kept.asked), list(kept.askers)
            else:
                parts[_TYPE:] = [None, None]
                askers[_TYPE:] = [None, None]
        left.asked, left.askers = cast(Parts, tuple(parts)), askers


def requested(op: Operation) -> Parts:
    """The parts of the device that a node asks for.

    Raises:
      tf.errors.InvalidArgumentError: the name is malformed.
    """
    if not op.device:
        return _NOTHING
    try:
        return parts_of(op.device)
    except ValueError as error:
        raise errors.InvalidArgumentError(
            None, op, f"{op.type} {op.name!r} asks for a {error}{made_at(op)}"
        ) from None


def keeps_its_device(op: Operation) -> bool:
    """Whether a node has state that is on the device where an earlier step has had it."""
    return op.op_def.state is not None


def _free_streams(group: Group) -> None:
    """A node with a stream of its own (random numbers) goes where others need it, and starts anew.

    Such a node stays where it was only as long as it is alone.
    """
    op = group.assigned_by
    if op is None or isinstance(op.op_def.state, SharedState) or _makes_handle(op):
        return
    group.asked = requested(op)
    group.askers = [op if p is not None else None for p in group.asked]
    group.assigned, group.assigned_by = "", None


def _makes_handle(op: Operation) -> bool:
    return any(t.dtype.is_ref or t.dtype is dtypes.resource for t in op.outputs)


def made_at(op: Operation) -> str:
    """The user's line of a node, as the last line of a message."""
    return f"\n{op.name!r} was made at {op.origin}" if op.origin else ""


def _dispute(left: Group, right: Group) -> int | None:
    """The first part of a device name on which two groups disagree."""
    for part, (a, b) in enumerate(zip(left.asked, right.asked, strict=True)):
        if a is not None and b is not None and a != b:
            return part
    return None


def _refuse(
    one: Operation, other: Operation, left: Group, right: Group, why: str, part: int
) -> NoReturn:
    first, second = left.askers[part] or one, right.askers[part] or other
    hint = "; allow_soft_placement=True would drop the requests" if part >= _TYPE else ""
    if left.assigned or right.assigned:
        hint = "; state stays where an earlier step of this session has put it"
    raise errors.InvalidArgumentError(
        None,
        other,
        f"Cannot colocate nodes: {second.type} {second.name!r} on {right.device!r} and"
        f" {first.type} {first.name!r} on {left.device!r} must be on one device, since"
        f" {other.name!r} {why} ({one.name!r}). Cannot merge devices with incompatible"
        f" {_NAMES[part]}: {right.device!r} and {left.device!r}{hint}"
        f"{made_at(second)}{made_at(first)}",
    )
