"""Gradients of nodes that call functions.

A call (``PartitionedCall``, or a node of a function's own op type) has TensorFlow's gradient: a
``SymbolicGradient`` node with the function's name, or what the user's Python function makes.

A conditional or loop in its functional form is differentiated as the primitives it means.  Before
``tf.gradients`` looks at the graph, each such node between ys and xs gets these beside it, made by
``tf.cond`` and ``tf.while_loop`` from its bodies, and they take its place for its consumers
(``graph.expansions``).  From there on gradients are those of any conditional or loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.bodies import bodies_of
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.expansions import Expansion, expansions_of, redirect
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, calls_functions, is_back_edge
from penstock.foundation.graph.scopes import control_dependencies, get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.kinds import CONSTRUCTS
from penstock.library.autodiff.register import RegisterGradient
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.while_loop import while_loop
from penstock.ops.control import control
from penstock.ops.math import comparison

# ---- calls ---------------------------------------------------------------------------------------


def symbolic_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradient of a call: a node that runs the gradient of its function."""
    (body,) = bodies_of(op)
    given = [
        make("ZerosLike", t) if g is None else g for t, g in zip(op.outputs, grads, strict=True)
    ]
    inputs = [*op.inputs, *given]
    types = [
        dtypes.float32 if t.dtype is dtypes.resource else t.dtype.base_dtype for t in op.inputs
    ]
    return list(make("SymbolicGradient", inputs, Tout=types, f=body))


RegisterGradient("PartitionedCall")(symbolic_gradient)
RegisterGradient("StatefulPartitionedCall")(symbolic_gradient)


@RegisterGradient("RemoteCall")
def _remote_call_gradient(op: Operation, *grads: Any) -> list[Any]:
    (body,) = bodies_of(op)
    types = [t.dtype.base_dtype for t in op.inputs[1:]]
    found = make("SymbolicGradient", [*op.inputs[1:], *grads], Tout=types, f=body)
    return [None, *found]


# ---- constructs ----------------------------------------------------------------------------------


