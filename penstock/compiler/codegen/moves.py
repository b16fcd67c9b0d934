"""Values move where an edge leaves a device's memory: ``_Move`` nodes, just before the plan.

A program runs on all devices of its task.  Each value is in one memory: the host's or a GPU's.  A
node on a GPU computes there, and what it takes is moved there before; but

* an input that its kernel wants as a Python number (``host``) may be anywhere;
* some kernels compute on the host (``on_host``), and so does what waits or draws numbers;
* whole numbers and tests of them that are on the host stay there (shapes, counters, sizes), as
  TensorFlow keeps int32 in host memory: a kernel started for them would cost more, and those who
  want them as Python numbers would have to wait for the GPU.

What is fed comes from the host, what is fetched is moved to it.  A branch's value is where either
branch has it, a loop's variable where its first or its next value is: on the GPU if one of them is.

A value is moved once for each memory that wants it; a variable's, which others may write, at each
use.  Where a step has nothing on a GPU it stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection

from penstock.foundation.base import dtypes
from penstock.foundation.base.devices import DeviceSpec
from penstock.foundation.graph import node_attrs, scopes
from penstock.foundation.graph.handles import handle_of, is_handle, wants_handle
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.region import Inputs, inputs_of, replace_region
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.verify import verify

HOST = ""
# What torch calls GPUs.
GPU = "cuda"
_NEVER_MOVED = (dtypes.string, dtypes.variant, dtypes.resource)


def moves_between_devices(step: StepGraph) -> StepGraph:
    """The pass."""
    mover = _Mover(step, [HOST] * len(step.feeds))
    moved = mover.finish(mover.walk(), [HOST] * len(step.fetches))
    return verify(moved, "moves_between_devices")


def memory_of(op: Operation) -> str:
    """The memory of the device that a node is placed on: "cuda:0" and the like, or the host's."""
    if "GPU" not in op.device:
        return HOST
    return f"{GPU}:{DeviceSpec.from_string(op.device).device_index or 0}"


