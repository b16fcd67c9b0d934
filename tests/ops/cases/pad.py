"""Rows for pads, blocks of space, and patches."""

import numpy as np

from tests.ops.opcase import ALL, NUMERIC, REALS, OpCase, const, feed, real

_PADDINGS = [[1, 2], [0, 1]]
_PATCHES = {"ksizes": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1]}
_NO_NCHW = "TensorFlow has no CPU kernel for NCHW; compared with NumPy instead"


def _to_depth(x: np.ndarray) -> np.ndarray:
    """Blocks of 2 x 2 of an NCHW image: the place in the block is the slowest part of the depth."""
    return np.concatenate([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)], 1)


def _to_space(x: np.ndarray) -> np.ndarray:
    """Inverse of ``_to_depth``."""
    n, c, h, w = x.shape
    result = np.zeros((n, c // 4, 2 * h, 2 * w), x.dtype)
    for k, part in enumerate(np.split(x, 4, axis=1)):
        result[:, :, k // 2 :: 2, k % 2 :: 2] = part
    return result


CASES = [
    OpCase("Pad", [real(2, 3), const(_PADDINGS)], {}, ALL),
    OpCase("Pad", [real(2, 3), feed(_PADDINGS, "int64")]),
    OpCase("Pad", [real(2, 3), const([[1, -1], [0, 0]])], raises=True),
    OpCase("PadV2", [real(2, 3), const(_PADDINGS), real()], {}, NUMERIC, grad=(0,)),
    OpCase("MirrorPad", [real(3, 4), const(_PADDINGS)], {"mode": "REFLECT"}, ALL),
    OpCase("MirrorPad", [real(3, 4), feed([[3, 0], [4, 2]], "int32")], {"mode": "SYMMETRIC"}),
    OpCase("MirrorPad", [real(3, 4), const([[3, 0], [0, 0]])], {"mode": "REFLECT"}, raises=True),
    OpCase("MirrorPadGrad", [real(5, 6), const([[1, 1], [0, 2]])], {"mode": "REFLECT"}, NUMERIC),
    OpCase("MirrorPadGrad", [real(5, 6), const([[1, 1], [0, 2]])], {"mode": "SYMMETRIC"}),
    OpCase("SpaceToBatch", [real(2, 4, 3, 2), const([[0, 0], [1, 0]])], {"block_size": 2}, ALL),
    OpCase("BatchToSpace", [real(8, 2, 2, 1), const([[0, 1], [1, 0]])], {"block_size": 2}, ALL),
    OpCase("SpaceToBatchND", [real(2, 4, 3, 2), const([2, 3]), const([[0, 0], [1, 2]])], {}, ALL),
    OpCase("SpaceToBatchND", [real(2, 4), const([2]), feed([[1, 1]], "int64")]),
    OpCase("BatchToSpaceND", [real(6, 2, 1, 2), const([2, 3]), const([[0, 1], [1, 0]])], {}, ALL),
    OpCase("SpaceToDepth", [real(1, 4, 6, 2)], {"block_size": 2}, ALL),
    OpCase("SpaceToDepth", [real(1, 2, 4, 6)], {"block_size": 2, "data_format": "NCHW"},
           reason=_NO_NCHW, ref=_to_depth),
    OpCase("DepthToSpace", [real(1, 2, 3, 8)], {"block_size": 2}, ALL),
    OpCase("DepthToSpace", [real(1, 8, 2, 3)], {"block_size": 2, "data_format": "NCHW"},
           reason=_NO_NCHW, ref=_to_space),
    OpCase("ExtractImagePatches", [real(1, 5, 6, 2)], {**_PATCHES, "padding": "VALID"}, REALS),
    OpCase("ExtractImagePatches", [real(2, 5, 6, 1)], {**_PATCHES, "padding": "SAME"}),
    OpCase("ExtractImagePatches", [real(1, 7, 7, 1)],
           {**_PATCHES, "rates": [1, 2, 2, 1], "padding": "SAME"}),
]  # fmt: skip
