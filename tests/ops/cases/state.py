"""Rows for the ops that hold, read and update variables."""

from __future__ import annotations

import numpy as np

from tests.ops.opcase import (
    ALL,
    FLOATS,
    INDEX,
    NUMERIC,
    OpCase,
    bools,
    const,
    feed,
    ints,
    made,
    real,
    resvar,
    strings,
    var,
)

ARITHMETIC = (*FLOATS, "int8", "int16", "int32", "int64", "uint8", "uint16")
MIN_MAX = (*FLOATS, "int32", "int64")


def _positive(*shape: int):
    return real(*shape, lo=1, hi=4)


def _scatter_rows() -> list[OpCase]:
    rows = []
    for verb in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max"):
        dtypes = {"Update": ALL, "Min": MIN_MAX, "Max": MIN_MAX}.get(verb, ARITHMETIC)
        held = var(_positive(5, 3))
        rows += [
            OpCase(f"Scatter{verb}", [held, feed([3, 0, 1], "int32"), _positive(3, 3)], {}, dtypes),
            OpCase(f"Scatter{verb}", [held, feed([[2, 2], [4, 2]], "int64"), _positive(2, 2, 3)]),
            OpCase(f"Scatter{verb}", [held, feed([4, 4], "int32"), _positive()]),
            OpCase(f"Scatter{verb}", [held, feed([], "int32"), feed(np.zeros((0, 3)))]),
            OpCase(f"Scatter{verb}", [held, feed(2, "int32"), _positive(3)], {"use_locking": True}),
            OpCase(f"Scatter{verb}", [var(_positive(6)), feed([1, 5, 1], "int32"), _positive(3)]),
            OpCase(f"Scatter{verb}", [held, feed([0, 5], "int32"), _positive(2, 3)], raises=True),
            OpCase(f"Scatter{verb}", [held, feed([0, -1], "int32"), _positive(2, 3)], raises=True),
            OpCase(f"Scatter{verb}", [held, feed([0, 1], "int32"), _positive(2, 4)], raises=True),
        ]
        kept = resvar(_positive(5, 3))
        op = f"ResourceScatter{verb}"
        sweep = {"dtypes": dtypes, "type_attr": "dtype"}
        rows += [
            OpCase(op, [kept, feed([3, 0, 1], "int32"), _positive(3, 3)], **sweep),
            OpCase(op, [kept, feed([2, 2, 4], "int64"), _positive(3, 3)], type_attr="dtype"),
            OpCase(op, [kept, feed([0, 5], "int32"), _positive(2, 3)], type_attr="dtype",
                   raises=True),
        ]  # fmt: skip
    return rows


def _scatter_nd_rows() -> list[OpCase]:
    rows = []
    for verb in ("Update", "Add", "Sub"):
        dtypes = ALL if verb == "Update" else ARITHMETIC
        for op, hold in ((f"ScatterNd{verb}", var), (f"ResourceScatterNd{verb}", resvar)):
            held = hold(real(4, 3, 2))
            rows += [
                OpCase(op, [held, feed([[2], [0]], "int32"), real(2, 3, 2)], {}, dtypes),
                OpCase(op, [held, feed([[2, 1], [0, 2], [3, 0]], "int64"), real(3, 2)]),
                OpCase(op, [held, feed([[[2, 1, 0]], [[0, 2, 1]]], "int32"), real(2, 1)]),
                OpCase(op, [hold(real(6)), feed([[1], [1], [5]], "int32"), feed([1, 2, 3])]),
                OpCase(op, [held, feed([[4]], "int32"), real(1, 3, 2)], raises=True),
                OpCase(op, [held, feed([[1]], "int32"), real(1, 3, 4)], raises=True),
            ]
    return rows


def _slice_rows() -> list[OpCase]:
    rows = []
    for op, hold in (("StridedSliceAssign", var), ("ResourceStridedSliceAssign", resvar)):
        held = hold(real(5, 4))
        rows += [
            OpCase(op, [held, const([1, 0]), const([3, 4]), const([1, 2]), real(2, 2)], {}, ALL),
            OpCase(op, [held, const([4, 3]), const([0, 0]), const([-2, -1]), real(2, 3)]),
            OpCase(op, [held, const([9, 1]), const([9, 9]), const([1, 1]), real(5, 3)],
                   {"begin_mask": 1, "end_mask": 3}),
            OpCase(op, [held, feed([2], "int64"), feed([3], "int64"), feed([1], "int64"), real(4)],
                   {"shrink_axis_mask": 1}),
            OpCase(op, [held, const([0, 1]), const([0, 3]), const([1, 1]), real(5, 2)],
                   {"ellipsis_mask": 1}),
            OpCase(op, [held, const([0]), const([2]), const([1]), real(3, 4)], raises=True),
        ]  # fmt: skip
    return rows


