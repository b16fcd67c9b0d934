"""Traced steps: what ``Session.run(..., options, run_metadata)`` writes into a RunMetadata.

A traced step is the optimized program, the one that runs untraced, with an observer after each
line; so the times are those of what really runs, and passes that fuse or drop nodes show.

* ``step_stats``: one NodeExecStats a line, under the device that the node was placed on.  A node
  that a pass made is listed under the node of the user's graph that it replaces, with its own op
  type in ``timeline_label``, so that TensorBoard and timelines find it; several that replace one
  node are several entries of that name, and a combined update of many variables stands under its
  last variable's.  Variables have an entry for each read.  Constants and feeds take no time of a
  step and have none.
* ``memory`` counts what outputs allocate: views and updates in place allocate nothing.  What a
  kernel takes and frees while it runs is not seen.
* ``partition_graphs`` holds the step graph that ran, a graph for each device though one program
  runs on all (``partition.display``), its nodes' ``experimental_debug_info`` naming the user's;
  ``function_graphs`` holds one entry with the graphs before and after the optimizing passes.  Both
  only with ``output_partition_graphs``.
* ``cost_graph``: the nodes of the step graph that ran, with sizes and costs in microseconds.  It
  comes with every trace and, without one, as ``GraphOptions.build_cost_model`` says.

Of RunOptions, ``trace_level`` knows no difference between SOFTWARE, HARDWARE and FULL on a CPU.
``inter_op_thread_pool``, ``debug_options``, ``report_tensor_allocations_upon_oom`` and
``experimental`` are accepted and change nothing: a step runs in the thread that calls it.  A step
that fails leaves ``run_metadata`` empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.cost_graph_pb2 import CostGraphDef
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, NodeExecStats, StepStats
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from penstock.compiler.codegen.source import Observe
from penstock.compiler.partition.display import device_graphs
from penstock.compiler.placement.available import is_full
from penstock.engine.resources import waiting
from penstock.engine.runtime.program import Program
from penstock.engine.runtime.trace import LineRun, Made, Recorder
from penstock.engine.session.users_graph import users_node
from penstock.foundation.base import errors, shapes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.node_message import shape_proto
from penstock.foundation.graph.operation import Operation, blocks_of, inner_operations
from penstock.foundation.graph.region import block_labels
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

# Labels show the memory of a node that allocates at least so much, as TensorFlow's do.
_SHOWN_BYTES = 0.1 * (1 << 20)


@dataclass(frozen=True)
class Wanted:
    """Which parts of a RunMetadata a call asks for."""

    stats: bool
    graphs: bool
    costs: bool

    @property
    def bits(self) -> int:
        """The same as one number, for other tasks."""
        return self.stats | self.graphs << 1 | self.costs << 2

    @classmethod
    def of_bits(cls, bits: int) -> Wanted:
        """What ``bits`` says."""
        return cls(bool(bits & 1), bool(bits & 2), bool(bits & 4))


def wanted(options: Any, cost_model_due: bool) -> Wanted | None:
    """What to write for these RunOptions (or None), or None when a plain run will do."""
    stats = getattr(options, "trace_level", 0) > 0
    graphs = bool(getattr(options, "output_partition_graphs", False))
    if not (stats or graphs or cost_model_due):
        return None
    return Wanted(stats, graphs, stats or cost_model_due)


def run(session: Any, fetches: Any, feed_dict: Any, parts: Wanted, run_metadata: Any) -> Any:
    """Runs a step under a recorder and fills ``run_metadata``.

    Args:
      session: the session.
      fetches, feed_dict: as for ``Session.run``.
      parts: what to write.
      run_metadata: a RunMetadata; what it held is dropped.

    Returns:
      What ``Session.run`` returns.
    """
    run_metadata.Clear()
    recorders: list[Recorder] = []

    def make_observer(program: Program, args: list[Any]) -> Observe:
        recorders.append(Recorder(program, args))
        return _bounded(recorders[0], session.graph)

    values = session.observed(fetches, feed_dict, make_observer)
    recorder = recorders[0]
    placer = session.placer
    device = placer.devices[0].name
    _fill(run_metadata, recorder, session.graph, device, parts)
    if parts.stats and placer.cost is not None:
        placer.cost.learn(run_metadata.step_stats)
    if parts.graphs:
        before = session.observed_step(fetches, feed_dict, optimize=False)
        unoptimized = before.program(recorder.args).source.step
        _add_graphs(run_metadata, recorder.program.source.step, unoptimized, session.graph, device)
    return values


def run_on_cluster(
    session: Any, fetches: Any, feed_dict: Any, parts: Wanted, run_metadata: Any
) -> Any:
    """``run`` for a session whose steps run on other tasks, each of which records its part."""
    run_metadata.Clear()
    step = session._prepare(None, fetches, feed_dict or {})
    args = [convert(feed_dict[key]) for key, convert in step.feeds]
    recorded: dict[str, bytes] = {}
    values = session.call_program(step.program(args).recording(parts.bits, recorded), args)
    for task in sorted(recorded):
        run_metadata.MergeFrom(RunMetadata.FromString(recorded[task]))
    return values[0] if step.single else step.assemble(values)


def run_part(
    run: Callable[[Callable[[Program, Sequence[Any]], Observe]], Any],
    graph: Graph,
    device: str,
    bits: int,
) -> tuple[Any, bytes]:
    """Runs a task's part of a step under a recorder.

    Args:
      run: runs the part with an observer made by what it is given.
      graph: of the part.
      device: full name of the device that runs it.
      bits: what to write, as ``Wanted.bits`` says it.

    Returns:
      What ``run`` returns, and a RunMetadata in bytes.
    """
    recorders: list[Recorder] = []

    def make_observer(program: Program, args: Sequence[Any]) -> Observe:
        recorders.append(Recorder(program, list(args)))
        return _bounded(recorders[0], graph)

    values = run(make_observer)
    made, parts = RunMetadata(), Wanted.of_bits(bits)
    _fill(made, recorders[0], graph, device, parts)
    if parts.graphs:
        step = recorders[0].program.source.step
        made.partition_graphs.extend(device_graphs(_graph_def(step, graph, device)))
    return values, made.SerializeToString()


def _fill(run_metadata: Any, recorder: Recorder, graph: Graph, device: str, parts: Wanted) -> None:
    if parts.stats:
        run_metadata.step_stats.CopyFrom(step_stats(recorder, graph, device))
    if parts.costs:
        run_metadata.cost_graph.CopyFrom(cost_graph(recorder, device))


def _bounded(recorder: Recorder, graph: Graph) -> Observe:
    """The recorder's observer, ending the step after the line at which its deadline passes."""
    if not waiting.has_deadline():
        return recorder.observe

    def observe(line: int, outputs: tuple[Any, ...]) -> None:
        recorder.observe(line, outputs)
        try:
            waiting.check_deadline()
        except errors.DeadlineExceededError as error:
            op = recorder.program.source.line_ops[line]
            message = f"{error.message}; the last node that ran was {op.type} {op.name!r}"
            node = users_node(graph, op.name)
            raise errors.DeadlineExceededError(None, node, message) from None

    return observe


