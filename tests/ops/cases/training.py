"""Rows of the optimizers' update ops: dense and sparse, reference and resource variables.

Sparse rows repeat an index, and leave rows of the variable out.
"""

from __future__ import annotations

from typing import Any

from tests.ops.opcase import (
    FLOAT_DOUBLE,
    FLOATS,
    FLOATS_NO_BF16,
    OpCase,
    Spec,
    const,
    feed,
    real,
    resvar,
    var,
)

VAR = (5, 3)
INDICES = [3, 0, 3, 4]

# Op, range of each slot, operands before the gradient, operands after it, attrs.
_ROWS: list[tuple[str, list[tuple[float, float]], list[Any], list[Any], dict[str, Any]]] = [
    ("GradientDescent", [], [0.1], [], {}),
    ("ProximalGradientDescent", [], [0.3, 0.0, 0.0], [], {}),
    ("ProximalGradientDescent", [], [0.3, 0.5, 0.2], [], {}),
    ("Adadelta", [(0.1, 2), (0.1, 2)], [0.5, 0.9, 1e-3], [], {}),
    ("Adagrad", [(0.1, 2)], [0.5], [], {}),
    ("Adagrad", [(0.1, 2)], [0.5], [], {"update_slots": False}),
    ("ProximalAdagrad", [(0.1, 2)], [0.5, 0.0, 0.0], [], {}),
    ("ProximalAdagrad", [(0.1, 2)], [0.5, 0.4, 0.3], [], {}),
    ("AdagradDA", [(-2, 2), (0.1, 2)], [], [0.5, 0.0, 0.1, "step"], {}),
    ("AdagradDA", [(-2, 2), (0.1, 2)], [], [0.5, 0.1, 0.2, "step"], {}),
    ("Momentum", [(-2, 2)], [0.1], [0.9], {}),
    ("Momentum", [(-2, 2)], [0.1], [0.9], {"use_nesterov": True}),
    ("Momentum", [(-2, 2)], [0.1], [0.9], {"use_locking": True}),
    ("Adam", [(-2, 2), (0.1, 2)], [0.5, 0.75, 0.1, 0.9, 0.99, 1e-3], [], {}),
    ("Adam", [(-2, 2), (0.1, 2)], [0.5, 0.75, 0.1, 0.9, 0.99, 1e-3], [], {"use_nesterov": True}),
    ("AdaMax", [(-2, 2), (0.1, 2)], [0.5, 0.1, 0.9, 0.99, 1e-3], [], {}),
    ("RMSProp", [(0.1, 2), (-1, 1)], [0.1, 0.9, 0.5, 1e-2], [], {}),
    ("CenteredRMSProp", [(-0.3, 0.3), (1, 2), (-1, 1)], [0.1, 0.9, 0.5, 1e-2], [], {}),
    ("AddSign", [(-2, 2)], [0.1, 1.0, 0.9, 0.8], [], {}),
    ("PowerSign", [(-2, 2)], [0.1, 1.0, 0.9, 0.8], [], {}),
    ("Ftrl", [(0.1, 2), (-2, 2)], [], [0.5, 0.3, 0.2, -0.5], {}),
    ("Ftrl", [(0.1, 2), (-2, 2)], [], [0.5, 0.0, 0.0, -0.5], {}),
    ("Ftrl", [(0.1, 2), (-2, 2)], [], [0.5, 0.3, 0.2, -0.3], {}),
    ("FtrlV2", [(0.1, 2), (-2, 2)], [], [0.5, 0.3, 0.2, 0.1, -0.5], {}),
    ("FtrlV2", [(0.1, 2), (-2, 2)], [], [0.5, 0.0, 0.0, 0.2, -0.3], {}),
]
# Types that TensorFlow has kernels for, where that is not all of FLOATS.
_DENSE_TYPES = {
    "ProximalGradientDescent": FLOAT_DOUBLE,
    "ProximalAdagrad": FLOAT_DOUBLE,
    "AdagradDA": FLOAT_DOUBLE,
    "AdaMax": FLOATS_NO_BF16,
}
_SPARSE_TYPES = {
    **_DENSE_TYPES, "RMSProp": FLOATS_NO_BF16, "CenteredRMSProp": FLOATS_NO_BF16,
}  # fmt: skip
_DENSE_ONLY = {"GradientDescent", "Adam", "AdaMax", "AddSign", "PowerSign"}

