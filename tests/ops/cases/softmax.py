"""Rows of softmax and the cross entropies."""

import numpy as np

from tests.ops.opcase import FLOATS, OpCase, derived, feed, ints, real


def _distribution(logits: np.ndarray) -> np.ndarray:
    """Rows that sum to 1 (backprop is the gradient only of such labels)."""
    weights = np.abs(np.cos(np.arange(logits.size))).reshape(logits.shape) + 0.1
    return weights / weights.sum(-1, keepdims=True)


CASES = [
    OpCase("Softmax", [real(4, 5)], {}, FLOATS, grad2=True),
    OpCase("Softmax", [real(2, 3, 4, lo=-30, hi=30)], {}, ("float32", "float64")),
    OpCase("Softmax", [real(6)], {}, FLOATS),
    OpCase("Softmax", [real()], raises=True),
    OpCase("LogSoftmax", [real(4, 5)], {}, FLOATS, grad2=True),
    OpCase("LogSoftmax", [real(2, 3, 4, lo=-30, hi=30)], {}, ("float32", "float64")),
    OpCase(
        "SoftmaxCrossEntropyWithLogits",
        [real(4, 5), derived(_distribution)],
        {},
        FLOATS,
        grad=False,
        grad_reason="backprop is an output whose gradient in the labels TensorFlow leaves out",
    ),
    OpCase(
        "SoftmaxCrossEntropyWithLogits",
        [real(4, 5), derived(lambda x: _distribution(x[:1]))],
        grad=False,
        grad_reason="TensorFlow's gradient does not sum over broadcast labels",
    ),
    OpCase("SoftmaxCrossEntropyWithLogits", [real(4, 5), real(4, 3)], raises=True),
    OpCase("SoftmaxCrossEntropyWithLogits", [real(4), real(4)], raises=True),
    *(
        OpCase(
            "SparseSoftmaxCrossEntropyWithLogits",
            [real(4, 5), ints(4, hi=5, dtype=kind)],
            {},
            FLOATS,
            grad=False,
            grad_reason="backprop is an output that TensorFlow refuses to differentiate",
        )
        for kind in ("int32", "int64")
    ),
    OpCase(
        "SparseSoftmaxCrossEntropyWithLogits",
        [real(2, 5), feed([0, 5], "int64")],
        raises=True,
    ),
    OpCase(
        "SparseSoftmaxCrossEntropyWithLogits", [real(2, 5), ints(3, dtype="int64")], raises=True
    ),
]
