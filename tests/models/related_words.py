"""Pairs of words that Python's reference uses alike, and how well vectors know them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from penstock.models.word2vec_embeddings import Embeddings

# Forms of one word, opposites, things of a kind.
RELATED = [
    tuple(pair.split())
    for pair in (
        "string strings", "list tuple", "class classes", "true false", "bytes str",
        "dictionary mapping", "two three", "int float", "integer float", "left right",
        "before after", "try except", "local global", "x y", "raise raises", "return returns",
        "must should", "function method", "and or", "argument parameter", "can may",
        "index slice", "break continue", "key value", "variable name", "first last",
        "object instance", "positional keyword", "exception error", "module package", "a an",
        "for while", "tuple dict", "characters digits", "expression statement", "keys values",
        "list lists", "next previous", "equal identical", "minimum maximum",
        "attribute attributes",
    )
]  # fmt: skip


def _cosines(found: Embeddings) -> npt.NDArray[np.float64]:
    """Of each pair's first word with each pair's second one; both are in the vocabulary."""
    pairs = [pair for pair in RELATED if all(word in found.numbers for word in pair)]
    assert len(pairs) > 30
    return np.array([[found.cosine(one, other) for _, other in pairs] for one, _ in pairs])


def related_before_random(found: Embeddings) -> float:
    """How often a word is nearer to its related word than to the related word of another pair.

    Both candidates come from the same list, so that being frequent, or in the list, gains nothing;
    it is 1/2 for vectors that know nothing.
    """
    cosines = _cosines(found)
    others = ~np.eye(len(cosines), dtype=bool)
    return float((np.diag(cosines)[:, None] > cosines)[others].mean())


def related_above_random(found: Embeddings) -> float:
    """By how much the mean cosine of related words is above that of words of two pairs."""
    cosines = _cosines(found)
    others = ~np.eye(len(cosines), dtype=bool)
    return float(np.diag(cosines).mean() - cosines[others].mean())
