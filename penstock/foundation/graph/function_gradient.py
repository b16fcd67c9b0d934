"""The gradient of a function, as a function: what a ``SymbolicGradient`` node runs.

From the arguments and a gradient of each result to a gradient of each argument.  Where the user
gave such a function it is that one.  Else ``tf.gradients`` adds its nodes to the body, where they
are no part of the function itself: its message is made before, and results and effects are those it
had.
"""

from __future__ import annotations

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import derivative, graph_message
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import default_graph_scope
from penstock.foundation.graph.tensor import Tensor


class _GradientView(FunctionGraph):
    """A function whose nodes are among those of another's body."""

    def __init__(self, body: FunctionGraph, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        super().__init__(f"{body.name}_grad", body.outer, unique=False)
        self.inputs, self.outputs = inputs, outputs

    def effects(self) -> list[Operation]:
        """None: what the body does beside its results, a call of it has done."""
        return []


def gradient_of(body: FunctionGraph) -> FunctionGraph:
    """The gradient of a function; traced once.

    Raises:
      LookupError: a node of the body has no gradient.
    """
    if body.gradient is not None:
        return body.gradient
    if body.traced_gradient is None:
        body.traced_gradient = _traced(body)
    return body.traced_gradient


def _traced(body: FunctionGraph) -> FunctionGraph:
    body.exported = graph_message.function_message(body)
    body.size = len(body.operations)
    given: list[Tensor] = []
    with default_graph_scope(body), body.control_dependencies(None), body.name_scope(None):
        for tensor in body.outputs:
            made: Tensor = make(
                "Placeholder", dtype=tensor.dtype.base_dtype, shape=tensor.shape, name="grad_ys"
            )
            given.append(made)
        pairs = [(y, g) for y, g in zip(body.outputs, given, strict=True) if _flows(y)]
        wanted = [x for x in body.inputs if _flows(x) or x.dtype is dtypes.resource]
        ys, dys = [y for y, _ in pairs], [g for _, g in pairs]
        found = dict(
            zip(wanted, derivative.differentiate(ys, wanted, dys) if ys else [], strict=False)
        )
        outputs = [_as_result(x, found.get(x)) for x in body.inputs]
    return _GradientView(body, [*body.inputs, *given], outputs)


def _flows(tensor: Tensor) -> bool:
    dtype = tensor.dtype.base_dtype
    return dtype.is_floating or dtype.is_complex


def _as_result(x: Tensor, grad: Tensor | None) -> Tensor:
    """The gradient of an argument as a tensor; zeros where there is none."""
    if grad is not None:
        return convert_to_tensor(grad)
    made: Tensor
    if x.dtype is dtypes.resource:
        made = make("Const", value=_ZERO, dtype=dtypes.float32)
    else:
        made = make("ZerosLike", x)
    return made


_ZERO = np.array(0.0, np.float32)
