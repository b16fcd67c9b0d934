"""Running sums of small products in loops: the operands are gathered and multiplied together.

    body: total' = total + a.T @ b      ->      body: hand a and b to the sum
    after: total                                after: the sum's total

Only where each round gives few rows to a product that is large enough to be worth it.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.region import Inputs, inputs_of, replace_region
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.registry import OPS

_MOST_ROWS = 256
_LEAST_SIZE = 1 << 14
_TYPES = (dtypes.float32, dtypes.float64)


def gather_products(step: StepGraph) -> StepGraph:
    """The pass."""

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if op.op_def.role != "loop":
            return None
        condition, body = blocks_of(op)
        sums = [i for i in range(len(op.outputs)) if _is_sum_of_products(condition, body, i)]
        return _gathered(rebuilder, op, sums) if sums else None

    return Rebuilder(step).run(rule)


def _is_sum_of_products(condition: StepGraph, body: StepGraph, index: int) -> bool:
    feed, total = body.feeds[index], body.fetches[index]
    op = total.op
    if op.type != "_AddProduct" or op.inputs[0] is not feed or op.control_inputs:
        return False
    if not op.attrs["transpose_a"] or op.attrs["transpose_b"] or total.dtype not in _TYPES:
        return False
    alone = body.uses(feed) == [op] and not condition.uses(condition.feeds[index])
    alone = alone and not body.uses(total) and body.fetches.count(total) == 1
    rows, dims = op.inputs[1].sizes, total.sizes
    if not alone or feed in body.fetches or rows is None or dims is None or None in dims:
        return False
    few = rows[0] is not None and rows[0] <= _MOST_ROWS
    return few and (dims[0] or 0) * (dims[1] or 0) >= _LEAST_SIZE


def _gathered(rebuilder: Rebuilder, op: Operation, sums: list[int]) -> list[Tensor]:
    inputs = inputs_of(op, rebuilder.inputs(op))
    handles = [_sum_of(rebuilder.graph, op, inputs.first[i]) for i in sums]
    kept = [i for i in range(len(op.outputs)) if i not in sums]
    condition, body = (_Block(block, sums, handles).changed(kept) for block in blocks_of(op))
    first = [inputs.first[i] for i in kept]
    changed = Inputs(first, inputs.args + handles, inputs.reads, inputs.writes)
    remaining = [op.outputs[i] for i in kept]
    outputs = dict(
        zip(kept, replace_region(rebuilder, op, changed, [condition, body], remaining), strict=True)
    )
    region = rebuilder.graph.operations[-1]
    for index, handle in zip(sums, handles, strict=True):
        dims = op.outputs[index].sizes
        total = rebuilder.make(
            "_ProductTotal", handle, T=op.outputs[index].dtype, shape=shapes.from_static(dims)
        )
        total.op.control_inputs += (region,)
        outputs[index] = total
    return [outputs[i] for i in range(len(op.outputs))]


@dataclass
class _Block:
    """A block that loses variables and gets handles of sums."""

    block: StepGraph
    sums: list[int]
    handles: list[Tensor]

    def changed(self, kept: list[int]) -> StepGraph:
        """The block with the variables ``kept``."""
        old = self.block
        count = len(kept) + len(self.sums)
        is_body = len(old.fetches) == count and old.fetches[self.sums[0]].op.type == "_AddProduct"
        fetches = [old.fetches[i] for i in kept] if is_body else old.fetches
        feeds = [old.feeds[i] for i in kept] + old.feeds[count:]
        dropped = {old.feeds[i].op for i in self.sums}
        products = [old.fetches[i].op for i in self.sums] if is_body else []
        rebuilder = Rebuilder(StepGraph(old.graph, feeds, fetches, old.targets))
        given = [_feed(rebuilder.graph, handle) for handle in self.handles]
        step = rebuilder.run(
            lambda _, __: None, lambda op: op not in dropped and op not in products
        )
        targets = list(step.targets)
        with scopes.default_graph_scope(rebuilder.graph):
            for product, handle in zip(products, given, strict=bool(products)):
                rebuilder.visit(product)
                operands = [rebuilder[t] for t in product.inputs[1:]]
                targets.append(rebuilder.make("_AddToProductSum", handle, *operands))
        feeds = step.feeds + given
        return StepGraph(rebuilder.graph, feeds, step.fetches, targets, [t.op.name for t in feeds])


def _sum_of(graph: Graph, op: Operation, initial: Tensor) -> Tensor:
    dtype = initial.dtype.base_dtype
    name = graph.unique_name(f"{op.name}/products")
    node = graph.add_operation(OPS["_ProductSum"], [initial], {"T": dtype}, [dtypes.resource], name)
    node.origin = op.origin
    node.put_on(op.device)
    return node.outputs[0]


def _feed(graph: Graph, handle: Tensor) -> Tensor:
    attrs = {"dtype": dtypes.resource, "shape": shapes.TensorShape(None), "index": 0}
    name = graph.unique_name(f"_in/{handle.op.name}")
    return graph.add_operation(OPS["_Feed"], [], attrs, [dtypes.resource], name).outputs[0]
