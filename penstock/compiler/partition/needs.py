"""What every task needs of the others: the cuts of a step.

The walk visits the located nodes and asks for their inputs where they run.  What a task asks for is
found in one of these ways:

* it is made there, or it is made everywhere: then its own inputs are asked for;
* it is fed: every task that wants a feed gets it;
* it is known before the step runs, and small: it becomes a constant;
* in a block, it comes from outside (an arg, or a variable that the region does not write): the
  region's part in this task is given it, and it is asked for around the region, once and not in
  each round;
* else the edge is cut.

A tensor is sent to a task once, however many nodes there use it.  The value of a reference variable
is another one after each write: it is sent once for each, right after the write.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.compiler.partition.scope import (
    Cut,
    Region,
    Scope,
    is_silent_handle,
    located,
    small_value,
    value_type,
)
from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.handles import handle_of, resource_key, wants_handle
from penstock.foundation.graph.node_attrs import COMPRESS
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.tensor import Tensor

_VALUES_ONLY = (dtypes.resource, dtypes.variant)


def find_needs(scope: Scope) -> None:
    """Finds the cuts of a located step and of the blocks in it; see the module's docstring."""
    _visit(scope)
    for tensor in scope.step.fetches:
        need(scope, tensor, home_of(scope, tensor), None)


def _visit(scope: Scope) -> None:
    for op in located(scope):
        task = scope.task[op]
        for tensor, handle in zip(op.inputs, wants_handle(op), strict=True):
            if handle:
                _need_handle(scope, tensor, op)
            else:
                need(scope, tensor, task, op)
        _need_controls(scope, op, (task,))
    for region in scope.regions.values():
        _visit_region(region)


def _visit_region(region: Region) -> None:
    op, around = region.op, region.around
    for task in region.tasks:
        if region.is_loop:
            need(region.blocks[0], region.blocks[0].step.fetches[0], task, None)
        else:
            need(around, op.inputs[0], task, op)
    for variable in range(region.variables):
        if variable not in region.free:
            need_variable(region, variable, output_task(region, variable))
    _need_controls(around, op, region.tasks)
    for block in region.blocks:
        _visit(block)


# ---- where things are ----------------------------------------------------------------------------


def home_of(scope: Scope, tensor: Tensor) -> str:
    """The task that has a value and sends it to those that ask for it."""
    op = tensor.op
    if op in scope.regions:
        return output_task(scope.regions[op], tensor.value_index)
    if op.op_def.role == "feed" and scope.region is not None:
        index, region = scope.feed_index[tensor], scope.region
        if index < region.variables and index not in region.free:
            return output_task(region, index)
        return region.tasks[0]
    return scope.task[op]


def output_task(region: Region, index: int) -> str:
    """The task that surely has an output of a region, and so the variable of a loop."""
    if region.is_loop:
        if index in region.free:
            return next((t for t in region.tasks if index in region.variables_at.get(t, ())),
                        region.tasks[0])  # fmt: skip
        body, following = region.blocks[1], region.following(index)
        if following.op.op_def.role == "feed":
            return output_task(region, body.feed_index[following])
        return home_of(body, following)
    wanted = _choices(region, index)
    if not wanted:
        return region.tasks[0]
    return max(wanted, key=wanted.count)


def _choices(region: Region, index: int) -> list[str]:
    """The tasks in which the sides of a conditional make an output."""
    found = []
    for block in region.blocks:
        tensor = block.step.fetches[index]
        free = tensor.op.op_def.role == "feed" or block.everywhere(tensor.op)
        if not free and not is_silent_handle(tensor.op):
            found.append(home_of(block, tensor))
    return found


# ---- asking --------------------------------------------------------------------------------------


