"""The choices that ``tf.gradients`` takes as constants."""

from __future__ import annotations

import enum


class AggregationMethod:
    """How several gradients of one tensor become one.

    ``ADD_N`` (the default) sums them in one node; ``EXPERIMENTAL_TREE`` sums pairwise, so that each
    can be freed early; ``EXPERIMENTAL_ACCUMULATE_N`` uses ``tf.accumulate_n`` where the shape is
    known and there are more than two.
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients(enum.Enum):
    """What the gradient is for an x that the ys do not depend on: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


class GateGradients:
    """When gradients may be used: at once, when all of an op are there, when all of all are."""

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2