class _Names:
    """Names of the user's graph for what is in a step graph."""

    def __init__(self, graph: Graph, step: StepGraph) -> None:
        self._graph = graph
        self._fed = dict(zip(step.feeds, step.feed_names, strict=True))

    def node(self, op: Operation) -> str:
        """Name of the user's node that ``op`` stands for; its own where there is none."""
        if op.op_def.role == "feed":
            fed = self._fed.get(op.outputs[0])
            # A feed of a block is named after the node that the block is given.
            return op.name.removeprefix("_in/") if fed is None else fed.rpartition(":")[0]
        found = users_node(self._graph, op.name)
        return found.name if found is not None else op.name

    def tensor(self, tensor: Tensor) -> str:
        """Name of a tensor as GraphDefs write inputs: ``NODE``, ``NODE:1``."""
        if tensor in self._fed:
            return self._fed[tensor].removesuffix(":0")
        name = self.node(tensor.op)
        return f"{name}:{tensor.value_index}" if tensor.value_index else name


# ---- step stats -------------------------------------------------------------------------------


def step_stats(recorder: Recorder, graph: Graph, device: str) -> StepStats:
    """The StepStats of a recorded run.

    Args:
      recorder: after the run.
      graph: the user's graph, whose names the nodes get.
      device: full name of the device of nodes that ask for none.

    Returns:
      One DeviceStepStats for each device that had a node, its nodes in the order in which they ran.
    """
    found: dict[str, DeviceStepStats] = {device: DeviceStepStats(device=device)}
    source = recorder.program.source
    names = _Names(graph, source.step)
    for run in recorder.lines():
        op = source.line_ops[run.line]
        where = _device_of(op, device)
        stats = found.setdefault(where, DeviceStepStats(device=where))
        stats.node_stats.append(_node_stats(run, op, names, recorder.thread_id))
    used = [stats for name, stats in sorted(found.items()) if stats.node_stats or len(found) == 1]
    for stats in used:
        stats.thread_names[recorder.thread_id] = recorder.thread_name
    return StepStats(dev_stats=used)


