"""Which functions the nodes of a graph name, without what a function's body is.

This is below ``Graph``, which writes its functions out; ``function`` makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.opdef.opdef import ArgDef, OpDef

if TYPE_CHECKING:
    from penstock.foundation.graph.function import FunctionGraph
    from penstock.foundation.graph.graph import Graph


class FunctionBody:
    """Marks a graph as the body of a function."""


def is_body(value: Any) -> TypeGuard[FunctionGraph]:
    """Whether a graph, or the value of an attr, is the body of a function."""
    return isinstance(value, FunctionBody)


class CallDef(OpDef):
    """The definition of the nodes that call one function by its name, as ``Defun`` makes them.

    Args:
      body: the function; None when it is declared only.
      inputs, outputs: name and dtype of each argument and result.
    """

    __slots__ = ("body",)

    def __init__(
        self,
        name: str,
        inputs: Iterable[tuple[str, dtypes.DType]],
        outputs: Iterable[tuple[str, dtypes.DType]],
        body: FunctionGraph | None = None,
    ) -> None:
        args, results = (tuple(ArgDef(n, dtype=d) for n, d in side) for side in (inputs, outputs))
        super().__init__(name, args, results, {})
        self.body = body
        self.stateful, self.control = True, "call"
        count = len(results)
        self.shape = lambda ctx: None if count == 1 else [None] * count


def known_functions(graph: Graph) -> dict[str, FunctionGraph]:
    """The functions that a graph knows by name; its bodies know the same."""
    found: dict[str, FunctionGraph] = graph.attached.setdefault("functions", {})
    return found


def bodies_of(op: Operation) -> list[FunctionGraph]:
    """The functions that a node names."""
    found: list[Any] = []
    if isinstance(op.op_def, CallDef):
        # One that was declared first is known to the graph once it is defined.
        found.append(op.op_def.body or known_functions(op.graph).get(op.type))
    for value in op.attrs.values():
        found.extend(value if isinstance(value, list) else [value])
    return [body for body in found if is_body(body)]


def functions_of(graph: Graph) -> Iterator[FunctionGraph]:
    """The functions that the nodes of a graph call, and those that these call, inner ones first."""
    seen: set[FunctionGraph] = set()

    def once(body: FunctionGraph) -> Iterator[FunctionGraph]:
        if body not in seen:
            seen.add(body)
            yield from visit(body)
            if body.gradient is not None:
                yield from once(body.gradient)
            yield body

    def visit(graph: Graph) -> Iterator[FunctionGraph]:
        for op in graph.operations:
            for body in bodies_of(op):
                yield from once(body)

    yield from visit(graph)
    if not is_body(graph):
        for body in known_functions(graph).values():
            yield from once(body)