CASES = [
    *(
        OpCase(op, [], {"shape": [2, 3], "dtype": "float32"},
               reason="a variable that nothing initialized has no value; rows on reference"
                      " variables all use one", raises=True)
        for op in ("VariableV2", "Variable")
    ),
    OpCase("VarHandleOp", [], {"shape": [2, 3], "dtype": "float32"},
           reason="a handle has no value to compare; rows on resource variables all use one"),
    OpCase("TemporaryVariable", [], {"shape": [2, 3], "dtype": "float32"},
           reason="its value is unspecified; the rows of DestroyTemporaryVariable assign one"),
    OpCase("DestroyTemporaryVariable",
           [made("Assign", [made("TemporaryVariable", shape=[2], dtype="float32", var_name="t"),
                            const([1.5, -2.0], "float32")])],
           {"var_name": "t"}, grad=False, grad_reason="its input is a reference"),
    OpCase("IsVariableInitialized", [var(real(3))], {}, ALL, type_attr="dtype"),
    OpCase("VarIsInitializedOp", [resvar(real(3))]),
    OpCase("ReadVariableOp", [resvar(real(3))], {"dtype": "T"}, ALL, type_attr="dtype"),
    OpCase("ReadVariableOp", [resvar(real())], {"dtype": "T"}, type_attr="dtype"),
    OpCase("VariableShape", [resvar(real(3, 2))]),
    OpCase("VariableShape", [resvar(real())], {"out_type": "int64"}),
    OpCase("Assign", [var(real(3, 2)), real(3, 2)], {}, ALL),
    OpCase("Assign", [var(real(3)), real(3)], {"use_locking": False}),
    OpCase("Assign", [var(real(3)), real(2, 2)], {"validate_shape": False}),
    OpCase("Assign", [var(strings(["a", "b"])), strings(["c", "dd"])], {}, ("string",)),
    OpCase("Assign", [var(bools(3)), bools(3)], {}, ("bool",)),
    OpCase("Assign", [var(real(3)), real(4)], raises=True),
    *(
        OpCase(f"Assign{verb}", [var(real(2, 3)), real(2, 3)], {"use_locking": locking}, NUMERIC)
        for verb in ("Add", "Sub") for locking in (False, True)
    ),
    OpCase("AssignAdd", [var(real()), real()]),
    OpCase("AssignSub", [var(real(3)), real(1)], raises=True),
    OpCase("AssignVariableOp", [resvar(real(3, 2)), real(3, 2)], {}, ALL, type_attr="dtype"),
    OpCase("AssignVariableOp", [resvar(real(3)), real(2)], type_attr="dtype", raises=True),
    *(
        OpCase(f"Assign{verb}VariableOp", [resvar(real(2, 3)), real(2, 3)], {}, NUMERIC,
               type_attr="dtype")
        for verb in ("Add", "Sub")
    ),
    OpCase("CountUpTo", [var(feed(3))], {"limit": 5}, INDEX),
    OpCase("CountUpTo", [var(feed(5))], {"limit": 5}, INDEX, raises=True),
    OpCase("ResourceCountUpTo", [resvar(feed(3))], {"limit": 5, "T": "T"}, INDEX),
    OpCase("ResourceCountUpTo", [resvar(feed(5))], {"limit": 5, "T": "T"}, INDEX, raises=True),
    OpCase("DestroyResourceOp", [made("VarHandleOp", shape=[2], dtype="float32")]),
    OpCase("ResourceGather", [resvar(real(5, 3)), ints(2, 2)], {"dtype": "T"}, ALL,
           type_attr="dtype"),
    OpCase("ResourceGather", [resvar(real(5)), ints(3, dtype="int64")], {"dtype": "T"},
           type_attr="dtype"),
    OpCase("ResourceGather", [resvar(real(2, 5, 3)), ints(2, 4)], {"dtype": "T", "batch_dims": 1},
           type_attr="dtype"),
    OpCase("ResourceGather", [resvar(real(5, 3)), feed([5], "int32")], {"dtype": "T"},
           type_attr="dtype", raises=True),
    OpCase("ResourceGatherNd", [resvar(real(4, 3, 2)), feed([[1, 2], [0, 0]], "int32")],
           {"dtype": "T"}, ALL, type_attr="dtype"),
    OpCase("ResourceGatherNd", [resvar(real(4, 3)), feed([[3], [1]], "int64")], {"dtype": "T"},
           type_attr="dtype"),
    OpCase("ResourceGatherNd", [resvar(real(4, 3)), feed([[4]], "int32")], {"dtype": "T"},
           type_attr="dtype", raises=True),
    *_scatter_rows(),
    *_scatter_nd_rows(),
    *_slice_rows(),
]  # fmt: skip
