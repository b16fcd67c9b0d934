"""Regions: nodes of a step that hold steps of their own, the structured form of control flow.

The user's graph has TensorFlow's primitives; ``passes.regions`` makes these of them::

    output = _If(pred, args, states)       blocks (then, orelse): args -> outputs
    output = _While(variables, args, states)
        blocks (condition: variables, args -> pred; body: variables, args -> next variables)

A block is a ``StepGraph``.  Its feeds stand for the region's inputs in order (``_If``: the args;
``_While``: the variables, then the args).  State is not fed: a block has a node of its own for each
variable or queue that it uses, under the same key; the region's ``reads`` and ``writes`` name them
again, so that whoever asks a node about the state that it touches gets the truth about a region
too.  For the same reason each region has a definition of its own, with the traits of what is in it.

``_Dead`` stands for a value of a branch that is not taken, where the other branch has one that is
used later, and ``_Taken`` refuses such a value when it is fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.foundation.base import errors
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import from_attr, same_as
from penstock.foundation.opdef.kinds import Role
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import OPS

_NO_GRADIENT = "made by passes only, after gradients are built"

_REGIONS: tuple[tuple[Role, str, str], ...] = (
    ("conditional", "_If", "pred: bool, args: list(Tin), "),
    ("loop", "_While", "variables: list(Tout), args: list(Tin), "),
)
for _role, _name, _inputs in _REGIONS:
    define_op(
        _name,
        _inputs + "reads: list(Treads), writes: list(Twrites) -> output: list(Tout)",
        attrs=[f"{t}: list(type)" for t in ("Tin", "Treads", "Twrites", "Tout")],
        shape=lambda ctx: [None] * len(ctx.op.outputs),
        no_gradient=_NO_GRADIENT,
        internal=True,
        role=_role,
    )


def _taken(value: object, tensor: str, branch: str) -> object:
    if value is None:
        raise errors.invalid(
            f"{tensor!r} has no value in this step: it is in a branch that was not taken, {branch}"
        )
    return value


define_op(
    "_Dead",
    "-> output: dtype",
    attrs=["dtype: type", "shape: shape"],
    shape=from_attr("shape"),
    inline=lambda call: "None",
    role="dead",
    no_gradient=_NO_GRADIENT,
    stateful=True,
    internal=True,
    on_host=True,
)
define_op(
    "_Taken",
    "value: T -> output: T",
    attrs=["T: type", "tensor: string", "branch: string"],
    shape=same_as("value"),
    kernel=_taken,
    aliases=("value",),
    role="taken",
    no_gradient=_NO_GRADIENT,
    stateful=True,
    internal=True,
    on_host=True,
)
_SHARED_FIELDS = ("shape", "no_gradient", "internal", "role")
_TRAITS = ("effect", "random", "blocking")


def _definition_for(op_type: str, blocks: Sequence[StepGraph], inputs: Inputs) -> OpDef:
    """The definition of one region: its op type's, with the traits of what the blocks hold."""
    base = OPS[op_type]
    made = OpDef(base.name, base.inputs, base.outputs, base.attrs)
    for name in _SHARED_FIELDS:
        setattr(made, name, getattr(base, name))
    inner = [op.op_def for block in blocks for op in block.operations if op.op_def.role != "feed"]
    for name in _TRAITS:
        setattr(made, name, any(getattr(definition, name) for definition in inner))
    made.stateful = any(not definition.pure or definition.random for definition in inner)
    made.reads = ("reads",) if inputs.reads else ()
    made.writes = ("writes",) if inputs.writes else ()
    return made


@dataclass(frozen=True)
class Inputs:
    """The inputs of a region by what they are for; ``first`` is the predicate or the variables."""

    first: list[Tensor]
    args: list[Tensor]
    reads: list[Tensor]
    writes: list[Tensor]


def inputs_of(op: Operation, tensors: Sequence[Tensor]) -> Inputs:
    """Sorts ``tensors``, one for each input of a region, by what they are for."""
    values = iter(tensors)
    counts = [arg.count(op.attrs) for arg in op.op_def.inputs]
    return Inputs(*([next(values) for _ in range(count)] for count in counts))


def make_region(
    graph: Graph,
    op_type: str,
    name: str,
    inputs: Inputs,
    blocks: Sequence[StepGraph],
    controls: Sequence[Operation],
) -> Operation:
    """Adds a region to a step.

    Args:
      graph: the step's graph.
      op_type: ``_If`` or ``_While``.
      inputs: what it is given.
      blocks: what it runs; their feeds stand for the inputs.
      controls: nodes that must have run before.

    Returns:
      The node; its outputs have the types of the last block's fetches, and unknown shapes.
    """
    types = [t.dtype.base_dtype for t in blocks[-1].fetches]
    attrs = {
        "Tin": [t.dtype.base_dtype for t in inputs.args],
        "Treads": [t.dtype for t in inputs.reads],
        "Twrites": [t.dtype for t in inputs.writes],
        "Tout": types,
        "blocks": tuple(blocks),
    }
    definition = _definition_for(op_type, blocks, inputs)
    flat = [*inputs.first, *inputs.args, *inputs.reads, *inputs.writes]
    region = Operation(graph, definition, name, flat, controls, attrs, types, None)
    graph.register(region)
    return region


def replace_region(
    rebuilder: Rebuilder,
    op: Operation,
    inputs: Inputs,
    blocks: list[StepGraph],
    outputs: list[Tensor] | None = None,
) -> list[Tensor]:
    """Puts a region with other blocks or inputs in the place of ``op``.

    Args:
      rebuilder: the walk.
      op: the old region.
      inputs, blocks: of the new one.
      outputs: those of the old region that the new one has; by default all.

    Returns:
      The new region's outputs.
    """
    controls = rebuilder.ops(op.control_inputs)
    new = make_region(rebuilder.graph, op.type, op.name, inputs, blocks, controls)
    new.origin = op.origin
    new.put_on(op.device)
    if not new.outputs:
        rebuilder.made.append(new)  # no output says that it stands for the old one
    for old, made in zip(op.outputs if outputs is None else outputs, new.outputs, strict=True):
        made.sizes = old.sizes
    return new.outputs


def block_labels(op: Operation) -> tuple[str, ...]:
    """What the blocks of a region are called, in their order; empty for any other node."""
    if not blocks_of(op):
        return ()
    return ("then", "else") if op.op_def.role == "conditional" else ("condition", "body")
