"""Algebra over whole nodes: sums of products, of paddings, and products with ones.

Each row rewrites a node into fewer or cheaper ones that compute the same mathematics:

* ``sum_of_products``: x1' y1 + x2' y2 + ... = [x1; x2; ...]' [y1; y2; ...]: the weight gradient of
  a network that is unrolled over time becomes one product.
* ``sum_of_pads``: paddings whose contents tile the result are a concatenation: the gradient of
  slicing a tensor apart.
* ``product_with_ones``: a product with a column of ones is a sum along rows; with a row of ones, a
  broadcast.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from penstock.compiler.passes.simplify import constant_of
from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

# Fewer products than this are not worth concatenating their operands.
_LEAST_PRODUCTS = 3


def _make_constant(rebuilder: Rebuilder, value: np.ndarray) -> Tensor:
    made: Tensor = rebuilder.make("Const", value=value, dtype=dtypes.as_dtype(value.dtype))
    return made


def sum_of_products(
    rebuilder: Rebuilder, op: Operation, uses: Counter[Tensor]
) -> list[Tensor] | None:
    """``AddN`` of products ``x' y`` that nothing else reads."""
    terms = op.inputs
    if len(terms) < _LEAST_PRODUCTS or len(set(terms)) != len(terms):
        return None
    for term in terms:
        product = term.op
        if product.type != "MatMul" or uses[term] != 1 or product.control_inputs:
            return None
        if not product.attrs["transpose_a"] or product.attrs["transpose_b"]:
            return None
        if any(t.sizes is None or None in t.sizes for t in product.inputs):
            return None
    inner = sum(t.op.inputs[0].sizes[0] for t in terms)  # type: ignore[index, misc]
    rows, columns = terms[0].sizes or (0, 0)
    if inner * (rows + columns) > rows * columns * len(terms):  # type: ignore[operator]
        return None
    axis = _make_constant(rebuilder, np.array(0, np.int32))
    sides = [
        rebuilder.make("ConcatV2", [rebuilder[t.op.inputs[side]] for t in terms], axis)
        for side in (0, 1)
    ]
    return [rebuilder.make("MatMul", *sides, transpose_a=True)]


def _padded_interval(term: Tensor) -> tuple[int, int, int] | None:
    """Axis, start and end of what a ``Pad`` along one axis puts into its result."""
    op = term.op
    source = op.inputs[0] if op.type == "Pad" else None
    if source is None or op.control_inputs or source.sizes is None or None in source.sizes:
        return None
    paddings = constant_of(op.inputs[1])
    if paddings is None:
        return None
    axes = np.flatnonzero(paddings.any(axis=1))
    if len(axes) != 1:
        return None
    axis = int(axes[0])
    start = int(paddings[axis, 0])
    return axis, start, start + source.sizes[axis]  # type: ignore[operator]


def sum_of_pads(rebuilder: Rebuilder, op: Operation, uses: Counter[Tensor]) -> list[Tensor] | None:
    """A sum of paddings whose contents tile the result."""
    places = [_padded_interval(term) for term in op.inputs]
    dims = op.outputs[0].sizes
    if dims is None or len(places) < 2 or any(uses[t] != 1 for t in op.inputs):
        return None
    if any(place is None for place in places) or any(t.sizes != dims for t in op.inputs):
        return None
    found = sorted(
        ((p, t) for p, t in zip(places, op.inputs, strict=True) if p is not None),
        key=lambda pair: pair[0][1:],
    )
    axis = found[0][0][0]
    end = 0
    for (along, start, stop), _ in found:
        if along != axis or start != end:
            return None
        end = stop
    if end != dims[axis]:
        return None
    parts = [rebuilder[t.op.inputs[0]] for _, t in found]
    along_axis = _make_constant(rebuilder, np.array(axis, np.int32))
    return [rebuilder.make("ConcatV2", parts, along_axis)]


def product_with_ones(
    rebuilder: Rebuilder, op: Operation, uses: Counter[Tensor]
) -> list[Tensor] | None:
    """``MatMul`` with a column (or row) of ones on the right."""
    if op.attrs["transpose_a"] or not op.outputs[0].dtype.is_floating:
        return None
    left, right = rebuilder.inputs(op)
    ones = constant_of(right)
    if ones is None or not np.all(ones == 1) or op.outputs[0].sizes is None:
        return None
    if not op.attrs["transpose_b"] and ones.shape[1] == 1:
        axis = _make_constant(rebuilder, np.array([1], np.int32))
        return [rebuilder.make("Sum", left, axis, keep_dims=True)]
    inner = ones.shape[1] if op.attrs["transpose_b"] else ones.shape[0]
    if inner == 1 and None not in op.outputs[0].sizes:
        shape = _make_constant(rebuilder, np.array(op.outputs[0].sizes, np.int32))
        return [rebuilder.make("BroadcastTo", left, shape)]
    return None


RULES = {
    "AddN": [sum_of_products, sum_of_pads],
    "Add": [sum_of_pads],
    "AddV2": [sum_of_pads],
    "MatMul": [product_with_ones],
}


def rewrite_algebra(step: StepGraph) -> StepGraph:
    """Applies the first rule that fires to each node."""
    if not any(op.type in RULES for op in step.operations):
        return step
    uses: Counter[Tensor] = Counter(step.fetches)
    for op in step.operations:
        uses.update(op.inputs)

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if op.control_inputs:
            return None
        for one in RULES.get(op.type, ()):
            found = one(rebuilder, op, uses)
            if found is not None:
                return found
        return None

    return Rebuilder(step).run(rule)
