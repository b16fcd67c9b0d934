"""What is found out about a step and its blocks before they are cut.

Nodes are of two kinds.  A *located* node runs in one task.  An *everywhere* node costs nothing or
nearly so and depends on nothing but its inputs: constants, sums and comparisons of scalar integers
(the counters of loops), reads of variables that a block does not write, what hands one of these or
a feed on.  It is made anew in every task that wants its value, and in no other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.handles import is_handle, resource_key, written_keys
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static

END = 1 << 60
_NUMBERS = (dtypes.int32, dtypes.int64, dtypes.bool)
_SMALL = 64  # elements of a value that is written into a part in place of a message

Key = tuple[str, str]
Dims = tuple[int | None, ...] | None


@dataclass(eq=False)
class Cut:
    """One ``_Send`` and its ``_Recv``: a tensor, or the nodes that a control edge waits for.

    ``source`` and ``target`` are tasks; ``compress`` says that float32 travels as 16 bits.
    """

    edge: str
    source: str
    target: str
    tensor: Tensor | None
    send_device: str
    recv_device: str
    waits_for: tuple[Operation, ...] = ()
    compress: bool = False


@dataclass(eq=False)
class Scope:
    """A step or a block of one.

    State: devices of the located nodes, the regions in it, and what the walk over the needs of all
    tasks finds: the cuts, after which node each send stands, and which feeds each task wants.
    """

    step: StepGraph
    devices: dict[Operation, str]
    region: Region | None = None
    numbers: Iterator[int] = field(default_factory=itertools.count)
    compress: bool = False
    # Feeds that nodes with an effect come after; see ``order``.
    rounds: dict[Operation, list[Operation]] = field(default_factory=dict)
    task: dict[Operation, str] = field(default_factory=dict)
    regions: dict[Operation, Region] = field(default_factory=dict)
    cuts: dict[tuple[Tensor, str, int], Cut] = field(default_factory=dict)
    control_cuts: dict[tuple[tuple[Operation, ...], str], Cut] = field(default_factory=dict)
    # None: before the first node.
    sends_after: dict[Operation | None, list[Cut]] = field(default_factory=dict)
    feeds_at: dict[str, set[int]] = field(default_factory=dict)
    feed_index: dict[Tensor, int] = field(default_factory=dict)
    position: dict[Operation, int] = field(default_factory=dict)
    writers: dict[Key, list[Operation]] = field(default_factory=dict)
    known: set[tuple[Tensor, str]] = field(default_factory=set)
    _everywhere: dict[Operation, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.feed_index = {tensor: i for i, tensor in enumerate(self.step.feeds)}
        for position, op in enumerate(self.step.operations):
            self.position[op] = position
            for key in written_keys(op):
                self.writers.setdefault(key, []).append(op)

    def everywhere(self, op: Operation) -> bool:
        """Whether the node is made in every task that wants its value."""
        known = self._everywhere.get(op)
        if known is None:
            known = self._everywhere[op] = self._is_everywhere(op)
        return known

    def _is_everywhere(self, op: Operation) -> bool:
        if op.op_def.role in ("constant", "dead"):
            return not op.control_inputs
        if op.control_inputs or op.op_def.role == "feed" or blocks_of(op):
            return False
        if (
            op.op_def.role == "read"
            and self.region is not None
            and is_silent_handle(op.inputs[0].op)
        ):
            return not self.region.writes(resource_key(op.inputs[0].op))
        if op.op_def.passes_through and not op.outputs[0].dtype.is_ref:
            return self._is_free(op.inputs[0])
        # Arithmetic of counters and of the tests made of them.
        if op.op_def.number is None or not is_number(op.outputs[0]):
            return False
        return all(is_number(t) and self._is_free(t) for t in op.inputs)

    def _is_free(self, tensor: Tensor) -> bool:
        """Whether a value can be had in every task without a message a round."""
        if tensor.op.op_def.role == "feed":
            return self.region is None or self.region.is_free(self.feed_index[tensor])
        return self.everywhere(tensor.op)

    def forget_everywhere(self) -> None:
        """Asks anew, after the region has changed its mind about its variables."""
        self._everywhere.clear()

    def epoch(self, key: Key, position: int) -> int:
        """How many writes of a state stand before a place."""
        return sum(1 for op in self.writers.get(key, ()) if self.position[op] < position)

    def device_in(self, task: str, op: Operation | None) -> str:
        """The device of a node, if that is in the task; else the task's CPU."""
        device = self.devices.get(op, "") if op is not None else ""
        return device if device.startswith(f"{task}/") else f"{task}/device:CPU:0"

    def place_of(self, user: Operation | None) -> int:
        """The place of a node; None: the end."""
        return END if user is None else self.position[user]


