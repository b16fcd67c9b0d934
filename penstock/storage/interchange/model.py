"""A model on its way out: a step from named inputs to named outputs, its variables constants.

The step is cut, given its meaning and simplified by the passes of every step, but for those that
fuse: what leaves consists of TensorFlow's ops, as they were written, and of conditionals and loops
with blocks (``foundation/graph/region.py``).  Asserts stay behind (``inference``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import penstock.ops  # noqa: F401  # registers the op types
from penstock.compiler.passes import pipeline
from penstock.compiler.passes.frames import Unstructured
from penstock.compiler.passes.functional import expand_functions
from penstock.compiler.passes.prune import prune
from penstock.compiler.passes.refine import refine
from penstock.engine.runtime.program import evaluate
from penstock.engine.session.session import Session
from penstock.foundation.base import dtypes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.graphdef import import_graph_def
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.verify import verify
from penstock.foundation.opdef.opdef import OpDef
from penstock.storage.export.frozen import convert_variables_to_constants
from penstock.storage.interchange.inference import portable, serving, without_dropout
from penstock.storage.saved_model import loader

Shapes = Mapping[str, Sequence[int | None]]


class Unportable(ValueError):
    """A node has no form outside Penstock; the message says which, and why."""


def refuse(op: Operation, why: str, target: str) -> Unportable:
    """The error for a node that cannot leave.

    Args:
      op: the node.
      why: the reason, as the end of a sentence.
      target: what it should become, ``ONNX`` say.
    """
    made = f"\nmade at {op.origin}" if op.origin else ""
    return Unportable(f"{op.type} {op.name!r} does not export to {target}: {why}{made}")


@dataclass(frozen=True)
class Model:
    """A step with the names that its inputs and outputs have outside."""

    step: StepGraph
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def of_graph(
    graph: Graph,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    shapes: Shapes | None = None,
) -> Model:
    """The model that a graph without variables holds.

    Args:
      graph: the graph.
      inputs, outputs: its tensors by the names that they get.
      shapes: of inputs, by those names, where they are to be narrower than the graph says.

    Returns:
      The model.

    Raises:
      Unportable: control flow does not nest, or a tensor that must be fed is no input.
      ValueError: ``shapes`` names no input.
    """
    unknown = sorted(set(shapes or ()) - set(inputs))
    if unknown:
        raise ValueError(f"no input is called {unknown[0]!r}; the inputs are {sorted(inputs)}")
    request = expand_functions(graph, [*inputs.values()], [*outputs.values()], [], frozenset())
    try:
        step = pipeline.meaning(verify(prune(*request, frozenset()), "prune"))
    except Unstructured as reason:
        raise Unportable(f"control flow does not nest, and cannot leave: {reason}") from None
    given = [None if shapes is None else shapes.get(name) for name in inputs]
    if step.has_regions or any(dims is not None for dims in given):
        step = refine(step, [None if dims is None else tuple(dims) for dims in given])
    step = portable(serving(step), evaluate)
    plain = without_dropout(step)
    step = step if plain is step else portable(plain, evaluate)
    for op in step.every_operation():
        if op.op_def.role == "placeholder" and not op.inputs:
            raise Unportable(f"placeholder {op.name!r} is needed and is no input of the model")
    return Model(step, tuple(inputs), tuple(outputs))


def of_session(
    session: Any,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    shapes: Shapes | None = None,
) -> Model:
    """The model that a session holds: its variables become constants.

    Args:
      session: the session.
      inputs, outputs, shapes: as for ``of_graph``.
    """
    wanted = [_element(session.graph, t) for t in outputs.values()]
    given = [_element(session.graph, t) for t in inputs.values()]
    names = list(dict.fromkeys(t.op.name for t in (*wanted, *given)))
    frozen = convert_variables_to_constants(session, session.graph.as_graph_def(), names)
    graph = Graph()
    with graph.as_default():
        import_graph_def(frozen, name="")
    return of_graph(
        graph,
        dict(zip(inputs, (graph.get_tensor_by_name(t.name) for t in given), strict=True)),
        dict(zip(outputs, (graph.get_tensor_by_name(t.name) for t in wanted), strict=True)),
        shapes,
    )


def _element(graph: Graph, wanted: Any) -> Tensor:
    if isinstance(wanted, str):
        return graph.get_tensor_by_name(wanted if ":" in wanted else f"{wanted}:0")
    found: Tensor = graph.as_graph_element(wanted, allow_operation=False)
    return found


def of_saved_model(
    path: str, tags: Iterable[str] = ("serve",), signature: str | None = None,
    shapes: Shapes | None = None,
) -> Model:  # fmt: skip
    """The model behind a signature of a SavedModel.

    Args:
      path: its folder.
      tags: of the graph.
      signature: its key; None: ``serving_default``, or the only one there is.
      shapes: as for ``of_graph``.

    Raises:
      ValueError: there is no such signature.
      Unportable: an input or output of it is no dense tensor.
    """
    graph = Graph()
    with Session(graph=graph) as session:
        meta = loader.load(session, list(tags), path)
        found = _signature(meta.signature_def, signature)
        return of_session(session, _named(found.inputs), _named(found.outputs), shapes)


def _signature(signatures: Any, key: str | None) -> Any:
    usable = sorted(k for k, each in signatures.items() if each.inputs or each.outputs)
    usable = [k for k in usable if not k.startswith("__")]
    if key is None:
        key = "serving_default" if "serving_default" in usable else None
        key = usable[0] if key is None and len(usable) == 1 else key
    if key not in usable:
        raise ValueError(f"no signature {key!r}: the SavedModel has {', '.join(usable) or 'none'}")
    return signatures[key]


def _named(infos: Any) -> dict[str, str]:
    for name, info in infos.items():
        if info.WhichOneof("encoding") != "name":
            raise Unportable(f"{name!r} of the signature is no dense tensor, and cannot leave")
    return {name: infos[name].name for name in sorted(infos)}


# What a node is for that is no node any more when a model leaves: ends, constants, blocks.
_RESOLVED = frozenset(
    ["feed", "constant", "placeholder", "variable", "read", "read_rows", "conditional", "loop"]
)


def is_resolved(definition: OpDef) -> bool:
    """Whether nodes of a type are inputs, constants or blocks by the time that a model leaves."""
    return definition.role in _RESOLVED or definition.control is not None


def has_text(op: Operation) -> Tensor | None:
    """A tensor of a node that holds strings, which torch has not."""
    return next((t for t in (*op.inputs, *op.outputs) if t.dtype.base_dtype is dtypes.string), None)
