"""Making the parts, once it is known what is cut: one walk in the global order.

A ``Builder`` makes one task's graph of a step or block.  The walk copies each located node into its
task; what the node needs there and is not there yet is made right before it (a receive, a constant,
a counter), and the sends that stand after a node are made right after it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from penstock.compiler.partition.needs import remote_controls, tasks_of
from penstock.compiler.partition.order import Barrier
from penstock.compiler.partition.scope import (
    Cut,
    Dims,
    Key,
    Region,
    Scope,
    is_silent_handle,
    located,
    small_value,
    value_type,
)
from penstock.foundation.base import dtypes, shapes
from penstock.foundation.base.origin import Origin
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.handles import handle_of, resource_key, wants_handle, written_keys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.region import Inputs, inputs_of, make_region
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.registry import OPS

_INCARNATION = 1
# What a control edge sends.
_DUMMY: tuple[dtypes.DType, Dims] = (dtypes.float32, ())


class Builder:
    """One task's graph of a scope in the making.

    State: the graph; old tensors and nodes to new ones; the values of variables that a block is
    given; for each state the sends of its value so far.
    """

    def __init__(self, scope: Scope, task: str) -> None:
        self.scope = scope
        self.task = task
        self.graph = Graph()
        self.barrier = Barrier(self.graph)
        self.tensors: dict[Tensor, Tensor] = {}
        self.controls: dict[Operation, Operation] = {}
        self.given: dict[Key, Tensor] = {}
        self.received: dict[str, Tensor] = {}
        self.reads: dict[Key, list[Operation]] = {}
        self.effects: list[Operation] = []
        self.feeds: list[Tensor] = []
        self._add_feeds()

    # ---- nodes -------------------------------------------------------------------------------

    def add(
        self,
        op_type: str,
        name: str,
        inputs: list[Tensor],
        attrs: dict[str, object],
        types: list[dtypes.DType],
        controls: Iterable[Operation] = (),
        device: str = "",
    ) -> Operation:
        """Adds a node of the partition's own."""
        op = Operation(
            self.graph, OPS[op_type], self._name(name), inputs, list(controls), attrs, types, None
        )
        op.put_on(device)
        self.graph.register(op)
        return op

    def _name(self, name: str) -> str:
        made, count = name, 0
        while made in self.graph.by_name:
            count += 1
            made = f"{name}/_{count}"
        return made

    def copy(self, op: Operation, inputs: list[Tensor], controls: list[Operation]) -> Operation:
        """Copies a node of the whole step."""
        new = Operation(
            self.graph,
            op.op_def,
            self._name(op.name),
            inputs,
            list(dict.fromkeys(controls)),
            op.attrs,
            [t.dtype for t in op.outputs],
            op.origin,
        )
        new.put_on(self.scope.device_in(self.task, op))
        for old, made in zip(op.outputs, new.outputs, strict=True):
            made.sizes = old.sizes
            self.tensors[old] = made
        self.graph.register(new)
        return new

    def _add_feeds(self) -> None:
        scope, region, task = self.scope, self.scope.region, self.task
        if region is None:
            wanted = sorted(scope.feeds_at.get(task, ()))
        else:
            wanted = sorted(region.variables_at.get(task, ()))
            wanted += sorted(region.args_at.get(task, ()))
        for index, number in enumerate(wanted):
            feed = scope.step.feeds[number]
            attrs = {**feed.op.attrs, "index": index if region is None else 0}
            new = self.add("_Feed", feed.op.name, [], attrs, [feed.dtype.base_dtype])
            new.origin = feed.op.origin
            new.put_on(scope.device_in(task, feed.op))
            new.outputs[0].sizes = feed.sizes
            self.tensors[feed] = new.outputs[0]
            self.feeds.append(new.outputs[0])
        for key, handle in (region.given_at.get(task, {}) if region is not None else {}).items():
            dtype, dims = value_type(handle)
            attrs = {"dtype": dtype, "shape": shapes.from_static(dims), "index": 0}
            new = self.add("_Feed", f"_in/{handle.op.name}", [], attrs, [dtype])
            new.outputs[0].sizes = dims
            self.given[key] = new.outputs[0]
            self.feeds.append(new.outputs[0])

    # ---- values ------------------------------------------------------------------------------

    def value(self, tensor: Tensor, user: Operation | None) -> Tensor:
        """The value of a tensor for ``user`` (None: in the end)."""
        op, scope = tensor.op, self.scope
        if is_silent_handle(op) or tensor.dtype.is_ref:
            return self._state(tensor, user)
        found = self.tensors.get(tensor)
        if found is not None:
            return found
        if op not in scope.regions and op.op_def.role != "feed":
            if scope.everywhere(op):
                return self._everywhere(tensor)
            known = small_value(tensor)
            if known is not None:
                attrs = {"value": known, "dtype": tensor.dtype.base_dtype}
                new = self.add("Const", op.name, [], attrs, [tensor.dtype.base_dtype])
                new.origin, new.outputs[0].sizes = op.origin, known.shape
                self.tensors[tensor] = new.outputs[0]
                return new.outputs[0]
        return self.receive(scope.cuts[(tensor, self.task, 0)])

    def _everywhere(self, tensor: Tensor) -> Tensor:
        op = tensor.op
        source = op.inputs[0] if op.inputs else None
        if source is not None and is_silent_handle(source.op):
            given = self.given.get(resource_key(source.op))
            if given is not None:
                return given
            self.copy(op, [self.handle(source)], [])
        else:
            self.copy(op, [self.value(t, op) for t in op.inputs], [])
        return self.tensors[tensor]

    def _state(self, tensor: Tensor, user: Operation | None) -> Tensor:
        if self.scope.task[tensor.op] == self.task:
            return self.handle(tensor)
        key = resource_key(handle_of(tensor))
        if key in self.given:
            return self.given[key]
        epoch = self.scope.epoch(key, self.scope.place_of(user))
        return self.receive(self.scope.cuts[(tensor, self.task, epoch)])

    def handle(self, tensor: Tensor) -> Tensor:
        """State that is in this task, by name."""
        if tensor not in self.tensors and is_silent_handle(tensor.op):
            self.copy(tensor.op, [self.value(t, tensor.op) for t in tensor.op.inputs], [])
        return self.tensors[tensor] if tensor in self.tensors else self.value(tensor, None)

    def inputs(self, op: Operation) -> list[Tensor]:
        """What a located node takes."""
        return [
            self.handle(tensor) if handle else self.value(tensor, op)
            for tensor, handle in zip(op.inputs, wants_handle(op), strict=True)
        ]

    def before(self, op: Operation) -> list[Operation]:
        """What a node comes after: by its control edges, and so that a value is sent in time."""
        found: list[Operation] = []
        for control in op.control_inputs:
            if self.task in tasks_of(self.scope, control):
                found.append(self.controls[control])
        for nodes in remote_controls(self.scope, op, self.task).values():
            found.append(self.receive(self.scope.control_cuts[(nodes, self.task)]).op)
        for key in written_keys(op):
            found.extend(self.reads.pop(key, ()))
        return found

    # ---- sending and receiving ---------------------------------------------------------------

    def receive(self, cut: Cut) -> Tensor:
        """What comes over a cut edge, received where this is first called for it."""
        found = self.received.get(cut.edge)
        if found is not None:
            return found
        dtype, dims = value_type(cut.tensor) if cut.tensor is not None else _DUMMY
        sent = dtypes.bfloat16 if cut.compress else dtype
        attrs = {"tensor_type": sent, **_edge_attrs(cut), "shape": shapes.from_static(dims)}
        stem = cut.tensor.op.name if cut.tensor is not None else cut.waits_for[-1].name
        op = self.add(
            "_Recv", f"{stem}/_recv", [], attrs, [sent], self.barrier.controls(), cut.recv_device
        )
        made = op.outputs[0]
        made.sizes = dims
        if cut.compress:
            made = self._cast(made, dtype, f"{stem}/ToFP32")
        op.origin = made.op.origin = _origin(cut)
        self.received[cut.edge] = made
        return made

    def send(self, cut: Cut) -> None:
        """Sends over a cut edge, now."""
        if cut.tensor is None:
            self._send_control(cut)
            return
        stem, before = cut.tensor.op.name, []
        if cut.tensor.dtype is dtypes.resource:
            value = self._read(cut.tensor)
        else:
            value = self.handle(cut.tensor)
        state = _state_key(cut.tensor)
        if state is not None:
            before = [self.controls[op] for op in self._written_before(state)]
        if cut.compress:
            value = self._cast(value, dtypes.bfloat16, f"{stem}/ToFP16")
        sent = self._add_send(cut, value, stem, before)
        if state is not None:
            self.reads.setdefault(state, []).append(sent)

    def _written_before(self, key: Key) -> list[Operation]:
        """The last write of a state so far."""
        writers = [op for op in self.scope.writers.get(key, ()) if op in self.controls]
        return writers[-1:]

    def _send_control(self, cut: Cut) -> None:
        stem = cut.waits_for[-1].name
        # A byte would do, but this is what every device can send.
        attrs = {"value": np.zeros((), np.float32), "dtype": dtypes.float32}
        dummy = self.add("Const", f"{stem}/_done", [], attrs, [dtypes.float32])
        dummy.outputs[0].sizes = ()
        # A loop's variable is there from the beginning of a round.
        before = [self.controls[op] for op in cut.waits_for if op.op_def.role != "feed"]
        self._add_send(cut, dummy.outputs[0], stem, before)

    def _add_send(self, cut: Cut, value: Tensor, stem: str, before: list[Operation]) -> Operation:
        attrs = {"T": value.dtype.base_dtype, **_edge_attrs(cut)}
        op = self.add("_Send", f"{stem}/_send", [value], attrs, [], before, cut.send_device)
        op.origin = _origin(cut)
        self.barrier.sent(op)
        self.effects.append(op)
        return op

    def _read(self, handle: Tensor) -> Tensor:
        """The value of a resource variable, read here."""
        dtype, dims = value_type(handle)
        op = self.add(
            "ReadVariableOp", f"{handle.op.name}/_read", [self.handle(handle)], {"dtype": dtype},
            [dtype], [self.controls[o] for o in self._written_before(resource_key(handle.op))],
        )  # fmt: skip
        op.outputs[0].sizes = dims
        return op.outputs[0]

    def _cast(self, value: Tensor, to: dtypes.DType, name: str) -> Tensor:
        attrs = {"SrcT": value.dtype.base_dtype, "DstT": to, "Truncate": False}
        op = self.add("Cast", name, [value], attrs, [to])
        op.outputs[0].sizes = value.sizes
        return op.outputs[0]

    # ---- the result --------------------------------------------------------------------------

    def step(self, fetches: list[Tensor], names: list[str]) -> StepGraph:
        """The finished graph; ``fetches`` are tensors of the whole step."""
        made = [self.value(t, None) for t in fetches]
        wanted = [self.controls[op] for op in self.scope.step.targets if op in self.controls]
        targets = list(dict.fromkeys([*wanted, *self.effects]))
        return StepGraph(self.graph, self.feeds, made, targets, names)


