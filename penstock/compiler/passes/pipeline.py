"""The rewrites that make a step cheaper, in their one order.

Each takes a step graph to an equivalent one, and the verifier looks at what it made.  What gives a
step its meaning comes before them and is done for every step (``session.build``): ``prune``,
``read_at_use`` and ``refine``.

The list is built by a function because folding needs to run kernels, and how to do that is the
runtime's business (policies are passed in as functions).
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.compiler.passes.algebra import rewrite_algebra
from penstock.compiler.passes.fold import Evaluate, fold_constants
from penstock.compiler.passes.fuse import fuse
from penstock.compiler.passes.gather_products import gather_products
from penstock.compiler.passes.inside import change_blocks, sink_constants
from penstock.compiler.passes.logistic import recognize_logistic_loss
from penstock.compiler.passes.merge import merge_common
from penstock.compiler.passes.prune import drop_dead
from penstock.compiler.passes.simplify import simplify
from penstock.compiler.passes.stacks import drop_idle_stacks
from penstock.compiler.passes.updates import combine_updates
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.verify import verified

Pass = Callable[[StepGraph], StepGraph]


def passes(evaluate: Evaluate) -> list[tuple[str, Pass]]:
    """Every pass by name, in the order in which they run."""
    return [
        ("drop_idle_stacks", drop_idle_stacks),
        ("simplify", simplify),
        ("recognize_logistic_loss", recognize_logistic_loss),
        ("drop_recognized", drop_dead),
        ("fold_constants", fold_constants(evaluate)),
        ("simplify_folded", simplify),
        ("merge_common", merge_common),
        ("sink_constants", sink_constants),
        ("rewrite_blocks", lambda step: change_blocks(step, lambda b: rewrite(b, evaluate))),
        ("gather_products", gather_products),
        ("drop_unused_args", sink_constants),
        ("rewrite_algebra", rewrite_algebra),
        ("drop_dead", drop_dead),
        ("fuse", fuse),
        ("combine_updates", combine_updates),
        ("drop_dead_again", drop_dead),
    ]


def rewrite(step: StepGraph, evaluate: Evaluate) -> StepGraph:
    """Runs every pass, in order."""
    for name, one in passes(evaluate):
        step = verified(step, one, name)
    return step
