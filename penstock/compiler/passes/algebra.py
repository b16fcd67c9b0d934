"""Algebra over whole nodes: sums of products, of paddings, products with ones, idle operands.

Each row rewrites a node into fewer or cheaper ones that compute the same mathematics:

* ``sum_of_products``: x1' y1 + x2' y2 + ... = [x1; x2; ...]' [y1; y2; ...]: the weight gradient of
  a network that is unrolled over time becomes one product.
* ``sum_of_pads``: paddings whose contents tile the result are a concatenation: the gradient of
  slicing a tensor apart.
* ``product_with_ones``: a product with a column of ones is a sum along rows; with a row of ones, a
  broadcast.
* ``zero_term``, ``difference_from_zero``: zeros that are added, or that a difference is from.
* ``untiled_condition``: a choice by a tiled condition, which broadcasts as it is.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from penstock.compiler.passes.simplify import constant_of, is_known, make_constant
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

# Fewer products than this are not worth concatenating their operands.
_LEAST_PRODUCTS = 3


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
    axis = make_constant(rebuilder, np.array(0, np.int32))
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
    along_axis = make_constant(rebuilder, np.array(axis, np.int32))
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
        axis = make_constant(rebuilder, np.array([1], np.int32))
        return [rebuilder.make("Sum", left, axis, keep_dims=True)]
    inner = ones.shape[1] if op.attrs["transpose_b"] else ones.shape[0]
    if inner == 1 and None not in op.outputs[0].sizes:
        shape = make_constant(rebuilder, np.array(op.outputs[0].sizes, np.int32))
        return [rebuilder.make("BroadcastTo", left, shape)]
    return None


def zero_term(rebuilder: Rebuilder, op: Operation, uses: Counter[Tensor]) -> list[Tensor] | None:
    """A sum with, or a difference from, zeros that do not broadcast the other term.

    A zero may lose its sign in such a sum, and keeps it here.
    """
    if not op.outputs[0].dtype.is_floating:
        return None
    first, second = rebuilder.inputs(op)
    pairs = [(second, first)] if op.type == "Sub" else [(second, first), (first, second)]
    for term, other in pairs:
        if _is_zero(term) and _has_result_dims(op, term, other):
            return [other]
    return None


def difference_from_zero(
    rebuilder: Rebuilder, op: Operation, uses: Counter[Tensor]
) -> list[Tensor] | None:
    """A squared difference from zeros is a square."""
    if not op.outputs[0].dtype.is_floating:
        return None
    first, second = rebuilder.inputs(op)
    for term, other in ((second, first), (first, second)):
        if _is_zero(term) and _has_result_dims(op, term, other):
            return [rebuilder.make("Square", other)]
    return None


def untiled_condition(
    rebuilder: Rebuilder, op: Operation, uses: Counter[Tensor]
) -> list[Tensor] | None:
    """A choice by a tiled condition, which broadcasts as it is."""
    if not all(map(is_known, op.inputs)):
        return None
    condition, first, second = rebuilder.inputs(op)
    if condition.op.type != "Tile" or condition.op.control_inputs:
        return None
    source = condition.op.inputs[0]
    if condition.sizes != op.outputs[0].sizes or not _broadcasts(source, condition):
        return None
    return [rebuilder.make("SelectV2", source, first, second)]


def _is_zero(term: Tensor) -> bool:
    value = constant_of(term)
    return value is not None and not np.any(value)


def _has_result_dims(op: Operation, term: Tensor, other: Tensor) -> bool:
    """Whether the result has the dims of the other operand, whatever they turn out to be."""
    if term.sizes == ():
        return True
    return is_known(other) and other.sizes == op.outputs[0].sizes


def _broadcasts(source: Tensor, tiled: Tensor) -> bool:
    """Whether what a tile does is what broadcasting does."""
    if not is_known(source):
        return False
    pairs = zip(source.sizes or (), tiled.sizes or (), strict=True)
    return all(d in (1, n) for d, n in pairs)


RULES = {
    "AddN": [sum_of_products, sum_of_pads],
    "Add": [zero_term, sum_of_pads],
    "AddV2": [zero_term, sum_of_pads],
    "Sub": [zero_term],
    "SquaredDifference": [difference_from_zero],
    "Select": [untiled_condition],
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