def _device_of(op: Operation, device: str) -> str:
    """The device that a node was placed on; ``device`` where there is only that one."""
    return op.device if is_full(op.device) else device


def _node_stats(run: LineRun, op: Operation, names: _Names, thread: int) -> NodeExecStats:
    # Micros are cut from the clock, not from durations: neighbours then never overlap.
    start, taken = run.start // 1000, run.end // 1000 - run.start // 1000
    stats = NodeExecStats(
        node_name=names.node(op),
        all_start_micros=start,
        op_end_rel_micros=taken,
        all_end_rel_micros=taken,
        scheduled_micros=start,
        all_start_nanos=run.start,
        op_end_rel_nanos=run.end - run.start,
        all_end_rel_nanos=run.end - run.start,
        scheduled_nanos=run.start,
        thread_id=thread,
    )
    for slot, made in enumerate(run.outputs):
        if made is not None:
            _add_output(stats, slot, op.outputs[slot], made)
    stats.timeline_label = f"{_add_memory(stats, run)}{_label(names, op)}"
    return stats


def _add_output(stats: NodeExecStats, slot: int, tensor: Tensor, made: Made) -> None:
    description = stats.output.add(slot=slot).tensor_description
    description.dtype = tensor.dtype.as_datatype_enum
    description.shape.CopyFrom(_shape(made))
    allocation = description.allocation_description
    allocation.requested_bytes = made.bytes
    allocation.allocated_bytes = made.capacity
    allocation.allocator_name = made.allocator
    allocation.allocation_id = made.allocation
    allocation.has_single_reference = made.fresh
    allocation.ptr = made.pointer