# Hyper-parameters out of the range that makes sense: TensorFlow computes what the formula gives.
_ODD: list[tuple[str, list[tuple[float, float]], list[Any], list[Any], dict[str, Any]]] = [
    ("Ftrl", [(0.1, 2), (-2, 2)], [], [0.0, 0.3, 0.2, -0.5], {}),
    ("Ftrl", [(0.1, 2), (-2, 2)], [], [0.5, -0.3, 0.2, -0.5], {}),
    ("Ftrl", [(0.1, 2), (-2, 2)], [], [0.5, 0.3, -0.2, -0.5], {}),
    ("Ftrl", [(0.1, 2), (-2, 2)], [], [0.5, 0.3, 0.2, 0.5], {}),
    ("FtrlV2", [(0.1, 2), (-2, 2)], [], [0.0, 0.3, 0.2, 0.1, -0.5], {}),
    ("Adam", [(-2, 2), (0.1, 2)], [1.0, 0.75, 0.1, 0.9, 0.99, 1e-3], [], {}),
    ("Adam", [(-2, 2), (0.1, 2)], [1.0, 1.0, 0.1, 0.9, 0.99, 1e-3], [], {}),
    ("Adam", [(-2, 2), (0.1, 2)], [0.5, 1.5, 0.1, 0.9, 0.99, 1e-3], [], {}),
    ("Adam", [(-2, 2), (0.1, 2)], [1.5, 1.0, 0.1, 0.9, 0.99, 1e-3], [], {}),
    ("AdaMax", [(-2, 2), (0.1, 2)], [1.0, 0.1, 0.9, 0.99, 1e-3], [], {}),
    ("ProximalGradientDescent", [], [0.3, -0.5, -0.2], [], {}),
    ("AdagradDA", [(-2, 2), (0.1, 2)], [], [0.0, 0.1, 0.2, "step"], {}),
]


def _operands(values: list[Any]) -> list[Spec]:
    return [feed(4, "int64") if v == "step" else feed(v) for v in values]


def _cases() -> list[OpCase]:
    cases = []
    for name, slots, before, after, attrs in _ROWS:
        for prefix, held in (("", var), ("Resource", resvar)):
            states = [held(real(*VAR)), *(held(real(*VAR, lo=lo, hi=hi)) for lo, hi in slots)]
            head, tail = _operands(before), _operands(after)
            dense = [*states, *head, real(*VAR), *tail]
            types = _DENSE_TYPES.get(name, FLOATS)
            cases.append(OpCase(f"{prefix}Apply{name}", dense, attrs, types))
            if name in _DENSE_ONLY:
                continue
            for index_type in ("int32", "int64"):
                rows = [real(len(INDICES), *VAR[1:]), const(INDICES, index_type)]
                cases.append(
                    OpCase(
                        f"{prefix}SparseApply{name}",
                        [*states, *head, *rows, *tail],
                        attrs,
                        _SPARSE_TYPES.get(name, FLOATS) if index_type == "int32" else FLOAT_DOUBLE,
                    )  # fmt: skip
                )
    for prefix, held in (("", var), ("Resource", resvar)):
        cases.append(
            OpCase(
                f"{prefix}ApplyMomentum",
                [held(real(3)), held(real(3)), feed(0.1), real(4), feed(0.9)],
                raises=True,
            )
        )
        for name, slots, before, after, attrs in _ODD:
            states = [held(real(*VAR)), *(held(real(*VAR, lo=lo, hi=hi)) for lo, hi in slots)]
            operands = [*states, *_operands(before), real(*VAR), *_operands(after)]
            cases.append(OpCase(f"{prefix}Apply{name}", operands, attrs))
        # Indices out of range.
        table = [held(real(*VAR)), held(real(*VAR, lo=0.1)), feed(0.1)]
        for indices in ([0, 5], [-1, 0], [-1, -1]):
            operands = [*table, real(2, 3), feed(indices, "int32")]
            cases.append(OpCase(f"{prefix}SparseApplyAdagrad", operands, raises=True))
    return cases


CASES = _cases()