class _Mover:
    """The walk through a step or block.

    State: the memory of each tensor made so far, and the moved copies of it.

    Args:
      step: what is walked.
      given: the memory of each of its feeds.
    """

    def __init__(self, step: StepGraph, given: list[str]) -> None:
        self._rebuilder = Rebuilder(step)
        self._memory: dict[Tensor, str] = {}
        self._given = dict(zip(step.feeds, given, strict=True))
        self._copies: dict[tuple[Tensor, str], Tensor] = {}
        # The memory of each fetch before it is moved.
        self.fetched: list[str] = []

    def walk(self) -> StepGraph:
        """Moves everything but the fetches."""
        walked = self._rebuilder.run(self._rule, changes_all=True)
        self.fetched = [self._memory_of(t) for t in walked.fetches]
        return walked

    def finish(self, walked: StepGraph, wanted: list[str]) -> StepGraph:
        """Moves the fetches of what ``walk`` gave."""
        with scopes.default_graph_scope(walked.graph):
            fetches = [
                self._moved_fetch(tensor, memory)
                for tensor, memory in zip(walked.fetches, wanted, strict=True)
            ]
        names = walked.feed_names
        return StepGraph(walked.graph, walked.feeds, fetches, walked.targets, names)

    def _memory_of(self, tensor: Tensor) -> str:
        if is_handle(tensor) and tensor.dtype is not dtypes.resource:
            return memory_of(handle_of(tensor))
        return self._memory.get(tensor, HOST)

    def _moved_fetch(self, tensor: Tensor, memory: str) -> Tensor:
        if self._stays(tensor, memory):
            return tensor
        self._rebuilder.visit(tensor.op)
        return self._rebuilder.make_beside("_Move", tensor, memory=memory)  # type: ignore[no-any-return]

    def _stays(self, tensor: Tensor, memory: str) -> bool:
        return tensor.dtype.base_dtype in _NEVER_MOVED or self._memory_of(tensor) == memory

    def _rule(self, rebuilder: Rebuilder, op: Operation) -> list[Tensor]:
        if blocks_of(op):
            return self._region(op)
        values = self._values(op)
        where = self._runs_in(op, values.values())
        new = self._moved(op, values, where)
        if op.outputs and op.outputs[0] in self._given:
            where = self._given[op.outputs[0]]
        for tensor in new.outputs:
            self._memory[tensor] = where
        if not new.outputs:
            rebuilder.made.append(new)  # no output says that it stands for the old one
        return new.outputs

    def _moved(self, op: Operation, values: dict[int, Tensor], where: str) -> Operation:
        """A copy of a node that takes what it computes with from the memory that it runs in."""
        moved = {
            index: self._copy(tensor, where)
            for index, tensor in values.items()
            if not self._stays(tensor, where)
        }
        new = self._rebuilder.copy(op)
        new.inputs = tuple(moved.get(index, t) for index, t in enumerate(new.inputs))
        return new

    def _copy(self, tensor: Tensor, memory: str) -> Tensor:
        key = (tensor, memory)
        if is_handle(tensor) or key not in self._copies:
            self._copies[key] = made = self._made(tensor, memory)
            self._memory[made] = memory
        return self._copies[key]

    def _made(self, tensor: Tensor, memory: str) -> Tensor:
        made: Tensor
        if tensor.op.op_def.role != "constant":
            made = self._rebuilder.make_beside("_Move", tensor, memory=memory)
            return made
        # A constant is there from the start.
        value, dtype = tensor.op.attrs["value"], tensor.dtype.base_dtype
        made = self._rebuilder.make_beside("Const", value=value, dtype=dtype)
        made.op._set_attr(node_attrs.MEMORY, memory)
        return made

    def _values(self, op: Operation) -> dict[int, Tensor]:
        """By position the inputs that a kernel computes with as tensors."""
        inputs, handles, host = self._rebuilder.inputs(op), wants_handle(op), op.op_def.host
        names = [name for name, found in op.inputs_by_name().items() for _ in _as_list(found)]
        return {i: inputs[i] for i, name in enumerate(names) if name not in host and not handles[i]}

    def _runs_in(self, op: Operation, values: Collection[Tensor]) -> str:
        where = memory_of(op)
        definition = op.op_def
        if not where or definition.on_host or definition.blocking or definition.random:
            return HOST
        if definition.reads or definition.writes:
            return where
        small = all(_counts(t) for t in [*values, *op.outputs])
        if small and all(self._memory_of(t) == HOST for t in values):
            return HOST
        return where

    # ---- regions -----------------------------------------------------------------------------

    def _region(self, op: Operation) -> list[Tensor]:
        inputs = inputs_of(op, self._rebuilder.inputs(op))
        args = [self._memory_of(t) for t in inputs.args]
        if op.op_def.role == "conditional":
            return self._replaced(op, inputs, *self._branches(op, args))
        first = [self._memory_of(t) for t in inputs.first]
        blocks, memories = self._loop(op, first, args)
        moved = [
            t if self._stays(t, where) else self._copy(t, where)
            for t, where in zip(inputs.first, memories, strict=True)
        ]
        changed = Inputs(moved, inputs.args, inputs.reads, inputs.writes)
        return self._replaced(op, changed, blocks, memories)

    def _branches(self, op: Operation, args: list[str]) -> tuple[list[StepGraph], list[str]]:
        walks = [_Mover(block, args) for block in blocks_of(op)]
        walked = [walk.walk() for walk in walks]
        both = zip(*(walk.fetched for walk in walks), strict=True)
        memories = [max(found) for found in both]
        return [w.finish(b, memories) for w, b in zip(walks, walked, strict=True)], memories

    def _loop(
        self, op: Operation, first: list[str], args: list[str]
    ) -> tuple[list[StepGraph], list[str]]:
        condition, body = blocks_of(op)
        memories = first
        while True:
            walk = _Mover(body, memories + args)
            walked = walk.walk()
            found = [max(pair) for pair in zip(memories, walk.fetched, strict=True)]
            if found == memories:
                break
            memories = found
        test = _Mover(condition, memories + args)
        blocks = [test.walk(), walk.finish(walked, memories)]
        return blocks, memories

    def _replaced(
        self, op: Operation, inputs: Inputs, blocks: list[StepGraph], memories: list[str]
    ) -> list[Tensor]:
        outputs = replace_region(self._rebuilder, op, inputs, blocks)
        self._memory.update(zip(outputs, memories, strict=True))
        return outputs


def _counts(tensor: Tensor) -> bool:
    dtype = tensor.dtype.base_dtype
    return dtype.is_integer or dtype is dtypes.bool


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