def need(scope: Scope, tensor: Tensor, task: str, user: Operation | None) -> None:
    """Asks for the value of a tensor in a task, before ``user`` (None: in the end)."""
    op = tensor.op
    if is_silent_handle(op) or tensor.dtype.is_ref:
        _need_state(scope, tensor, task, user)
        return
    if (tensor, task) in scope.known:
        return
    scope.known.add((tensor, task))
    if op.op_def.role == "feed":
        _need_feed(scope, tensor, task, user)
    elif op in scope.regions:
        _need_output(scope, tensor, task, user)
    elif scope.everywhere(op):
        for source in op.inputs:
            need(scope, source, task, op)
    elif scope.task[op] != task and small_value(tensor) is None:
        _cut(scope, tensor, scope.task[op], task, user, op)


def _need_handle(scope: Scope, tensor: Tensor, user: Operation) -> None:
    """State does not move: who works on it is where it is."""
    task, home = scope.task[user], home_of(scope, tensor)
    if tensor.op.op_def.role == "feed" or tensor.op in scope.regions:
        need(scope, tensor, task, user)  # a stack or array, handed into the block
    elif task != home:
        raise errors.InvalidArgumentError(
            None, user,
            f"{user.type} {user.name!r} is placed in {task}, but works on the state"
            f" {tensor.op.name!r}, which is in {home}; colocate them",
        )  # fmt: skip


def _need_state(scope: Scope, tensor: Tensor, task: str, user: Operation | None) -> None:
    """The value that state has at a place in the order."""
    handle = handle_of(tensor)
    key = resource_key(handle)
    home = scope.task[tensor.op]
    if home == task:
        return
    region = scope.region
    if region is not None and is_silent_handle(tensor.op) and not region.writes(key):
        _give(region, task, key)
        return
    place = scope.place_of(user)
    after = tensor.op
    for write in scope.writers.get(key, ()):
        if scope.position[after] < scope.position[write] < place:
            after = write
    _cut(scope, tensor, home, task, user, after, scope.epoch(key, place))


def _give(region: Region, task: str, key: tuple[str, str]) -> None:
    """Lets a region's part have the value of a variable from outside."""
    given = region.given_at.setdefault(task, {})
    if key in given:
        return
    found = [t for t in region.op.inputs if _names(t, key)]
    if not found:
        raise errors.InternalError(
            None, region.op, f"{region.op.name!r} does not name the state {key} that it reads"
        )
    given[key] = found[0]
    need(region.around, found[0], task, region.op)


def _names(tensor: Tensor, key: tuple[str, str]) -> bool:
    carries = tensor.dtype.is_ref or tensor.dtype is dtypes.resource
    return carries and is_silent_handle(tensor.op) and resource_key(tensor.op) == key


def _need_feed(scope: Scope, tensor: Tensor, task: str, user: Operation | None) -> None:
    index, region = scope.feed_index[tensor], scope.region
    if region is None:
        scope.feeds_at.setdefault(task, set()).add(index)
    elif index >= region.variables:
        region.args_at.setdefault(task, set()).add(index)
        need(region.around, region.outer_arg(index), task, region.op)
    elif index in region.free or output_task(region, index) == task:
        need_variable(region, index, task)
    else:
        _cut(scope, tensor, output_task(region, index), task, user, None)


def need_variable(region: Region, index: int, task: str) -> None:
    """Lets a task's part of a loop have a variable."""
    there = region.variables_at.setdefault(task, set())
    if index in there:
        return
    there.add(index)
    need(region.around, region.outer_arg(index), task, region.op)
    need(region.blocks[1], region.following(index), task, None)


def _need_output(scope: Scope, tensor: Tensor, task: str, user: Operation | None) -> None:
    region, index = scope.regions[tensor.op], tensor.value_index
    free = index in region.free if region.is_loop else not _choices(region, index)
    home = task if free and task in region.tasks else output_task(region, index)
    region.outputs_at.setdefault(home, set()).add(index)
    if region.is_loop:
        need_variable(region, index, home)
    else:
        for block in region.blocks:
            need(block, block.step.fetches[index], home, None)
    if home != task:
        _cut(scope, tensor, home, task, user, tensor.op)


