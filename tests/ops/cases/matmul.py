"""Rows of matrix products."""

from tests.ops.opcase import COMPLEX, FLOATS, OpCase, real

_TYPES = FLOATS + COMPLEX + ("int32", "int64")
_FLAGS = [(a, b) for a in (False, True) for b in (False, True)]


def _shape(rows: int, columns: int, swap: bool) -> tuple[int, int]:
    return (columns, rows) if swap else (rows, columns)


CASES = [
    OpCase("MatMul", [real(3, 4), real(4, 2)], {}, _TYPES, id="MatMul_types", grad2=True),
    *[
        OpCase(
            "MatMul",
            [real(*_shape(3, 4, a)), real(*_shape(4, 2, b))],
            {"transpose_a": a, "transpose_b": b},
            ("float32", "complex64"),
            id=f"MatMul_{a:d}{b:d}",
        )
        for a, b in _FLAGS
    ],
    OpCase("MatMul", [real(3, 0), real(0, 2)], id="MatMul_empty"),
    OpCase("MatMul", [real(3, 4), real(3, 2)], raises=True, id="MatMul_inner"),
    OpCase("MatMul", [real(3, 4), real(2, 4, 2)], raises=True, id="MatMul_rank"),
    *[
        OpCase(
            op,
            [real(2, *_shape(3, 4, a)), real(2, *_shape(4, 2, b))],
            {"adj_x": a, "adj_y": b},
            _TYPES if a == b else ("float32", "complex64"),
        )
        for op in ("BatchMatMul", "BatchMatMulV2")
        for a, b in _FLAGS
    ],
    OpCase("BatchMatMul", [real(2, 3, 4), real(3, 4, 2)], raises=True),
    OpCase("BatchMatMulV2", [real(2, 1, 3, 4), real(5, 4, 2)], {}, ("float32", "complex64")),
    OpCase("BatchMatMulV2", [real(3, 4), real(2, 4, 2)], {}, ("float32", "int32")),
    OpCase("BatchMatMulV2", [real(2, 3, 4), real(3, 4, 2)], raises=True),
    *[
        OpCase(
            "SparseMatMul",
            [real(*_shape(3, 4, a), dtype="float32"), real(*_shape(4, 2, b), dtype="float32")],
            {"transpose_a": a, "transpose_b": b, "a_is_sparse": True},
        )
        for a, b in _FLAGS
    ],
]
