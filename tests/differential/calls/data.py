"""Datasets."""

from __future__ import annotations

from tests.differential.args import DS, LT, B, D, F, L, M, O, R, S, T, Z, call, drawn, each

ROWS = DS(R(5, 2))
NUMBERS = DS(Z(6, dtype="int64"))

CALLS = [
    call("data.Dataset.from_tensors", R(2, 3)),
    call("data.Dataset.from_tensor_slices", R(4, 2)),
    call("data.Dataset.range", *(S(size, "int64") for size in (1, 8, 2))),
    call("data.Dataset.zip", LT(ROWS, NUMBERS)),
    call("data.Dataset.batch", ROWS, S(2), O(False, True)),
    call("data.Dataset.padded_batch", ROWS, S(2), O([2], [None], [3], [1], [-1], [], None)),
    call("data.Dataset.repeat", ROWS, S(2)),
    call("data.Dataset.take", ROWS, S(2)),
    call("data.Dataset.skip", ROWS, S(2)),
    call("data.Dataset.shard", ROWS, S(3), S(1)),
    call("data.Dataset.concatenate", ROWS, DS(R(3, 2))),
    call("data.Dataset.cache", ROWS),
    call("data.Dataset.prefetch", ROWS, S(1)),
    call("data.Dataset.enumerate", ROWS, S(3)),
    call("data.Dataset.map", ROWS, F("double"), M(S(2))),
    call("data.Dataset.filter", ROWS, F("positive")),
    call("data.Dataset.flat_map", ROWS, F("slices")),
    call("data.Dataset.interleave", ROWS, F("slices"), S(2), S(1)),
    call("data.Dataset.reduce", DS(R(5)), R(), F("sum")),
    call(
        "data.Dataset.window",
        NUMBERS,
        *(S(size, "int64") for size in (2, 2, 1)),
        O(False, True),
    ),
    call("data.Dataset.unbatch", DS(R(2, 3, 2))),
    call("data.Dataset.apply", ROWS, F("apply")),
    call("data.Dataset.list_files", T(["pyproject*", "LICENS?"]), O(False, None)),
    drawn("data.Dataset.shuffle", ROWS, S(3), O(1, None), O(None, True, False)),
    call("data.experimental.get_single_element", DS(R(1, 3))),
    call("data.get_output_types", ROWS),
    call("data.get_output_shapes", ROWS),
    call("data.get_output_classes", ROWS),
    call("data.experimental.cardinality", ROWS),
    *each("map_fn vectorized_map", F("double"), R(3, 2)),
    call("foldl", F("sum"), R(3, 2)),
    call("foldr", F("sum"), R(3, 2), M(R(2))),
    call("scan", F("sum"), R(3, 2), M(R(2)), reverse=O(False, True)),
    call("cond", B(), F("one"), F("two")),
    call("while_loop", F("less"), F("next"), L(Z())),
    call("py_func", F("numpy"), L(R(2, 3)), D("float32", "int32", "float64")),
    call("numpy_function", F("numpy"), L(R(2, 3)), D("float32", "int32")),
]
