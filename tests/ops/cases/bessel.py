"""Rows of Bessel functions and of the next number."""

from __future__ import annotations

import numpy as np

from tests.ops.opcase import FLOAT_DOUBLE, FLOATS, OpCase, feed, real

_FAR = feed([-90.0, -8.5, -1e-3, 1e-3, 7.9, 8.1, 60.0])
_ODD = feed([0.0, np.inf, -np.inf, np.nan])
_STEEP = {"grad": False, "grad_reason": "of the row without a slope"}
_STEPS = {"grad": False, "grad_reason": "TensorFlow says 1 and 0; numbers have gaps"}

CASES = [
    *(
        OpCase(op, row, {}, FLOATS, **more)
        for op in ("BesselI0e", "BesselI1e")
        for row, more in (([real(3, 4, lo=0.5, hi=9)], {}), ([_FAR], _STEEP), ([_ODD], _STEEP))
    ),
    OpCase("NextAfter", [real(3, 4), real(4)], {}, FLOAT_DOUBLE, **_STEPS),
    OpCase("NextAfter", [feed([0.0, 0.0, 1.0, -1.0, np.inf, np.nan, 3.0]),
                         feed([1.0, -1.0, 1.0, 5.0, 0.0, 1.0, np.inf])], {}, FLOAT_DOUBLE,
           **_STEPS),
    OpCase("NextAfter", [real(3), real(4)], raises=True),
]  # fmt: skip
