"""Control flow made structured: from a user's primitives to a step of regions.

``frames`` finds the loops and ``branches`` the conditionals; here the nodes are copied into a step
whose ``_If`` and ``_While`` nodes hold blocks (``graph.region``).  Each block is built in a
``_Scope`` of its own.  What a block uses of the scope around it is handed in: values as inputs of
the region; constants and handles of state are copied into the block, so that passes see them there.
Switch, Enter and NextIteration leave nothing behind: what comes out of them is what went in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from penstock.compiler.passes.branches import Block, Branch, Guards, branched
from penstock.compiler.passes.frames import (
    Frames,
    Item,
    Loop,
    Unstructured,
)  # fmt: skip
from penstock.foundation.base import dtypes, errors, shapes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.handles import (
    handle_of,
    is_handle,
    is_of,
    moved_keys,
    naming_only,
    resource_key,
    wants_handle,
    written_keys,
)  # fmt: skip
from penstock.foundation.graph.operation import Operation, is_back_edge, is_given
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.region import Inputs, make_region
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import OPS


class _Request:
    """What is asked of a step: feeds, fetches and targets, in terms of the user's graph."""

    def __init__(
        self, graph: Graph, ordered: Sequence[Operation], feeds: Sequence[Tensor],
        fetches: Sequence[Tensor], targets: Sequence[Operation],
    ) -> None:  # fmt: skip
        self.graph = graph
        self.feeds, self.fetches, self.targets = feeds, fetches, targets
        self.fed = set(feeds)
        self.wanted = set(targets)
        self.moved: set[tuple[str, str]] = moved_keys(ordered)

    def resolve(self, tensor: Tensor) -> Tensor:
        """The value behind a tensor: what went into the Switch or Enter that it came out of.

        Behind ``W/read`` it is the reference, which a block reads where it is used, as ``reads``
        has it: a round sees what the rounds before it have written.
        """
        while self._hands_on(tensor):
            tensor = tensor.op.inputs[0]
        return tensor

    def _hands_on(self, tensor: Tensor) -> bool:
        op = tensor.op
        if tensor in self.fed or op.op_def.control in ("switch", "enter"):
            return tensor not in self.fed
        if not op.op_def.passes_through or op.control_inputs or tensor in self.fetches:
            return False
        source = op.inputs[0]
        return source.dtype.is_ref and source not in self.fed and not is_of(source, self.moved)


