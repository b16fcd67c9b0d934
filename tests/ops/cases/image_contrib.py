"""Rows for the image ops of contrib's own libraries: moved, sampled, taken apart, recoloured.

tests/contrib/programs_image.py holds them against TensorFlow 1.15, which alone has those libraries.
"""

from functools import partial

import numpy as np

from tests.ops.opcase import FLOAT_DOUBLE, OpCase, feed, real

_CONTRIB = "only contrib's libraries of TensorFlow 1.15 have it; tests/contrib compares with those"
_NUMBERS = ("uint8", "int32", "int64", "half", "float32", "float64")
_RNG = np.random.default_rng(4)
_IMAGES = _RNG.integers(0, 99, (2, 4, 5, 3))
# To the right by two, down by one: nothing is between pixels.
_MOVES = np.array([[1, 0, -2, 0, 1, -1, 0, 0]] * 2)


def _moved(images, transforms, *size):
    found = np.zeros_like(images)
    found[:, 1:, 2:] = images[:, :-1, :-2]
    return found


def _components(image):
    """Fills one component after the other."""
    found = np.zeros(image.shape, "int64")
    for start in zip(*np.nonzero(image), strict=True):
        _fill(image, found, start, 1 + np.ravel_multi_index(start, image.shape))
    return found


def _fill(image, found, start, number):
    todo = [] if found[start] else [start]
    while todo:
        which, row, column = at = todo.pop()
        inside = 0 <= row < image.shape[1] and 0 <= column < image.shape[2]
        if inside and not found[at] and image[at] == image[start]:
            found[at] = number
            todo += [(which, row + i, column + j) for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1))]


def _matched(distances, valid, top_k=-1):
    rows, columns = np.full(len(distances), -1), np.full(distances.shape[1], -1)
    count = len(distances) if valid[0] < 0 else int(valid[0])
    order = [(distances[i, j], i, j) for i in range(count) for j in range(distances.shape[1])]
    for _, i, j in sorted(order):
        if rows[i] < 0 and columns[j] < 0 and (top_k < 1 or (rows >= 0).sum() < top_k):
            rows[i], columns[j] = j, i
    return rows.astype("int32"), columns.astype("int32")


def _sampled(data, warp):
    """One point at a time."""
    found = np.zeros((*warp.shape[:-1], data.shape[3]), data.dtype)
    for at in np.ndindex(warp.shape[:-1]):
        x, y = warp[at].astype("float64")
        for row in range(data.shape[1]):
            for column in range(data.shape[2]):
                weight = max(0, 1 - abs(x - column)) * max(0, 1 - abs(y - row))
                found[at] += (weight * data[at[0], row, column]).astype(data.dtype)
    return found


def _recoloured(images, hue, saturation, value):
    """By complex numbers: hue turns I + Qi, saturation scales it."""
    to = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
    yiq = images.astype("float64") @ to.T
    plane = (yiq[..., 1] + 1j * yiq[..., 2]) * saturation * np.exp(1j * float(hue))
    turned = value * np.stack([yiq[..., 0], plane.real, plane.imag], -1)
    return (turned @ np.linalg.inv(to).T).astype(images.dtype)


def _own(op, inputs, attrs=None, dtypes=("float32",), **options):
    return OpCase(op, inputs, attrs or {}, dtypes, reason=_CONTRIB, **options)


_NO_GRAD = {"grad": False, "grad_reason": "its gradient samples again and is not the exact one"}
_SIZE = feed([4, 5], "int32")
CASES = [
    *(
        _own(op, [feed(_IMAGES), feed(_MOVES, "float32"), *size], {"interpolation": how}, _NUMBERS,
             ref=_moved, **_NO_GRAD)
        for op, size in (("ImageProjectiveTransform", []), ("ImageProjectiveTransformV2", [_SIZE]))
        for how in ("NEAREST", "BILINEAR")
    ),
    *(
        _own("ImageProjectiveTransformV2",
             [feed(_IMAGES), feed(moves, "float32"), feed(size, "int32")],
             {"interpolation": how}, raises=True)
        for moves, size, how in (
            (_MOVES, [0, 5], "NEAREST"),
            (np.ones((3, 8)), [4, 5], "NEAREST"), (np.ones((2, 7)), [4, 5], "NEAREST"),
        )
    ),
    _own("ImageConnectedComponents", [feed(_RNG.integers(0, 3, (3, 7, 6)))], {},
         ("int64", "int32", "int16", "uint8", "int8", "half", "float32", "float64"),
         ref=_components),
    _own("ImageConnectedComponents", [feed(_RNG.integers(0, 3, (7, 6)))], raises=True),
    *(
        _own("BipartiteMatch", [feed(_RNG.uniform(size=(4, 3))), feed([valid])], attrs,
             ref=partial(_matched, top_k=attrs.get("top_k", -1)))
        for valid, attrs in ((-1.0, {}), (3.0, {}), (4.0, {"top_k": 2}), (0.0, {}))
    ),
    _own("Resampler", [real(2, 4, 5, 3), feed(_RNG.uniform(-2, 6, (2, 3, 4, 2)))], {},
         FLOAT_DOUBLE, ref=_sampled),
    _own("ResamplerGrad", [feed(np.ones((1, 2, 2, 1))), feed([[[0.25, 0.5]]]), feed([[[2.0]]])],
         {}, FLOAT_DOUBLE,
         ref=lambda data, warp, grad: (
             np.array([[[[0.75], [0.25]], [[0.75], [0.25]]]], data.dtype), np.zeros_like(warp))),
    _own("Resampler", [real(2, 4, 5, 3), real(3, 4, 2)], raises=True),
    *(
        _own("AdjustHsvInYiq", [real(2, 3, 4, 3, lo=0, hi=1), *(feed(a, "float32") for a in by)],
             {}, ref=_recoloured)
        for by in ((0.0, 1.0, 1.0), (0.4, 0.5, 1.5), (-2.0, 0.0, 0.7))
    ),
    _own("AdjustHsvInYiq", [real(2, 3, 4), *(feed(1.0, "float32") for _ in range(3))],
         raises=True),
]  # fmt: skip
