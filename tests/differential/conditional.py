"""Differences that are right as they are in calls of a kind, which their text alone does not show.

A row is (functions; a pattern of the difference's text; which calls: a function of this file, of
the call and the text; why).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.conformance.jobs import unpack

Case = dict[str, Any]
Condition = Callable[[Case, str], bool]


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


def overflowing(case: Case, _: str) -> bool:
    """Numbers that are not finite, or of which a product or a sum may not be."""
    floating = [a for a in _arrays(case) if a.dtype.kind in "fc"]
    limits = [(a, float(np.finfo(a.dtype).max)) for a in floating]
    return any(not (np.abs(a) < top / 2**10).all() for a, top in limits)


def tiny(case: Case, _: str) -> bool:
    """Numbers of which a product may be too small for a number with all its digits."""
    floating = [np.abs(a) for a in _arrays(case) if a.dtype.kind in "fc"]
    limits = [(a, float(np.finfo(a.dtype).tiny)) for a in floating]
    return any(((a > 0) & (a < least * 2**10)).any() for a, least in limits)


def with_infinity(case: Case, _: str) -> bool:
    """An infinite number is among them."""
    arrays = [_array(leaf) for spec in case["args"] for leaf in _leaves(spec)]
    return any(np.isinf(a).any() for a in arrays if a.dtype.kind in "fc")


def with_nan(case: Case, _: str) -> bool:
    """A NaN is among the numbers."""
    return any(np.isnan(a).any() for a in _arrays(case) if a.dtype.kind in "fc")


def _given(case: Case, number: int) -> np.ndarray:
    """What one argument gives, as far as it is one array."""
    return _array(next(_leaves(case["args"][number])))


def _in_half(case: Case) -> bool:
    return any(leaf.get("dtype") == "float16" for arg in case["args"] for leaf in _leaves(arg))


def _tied(scores: np.ndarray) -> bool:
    """Two numbers of one row are equal, or a NaN is no less than any."""
    rows = scores.reshape(-1, scores.shape[-1]) if scores.size else np.zeros((0, 1))
    return bool(np.isnan(rows).any()) or any(len(set(row)) < len(row) for row in rows.tolist())


def _some_without_area(boxes: np.ndarray) -> bool:
    """A box that does not cover itself: no area, or none that is a number."""
    if boxes.shape[-1:] != (4,):
        return False
    boxes = boxes.astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        sides = np.abs(boxes[..., 2:] - boxes[..., :2])
        area = sides[..., 0] * sides[..., 1]
    return not bool((np.isfinite(area) & (area > 0)).all())


def picks_as_it_likes(case: Case, _: str) -> bool:
    """Equal scores, boxes that do not cover themselves, and half precision."""
    if _in_half(case) or _tied(_given(case, 1)):
        return True
    if case["op"] != "image.non_max_suppression_overlaps":
        return _some_without_area(_given(case, 0))
    own = np.diagonal(_given(case, 0))
    return not bool((own >= float(_given(case, 3))).all())


def ties_of_classes(case: Case, _: str) -> bool:
    """As ``picks_as_it_likes``, of the scores of each class and of all that come to one image."""
    scores = _given(case, 1)
    if scores.ndim != 3:
        return False
    whole = scores.reshape(len(scores), -1) if len(scores) else scores
    return _tied(whole) or _some_without_area(_given(case, 0))


def without_labels(case: Case, _: str) -> bool:
    """A sequence begins with the blank, or with what is no class, and so has no labels."""
    indices, values, _ = (_array(leaf) for leaf in _leaves(case["args"][0]))
    blank = _given(case, 1).shape[-1] - 1
    rows = {row: label for (row, _), label in zip(indices[::-1].tolist(), values[::-1].tolist(),
                                                  strict=True)}  # fmt: skip
    return any(label >= blank for label in rows.values())


def with_gaps(case: Case, _: str) -> bool:
    """Not every row up to the last is named."""
    named = {int(i) for leaf in _leaves(case["args"][0]) for i in _array(leaf).ravel()}
    return named != set(range(max(named, default=-1) + 1))


def within_32_bits(_: Case, text: str) -> bool:
    """The two numbers are as near to each other as roundings of float32 are."""
    found, expected = (float(n) for n in re.findall(r"np\.float64\(([^)]*)\)", text))
    return abs(found - expected) <= 1e-5 * max(abs(expected), 0.1)


def within_terms_of_1(_: Case, text: str) -> bool:
    """Two means of terms near 1, as near to each other as roundings of float32 of the terms are."""
    found, expected = (float(n) for n in re.findall(r"np\.float32\(([^)]*)\)", text))
    return abs(found - expected) <= 1e-5


def unsorted(case: Case, _: str) -> bool:
    """The greatest are asked for in no order."""
    return bool(case["kwargs"].get("sorted", {}).get("v") is False)


def without_strings(case: Case, _: str) -> bool:
    """Rows of no strings."""
    array = _given(case, 0)
    return array.dtype == object and not array.size


def in_bfloat16(case: Case, _: str) -> bool:
    """The numbers are of bfloat16, and there are none."""
    leaf = next(_leaves(case["args"][0]))
    return leaf.get("dtype") == "bfloat16" and not _array(leaf).size


def of_numpy(case: Case, _: str) -> bool:
    """No operand is a tensor."""
    return all(leaf["k"] in ("np", "py") for arg in case["args"] for leaf in _leaves(arg))


def root_of_minus_infinity(case: Case, _: str) -> bool:
    """The power of minus infinity that is a root of it, or its reciprocal."""
    base, exponent = _given(case, 0), _given(case, 1)
    return bool(np.isneginf(base).any()) and bool((np.abs(exponent) == 0.5).all())


def ill_conditioned(case: Case, text: str) -> bool:
    """No more is lost than the condition of a matrix, squared, makes of a rounding."""
    found, expected = (complex(n) for n in re.findall(r"np\.\w+\(([^)]*)\)", text))
    matrix = _given(case, 0)
    if not matrix.size or not np.isfinite(matrix).all():
        return False
    worst = float(np.max(np.linalg.cond(matrix.astype(np.complex128))))
    rounding = float(np.finfo(matrix.dtype).eps)
    return abs(found - expected) <= worst**2 * rounding * max(abs(expected), 0.1)


def of_large_norm(case: Case, text: str) -> bool:
    """No more is lost than a rounding of the matrix makes of its exponential."""
    found, expected = (complex(n) for n in re.findall(r"np\.\w+\(([^)]*)\)", text))
    matrix = _given(case, 0)
    norm = float(np.abs(matrix.astype(np.complex128)).sum(-1).max(initial=0.0))
    rounding = float(np.finfo(matrix.dtype).eps) if matrix.dtype.kind in "fc" else 0.0
    return norm >= 16 and abs(found - expected) <= norm * rounding * abs(expected)


def shuffled(case: Case, _: str) -> bool:
    """The files are not asked for in their order."""
    return case["args"][1].get("v") is not False


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
        "image.non_max_suppression*",
        r"^(value|shape): ",
        picks_as_it_likes,
        "TensorFlow 1.15 picks any of equal scores, and a box that does not cover itself again and"
        " again (later ones give the first, and once); in half precision it reads its thresholds"
        " from memory that is not theirs",
    ),
    (
        "image.combined_non_max_suppression",
        r"^value: ",
        ties_of_classes,
        "TensorFlow 1.15 picks any of equal scores, and a box that does not cover itself again and"
        " again; later ones give the first, and once",
    ),
    (
        "nn.ctc_loss",
        r"^value: ",
        without_labels,
        "TensorFlow writes beyond its table where a sequence has no labels but the blank",
    ),
    (
        "dynamic_stitch",
        r"^value: ",
        with_gaps,
        "TensorFlow leaves memory unwritten where no index names it",
    ),
    (
        "image.adjust_* image.per_image_standardization image.rgb_to_grayscale losses.*"
        " nn.ctc_beam_search_decoder nn.ctc_loss",
        r"^value: np\.float64\([^)]*\) at .*, expected np\.float64",
        within_32_bits,
        "TensorFlow computes with 32 bits inside",
    ),
    (
        "betainc cross histogram_fixed_width* image.adjust_saturation linalg.expm linalg.logm"
        " linalg.lstsq linalg.slogdet math.cumulative_logsumexp math.reduce_std nn.avg_pool*"
        " nn.ctc_loss nn.fused_batch_norm nn.relu_layer nn.weighted_moments nn.xw_plus_b polygamma",
        r"^value",
        overflowing,
        "sums and ranges that overflow, and what cancels among such numbers: another order of sums",
    ),
    (
        "math.top_k",
        r"^value",
        unsorted,
        "in which order the greatest stand that are not to be sorted",
    ),
    (
        "image.ssim",
        r"^value: np\.float32\([^)]*\) at .*, expected np\.float32",
        within_terms_of_1,
        "a mean of terms near 1 that cancel: another order of sums",
    ),
    (
        "metrics.*_at_k math.top_k nn.max_pool_with_argmax nn.top_k reduce_min reduce_max"
        " searchsorted",
        r"^value",
        with_nan,
        "which of NaN and a number is greater, Eigen's kernels decide by the order of the two",
    ),
    (
        "fingerprint",
        r"^value",
        without_strings,
        "TensorFlow leaves the fingerprints of rows without strings unwritten",
    ),
    (
        "reduce_mean",
        r"^value: np\.float32\(nan\).*expected np\.float32\(0\.0\)",
        in_bfloat16,
        "the mean of nothing is NaN, but in TensorFlow's bfloat16",
    ),
    (
        "operator:*",
        r"^(value|refuses: TypeError at build \(ufunc )",
        of_numpy,
        "Python's operator of two NumPy arrays: NumPy's, of another version",
    ),
    (
        "pow operator:pow",
        r"^value: np\.float\w+\(nan\)",
        root_of_minus_infinity,
        "such a power is a square root: in TensorFlow, too, with its optimizer on",
    ),
    (
        "linalg.lstsq linalg.pinv linalg.sqrtm",
        r"^value: np\.(float|complex)\w+\([^)]*\) at .*, expected np\.(float|complex)",
        ill_conditioned,
        "a matrix that is nearly singular: another order of sums",
    ),
    (
        "linalg.expm",
        r"^value: np\.(float|complex)\w+\([^)]*\) at .*, expected np\.(float|complex)",
        of_large_norm,
        "the exponential of a matrix of large numbers, each rounding of which it multiplies",
    ),
    (
        "nn.ctc_beam_search_decoder",
        r"^(value|shape)",
        overflowing,
        "probabilities of scores whose differences overflow",
    ),
    (
        "data.Dataset.list_files",
        r"^elements",
        shuffled,
        "the files come in any order",
    ),
    (
        "nn.weighted_moments",
        r"^value",
        tiny,
        "TensorFlow takes denormal numbers for 0",
    ),
    (
        "nn.weighted_cross_entropy_with_logits",
        r"^value: np\.float32\(inf\).*expected np\.float32\(nan\)",
        with_infinity,
        "an infinite weight of a denormal number, which TensorFlow takes for 0",
    ),
)


def why(case: Case, text: str) -> str:
    """Why a call may differ so; empty if no row says so."""
    for names, pattern, condition, reason in CONDITIONAL:
        if any(fnmatch.fnmatchcase(case["op"], n) for n in names.split()):
            if re.search(pattern, text, re.S) and condition(case, text):
                return reason
    return ""
