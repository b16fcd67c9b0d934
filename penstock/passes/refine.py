"""Static shapes anew from the shapes that are really fed.

TF1 programs leave the batch dim open; a step that is run again and again with one batch size is
compiled for it, so that everything computed from shapes folds away.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.graph.rebuild import Rebuilder, infer_again
from penstock.graph.step import StepGraph


def refine(step: StepGraph, fed_shapes: Sequence[tuple[int | None, ...] | None]) -> StepGraph:
    """Gives the feeds these shapes and infers all others from them.

    Args:
      step: a pruned step.
      fed_shapes: dims of each feed; None leaves what is declared.

    Returns:
      The step with refined static shapes.

    Raises:
      ValueError: a node refuses the shapes (running it would fail as well).
    """
    by_feed = dict(zip(step.feeds, fed_shapes, strict=True))

    rebuilder = Rebuilder(step)
    for op in step.operations:
        # Copying infers shapes again wherever an input's shape is better known than before; others
        # follow from values that are shapes (what `tf.fill(tf.shape(x), 0.0)` makes).
        new = rebuilder.copy(op)
        if op.type == "_Feed":
            new.outputs[0]._dims = by_feed[op.outputs[0]] or new.outputs[0]._dims
        elif any(t._dims is None or None in t._dims for t in new.outputs):
            infer_again(new)
    return rebuilder.finish()