@dataclass(eq=False)
class Region:
    """A conditional or loop that is to be split.

    State: the scope around it, its blocks' scopes, the tasks that run something of it; of a loop's
    variables those that every task can compute for itself, and the tasks of the others; for each
    task which variables, args and outputs it has, and the variables it reads from outside.
    """

    op: Operation
    around: Scope
    blocks: list[Scope] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    free: set[int] = field(default_factory=set)
    variables_at: dict[str, set[int]] = field(default_factory=dict)
    args_at: dict[str, set[int]] = field(default_factory=dict)
    outputs_at: dict[str, set[int]] = field(default_factory=dict)
    # By task and state: the handle outside whose value the blocks are given.
    given_at: dict[str, dict[Key, Tensor]] = field(default_factory=dict)
    written: set[Key] = field(default_factory=set)

    @property
    def is_loop(self) -> bool:
        """Whether it is a ``_While``."""
        return self.op.op_def.role == "loop"

    @property
    def variables(self) -> int:
        """How many of the blocks' feeds are a loop's variables; the rest are args."""
        return len(self.op.outputs) if self.is_loop else 0

    def writes(self, key: Key) -> bool:
        """Whether something in it writes the state."""
        return key in self.written

    def is_free(self, feed: int) -> bool:
        """Whether a feed of the blocks can be had in every task without a message a round."""
        return feed >= self.variables or feed in self.free

    def outer_arg(self, feed: int) -> Tensor:
        """The tensor outside that a feed of the blocks is given, or begins as."""
        first = 0 if self.is_loop else 1
        return self.op.inputs[first + feed]

    def following(self, variable: int) -> Tensor:
        """What a loop's variable is in the next round, in the body."""
        return self.blocks[1].step.fetches[variable]


def is_number(tensor: Tensor) -> bool:
    """Whether a tensor is a scalar of an integer type, or a bool."""
    return tensor.sizes == () and tensor.dtype.base_dtype in _NUMBERS


def is_silent_handle(op: Operation) -> bool:
    """Whether a node only names state, which lives where the node is placed."""
    return op.op_def.state is not None and bool(op.outputs) and is_handle(op.outputs[0])


def value_type(tensor: Tensor) -> tuple[dtypes.DType, Dims]:
    """Type and static dims of a tensor's value; of the variable's where it is a handle."""
    if tensor.dtype is dtypes.resource:
        attrs = tensor.op.attrs
        return attrs["dtype"].base_dtype, shapes.as_shape(attrs["shape"]).sizes
    return tensor.dtype.base_dtype, tensor.sizes


def small_value(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor that is known before the step runs and small."""
    if tensor.dtype.is_ref or tensor.op.op_def.effect or tensor.op.op_def.role == "feed":
        return None
    value = static.constant_value(tensor)
    if value is None or value.size > _SMALL:
        return None
    return value


def locate(scope: Scope, tasks: dict[Operation, str]) -> None:
    """Finds the tasks of all nodes of a step, those in blocks too.

    Args:
      scope: the step's, or a block's.
      tasks: of every node, by placement.
    """
    for op in scope.step.operations:
        if blocks_of(op):
            scope.regions[op] = _located_region(scope, op, tasks)
            continue
        scope.task[op] = tasks[op]
        if op.op_def.role == "shape":
            # It runs where the tensor is, and its few numbers travel.
            source = op.inputs[0].op
            if source.op_def.role not in ("feed", "constant") and source in scope.task:
                scope.task[op] = scope.task[source]
                scope.devices[op] = scope.devices[source]


def _located_region(around: Scope, op: Operation, tasks: dict[Operation, str]) -> Region:
    region = Region(op, around, written=written_keys(op))
    region.free = set(range(region.variables))
    for block in blocks_of(op):
        scope = Scope(block, around.devices, region, around.numbers, around.compress, around.rounds)
        region.blocks.append(scope)
        locate(scope, tasks)
    _decide_free(region)
    found: dict[str, None] = {}
    for scope in region.blocks:
        for inner in scope.step.operations:
            if inner in scope.regions:
                found.update(dict.fromkeys(scope.regions[inner].tasks))
            elif _is_located(scope, inner):
                found[scope.task[inner]] = None
    region.tasks = list(found) or [tasks[op]]
    return region


def _is_located(scope: Scope, op: Operation) -> bool:
    return op.op_def.role != "feed" and not is_silent_handle(op) and not scope.everywhere(op)


def _decide_free(region: Region) -> None:
    """Which variables of a loop every task computes for itself: taken for all, then dropped."""
    while region.free:
        for scope in region.blocks:
            scope.forget_everywhere()
        kept = {i for i in region.free if _stays_free(region, i)}
        if kept == region.free:
            return
        region.free = kept
    for scope in region.blocks:
        scope.forget_everywhere()


def _stays_free(region: Region, variable: int) -> bool:
    following = region.following(variable)
    body = region.blocks[1]
    if following.op.op_def.role == "feed":
        return region.is_free(body.feed_index[following])
    if is_silent_handle(following.op):
        return not region.writes(resource_key(following.op))
    return body.everywhere(following.op)


def located(scope: Scope) -> Iterable[Operation]:
    """The nodes of a scope that run in one task, regions left out, in order."""
    return (
        op for op in scope.step.operations if op not in scope.regions and _is_located(scope, op)
    )
