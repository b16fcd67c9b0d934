"""What calls, conditionals and loops in their functional form stand for.

The bodies' nodes stand in a graph made for the step, between the primitives that the construct
means::

    y = If(p, x; then, else)        x -> Switch(p) -> nodes of then, nodes of else -> Merge -> y
    y = While(x; condition, body)   x -> Enter -> Merge -> nodes of condition -> LoopCond
                                    Merge -> Switch -> nodes of body -> NextIteration; Exit -> y

From there on a functional graph is like any other.  Nodes of a body are named under the node that
calls it and keep the line that made them, so errors name both.  A node of a body that takes
nothing hangs on a *pivot*, a node that runs whenever the body does.

Of a graph in which a variable may change its shape the nodes are copied as well, and what depends
on that variable forgets the shapes that follow from the declared one.

A body runs as a whole: its effects happen though nobody takes its results, what comes after the
call comes after them, and they come after what the call was told to wait for.  A loop's variable
that the body hands on as it is enters as a constant; so do all handles of state.

State of one expansion: the new graph and, per body that is being copied, the maps from its tensors
and nodes to the new ones (``Body``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock.compiler.passes.prune import needed_in_order
from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph.bodies import bodies_of
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.function_gradient import gradient_of
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import (
    Operation,
    calls_functions,
    infer_shapes,
    is_back_edge,
)
from penstock.foundation.graph.rebuild import infer_again
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.kinds import CONSTRUCTS, PRIMITIVES, Control
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import OPS


@dataclass
class Body:
    """A body that is being copied.

    ``prefix`` is put before names; ``pivot`` is what nodes without inputs hang on.
    """

    prefix: str
    pivot: Operation | None
    tensors: dict[Tensor, Tensor] = field(default_factory=dict)
    controls: dict[Operation, list[Operation]] = field(default_factory=dict)

    def control(self, old: Iterable[Operation]) -> list[Operation]:
        """The new nodes that stand for old ones in control edges."""
        return list(dict.fromkeys(new for op in old for new in self.controls.get(op, ())))


# What a body's run gives: its results and the nodes with effects that must have run.
_Ran = tuple[list[Tensor], list[Operation]]
_Run = Callable[[list[Tensor], Operation | None], _Ran]


class Expander:
    """Makes the new graph; see the module's docstring."""

    def __init__(self, reshaped: set[Tensor]) -> None:
        self.graph = Graph()
        self._reshaped = reshaped
        self.effects: list[Operation] = []
        self._running: list[FunctionGraph] = []
        self._origin: Any = None
        # Whether there are loops or conditionals made of primitives, in which a call may stand.
        self._in_primitives = False

    # ---- nodes -------------------------------------------------------------------------------

    def stand_in(self, tensor: Tensor, ordered: Sequence[Operation]) -> Tensor:
        """A tensor in the place of one that is fed; what would make it is not part of the step."""
        op = tensor.op
        found = self.graph.by_name.get(op.name)
        if found is None:
            name = f"_fed/{op.name}" if op in set(ordered) else op.name
            definition = OpDef(op.type, (), op.op_def.outputs, op.op_def.attrs)
            definition.control, definition.role = op.op_def.control, op.op_def.role
            found = Operation(
                self.graph, definition, name, [], [], op.attrs, [t.dtype for t in op.outputs],
                op.origin,
            )  # fmt: skip
            self.graph.register(found)
        new = found.outputs[tensor.value_index]
        new.sizes, new.static_value = tensor.sizes, tensor.static_value
        return new

    def copy(
        self, operations: Iterable[Operation], body: Body, given: dict[Tensor, Tensor]
    ) -> None:
        """Copies nodes, with expansions in place of those that call functions."""
        operations = list(operations)
        self._in_primitives |= any(op.op_def.control in PRIMITIVES for op in operations)
        open_edges: list[tuple[Operation, int, Tensor]] = []
        for op in operations:
            if calls_functions(op):
                self._expand(op, body)
            else:
                open_edges.extend(self._copy_node(op, body))
            body.tensors.update({t: given[t] for t in op.outputs if t in given})
        for new, index, old in open_edges:
            new._update_input(index, body.tensors[old])

    def _copy_node(self, op: Operation, body: Body) -> list[tuple[Operation, int, Tensor]]:
        later = [(i, t) for i, t in enumerate(op.inputs) if is_back_edge(op, t)]
        back = {i for i, _ in later}
        inputs: list[Any] = [
            None if i in back else body.tensors[t] for i, t in enumerate(op.inputs)
        ]
        first = next((t for t in inputs if t is not None), None)
        inputs = [first if t is None else t for t in inputs]
        controls = body.control(op.control_inputs)
        if not inputs and not controls and body.pivot is not None:
            controls = [body.pivot]
        attrs = op.attrs
        if body.prefix:
            attrs = {k: v for k, v in attrs.items() if k != "_class"}
            if op.op_def.control == "enter":
                # Two calls of one function are two runs of its loops.
                attrs["frame_name"] = f"{body.prefix}{_text(attrs['frame_name'])}"
        types = [t.dtype for t in op.outputs]
        name = self._name(body.prefix + op.name)
        new = Operation(self.graph, op.op_def, name, inputs, controls, attrs, types, op.origin)
        new.put_on(op.device)
        for old, made in zip(op.outputs, new.outputs, strict=True):
            made.sizes = old.sizes
            body.tensors[old] = made
        forgets = self._reshaped and self._forgets(op, new, bool(back))
        if (
            not forgets
            and not back
            and any(a.sizes != b.sizes for a, b in zip(op.inputs, inputs, strict=True))
        ):
            _infer(new)
        self.graph.register(new)
        body.controls[op] = [new]
        return [(new, index, tensor) for index, tensor in later]

    def _forgets(self, op: Operation, new: Operation, in_circle: bool) -> bool:
        """Whether a copy's shapes depend on a reshaped variable's; then it has only what it must.

        What comes round in a loop may depend on one later.
        """
        given = self._reshaped
        changes = not given.isdisjoint(op.outputs)
        if not (in_circle or changes or given.intersection(new.inputs)):
            return False
        if changes:
            new.attrs = {**new.attrs, "shape": TensorShape(None)}
        for made in new.outputs:
            made.sizes = None
        if not in_circle:
            infer_shapes(new)
        given.update(t for t in new.outputs if t.sizes is None or None in t.sizes)
        return True

    def _name(self, name: str) -> str:
        made, count = name, 0
        while made in self.graph.by_name:
            count += 1
            made = f"{name}_{count}"
        return made

    def make(
        self,
        op_type: str,
        name: str,
        inputs: Sequence[Tensor],
        types: Sequence[dtypes.DType],
        attrs: dict[str, Any],
        controls: Sequence[Operation] = (),
    ) -> Operation:
        """Adds a node of an expansion."""
        new = Operation(
            self.graph, OPS[op_type], self._name(name), inputs, list(controls), attrs, types,
            self._origin,
        )  # fmt: skip
        _infer(new)
        self.graph.register(new)
        return new

    def identity(self, tensor: Tensor, name: str, controls: Sequence[Operation] = ()) -> Tensor:
        """``tensor``, once ``controls`` have run."""
        dtype = tensor.dtype.base_dtype
        return self.make("Identity", name, [tensor], [dtype], {"T": dtype}, controls).outputs[0]

    # ---- expanding ---------------------------------------------------------------------------

    def _expand(self, op: Operation, body: Body) -> None:
        label = body.prefix + op.name
        args = [body.tensors[t] for t in op.inputs]
        before = body.control(op.control_inputs)
        kept, self._origin = self._origin, op.origin or self._origin
        results, after = _EXPANSIONS[op.op_def.control](self, op, label, args, before, body.pivot)
        self._origin = kept
        for old, new in zip(op.outputs, results, strict=True):
            if new.sizes is None:
                new.sizes = old.sizes
            body.tensors[old] = new
        body.controls[op] = list(dict.fromkeys([*(t.op for t in results), *after, *before]))
        if not body.controls[op]:
            body.controls[op] = [self.make("NoOp", label, [], [], {}, self._on(body.pivot))]
        if op.op_def.control not in CONSTRUCTS:  # there it was noted: in a branch or a round
            self.effects.extend(after)

    @staticmethod
    def _on(pivot: Operation | None) -> list[Operation]:
        return [] if pivot is None else [pivot]

    def run(
        self, function: FunctionGraph, label: str, args: Sequence[Tensor], pivot: Operation | None
    ) -> _Ran:
        """Copies a body's nodes; the results wait for the effects."""
        if function in self._running:
            raise errors.invalid(
                f"function {function.name!r} calls itself (at {label!r}); recursive functions are"
                " not supported: a step has the bodies in place of the calls"
            )
        if len(function.inputs) != len(args):
            raise errors.invalid(
                f"{label!r} calls {function.name!r} with {len(args)} argument(s); it takes"
                f" {len(function.inputs)}"
            )
        body = Body(f"{label}/", pivot)
        body.tensors.update(zip(function.inputs, args, strict=True))
        effects = function.effects()
        needed = _needed(function, effects)
        self._wait_for_arguments(function, needed, label, body)
        self._running.append(function)
        try:
            self.copy(needed, body, dict(body.tensors))
        finally:
            self._running.pop()
        ran = body.control(effects)
        results = [body.tensors[t] for t in function.outputs]
        if ran:
            results = [self.identity(t, f"{label}/result", ran) for t in results]
        return results, ran

    def _wait_for_arguments(
        self, function: FunctionGraph, needed: list[Operation], label: str, body: Body
    ) -> None:
        """Takes off ``needed`` the arguments that nodes run after; a call's values stand in."""
        arguments = {t.op: t for t in function.inputs}
        for op in [op for op in needed if op in arguments]:
            value = body.tensors[arguments[op]]
            body.controls[op] = [self.identity(value, f"{label}/argument").op]
            needed.remove(op)

    def _gated(
        self, label: str, args: list[Tensor], before: list[Operation], pivot: Operation | None
    ) -> tuple[list[Tensor], Operation | None]:
        """The arguments and the pivot of a call that must wait for ``before``."""
        if not before:
            if pivot is None and args and self._in_primitives:
                # Nodes of the body without inputs run where the call stands.
                pivot = self.identity(args[0], f"{label}/start").op
            return args, pivot
        gate = self.make("NoOp", f"{label}/start", [], [], {}, before)
        return [self.identity(t, f"{label}/argument", [gate]) for t in args], gate

    # ---- calls -------------------------------------------------------------------------------

    def call(
        self, op: Operation, label: str, args: list[Tensor], before: list[Operation],
        pivot: Operation | None,
    ) -> _Ran:  # fmt: skip
        """``PartitionedCall`` and calls by name."""
        args, inner = self._gated(label, args, before, pivot)
        return self.run(_only_body(op), label, args, inner)

    def remote_call(
        self, op: Operation, label: str, args: list[Tensor], before: list[Operation],
        pivot: Operation | None,
    ) -> _Ran:  # fmt: skip
        """``RemoteCall``, to a device of this process."""
        check = self.make("_CheckLocal", f"{label}/target", args[:1], [], {}, before)
        return self.call(op, label, args[1:], [check], pivot)

    def gradient(
        self, op: Operation, label: str, args: list[Tensor], before: list[Operation],
        pivot: Operation | None,
    ) -> _Ran:  # fmt: skip
        """``SymbolicGradient``: from arguments and gradients of results to those of arguments."""
        args, inner = self._gated(label, args, before, pivot)
        results, _ = self.run(gradient_of(_only_body(op)), label, args, inner)
        return results, []

    # ---- conditionals ------------------------------------------------------------------------

    def _conditional(
        self, label: str, pred: Tensor, args: Sequence[Tensor], sides: Sequence[_Run]
    ) -> _Ran:
        """``sides``: what runs where ``pred`` is false, and where it is true."""
        boolean = {"T": dtypes.bool}
        chosen = self.make("Switch", f"{label}/Switch", [pred, pred], [dtypes.bool] * 2, boolean)
        switched = [
            self.make(
                "Switch", f"{label}/Switch", [t, pred], [t.dtype.base_dtype] * 2,
                {"T": t.dtype.base_dtype},
            )
            for t in args
        ]  # fmt: skip
        results: list[list[Tensor]] = []
        pivots: list[Tensor] = []
        effects: list[Operation] = []
        for index, name in ((0, "switch_f"), (1, "switch_t")):
            pivot = self.identity(chosen.outputs[index], f"{label}/{name}")
            made, ran = sides[index]([s.outputs[index] for s in switched], pivot.op)
            results.append([self.identity(t, f"{label}/branch", [pivot.op]) for t in made])
            pivots.append(self.identity(pivot, f"{label}/ran", ran))
            effects.extend(ran)
        merged = [self._merge(label, pair) for pair in zip(*results, strict=True)]
        if effects or not merged:
            # The branch that is taken has run when this has.
            self.effects.extend(effects)
            after = self._merge(label, pivots).op
            gated = [self.identity(t, f"{label}/result", [after]) for t in merged]
            return gated, [after]
        return merged, []

    def _merge(self, label: str, pair: Sequence[Tensor]) -> Tensor:
        dtype = pair[0].dtype.base_dtype
        made = self.make(
            "Merge", f"{label}/Merge", pair, [dtype, dtypes.int32], {"T": dtype, "N": 2}
        )
        return made.outputs[0]

    def _truth(self, label: str, value: Tensor, controls: Sequence[Operation] = ()) -> Tensor:
        """``value`` as a predicate, once ``controls`` have run."""
        dtype = value.dtype.base_dtype
        if dtype is dtypes.bool and value.sizes == ():
            return self.identity(value, f"{label}/pred", controls) if controls else value
        made = self.make("_Truth", f"{label}/pred", [value], [dtypes.bool], {"T": dtype}, controls)
        return made.outputs[0]

    def if_(
        self, op: Operation, label: str, args: list[Tensor], before: list[Operation],
        pivot: Operation | None,
    ) -> _Ran:  # fmt: skip
        """``If``."""
        del pivot
        pred = self._truth(label, args[0], before)
        sides = [
            self._side(op.attrs[name], f"{label}/{word}")
            for name, word in (("else_branch", "else"), ("then_branch", "then"))
        ]
        return self._conditional(label, pred, args[1:], sides)

    def _side(self, function: FunctionGraph, label: str) -> _Run:
        return lambda args, pivot: self.run(function, label, args, pivot)

    def case(
        self, op: Operation, label: str, args: list[Tensor], before: list[Operation],
        pivot: Operation | None,
    ) -> _Ran:  # fmt: skip
        """``Case``: the branch of that number, the last one for any other number."""
        branches = op.attrs["branches"]
        index = args[0] if not before else self.identity(args[0], f"{label}/index", before)

        def from_(number: int) -> _Run:
            side = self._side(branches[number], f"{label}/branch_{number}")
            if number == len(branches) - 1:
                return side

            def choose(given: list[Tensor], pivot: Operation | None) -> _Ran:
                at = f"{label}/case_{number}"
                test = self.make(
                    "_IsBranch", f"{at}/pred", given[:1], [dtypes.bool], {"branch": number}
                )
                chosen: list[_Run] = [
                    from_(number + 1), lambda a, p: side(a[1:], p),
                ]  # fmt: skip
                if number + 2 == len(branches):
                    last = chosen[0]
                    chosen[0] = lambda a, p: last(a[1:], p)
                return self._conditional(at, test.outputs[0], given, chosen)

            return choose

        del pivot
        if len(branches) == 1:
            return self.call_first(branches[0], label, [index, *args[1:]])
        return from_(0)([index, *args[1:]], None)

    def call_first(self, function: FunctionGraph, label: str, given: list[Tensor]) -> _Ran:
        """A ``Case`` of one branch."""
        return self.run(function, label, given[1:], given[0].op)

    # ---- loops -------------------------------------------------------------------------------

    def while_(
        self, op: Operation, label: str, args: list[Tensor], before: list[Operation],
        pivot: Operation | None,
    ) -> _Ran:  # fmt: skip
        """``While``."""
        condition, function = op.attrs["cond"], op.attrs["body"]
        fixed = [function.handed_on(i) for i in range(len(args))]

        def test(values: list[Tensor], at: Operation | None) -> _Ran:
            (pred,), ran = self.run(condition, f"{label}/cond", values, at)
            return [self._truth(f"{label}/cond", pred, ran)], ran

        def round_(values: list[Tensor], at: Operation | None) -> _Ran:
            return self.run(function, f"{label}/body", values, at)

        dims = [t.sizes for t in function.inputs]
        return self._loop(op, label, args, fixed, dims, test, round_, before, pivot)

    def for_(
        self, op: Operation, label: str, args: list[Tensor], before: list[Operation],
        pivot: Operation | None,
    ) -> _Ran:  # fmt: skip
        """``For``: the variables are the index, the three numbers, and what the body changes."""
        function = op.attrs["body"]

        def test(values: list[Tensor], at: Operation | None) -> _Ran:
            made = self.make("_GoesOn", f"{label}/pred", values[:4], [dtypes.bool], {})
            return [made.outputs[0]], []

        def round_(values: list[Tensor], at: Operation | None) -> _Ran:
            index, delta = values[0], values[3]
            made, ran = self.run(function, f"{label}/body", [index, *values[4:]], at)
            following = self.make(
                "AddV2", f"{label}/next", [index, delta], [dtypes.int32], {"T": dtypes.int32}
            )
            return [following.outputs[0], *values[1:4], *made], ran

        rest = [function.handed_on(i + 1, i) for i in range(len(args) - 3)]
        dims = [(), (), (), (), *(t.sizes for t in function.inputs[1:])]
        results, after = self._loop(
            op, label, [args[0], *args], [False, True, True, True, *rest], dims, test, round_,
            before, pivot,
        )  # fmt: skip
        return results[4:], after

    def _loop(
        self, op: Operation, label: str, args: list[Tensor], fixed: list[bool],
        dims: Sequence[Any], test: _Run, round_: _Run, before: list[Operation],
        pivot: Operation | None,
    ) -> _Ran:  # fmt: skip
        """``fixed`` says which variables no round changes."""
        dummy = all(fixed)
        if dummy:
            # Something must go round.
            args = [*args, self._zero(f"{label}/round", [*before, *self._on(pivot)])]
            fixed, dims = [*fixed, False], [*dims, ()]
        frame = f"{self._name(label)}/while_context"
        enters = [
            self._enter(label, frame, t, is_fixed, op.attrs.get("parallel_iterations", 10), before)
            for t, is_fixed in zip(args, fixed, strict=True)
        ]
        merges = {}
        for index, enter in enumerate(enters):
            if not fixed[index]:
                merges[index] = self._merge(label, [enter, enter])
                merges[index].sizes = dims[index]
        first = next(iter(merges.values())).op
        values = [merges.get(i, enter) for i, enter in enumerate(enters)]
        given = values[:-1] if dummy else values
        (pred,), tested = test(given, first)
        goes_on = self.make("LoopCond", f"{label}/LoopCond", [pred], [dtypes.bool], {})
        switches = {i: self._switch(label, m, goes_on.outputs[0]) for i, m in merges.items()}
        inside = {i: self.identity(s[1], f"{label}/Identity") for i, s in switches.items()}
        start = next(iter(inside.values())).op
        values = [inside.get(i, enter) for i, enter in enumerate(enters)]
        made, ran = round_(values[:-1] if dummy else values, start)
        if dummy:
            made = [*made, self.identity(values[-1], f"{label}/round", ran)]
        for index, merge in merges.items():
            self._close(label, merge, made[index])
        self.effects.extend([*tested, *ran])
        exits = {i: self._exit(label, s[0]) for i, s in switches.items()}
        after = [t.op for t in exits.values()]
        results = [exits[i] if i in exits else args[i] for i in range(len(args))]
        if tested or ran:
            results = [
                t if i in exits else self.identity(t, f"{label}/result", after)
                for i, t in enumerate(results)
            ]
        return results[:-1] if dummy else results, after if tested or ran or dummy else []

    def _zero(self, name: str, controls: Sequence[Operation]) -> Tensor:
        attrs = {"value": np.array(False), "dtype": dtypes.bool}
        made = self.make("Const", name, [], [dtypes.bool], attrs, controls)
        return made.outputs[0]

    def _enter(
        self, label: str, frame: str, tensor: Tensor, fixed: bool, parallel: int,
        before: Sequence[Operation],
    ) -> Tensor:  # fmt: skip
        dtype = tensor.dtype.base_dtype
        attrs = {
            "T": dtype, "frame_name": frame, "is_constant": fixed, "parallel_iterations": parallel,
        }  # fmt: skip
        made = self.make("Enter", f"{label}/Enter", [tensor], [dtype], attrs, before).outputs[0]
        made.sizes = tensor.sizes
        return made

    def _switch(self, label: str, tensor: Tensor, pred: Tensor) -> list[Tensor]:
        dtype = tensor.dtype.base_dtype
        made = self.make("Switch", f"{label}/Switch", [tensor, pred], [dtype] * 2, {"T": dtype})
        return made.outputs

    def _close(self, label: str, merge: Tensor, result: Tensor) -> None:
        dtype = merge.dtype.base_dtype
        made = self.make("NextIteration", f"{label}/NextIteration", [result], [dtype], {"T": dtype})
        merge.op._update_input(1, made.outputs[0])

    def _exit(self, label: str, tensor: Tensor) -> Tensor:
        dtype = tensor.dtype.base_dtype
        return self.make("Exit", f"{label}/Exit", [tensor], [dtype], {"T": dtype}).outputs[0]


_EXPANSIONS: dict[Control | None, Callable[..., _Ran]] = {
    "call": Expander.call,
    "remote_call": Expander.remote_call,
    "gradient": Expander.gradient,
    "if": Expander.if_,
    "case": Expander.case,
    "while": Expander.while_,
    "for": Expander.for_,
}


def _only_body(op: Operation) -> FunctionGraph:
    found = bodies_of(op)
    if not found:
        raise errors.InvalidArgumentError(
            None, op,
            f"{op.name!r} calls function {op.type!r}, which is declared and not defined"
            f" in this graph",
        )  # fmt: skip
    return found[0]


def _needed(function: FunctionGraph, effects: Iterable[Operation]) -> list[Operation]:
    """The nodes that the results and the effects need, in order."""
    arguments = list(function.inputs)
    results = [t for t in function.outputs if t not in set(arguments)]
    return needed_in_order(arguments, results, list(effects), frozenset())


def _infer(op: Operation) -> None:
    """Static shapes from what is known of the inputs; a node that refuses them fails at run."""
    try:
        infer_again(op)
    except ValueError:
        return


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
