"""Differences that are right as they are in calls of a kind, which their text alone does not show.

A row is (functions; a pattern of the difference's text; which calls, a function of this file; why).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.conformance.jobs import unpack

Case = dict[str, Any]
Condition = Callable[[Case], bool]


def _leaves(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for part in spec.get("parts", ()):
        yield from _leaves(part)
    if "parts" not in spec:
        yield spec


def _array(leaf: dict[str, Any]) -> np.ndarray:
    """What is given as a tensor, an array or a Python value; of no numbers if that is none."""
    value = leaf["v"]
    if isinstance(value, dict) and "dtype" in leaf:
        return unpack(value)
    try:
        array = np.asarray(value)
    except ValueError:  # a list of lists that differ in length
        return np.asarray(None)
    with np.errstate(over="ignore"):
        return array.astype(np.float32) if array.dtype.kind == "f" else array


def _arrays(case: Case) -> list[np.ndarray]:
    specs = [*case["args"], *case["kwargs"].values()]
    return [_array(leaf) for spec in specs for leaf in _leaves(spec)]


# ---- which calls ---------------------------------------------------------------------------------


def overflowing(case: Case) -> bool:
    """Numbers that are not finite, or of which a product or a sum may not be."""
    floating = [a for a in _arrays(case) if a.dtype.kind in "fc"]
    limits = [(a, float(np.finfo(a.dtype).max)) for a in floating]
    return any(not (np.abs(a) < top / 2**10).all() for a, top in limits)


def with_nan(case: Case) -> bool:
    """A NaN is among the numbers."""
    return any(np.isnan(a).any() for a in _arrays(case) if a.dtype.kind in "fc")


CONDITIONAL: tuple[tuple[str, str, Condition, str], ...] = (
    (
        "losses.* metrics.*",
        r"^value: .*(nan|inf)",
        overflowing,
        "NaN, infinities and overflow: another order of sums",
    ),
    (
        "quantization.* fake_quant_*",
        r"^value",
        overflowing,
        "a range that ends at infinity or is that of NaN",
    ),
    (
        "metrics.*_at_k",
        r"^value",
        with_nan,
        "which of NaN and a number is greater, Eigen's kernels decide by the order of the two",
    ),
)


def why(case: Case, text: str) -> str:
    """Why a call may differ so; empty if no row says so."""
    for names, pattern, condition, reason in CONDITIONAL:
        if any(fnmatch.fnmatchcase(case["op"], n) for n in names.split()):
            if re.search(pattern, text, re.S) and condition(case):
                return reason
    return ""
