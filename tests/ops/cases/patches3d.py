"""Rows of ExtractVolumePatches.

Their operands are constants: of an input of unknown shape TensorFlow says that the result has four
dims, where it has five.
"""

from tests.ops.opcase import REALS, OpCase, const, real


def _patches(*dims, window=(2, 3, 2), strides=(1, 2, 2), padding="VALID", types=("float32",)):
    return OpCase(
        "ExtractVolumePatches", [const(real(*dims), "T")],
        {"ksizes": [1, *window, 1], "strides": [1, *strides, 1], "padding": padding},
        types,
    )  # fmt: skip


CASES = [
    _patches(2, 3, 5, 4, 2, types=REALS),
    _patches(1, 3, 5, 4, 2, padding="SAME"),
    _patches(2, 4, 4, 4, 1, window=(1, 1, 1), strides=(2, 3, 1), padding="SAME"),
    _patches(0, 3, 5, 4, 2),
]