def _add_memory(stats: NodeExecStats, run: LineRun) -> str:
    """Adds an entry for each allocator that the node took memory of; the label's part on it."""
    totals: dict[str, int] = {}
    for made in run.outputs:
        if made is not None and made.fresh:
            totals[made.allocator] = totals.get(made.allocator, 0) + made.capacity
    text = ""
    for name, size in totals.items():
        memory = stats.memory.add(
            allocator_name=name, total_bytes=size, peak_bytes=size, live_bytes=size,
            allocator_bytes_in_use=run.in_use,
        )  # fmt: skip
        memory.allocation_records.add(alloc_micros=run.end // 1000, alloc_bytes=size)
        if size >= _SHOWN_BYTES:
            text += f"[{name} {size / (1 << 20):.1f}MB {size / (1 << 20):.1f}MB] "
    return text


def _label(names: _Names, op: Operation) -> str:
    inputs = [names.tensor(tensor) for tensor in op.inputs]
    inputs += [f"^{names.node(control)}" for control in op.control_inputs]
    return f"{names.node(op)} = {op.type}({', '.join(inputs)})"


def _shape(made: Made) -> TensorShapeProto:
    dims = [TensorShapeProto.Dim(size=size) for size in made.shape]
    return TensorShapeProto(dim=dims)


# ---- graphs -----------------------------------------------------------------------------------


def _add_graphs(
    run_metadata: Any, ran: StepGraph, unoptimized: StepGraph, graph: Graph, device: str
) -> None:
    made = _graph_def(ran, graph, device)
    partitions = device_graphs(made)
    run_metadata.partition_graphs.extend(partitions)
    graphs = run_metadata.function_graphs.add()
    graphs.partition_graphs.extend(partitions)
    graphs.pre_optimization_graph.CopyFrom(_graph_def(unoptimized, graph, device))
    graphs.post_optimization_graph.CopyFrom(made)


def _graph_def(step: StepGraph, graph: Graph, device: str) -> GraphDef:
    names = _Names(graph, step)
    message: GraphDef = step.graph.as_graph_def(add_shapes=True)
    for node, op in zip(list(message.node), step.operations, strict=True):
        node.device = _device_of(op, device)
        node.experimental_debug_info.original_node_names.append(names.node(op))
        for label, block in zip(block_labels(op), blocks_of(op), strict=True):
            inside = _graph_def(block, graph, device)
            _add_block(message, inside, f"{op.name}/{label}/")
    return message


def _add_block(message: GraphDef, inside: GraphDef, prefix: str) -> None:
    """Adds the nodes of a region's block, under names of their own."""
    for node in inside.node:
        node.name = prefix + node.name
        for index, source in enumerate(node.input):
            mark = "^" if source.startswith("^") else ""
            node.input[index] = mark + prefix + source.removeprefix("^")
        message.node.append(node)


def cost_graph(recorder: Recorder, device: str) -> CostGraphDef:
    """What each node of the step graph that ran took.

    Args:
      recorder: after the run.
      device: full name of the device of nodes that ask for none.

    Returns:
      A node for each node of the step graph, under its name there; ``compute_cost`` is in
      microseconds, zero for nodes that have no line (constants, feeds, variables never read).
    """
    source = recorder.program.source
    operations = source.step.operations
    # What runs in a region's blocks counts for the region.
    owner = {inner: op for op in operations for inner in inner_operations(op)}
    runs: dict[Operation, list[LineRun]] = {}
    for run in recorder.lines():
        op = source.line_ops[run.line]
        runs.setdefault(owner.get(op, op), []).append(run)
    ids = {op: number for number, op in enumerate(operations)}
    final = {t.op for t in source.step.fetches} | set(source.step.targets)
    storages: dict[Tensor, int] = {}
    result = CostGraphDef()
    for op in operations:
        mine = runs.get(op, [])
        where = _device_of(op, device)
        node = result.node.add(name=op.name, device=where, id=ids[op], is_final=op in final)
        node.compute_cost = round(sum(run.end - run.start for run in mine) / 1000)
        for tensor in op.inputs:
            node.input_info.add(preceding_node=ids[tensor.op], preceding_port=tensor.value_index)
        node.control_input.extend(ids[control] for control in op.control_inputs)
        outputs: list[Made | None] = [None] * len(op.outputs)
        if mine and len(mine[-1].outputs) == len(outputs):
            outputs = mine[-1].outputs
        node.persistent_memory_size = _held(op, outputs)
        for tensor, made in zip(op.outputs, outputs, strict=True):
            _add_output_info(node, tensor, made, storages)
    return result


def _held(op: Operation, outputs: list[Made | None]) -> int:
    """Bytes that a node holds between steps: a constant's, or those of a variable that was read."""
    if op.op_def.role == "constant":
        return int(op.attrs["value"].nbytes)
    return sum(made.capacity for made in outputs if made) if op.op_def.state else 0


def _add_output_info(
    node: Any, tensor: Tensor, made: Made | None, storages: dict[Tensor, int]
) -> None:
    info = node.output_info.add(dtype=tensor.dtype.as_datatype_enum, alias_input_port=-1)
    if made is None:
        info.shape.CopyFrom(shape_proto(shapes.TensorShape(tensor.sizes)))
        return
    info.size = made.bytes
    info.shape.CopyFrom(_shape(made))
    storages[tensor] = made.allocation
    if made.allocation and not made.fresh:
        info.alias_input_port = next(_ports_in(tensor.op, made.allocation, storages), -1)


def _ports_in(op: Operation, allocation: int, storages: dict[Tensor, int]) -> Iterator[int]:
    for port, tensor in enumerate(op.inputs):
        if storages.get(tensor) == allocation:
            yield port
