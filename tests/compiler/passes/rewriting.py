"""What the tests of passes share: the default pipeline on a small program, run both ways."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.compiler.passes import pipeline
from penstock.compiler.passes.prune import prune
from penstock.compiler.passes.reads import read_at_use
from penstock.compiler.passes.refine import refine
from penstock.engine.runtime.program import evaluate
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.verify import verify

PLAIN = tf.ConfigProto()
PLAIN.graph_options.optimizer_options.opt_level = -1


def rewritten(fetches: Any, feeds: Any = (), run: Any = (), shapes: Any = None) -> StepGraph:
    """The step after every pass of the default pipeline."""
    tensors = [getattr(f, "_ref", lambda f=f: f)() for f in fetches]
    step = verify(prune(tf.get_default_graph(), list(feeds), tensors, list(run)), "prune")
    step = verify(read_at_use(step), "read_at_use")
    if shapes is not None:
        step = refine(step, shapes)
    return pipeline.rewrite(step, evaluate)


def types(step: StepGraph) -> list[str]:
    """Op types in order, without feeds, constants and variables."""
    silent = ("_Feed", "Const", "VariableV2", "VarHandleOp", "NoOp")
    return [op.type for op in step.operations if op.type not in silent]


def agree(fetches: Any, feed: Any = None, variables: Any = (), rtol: float = 1e-5) -> Any:
    """Runs the step from the same state as written and optimized; both must give the same.

    Returns:
      The fetched values, then those of the variables after the step.
    """
    found = []
    init = tf.global_variables_initializer()
    for config in (PLAIN, None):
        with tf.Session(config=config) as sess:
            sess.run(init)
            values = sess.run(list(fetches), feed)
            found.append([v for v in values if v is not None] + sess.run(list(variables)))
    for plain, optimized in zip(*found, strict=True):
        np.testing.assert_allclose(optimized, plain, rtol=rtol, atol=1e-6)
        assert np.asarray(optimized).dtype == np.asarray(plain).dtype
    return found[1]