def _need_controls(scope: Scope, op: Operation, tasks: Sequence[str]) -> None:
    """One message from each other task in which something runs that ``op`` comes after."""
    for task in tasks:
        for source, nodes in remote_controls(scope, op, task).items():
            key = (nodes, task)
            if key not in scope.control_cuts:
                last = max(nodes, key=scope.position.__getitem__)
                cut = scope.control_cuts[key] = Cut(
                    f"edge_{next(scope.numbers)}_{last.name}",
                    source,
                    task,
                    None,
                    scope.device_in(source, last),
                    scope.device_in(task, op),
                    waits_for=nodes,
                )
                scope.sends_after.setdefault(last, []).append(cut)


def remote_controls(scope: Scope, op: Operation, task: str) -> dict[str, tuple[Operation, ...]]:
    """The nodes in other tasks that ``op`` comes after by control edges, by task."""
    found: dict[str, list[Operation]] = {}
    for control in (*op.control_inputs, *scope.rounds.get(op, ())):
        for source in tasks_of(scope, control):
            if source != task:
                found.setdefault(source, []).append(control)
    return {source: tuple(nodes) for source, nodes in found.items()}


def tasks_of(scope: Scope, op: Operation) -> list[str]:
    """The tasks in which something of a node runs that others can come after."""
    if op in scope.regions:
        return scope.regions[op].tasks
    if op.op_def.role == "feed" and scope.region is not None:
        # A variable is there when the round before has ended in the task that makes it.
        index, region = scope.feed_index[op.outputs[0]], scope.region
        return [] if region.is_free(index) else [output_task(region, index)]
    if op.op_def.role == "feed" or is_silent_handle(op) or scope.everywhere(op):
        return []
    return [scope.task[op]]


def _cut(
    scope: Scope,
    tensor: Tensor,
    source: str,
    target: str,
    user: Operation | None,
    after: Operation | None,
    epoch: int = 0,
) -> None:
    """Cuts an edge; its send stands after the node ``after``."""
    key = (tensor, target, epoch)
    if key in scope.cuts:
        return
    dtype = tensor.dtype.base_dtype
    readable = is_silent_handle(tensor.op) and tensor.op.op_def.role == "variable"
    if dtype in _VALUES_ONLY and not readable:
        raise errors.InvalidArgumentError(
            None, tensor.op,
            f"{tensor.name!r} ({dtype.name}) is made in {source} and used in {target}; a"
            f" {dtype.name} cannot be sent to another task: colocate {tensor.op.name!r} with what"
            " uses it",
        )  # fmt: skip
    cut = scope.cuts[key] = Cut(
        f"edge_{next(scope.numbers)}_{tensor.op.name}",
        source,
        target,
        tensor,
        scope.device_in(source, tensor.op),
        scope.device_in(target, user),
        compress=is_compressed(scope, tensor),
    )
    scope.sends_after.setdefault(after, []).append(cut)


def is_compressed(scope: Scope, tensor: Tensor) -> bool:
    """Whether a float32 tensor travels as 16 bits: the graph or its node asks for that."""
    op = tensor.op
    marked = [op.attrs.get(COMPRESS)]
    if op.op_def.reads and op.inputs and is_silent_handle(op.inputs[0].op):
        marked.append(op.inputs[0].op.attrs.get(COMPRESS))
    asked = scope.compress or any(marked)
    float32 = value_type(tensor)[0] is dtypes.float32
    if not asked or not float32 or value_type(tensor)[1] == ():
        return False
    return not _may_be_absent(tensor)


def _may_be_absent(tensor: Tensor) -> bool:
    """Whether the tensor has no value when some branch is not taken."""
    if tensor.op.op_def.role == "dead":
        return True
    if tensor.op.op_def.role != "conditional":
        return False
    return any(_may_be_absent(b.fetches[tensor.value_index]) for b in blocks_of(tensor.op))
