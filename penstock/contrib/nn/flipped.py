"""Cross entropies with their arguments in the order of TensorFlow before 1.0."""

from __future__ import annotations

from typing import Any

from penstock.library.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from penstock.library.nn.elementwise_losses import sigmoid_cross_entropy_with_logits
from penstock.library.nn.softmax_cross_entropy import softmax_cross_entropy_with_logits

__all__ = [
    "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
]


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> Any:
    """``tf.nn.softmax_cross_entropy_with_logits``, logits first."""
    return softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, name: str | None = None
) -> Any:
    """``tf.nn.sparse_softmax_cross_entropy_with_logits``, logits first."""
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: Any, targets: Any, name: str | None = None
) -> Any:
    """``tf.nn.sigmoid_cross_entropy_with_logits``, logits first."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
