"""Rows of reductions, argmax and argmin, counting."""

import numpy as np

from tests.ops.opcase import (
    COMPLEX,
    FLOAT_DOUBLE,
    FLOATS,
    NUMERIC,
    REALS,
    OpCase,
    bools,
    const,
    distinct,
    feed,
    ints,
    real,
)

_NONE = const(np.zeros(0), "int32")
_POSITIVE = {"lo": 0.5, "hi": 2.0}

CASES = [
    OpCase("Sum", [real(3, 4), const([1])], {"keep_dims": True}, NUMERIC, id="Sum_keep"),
    OpCase("Sum", [real(3, 4, 2), feed([0, -1], "int64")], {}, FLOATS, id="Sum_fed_axes"),
    OpCase("Sum", [real(3, 4, 2), const([0, 1, 2])], {}, NUMERIC, id="Sum_all", grad2=True),
    OpCase("Sum", [real(3, 4), _NONE], id="Sum_no_axes"),
    OpCase("Sum", [real(0, 4), const(0)], id="Sum_empty"),
    OpCase("Sum", [real(3, 4), const(2)], raises=True, id="Sum_axis_out_of_range"),
    OpCase("Mean", [real(3, 4), const(1)], {}, FLOATS + COMPLEX, grad2=True),
    OpCase("Mean", [real(3, 4, 2), feed([0, 2], "int32")], {"keep_dims": True}),
    OpCase("Mean", [ints(3, 4, hi=9, dtype="T"), const([0, 1])], {}, ("int32", "int64")),
    OpCase("Mean", [real(3, 4), _NONE]),
    OpCase("Max", [distinct(3, 4), const(0)], {}, REALS, id="Max_0d"),
    OpCase("Max", [distinct(3, 4, 2), feed([-1, 0], "int32")], {"keep_dims": True}, id="Max_fed"),
    OpCase("Max", [real(0, 4), const(0)], grad=False, grad_reason="no element to choose"),
    OpCase("Max", [feed([[1.0, 2.0, 2.0]]), const(1)], grad=(0,), id="Max_ties"),
    OpCase("Min", [distinct(3, 4), const([0, 1])], {}, REALS),
    OpCase("Min", [distinct(2, 3, 2), const(-2)], {"keep_dims": True}),
    OpCase("Prod", [real(3, 4, **_POSITIVE), const(1)], {}, NUMERIC),
    OpCase("Prod", [real(2, 3, 2), const([0, 2])], {"keep_dims": True}),
    OpCase("Prod", [feed([[0.0, 2.0, 3.0], [0.0, 0.0, 1.0]]), const(1)], {}, FLOAT_DOUBLE),
    OpCase("All", [bools(3, 4), const(0)], {"keep_dims": True}),
    OpCase("All", [bools(3, 4), feed([0, 1], "int32")]),
    OpCase("Any", [bools(3, 4), const([0, 1])]),
    OpCase("Any", [bools(3, 4), _NONE]),
    OpCase("EuclideanNorm", [real(3, 4), const(1)], {}, FLOATS),
    OpCase(
        "EuclideanNorm",
        [real(3, 4), const(1)],
        {},
        COMPLEX,
        grad=False,
        grad_reason="TF's gradient, which ours is, lacks a conjugate",
    ),
    OpCase("EuclideanNorm", [real(3, 4), const([0, 1])], {"keep_dims": True}, FLOAT_DOUBLE),
    OpCase("ArgMax", [distinct(3, 4), const(1)], {"output_type": "int32"}, REALS, id="ArgMax_i32"),
    OpCase("ArgMax", [distinct(3, 4, 2), feed(-2, "int64")], id="ArgMax_fed"),
    OpCase("ArgMax", [feed([1.0, 3.0, 3.0]), const(0)], id="ArgMax_ties"),
    OpCase("ArgMax", [real(3, 4), const(2)], raises=True, id="ArgMax_out_of_range"),
    OpCase("ArgMin", [distinct(3, 4), const(0)], {}, REALS),
    OpCase("L2Loss", [real(3, 4)], {}, FLOATS, ref=lambda t: (t.astype(np.float64) ** 2).sum() / 2),
    OpCase(
        "Bincount",
        [ints(3, 4, hi=6), const(5), real(3, 4)],
        {},
        ("int32", "int64", "float32", "float64"),
    ),
    OpCase("Bincount", [ints(7, hi=6), feed(8, "int32"), feed(np.zeros(0))], {}, ("int32",)),
    OpCase("Bincount", [feed([-1, 2], "int32"), const(3), feed(np.zeros(0))], raises=True),
    OpCase(
        "HistogramFixedWidth",
        [real(20), const([-1, 1], "T"), const(5)],
        {},
        ("float32", "float64", "int32"),
    ),
    OpCase(
        "HistogramFixedWidth",
        [real(20), feed([-1.5, 2.0]), feed(7, "int32")],
        {"dtype": "int64"},
    ),
]