class _Scope:
    """A block in the making.

    State: the new graph with the map from old tensors and nodes (``copier``), the values taken from
    the scope around, the nodes out there that must have run, and the nodes to run for their effect.
    """

    def __init__(self, request: _Request, around: _Scope | None) -> None:
        self.request = request
        self.around = around
        self.copier = Rebuilder(StepGraph(request.graph, [], [], []))
        self.graph = self.copier.graph
        self.tensors = self.copier.tensors
        self.taken: dict[Tensor, Tensor] = {}
        self.waits_for: dict[Operation, None] = {}
        self.targets: list[Operation] = []
        # The user's nodes that are done here, in regions too.
        self.built: list[Operation] = []
        # The user's tensor behind each node here that stands for state.
        self.states: dict[Operation, Tensor] = {}

    # ---- values ------------------------------------------------------------------------------

    def value(self, old: Tensor) -> Tensor:
        """The tensor of this block that stands for a tensor of the user's."""
        old = self.request.resolve(old)
        found = self.tensors.get(old)
        if found is None:
            if old.op.op_def.role == "constant":
                self._copy_silent(old.op)
            elif is_handle(old):
                self._copy_handle(old.op)
            else:
                self.tensors[old] = self.take(old)
            found = self.tensors[old]
        return found

    def take(self, old: Tensor) -> Tensor:
        """Hands a value in from the scope around."""
        if self.around is None:
            raise errors.InternalError(None, old.op, f"{old.name!r} is used before it is made")
        found = self.taken.get(old)
        if found is None:
            outer = self.around.value(old)
            found = self.taken[old] = self.feed(old, outer.sizes)
        return found

    def feed(self, old: Tensor, dims: Any) -> Tensor:
        """A value that the region is given."""
        dtype = old.dtype.base_dtype
        attrs = {"dtype": dtype, "shape": shapes.from_static(dims), "index": 0}
        name = self.graph.unique_name(f"_in/{old.op.name}")
        node = self.graph.add_operation(OPS["_Feed"], [], attrs, [dtype], name)
        node.origin = old.op.origin
        return node.outputs[0]

    def _copy_silent(self, op: Operation) -> None:
        new = self._copy_of(op, op.op_def)
        for old, made in zip(op.outputs, new.outputs, strict=True):
            self.tensors[old] = made

    def _copy_handle(self, op: Operation) -> None:
        """State named again: under its key it is the same wherever it is named."""
        definition = op.op_def
        if definition.writes and op.outputs[0].dtype.is_ref:
            # What an update hands on is the state that it has updated, once, out there.
            self.controls(op)
            written = op.inputs_by_name()[definition.writes[0]]
            self.tensors.update(dict.fromkeys(op.outputs, self.value(written)))
            return
        if definition.state is None:
            for tensor in op.inputs:
                self.value(tensor)
            self._copy_silent(op)
            return
        new = self._copy_of(op, naming_only(definition))
        self.states[new] = op.outputs[0]
        for old, made in zip(op.outputs, new.outputs, strict=True):
            self.tensors[old] = made

    def _copy_of(self, op: Operation, definition: OpDef) -> Operation:
        inputs = [self.value(t) for t in op.inputs]
        types = [t.dtype for t in op.outputs]
        new = Operation(self.graph, definition, op.name, inputs, [], op.attrs, types, op.origin)
        new.put_on(op.device)
        for old, made in zip(op.outputs, new.outputs, strict=True):
            made.sizes = old.sizes
        self.graph.register(new)
        self.copier.controls[op] = [new]
        return new

    def controls(self, op: Operation) -> list[Operation]:
        """The nodes of this block that stand for a node in control edges."""
        known = self.copier.controls.get(op)
        if known is not None:
            return known
        found: dict[Operation, None] = {}
        if op.op_def.control in ("switch", "enter", "next", "test"):
            for before in [*(t.op for t in op.inputs), *op.control_inputs]:
                found.update(dict.fromkeys(self.controls(before)))
        elif op.op_def.control != "merge" and self.around is not None:
            self.waits_for[op] = None
        self.copier.controls[op] = list(found)
        return list(found)

    # ---- nodes -------------------------------------------------------------------------------

    def build(self, items: Sequence[Item], uses: Sequence[Tensor]) -> Guards:
        """Copies the items of a frame; ``uses``: what is wanted of them in the end."""
        blocks, guards = branched(items, self.request.fed)
        _find_escapes(blocks, uses, self.request)
        self._add(blocks)
        return guards

    def _add(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            if isinstance(block, Branch):
                self._add_branch(block)
            elif isinstance(block, Loop):
                self._add_loop(block)
            elif block.op_def.control != "switch":
                self._add_operation(block)

    def _add_operation(self, op: Operation) -> None:
        if is_given(op, self.request.fed) and op not in self.request.wanted:
            self.copier.controls[op] = []
            return
        if op not in self.copier.controls:  # else it was named here when it was needed
            for tensor in op.inputs:
                self.tensors[tensor] = self.value(tensor)
            for control in op.control_inputs:
                self.controls(control)
            given = {t: self.tensors[t] for t in op.outputs if t in self.request.fed}
            new = self.copier.copy(op)
            self.tensors.update(given)
            if op.op_def.state is not None and op.outputs:
                self.states[new] = op.outputs[0]
        self.built.append(op)
        if op in self.request.wanted:
            self.targets.extend(self.copier.controls[op])

    def _add_branch(self, branch: Branch) -> None:
        sides = [_Scope(self.request, self) for _ in branch.sides]
        for scope, blocks in zip(sides, branch.sides, strict=True):
            scope._add(blocks)
        outputs: list[tuple[Tensor, list[Tensor]]] = []
        for phi in branch.phis:
            merge = phi.merge
            _check_value(merge)
            chosen = [
                scope.value(merge.inputs[index])
                for scope, index in zip(sides, phi.chosen, strict=True)
            ]
            outputs.append((merge.outputs[0], chosen))
            if merge.outputs[1].uses or merge.outputs[1] in self.request.fetches:
                numbers = [
                    scope.constant(merge, index)
                    for scope, index in zip(sides, phi.chosen, strict=True)
                ]
                outputs.append((merge.outputs[1], numbers))
        for old, side in branch.escapes.items():
            values = [
                scope.value(old) if index == side else scope.dead(old)
                for index, scope in enumerate(sides)
            ]
            outputs.append((old, values))
        taken = _taken_by(sides)
        # The block of the true side comes first.
        then, orelse = (
            scope.step([scope.take(t) for t in taken], [values[i] for _, values in outputs])
            for i, scope in ((1, sides[1]), (0, sides[0]))
        )
        region = self._region(
            "_If", _label(branch), [(then, sides[1]), (orelse, sides[0])],
            [self.value(branch.pred)], taken,
        )  # fmt: skip
        for (old, values), new in zip(outputs, region.outputs, strict=True):
            living = [v.sizes for v in values if v.op.op_def.role != "dead"]
            new.sizes = shapes.merge_static(shapes.common_static(living), old.sizes)
            self.tensors[old] = new
        for merge in (phi.merge for phi in branch.phis):
            self.copier.controls[merge] = [region]
            self.built.append(merge)
            if merge in self.request.wanted:
                self.targets.append(region)

    def _add_loop(self, loop: Loop) -> None:
        condition, body = _Scope(self.request, self), _Scope(self.request, self)
        variables = [v.merge.outputs[0] for v in loop.variables]
        feeds = []
        for scope in (condition, body):
            feeds.append([scope.feed(t, t.sizes) for t in variables])
            scope.tensors.update(zip(variables, feeds[-1], strict=True))
        test = loop.test.inputs[0]
        _check_always(loop, condition.build(loop.condition, [test]), [test])
        pred = condition.value(test)
        following = [v.following for v in loop.variables]
        _check_always(loop, body.build(loop.body, following), following)
        results = [body.value(t) for t in following]
        taken = _taken_by((condition, body))
        blocks = [
            (condition.step(feeds[0] + [condition.take(t) for t in taken], [pred]), condition),
            (body.step(feeds[1] + [body.take(t) for t in taken], results), body),
        ]
        first = [self.value(v.initial) for v in loop.variables]
        label = loop.name.removesuffix("/while_context")
        region = self._region("_While", label, blocks, first, taken)
        region.origin = loop.variables[0].merge.origin if loop.variables else None
        for variable, new in zip(loop.variables, region.outputs, strict=True):
            new.sizes = variable.merge.outputs[0].sizes
            for leaves in variable.exits:
                self.tensors[leaves.outputs[0]] = new
                self.copier.controls[leaves] = [region]
                self.built.append(leaves)
                if leaves in self.request.wanted:
                    self.targets.append(region)

    def _region(
        self,
        op_type: str,
        label: str,
        blocks: Sequence[tuple[StepGraph, _Scope]],
        first: list[Tensor],
        taken: Sequence[Tensor],
    ) -> Operation:
        reads, writes = self._states_of(scope for _, scope in blocks)
        inputs = Inputs(first, [self.value(t) for t in taken], reads, writes)
        before: dict[Operation, None] = {}
        for _, scope in blocks:
            for op in scope.waits_for:
                before.update(dict.fromkeys(self.controls(op)))
        steps = [step for step, _ in blocks]
        name = self.graph.unique_name(label)
        region = make_region(self.graph, op_type, name, inputs, steps, list(before))
        region.origin = _origin(steps)
        for _, scope in blocks:
            self.copier.controls.update(dict.fromkeys(scope.built, [region]))
            self.built.extend(scope.built)
            if scope.targets and region not in self.targets:
                self.targets.append(region)
        return region

    def _states_of(self, scopes: Iterable[_Scope]) -> tuple[list[Tensor], list[Tensor]]:
        """Handles, in this scope, of the state that blocks read and of that which they write."""
        read: dict[tuple[str, str], Tensor] = {}
        written: dict[tuple[str, str], Tensor] = {}
        for scope in scopes:
            for op in scope.graph.operations:
                keys = written_keys(op)
                for tensor in op.inputs:
                    if not is_handle(tensor):
                        continue
                    handle = handle_of(tensor)
                    key = resource_key(handle)
                    (written if key in keys else read)[key] = scope.states[handle]
        return (
            [self.value(t) for key, t in read.items() if key not in written],
            [self.value(t) for t in written.values()],
        )

    def constant(self, op: Operation, value: int) -> Tensor:
        """An int32 scalar made here, as an output of ``op`` would be."""
        attrs = {"value": np.array(value, np.int32), "dtype": dtypes.int32}
        name = self.graph.unique_name(f"{op.name}/value_index")
        node = self.graph.add_operation(OPS["Const"], [], attrs, [dtypes.int32], name)
        node.outputs[0].sizes = ()
        return node.outputs[0]

    def dead(self, old: Tensor) -> Tensor:
        """What stands for a value that the other side of a conditional makes."""
        attrs = {"dtype": old.dtype.base_dtype, "shape": shapes.from_static(old.sizes)}
        name = self.graph.unique_name(f"_dead/{old.op.name}")
        node = self.graph.add_operation(OPS["_Dead"], [], attrs, [old.dtype.base_dtype], name)
        node.outputs[0].sizes = old.sizes
        return node.outputs[0]

    def step(self, feeds: list[Tensor], fetches: list[Tensor]) -> StepGraph:
        """The block."""
        targets = list(dict.fromkeys(self.targets))
        return StepGraph(self.graph, feeds, fetches, targets, [t.op.name for t in feeds])


def _check_value(merge: Operation) -> None:
    """Refuses a choice between variables; one between their values is as any other."""
    tensor = merge.outputs[0]
    if not is_handle(tensor):
        return
    for op in tensor.uses:
        if any(t is tensor and state for t, state in zip(op.inputs, wants_handle(op))):
            raise Unstructured(f"{merge.name!r} chooses between variables")


def _check_always(loop: Loop, guards: Guards, wanted: Sequence[Tensor]) -> None:
    for tensor in wanted:
        if guards.of_tensor(tensor):
            raise Unstructured(
                f"{tensor.name!r}, which a round of loop {loop.name!r} needs, is in a branch"
            )


def _taken_by(scopes: Sequence[_Scope]) -> list[Tensor]:
    return list(dict.fromkeys(t for scope in scopes for t in scope.taken))


def _label(branch: Branch) -> str:
    """A name for a conditional: the scope of what it decides."""
    names = [phi.merge.name for phi in branch.phis] or [
        block.name for side in branch.sides for block in side if not isinstance(block, Branch)
    ]
    scope = names[0].rpartition("/")[0] if names else ""
    return scope or branch.pred.op.name + "/cond"


def _origin(steps: Iterable[StepGraph]) -> Any:
    for step in steps:
        for op in step.operations:
            if op.origin is not None and op.op_def.role != "feed":
                return op.origin
    return None


# ---- escapes -------------------------------------------------------------------------------------


_Place = tuple[tuple[Branch, int], ...]


def _find_escapes(blocks: Sequence[Block], uses: Sequence[Tensor], request: _Request) -> None:
    """Notes on each branch the values made in it that are used after it."""
    places: dict[Operation, _Place] = {}
    _note_places(blocks, (), places)

    def use(tensor: Tensor, here: _Place) -> None:
        tensor = request.resolve(tensor)
        if tensor in request.fed:
            return
        place = places.get(tensor.op, ())
        for depth, (branch, side) in enumerate(place):
            if here[depth : depth + 1] != ((branch, side),):
                for outer, outer_side in place[depth:]:
                    outer.escapes[tensor] = outer_side
                break

    def visit(blocks: Sequence[Block], here: _Place) -> None:
        for block in blocks:
            if not isinstance(block, Branch):
                for tensor in block.inputs:
                    if not (isinstance(block, Operation) and is_back_edge(block, tensor)):
                        use(tensor, here)
                continue
            use(block.pred, here)
            for side, inner in enumerate(block.sides):
                inside = (*here, (block, side))
                visit(inner, inside)
                for phi in block.phis:
                    use(phi.merge.inputs[phi.chosen[side]], inside)

    visit(blocks, ())
    for tensor in uses:
        use(tensor, ())


def _note_places(blocks: Sequence[Block], here: _Place, places: dict[Operation, _Place]) -> None:
    for block in blocks:
        if isinstance(block, Branch):
            places.update(dict.fromkeys((phi.merge for phi in block.phis), here))
            for side, inner in enumerate(block.sides):
                _note_places(inner, (*here, (block, side)), places)
        elif isinstance(block, Loop):
            places.update(dict.fromkeys((t.op for t in block.outputs), here))
        else:
            places[block] = here


# ---- the whole step ------------------------------------------------------------------------------


def structured(
    graph: Graph,
    ordered: Sequence[Operation],
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
) -> StepGraph:
    """Copies the nodes of a step, with regions for its control flow.

    Args:
      graph: the user's graph.
      ordered: the nodes that the step needs, each after what it needs but for back edges.
      feeds, fetches, targets: what is asked.

    Returns:
      A step without primitives of control flow.

    Raises:
      Unstructured: the control flow does not nest.
      tf.errors.InvalidArgumentError: a value of a loop's inside is used outside it.
    """
    request = _Request(graph, ordered, feeds, fetches, targets)
    frames = Frames(ordered, request.fed)
    for tensor in fetches:
        _check_outside(tensor, frames)
    scope = _Scope(request, None)
    new_feeds = []
    for index, tensor in enumerate(feeds):
        scope.tensors[tensor] = scope.feed(tensor, tensor.sizes)
        scope.tensors[tensor].op.attrs["index"] = index
        new_feeds.append(scope.tensors[tensor])
    guards = scope.build(frames.root.items, fetches)
    new_fetches = [_fetched(scope, guards, tensor) for tensor in fetches]
    new_targets = list(dict.fromkeys(scope.targets))
    return StepGraph(scope.graph, new_feeds, new_fetches, new_targets, [t.name for t in feeds])


def _check_outside(tensor: Tensor, frames: Frames) -> None:
    frame = frames.frame_of.get(tensor.op)
    if tensor.op.op_def.control == "exit" and frame is not None:
        frame = frame.parent
    if tensor not in frames.fed and frame is not None and frame.parent is not None:
        made = f"\nmade at {tensor.op.origin}" if tensor.op.origin else ""
        raise errors.InvalidArgumentError(
            None, tensor.op,
            f"{tensor.name!r} cannot be fetched: it is inside loop {frame.name!r} and has a value"
            f" in each round; fetch what the loop returns{made}",
        )  # fmt: skip


def _fetched(scope: _Scope, guards: Guards, tensor: Tensor) -> Tensor:
    """A fetch; one that only has a value under a condition is looked at before it is returned."""
    if tensor in scope.request.fed:
        return scope.tensors[tensor]
    if not guards.of_tensor(tensor):
        return scope.value(tensor)
    if tensor.op.op_def.control == "switch":
        raise Unstructured(f"{tensor.name!r} is fetched, which is a side of a Switch")
    scope.copier.visit(tensor.op)
    value = scope.value(tensor)
    pred, side = guards.path(guards.of_tensor(tensor))[-1]
    branch = f"the {'true' if side else 'false'} side of {pred.name!r}"
    attrs = {"T": value.dtype.base_dtype, "tensor": tensor.name, "branch": branch}
    name = scope.graph.unique_name(f"{tensor.op.name}/_taken")
    node = scope.graph.add_operation(OPS["_Taken"], [value], attrs, [value.dtype.base_dtype], name)
    node.origin = tensor.op.origin
    return node.outputs[0]
