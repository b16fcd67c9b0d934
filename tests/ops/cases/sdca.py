"""Rows of dual coordinate ascent, of one example each: several are visited in a random order.

``tests/contrib/programs_dual_ascent.py`` has several.
"""

import numpy as np

from tests.ops.opcase import OpCase, const, feed, var

_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
_ATTRS = {"l1": 0.1, "l2": 0.5, "num_loss_partitions": 2, "num_inner_iterations": 1}


def _one(loss, label=1.0, dual=0.25, features=(4, 9), op="SdcaOptimizer", raises=False, **said):
    floats = {"dtype": "float32"}
    return OpCase(
        op,
        [
            [feed([0, 0], "int64"), feed([0], "int64")],
            [feed(features, "int64"), feed([7], "int64")],
            [feed([0.5, -2.0], "float32")],
            [feed([[1.5, -0.25]], "float32")],
            feed([1.5], "float32"), feed([label], "float32"),
            [feed([9, 2, 4], "int64"), feed([7], "int64")],
            [feed([0.5, 3.0, -1.0], **floats), feed([-0.125], **floats)],
            [feed([0.75, 0.0625], **floats)],
            feed([[dual, 0.0, 0.0, 0.0]], **floats),
        ],
        {"loss_type": loss, **_ATTRS, **said},
        oracle="tf1",
        raises=raises,
    )  # fmt: skip


CASES = [
    *(_one(loss, label) for loss in _LOSSES for label in (0.0, 1.0)),
    *(_one(loss, 1.0, -0.5) for loss in _LOSSES),
    _one("squared_loss", op="SdcaOptimizerV2"),
    _one("logistic_loss", adaptative=True),
    _one("squared_loss", features=(4, 4), raises=True),
    OpCase("SdcaFprint", [feed(np.array([b"", b"a", b"b" * 77], object), "string")], oracle="tf1"),
    OpCase("SdcaFprint", [feed(np.array([[b"a"]], object), "string")], oracle="tf1", raises=True),
    OpCase(
        "SdcaShrinkL1",
        [[var(const([1.0, -0.125, -3.0], "float32")), var(const([[0.5]], "float32"))]],
        {"l1": 0.25, "l2": 0.5},
        oracle="tf1",
    ),
]
