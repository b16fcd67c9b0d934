"""A Python function's graph for one combination of arguments, the programs of it, its gradient.

Where a tape watches an argument or a variable, the graph is extended by its gradient: the forward
program then also gives what the gradient's nodes take, so that nothing is computed twice and a
random number stays what it was.  A loop keeps such values in stacks that live for one step; there
the gradient computes the loop once more.

State: the programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.engine.runtime.program import execute
from penstock.engine.runtime.values import value_source
from penstock.engine.session.build import build_program
from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.gradients import gradients, is_trainable
from penstock.library.eager.calls import unshare
from penstock.library.eager.context import EagerContext
from penstock.library.eager.custom import record
from penstock.library.eager.recorders import recorders
from penstock.library.eager.tensor import EagerTensor, eager_tensor
from penstock.library.variables.creation import variable_creator_scope


class Trace:
    """A function's graph for one combination of arguments."""

    def __init__(
        self,
        context: EagerContext,
        function: Callable[..., Any],
        nested: Any,
        flat: Sequence[Any],
        sizes: Sequence[Any] | None,
    ) -> None:
        self._context = context
        self.made_variables = False
        name = getattr(function, "__name__", "function").strip("<>")
        body = self._body = FunctionGraph(name, outer=context)
        body.arrays_are_lists = True
        tensors = [a for a in flat if isinstance(a, EagerTensor)]
        dims = sizes or [t.sizes for t in tensors]
        arguments = [
            body.add_input(t.dtype, d, f"arg_{i}")
            for i, (t, d) in enumerate(zip(tensors, dims, strict=True))
        ]
        stands_for = iter(arguments)
        inner = [next(stands_for) if isinstance(a, EagerTensor) else a for a in flat]
        args, kwargs = nest.pack_sequence_as(nested, inner)
        recording, recorders.active = recorders.active, []
        try:
            with default_graph_scope(body), variable_creator_scope(self._lifted):
                self._result = function(*args, **kwargs)
                made = [_tensor(r) for r in nest.flatten(self._result)]
                self._returned = [t is not None for t in made]
                body.finish([body.capture(t) for t in made if t is not None])
        finally:
            recorders.active = recording
        body.size = len(body.operations)
        self._handles = {v: h for v, h in body.captured_values().items() if _is_handle(v)}
        self._forward = self._program(body.inputs, body.outputs, body.effects())
        self._gradient: _Gradient | None = None

    def _lifted(self, creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Makes a variable outside of the function, with its value."""
        self.made_variables = True
        with default_graph_scope(self._context):
            return creator(**kwargs)

    def _program(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
    ) -> Any:
        context = self._context
        shapes = [() if t.sizes is None else t.sizes for t in feeds]
        known = all(t.sizes is not None and None not in t.sizes for t in feeds)
        return build_program(
            self._body, feeds, fetches, targets, context.resources, context.options,
            shapes=shapes if known else None,  # type: ignore[arg-type]
            result_source=value_source,
        )  # fmt: skip

    def __call__(self, given: Sequence[EagerTensor]) -> Any:
        captured: list[Any] = self._body.captured_outer
        inputs = [*given, *captured]
        for handle in self._handles:
            unshare(handle.value)  # type: ignore[attr-defined]
        values = [t.value for t in inputs]
        kept: Sequence[Any] = ()
        if recorders.active and self._body.outputs:
            if self._gradient is None:
                self._gradient = _Gradient(self._body, list(self._handles.values()), self._program)
            results, kept = self._gradient.forward(values)
        else:
            results = execute(self._forward, values)
        outputs = [
            eager_tensor(v, t.dtype) for v, t in zip(results, self._body.outputs, strict=True)
        ]
        gradient = self._gradient
        if recorders.active and gradient is not None:
            record(
                self._body.name,
                [*inputs, *self._handles],
                outputs,
                lambda op, *grads: gradient.backward(kept, grads),
            )
        left = iter(outputs)
        packed = [next(left) if returned else None for returned in self._returned]
        return nest.pack_sequence_as(self._result, packed)


def _is_handle(tensor: Tensor) -> bool:
    return tensor.dtype is dtypes.resource


def _tensor(result: Any) -> Tensor | None:
    if result is None or isinstance(result, Operation):
        return None
    return convert_to_tensor(result)


class _Gradient:
    """The gradient of a function's graph: nodes added to it, and two programs."""

    def __init__(self, body: FunctionGraph, handles: list[Tensor], program: Any) -> None:
        self._sources = [*body.inputs, *handles]
        first = len(body.operations)
        ys = [t for t in body.outputs if is_trainable(t)]
        with default_graph_scope(body), body.control_dependencies(None):
            self._wanted = [is_trainable(t) for t in body.outputs]
            starts = [make("Placeholder", dtype=y.dtype, shape=y.shape) for y in ys]
            found = gradients(ys, self._sources, starts) if ys else [None] * len(self._sources)
        self._found = found
        fetches = [part for g in found if g is not None for part in _parts(g)]
        new = body.operations[first:]
        loops = any(op.op_def.control is not None for op in body.operations)
        kept = body.inputs if loops else _taken(new, first)
        self._kept = list(kept)
        self._count = len(body.outputs)
        self._forward = program(body.inputs, [*body.outputs, *self._kept], body.effects())
        self._backward = program([*self._kept, *starts], fetches, []) if fetches else None

    def forward(self, values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """The outputs' values, and those that ``backward`` takes."""
        results = execute(self._forward, values)
        return results[: self._count], results[self._count :]

    def backward(self, kept: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
        """A gradient for each input and handle, or None."""
        if self._backward is None:
            return [None] * len(self._found)
        starts = [
            convert_to_tensor(g).value  # type: ignore[attr-defined]
            for g, wanted in zip(grads, self._wanted, strict=True)
            if wanted
        ]
        values = iter(execute(self._backward, [*kept, *starts]))
        made: list[Any] = []
        for grad in self._found:
            if grad is None:
                made.append(None)
                continue
            parts = [eager_tensor(next(values), part.dtype) for part in _parts(grad)]
            made.append(IndexedSlices(*parts) if isinstance(grad, IndexedSlices) else parts[0])
        return made


def _taken(new: Sequence[Operation], first: int) -> list[Tensor]:
    """What the nodes of a gradient take of those before them, constants and handles apart."""
    found: dict[Tensor, None] = {}
    for op in new:
        for tensor in op.inputs:
            source = tensor.op
            if source.id < first and source.op_def.role != "constant":
                if tensor.dtype not in (dtypes.resource, dtypes.variant):
                    found[tensor] = None
    return list(found)


def _parts(grad: Any) -> list[Tensor]:
    if not isinstance(grad, IndexedSlices):
        return [grad]
    shape = grad.dense_shape
    return [grad.values, grad.indices, *([] if shape is None else [shape])]