def _state_key(tensor: Tensor) -> Key | None:
    """The state whose value is sent, where a tensor stands for one."""
    if is_silent_handle(tensor.op) or tensor.dtype.is_ref:
        return resource_key(handle_of(tensor))
    return None


def _edge_attrs(cut: Cut) -> dict[str, object]:
    return {
        "tensor_name": cut.edge,
        "send_device": cut.send_device,
        "send_device_incarnation": _INCARNATION,
        "recv_device": cut.recv_device,
        "client_terminated": False,
    }


def _origin(cut: Cut) -> Origin | None:
    return (cut.waits_for[-1] if cut.tensor is None else cut.tensor.op).origin


class Assembly:
    """The graphs of all tasks of one scope.

    Args:
      scope: with its cuts.
      tasks: that have something of it.
    """

    def __init__(self, scope: Scope, tasks: Iterable[str]) -> None:
        self.scope = scope
        self.builders = {task: Builder(scope, task) for task in tasks}

    def walk(self) -> None:
        """Copies everything, in the global order."""
        scope, builders = self.scope, self.builders
        runs = set(located(scope))
        self._send_after(None)
        for op in scope.step.operations:
            if op in scope.regions:
                self._region(scope.regions[op])
            elif op in runs:
                builder = builders[scope.task[op]]
                inputs, before = builder.inputs(op), builder.before(op)
                if op.op_def.blocking:
                    before += builder.barrier.controls()
                builder.controls[op] = builder.copy(op, inputs, before)
            self._send_after(op)

    def _send_after(self, op: Operation | None) -> None:
        for cut in self.scope.sends_after.get(op, ()):
            self.builders[cut.source].send(cut)

    def _region(self, region: Region) -> None:
        blocks = [Assembly(scope, region.tasks) for scope in region.blocks]
        for block in blocks:
            block.walk()
        for task in region.tasks:
            self._region_in(region, task, [block.builders[task] for block in blocks])

    def _region_in(self, region: Region, task: str, blocks: list[Builder]) -> None:
        """A region's part in one task."""
        op, builder = region.op, self.builders[task]
        outputs = sorted(
            region.variables_at.get(task, ()) if region.is_loop else region.outputs_at.get(task, ())
        )
        steps = []
        for index, block in enumerate(blocks):
            fetches = block.scope.step.fetches
            if not region.is_loop or index == 1:
                fetches = [fetches[i] for i in outputs]
            steps.append(block.step(fetches, [t.op.name for t in block.feeds]))
        inputs = self._region_inputs(region, task, steps)
        before = builder.before(op)
        if any(inner.op_def.blocking for step in steps for inner in step.operations):
            before += builder.barrier.controls()
        name, before = builder._name(op.name), list(dict.fromkeys(before))
        new = make_region(builder.graph, op.type, name, inputs, steps, before)
        new.origin = op.origin
        new.put_on(self.scope.device_in(task, op))
        builder.controls[op] = new
        if new.op_def.effect:
            builder.barrier.sent(new)
            builder.effects.append(new)
        for index, made in zip(outputs, new.outputs, strict=True):
            made.sizes = op.outputs[index].sizes
            builder.tensors[op.outputs[index]] = made

    def _region_inputs(self, region: Region, task: str, steps: list[StepGraph]) -> Inputs:
        op, builder = region.op, self.builders[task]
        whole = inputs_of(op, op.inputs)
        if region.is_loop:
            variables = sorted(region.variables_at.get(task, ()))
            first = [builder.value(whole.first[i], op) for i in variables]
        else:
            first = [builder.value(whole.first[0], op)]
        args = [
            builder.value(whole.args[i - region.variables], op)
            for i in sorted(region.args_at.get(task, ()))
        ]
        args += [builder.value(t, op) for t in region.given_at.get(task, {}).values()]
        used = {
            resource_key(inner)
            for step in steps
            for inner in step.operations
            if is_silent_handle(inner)
        }
        reads, writes = (
            [builder.handle(t) for t in tensors if resource_key(handle_of(t)) in used]
            for tensors in (whole.reads, whole.writes)
        )
        return Inputs(first, args, reads, writes)
