"""The passes as rows of a table, in their one order.

Each takes a step graph to an equivalent one, and the verifier looks at what it made; a pass about
one kind of node is asked only where a step has such.  Between ``prune`` and ``refine`` stand those
that give a step its meaning and are done for every step (``MEANING``); after them the rewrites,
which make it cheaper.

The list is built by a function because folding needs to run kernels, and how to do that is the
runtime's business (policies are passed in as functions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from penstock.compiler.passes.algebra import rewrite_algebra
from penstock.compiler.passes.blocking import order_blocking
from penstock.compiler.passes.collectives import order_collectives
from penstock.compiler.passes.fold import Evaluate, fold_constants
from penstock.compiler.passes.fuse import fuse
from penstock.compiler.passes.gather_products import gather_products
from penstock.compiler.passes.inside import change_blocks, sink_constants
from penstock.compiler.passes.logistic import recognize_logistic_loss
from penstock.compiler.passes.lookup_sums import LOOKUPS, sum_lookups
from penstock.compiler.passes.merge import merge_common
from penstock.compiler.passes.prune import drop_dead
from penstock.compiler.passes.reads import read_at_use
from penstock.compiler.passes.simplify import simplify
from penstock.compiler.passes.sparse_products import PRODUCT, share_sparse_rows
from penstock.compiler.passes.stacks import drop_idle_stacks
from penstock.compiler.passes.updates import COMBINED, combine_updates
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.verify import verified

Pass = Callable[[StepGraph], StepGraph]
Question = Callable[[StepGraph], bool]


def every_step(step: StepGraph) -> bool:
    """A pass that looks for itself where it has something to do."""
    return True


def with_regions(step: StepGraph) -> bool:
    """A pass about conditionals and loops."""
    return step.has_regions


def with_types(*op_types: str) -> Question:
    """A pass about nodes of these types."""
    return lambda step: any(op.type in op_types for op in step.operations)


def that_waits(step: StepGraph) -> bool:
    """A pass about nodes that wait for another node, or for another step."""
    return any(op.op_def.blocking for op in step.operations)


def of_many_tasks(step: StepGraph) -> bool:
    """A pass about what all tasks do together."""
    return any(op.op_def.role == "collective" for op in step.operations)


@dataclass(frozen=True)
class Row:
    """A pass by name, and the steps that it is about: to any other there is nothing to do."""

    name: str
    change: Pass
    about: Question = every_step

    def __call__(self, step: StepGraph) -> StepGraph:
        """What the pass makes of a step, looked at if it is not the step itself."""
        return verified(step, self.change, self.name) if self.about(step) else step


MEANING = (
    Row("read_at_use", read_at_use),
    Row("order_blocking", order_blocking, that_waits),
    Row("order_collectives", order_collectives, of_many_tasks),
)


def passes(evaluate: Evaluate) -> list[Row]:
    """Every rewrite, in the order in which they run."""
    return [
        Row("drop_idle_stacks", drop_idle_stacks, with_regions),
        Row("simplify", simplify),
        Row("recognize_logistic_loss", recognize_logistic_loss, with_types("Exp")),
        Row("drop_recognized", drop_dead),
        Row("share_sparse_rows", share_sparse_rows, with_types(PRODUCT)),
        Row("fold_constants", fold_constants(evaluate)),
        Row("simplify_folded", simplify),
        Row("merge_common", merge_common),
        Row("sink_constants", sink_constants, with_regions),
        Row("rewrite_blocks", lambda s: change_blocks(s, lambda b: rewrite(b, evaluate)),
            with_regions),
        Row("gather_products", gather_products, with_regions),
        Row("drop_unused_args", sink_constants, with_regions),
        Row("rewrite_algebra", rewrite_algebra),
        Row("drop_dead", drop_dead),
        Row("fuse", fuse),
        Row("sum_lookups", sum_lookups, with_types(*LOOKUPS)),
        Row("combine_updates", combine_updates, with_types(*COMBINED)),
        Row("drop_dead_again", drop_dead),
    ]  # fmt: skip


def rewrite(step: StepGraph, evaluate: Evaluate) -> StepGraph:
    """Runs every rewrite, in order."""
    return _in_turn(passes(evaluate), step)


def meaning(step: StepGraph) -> StepGraph:
    """Gives a step the order that its nodes have in TensorFlow, whatever it is made to cost."""
    return _in_turn(MEANING, step)


def _in_turn(rows: Iterable[Row], step: StepGraph) -> StepGraph:
    for row in rows:
        step = row(step)
    return step
