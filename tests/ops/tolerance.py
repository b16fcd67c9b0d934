"""When two computed arrays are the same: one table for every test of ops.

Integers, booleans and strings are equal or not.  Floating values may differ by rtol of the expected
value plus atol of the array's largest magnitude (at least ``FLOOR``): an element near zero is the
rest of a cancellation between larger ones.  The table is a few units in the last place of each
dtype: implementations sum in different orders and use different polynomials.
"""

from __future__ import annotations

import numpy as np

# dtype: (rtol, atol).  Units in the last place: 2^-52, 2^-23, 2^-10, 2^-7.
TOLERANCE = {
    "float64": (1e-10, 1e-12),
    "float32": (1e-5, 2e-6),
    "half": (4e-3, 2e-3),
    "bfloat16": (3.2e-2, 1.6e-2),
    "complex64": (1e-5, 2e-6),
    "complex128": (1e-10, 1e-12),
}
FLOOR = 0.1
# A gradient is a chain of ops, each rounded; two systems build different chains.
GRADIENT_FACTOR = 4.0


def difference(
    expected: np.ndarray,
    found: np.ndarray,
    dtype: str,
    *,
    factor: float = 1.0,
    rtol: float | None = None,
    atol: float | None = None,
) -> str | None:
    """Returns None if ``found`` equals ``expected`` within tolerance, else says how it differs.

    Args:
      expected, found: Arrays of the same dtype (``dtype``; float32 stands for bfloat16).
      dtype: Row of the table.
      factor: Widens the table's tolerance (not the arguments below).
      rtol, atol: Replace the table's.
    """
    if expected.shape != found.shape:
        return f"shape {list(found.shape)}, expected {list(expected.shape)}"
    if dtype not in TOLERANCE:
        numbers = expected.dtype.kind == found.dtype.kind == "f"
        if np.array_equal(expected, found, equal_nan=numbers):
            return None
        where = np.argwhere(np.asarray(expected != found))
        at = tuple(int(i) for i in where[0]) if len(where) else ()
        return f"{found[at]!r} at {list(at)}, expected {expected[at]!r}"
    relative, absolute = (t * factor for t in TOLERANCE[dtype])
    relative = relative if rtol is None else rtol
    absolute = absolute if atol is None else atol
    wide = np.complex128 if np.iscomplexobj(expected) else np.float64
    want, have = expected.astype(wide), found.astype(wide)
    finite = np.isfinite(want)
    scale = max(float(np.max(np.abs(want[finite]), initial=0.0)), FLOOR)
    with np.errstate(invalid="ignore", over="ignore"):
        bound = relative * np.abs(want) + absolute * scale
        close = np.abs(want - have) <= bound
    same = (want == have) | (np.isnan(want) & np.isnan(have))
    bad = np.argwhere(np.asarray(~np.where(finite, close, same)))
    if not len(bad):
        return None
    at = tuple(int(i) for i in bad[0])
    return f"{found[at]!r} at {list(at)}, expected {expected[at]!r} ({len(bad)} of {want.size})"
