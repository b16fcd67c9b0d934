"""Rows of Fourier transforms."""

import numpy as np

from tests.ops.opcase import COMPLEX, OpCase, const, feed, real

_SINGLE = ("complex64",)
_NO_GRAD = {"grad": False, "grad_reason": "TensorFlow 1.15 defines none for three dims"}
_OLD = {"reason": "no TensorFlow here has a kernel; compared with NumPy instead"}
_ALONG = {1: (-1,), 2: (-2, -1), 3: (-3, -2, -1)}


def _length(*sizes, how=const):
    return how(list(sizes), "int32")


CASES = [
    *(
        OpCase(f"{name}{suffix}", [real(*shape)], {}, COMPLEX, id=f"{name}{suffix}_{n}")
        for name in ("FFT", "IFFT")
        for suffix, shapes in (
            ("", [(5,), (2, 3, 8)]), ("2D", [(4, 3), (2, 5, 4)]), ("3D", [(2, 3, 4), (2, 4, 1, 3)])
        )
        for n, shape in enumerate(shapes)
    ),
    *(
        OpCase(f"RFFT{suffix}", [real(*shape), _length(*size)], {}, ("float32",), **more,
               id=f"RFFT{suffix}_{n}")
        for suffix, rows, more in (
            ("", [((8,), (8,)), ((2, 7), (7,))], {}),
            ("2D", [((4, 6), (4, 6)), ((2, 3, 5), (3, 5))], {}),
            ("3D", [((2, 3, 4), (2, 3, 4)), ((2, 3, 4, 5), (3, 4, 5))], _NO_GRAD),
        )
        for n, (shape, size) in enumerate(rows)
    ),
    *(
        OpCase(f"IRFFT{suffix}", [real(*shape), _length(*size)], {}, _SINGLE, **more,
               id=f"IRFFT{suffix}_{n}")
        for suffix, rows, more in (
            ("", [((5,), (8,)), ((2, 4), (7,))], {}),
            ("2D", [((4, 4), (4, 6)), ((2, 3, 3), (3, 5))], {}),
            ("3D", [((2, 3, 3), (2, 3, 4))], _NO_GRAD),
        )
        for n, (shape, size) in enumerate(rows)
    ),
    OpCase("RFFT", [real(2, 9), _length(6)], {}, ("float32",), grad=False,
           grad_reason="TensorFlow's gradient is of inputs that are not cut"),
    OpCase("RFFT", [real(2, 6), _length(6, how=feed)], {}, ("float32",)),
    OpCase("RFFT", [real(2, 4), _length(6)], {}, ("float32",), raises=True),
    OpCase("RFFT", [real(), _length(6)], {}, ("float32",), raises=True),
    OpCase("IRFFT2D", [real(2, 4), _length(6, 6)], {}, _SINGLE, raises=True),
    OpCase("FFT", [real(0, 4)], {}, _SINGLE, grad=False, grad_reason="there is nothing"),
    *(
        OpCase(f"Batch{name}{suffix}", [real(2, 3, 4)], {}, _SINGLE, ref=function, **_OLD)
        for name, suffix, function in (
            ("FFT", "", lambda x: np.fft.fft(x).astype(x.dtype)),
            ("IFFT", "", lambda x: np.fft.ifft(x).astype(x.dtype)),
            ("FFT", "2D", lambda x: np.fft.fft2(x).astype(x.dtype)),
            ("IFFT", "2D", lambda x: np.fft.ifft2(x).astype(x.dtype)),
        )
    ),
]  # fmt: skip
