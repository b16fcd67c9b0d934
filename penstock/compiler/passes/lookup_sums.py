"""Sums of rows that are looked up: they are added up where they are read.

    Sum(Gather(table, indices), -2)              ->      _SumOfRows, and so of a Mean
    Sum(Gather(table, indices) * factors, -2)    ->      _SumOfScaledRows

Bags of words and means of windows are such sums.  Only where nothing else reads the rows; why it
pays stands at the two ops (``ops/nn/fused_lookups.py``).
"""

from __future__ import annotations

from itertools import permutations

from penstock.compiler.passes.fuse import Fuser, fuse
from penstock.compiler.passes.simplify import constant_of
from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

LOOKUPS = ("Gather", "GatherV2")


def sum_lookups(step: StepGraph) -> StepGraph:
    """The pass."""
    return fuse(step, {"Sum": [lookup_into_sum], "Mean": [lookup_into_sum]})


def lookup_into_sum(fuser: Fuser, op: Operation) -> list[Tensor] | None:
    """A sum over rows that were looked up, each times a number or not -> ``_SumOfRows``."""
    source, axes = op.inputs[0], constant_of(op.inputs[1])
    if op.control_inputs or op.attrs["keep_dims"] or axes is None or source.sizes is None:
        return None
    if axes.size != 1 or int(axes.ravel()[0]) not in (-2, len(source.sizes) - 2):
        return None
    product = fuser.only_reader(source, "Mul") if op.type == "Sum" else None
    pairs = [(source, None)] if product is None else list(permutations(product.inputs))
    for rows, factors in pairs:
        lookup = fuser.only_reader(rows, "GatherV2") or fuser.only_reader(rows, "Gather")
        if lookup is not None and _are_rows(lookup) and _is_one_a_row(factors, lookup):
            return [_sum_of_rows(fuser.rebuilder, op, lookup, factors)]
    return None


def _are_rows(lookup: Operation) -> bool:
    """Whether rows of float32 are looked up in a matrix, by indices of a known rank, not 0."""
    table, indices = lookup.inputs[:2]
    axis = 0 if lookup.type == "Gather" else constant_of(lookup.inputs[2])
    return (
        axis is not None
        and int(axis) == 0
        and not lookup.attrs.get("batch_dims")
        and table.dtype.base_dtype == dtypes.float32
        and table.sizes is not None
        and len(table.sizes) == 2
        and bool(indices.sizes)
    )


def _is_one_a_row(factors: Tensor | None, lookup: Operation) -> bool:
    return factors is None or factors.sizes == (*(lookup.inputs[1].sizes or ()), 1)


def _sum_of_rows(
    new: Rebuilder, op: Operation, lookup: Operation, factors: Tensor | None
) -> Tensor:
    table, indices = (new[tensor] for tensor in lookup.inputs[:2])
    if factors is None:
        made: Tensor = new.make("_SumOfRows", table, indices, mean=op.type == "Mean")
    else:
        made = new.make("_SumOfScaledRows", table, indices, new[factors])
    # It stands where the lookup did, beside the table; an index out of range is the lookup's.
    made.op.put_on(lookup.device)
    if "_class" in lookup.attrs:
        made.op.attrs["_class"] = lookup.attrs["_class"]
    made.op.origin = lookup.origin
    return made