def expand_between(
    graph: Graph, ys: Sequence[Tensor], xs: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """Gives the functional constructs between ``xs`` and ``ys`` their primitives.

    Args:
      graph: the graph.
      ys, xs: tensors of it.

    Returns:
      The ys and the xs, those of expanded nodes as their primitives give them.
    """
    redirect(graph)
    for op in _constructs(graph, ys, xs):
        if op not in expansions_of(graph):
            expansions_of(graph)[op] = _expansion(op)
            redirect(graph)
    known = expansions_of(graph)

    def of(tensor: Tensor) -> Tensor:
        found = known.get(tensor.op)
        return tensor if found is None else found.outputs[tensor.value_index]

    return [of(y) for y in ys], [of(x) for x in xs]


def _constructs(graph: Graph, ys: Sequence[Tensor], xs: Sequence[Tensor]) -> list[Operation]:
    needed: set[Operation] = set()
    queue = deque(y.op for y in ys)
    while queue:
        op = queue.popleft()
        if op not in needed:
            needed.add(op)
            queue.extend(t.op for t in op.inputs)
    reached: set[Operation] = set()
    queue = deque(x.op for x in xs)
    while queue:
        op = queue.popleft()
        if op not in reached:
            reached.add(op)
            queue.extend(user for t in op.outputs for user in t.uses)
    both = needed & reached
    return sorted((op for op in both if op.op_def.control in CONSTRUCTS), key=lambda op: op.id)


def _expansion(op: Operation) -> Expansion:
    graph = op.graph
    with graph.control_dependencies(None), name_scope(f"{op.name}/"):
        graph._set_control_flow_context(op._control_flow_context)
        with control_dependencies(op.control_inputs):
            outputs = _built(op, list(op.inputs))
            with control_dependencies(outputs):
                done: Operation = make("NoOp", name="done")
    for old, new in zip(op.outputs, outputs, strict=True):
        if new.sizes is None:
            new.sizes = old.sizes
    return Expansion(outputs, done)


def _built(op: Operation, args: list[Tensor]) -> list[Tensor]:
    """The results of a node that calls functions, made of what it stands for."""
    attrs, control = op.attrs, op.op_def.control
    if control == "if":
        return _if(args[0], args[1:], attrs["then_branch"], attrs["else_branch"])
    if control == "case":
        return _case(args[0], args[1:], attrs["branches"], 0)
    if control == "for":
        return _for(args, attrs["body"])
    if control == "while":
        return _while(op, args)
    (body,) = bodies_of(op)
    return inline(body, args[1:] if control == "remote_call" else args)


def _if(
    pred: Tensor, args: list[Tensor], then: FunctionGraph, orelse: FunctionGraph
) -> list[Tensor]:
    made = cond(_truth(pred), lambda: inline(then, args), lambda: inline(orelse, args), strict=True)
    return list(made)


def _truth(value: Tensor) -> Tensor:
    """``value`` as a predicate."""
    if value.dtype.base_dtype is dtypes.bool and value.sizes == ():
        return value
    return make_tensor("_Truth", value)


def _case(
    index: Tensor, args: list[Tensor], branches: Sequence[FunctionGraph], number: int
) -> list[Tensor]:
    if number == len(branches) - 1:
        return inline(branches[number], args)
    made = cond(
        comparison.equal(index, number),
        lambda: inline(branches[number], args),
        lambda: _case(index, args, branches, number + 1),
        strict=True,
    )
    return list(made)


def _while(op: Operation, args: list[Tensor]) -> list[Tensor]:
    condition, body = op.attrs["cond"], op.attrs["body"]
    return _loop(
        args,
        [body.handed_on(i) for i in range(len(args))],
        [t.shape for t in body.inputs],
        lambda values: _truth(inline(condition, values)[0]),
        lambda values: inline(body, values),
        op.attrs["parallel_iterations"],
    )


def _for(args: list[Tensor], body: FunctionGraph) -> list[Tensor]:
    start, limit, delta, *rest = args
    fixed = [body.handed_on(i + 1, i) for i in range(len(rest))]
    shapes = [start.shape, *(t.shape for t in body.inputs[1:])]

    def goes_on(values: list[Tensor]) -> Tensor:
        return make_tensor("_GoesOn", values[0], start, limit, delta)

    def round_(values: list[Tensor]) -> list[Tensor]:
        return [make("AddV2", values[0], delta), *inline(body, values)]

    return _loop([start, *rest], [False, *fixed], shapes, goes_on, round_, 10)[1:]


def _loop(
    args: list[Tensor], fixed: list[bool], shapes: list[Any], goes_on: Any, round_: Any,
    parallel: int,
) -> list[Tensor]:  # fmt: skip
    """A loop; variables that no round changes are constants of it."""
    changing = [i for i, is_fixed in enumerate(fixed) if not is_fixed]

    def whole(values: Sequence[Tensor]) -> list[Tensor]:
        given = dict(zip(changing, values, strict=True))
        return [given.get(i, t) for i, t in enumerate(args)]

    def body(*values: Tensor) -> list[Tensor]:
        results = round_(whole(values))
        return [results[i] for i in changing]

    made = while_loop(
        lambda *values: goes_on(whole(values)),
        body,
        [args[i] for i in changing],
        shape_invariants=[shapes[i] for i in changing],
        parallel_iterations=parallel,
        return_same_structure=True,
    )
    return whole(list(made))


def inline(body: FunctionGraph, args: Sequence[Tensor]) -> list[Tensor]:
    """Copies a body's nodes into the default graph, where nodes are being made.

    Args:
      body: a function.
      args: a tensor for each argument.

    Returns:
      The results; they wait for the body's effects.
    """
    made: dict[Tensor, Tensor] = dict(zip(body.inputs, args, strict=True))
    nodes: dict[Operation, Operation] = {}
    for op in _needed(body):
        inputs = [made[t] if t in made else made[_forward(op)] for t in op.inputs]
        controls = [nodes[c] for c in op.control_inputs if c in nodes]
        if calls_functions(op):
            with name_scope(op.name), control_dependencies(controls):
                outputs = _built(op, inputs)
            made.update(zip(op.outputs, outputs, strict=True))
            if outputs:
                nodes[op] = outputs[0].op
            continue
        target = get_default_graph()
        attrs = {k: v for k, v in op.attrs.items() if k != "_class"}
        name = target.unique_name(op.name)
        new = target.add_operation(
            op.op_def, inputs, attrs, [t.dtype for t in op.outputs], name, controls
        )
        new.put_on(op.device)
        new.origin = op.origin or new.origin
        nodes[op] = new
        for old, found in zip(op.outputs, new.outputs, strict=True):
            if found.sizes is None:
                found.sizes = old.sizes
            made[old] = found
    effects = [nodes[op] for op in body.effects() if op in nodes]
    with control_dependencies(effects):
        return [control.identity(made[t]) for t in body.outputs]


def _forward(op: Operation) -> Tensor:
    for tensor in op.inputs:
        if not is_back_edge(op, tensor):
            return tensor
    raise ValueError(f"{op.name!r}: the loop has no Enter")


def _needed(body: FunctionGraph) -> list[Operation]:
    """The nodes that results and effects need, in order."""
    arguments = {t.op for t in body.inputs}
    needed: set[Operation] = set()
    stack = [*(t.op for t in body.outputs), *body.effects()]
    while stack:
        op = stack.pop()
        if op not in needed and op not in arguments:
            needed.add(op)
            stack.extend(t.op for t in op.inputs)
            stack.extend(op.control_inputs)
    loops = sorted(op.name for op in needed if op.op_def.control == "enter")
    if loops:
        raise LookupError(
            f"the gradient of function {body.name!r} is not defined: it has a loop made of"
            f" primitives ({loops[0]!r}) inside a functional one"
        )
    return sorted(needed, key=lambda op: op.id)


@RegisterGradient("SymbolicGradient")
def _second_gradient(op: Operation, *grads: Any) -> list[Any]:
    raise LookupError(
        f"no gradient is defined for operation {op.name!r} (op type: SymbolicGradient): second"
        " derivatives of a function's call are not defined, as in TensorFlow; give the function"
        " a python_grad_func"
    )
