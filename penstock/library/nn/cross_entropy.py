"""Public cross entropies and likelihood losses.

The nodes are those of TensorFlow 1.15, down to the reshapes of logits that have more than two dims.
Half-precision logits are computed in single precision.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.inference import show
from penstock.ops.array import nodes
from penstock.ops.control import check

HALVES = (dtypes.float16, dtypes.bfloat16)


def check_named(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(
            f"Only call `{function}` with named arguments (labels=..., logits=..., ...): their"
            " order has changed between versions"
        )
    if labels is None or logits is None:
        raise ValueError(f"Both labels and logits must be provided. ({function})")


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Cross entropy of ``softmax(logits)`` where each row has one true class.

    Args:
      _sentinel: must be None: labels and logits are given by name.
      labels: int32 or int64 class numbers, of the shape of ``logits`` without its last dim.
      logits: unnormalized log probabilities; the last dim are the classes.

    Returns:
      The loss of each row, of the shape of ``labels``.

    Raises:
      ValueError: shapes that do not fit; scalar logits.

    Example:
      >>> import penstock as tf
      >>> logits = tf.constant([[0.0, 0.0], [0.0, 100.0]])
      >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits)
      >>> with tf.Session() as session:
      ...     print(abs(session.run(loss)).round(4))
      [0.6931 0.    ]
    """
    check_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    where = "SparseSoftmaxCrossEntropyWithLogits"
    with name_scope(name, where, [labels, logits]):
        labels = convert.convert_to_tensor(labels)
        logits = convert.convert_to_tensor(logits)
        kind = logits.dtype.base_dtype
        half = kind is dtypes.float16
        precise = nodes.cast(logits, dtypes.float32) if half else logits
        labels_shape = nodes.shape(labels)
        _check_sparse_ranks(labels.sizes, logits.sizes)
        if logits.sizes is not None and len(logits.sizes) == 2:
            loss, _ = make(where, precise, labels, name=name)
            return nodes.cast(loss, kind) if half else loss
        with control_dependencies(_shape_checks(labels, logits)):
            sizes: Any = nodes.shape(logits)
            classes = sizes[nodes.sub(nodes.rank(logits), 1)]
            precise = nodes.reshape(precise, [-1, classes])
            labels = nodes.reshape(labels, [-1])
            loss, _ = make(where, precise, labels, name=name)
            loss = nodes.reshape(loss, labels_shape)
            return nodes.cast(loss, kind) if half else loss


def _check_sparse_ranks(labels: Any, logits: Any) -> None:
    if logits is not None and not logits:
        raise ValueError("Logits cannot be scalars - received shape (): they have a dim of classes")
    if labels is not None and logits is not None and len(labels) != len(logits) - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {len(labels)}) should equal rank of logits"
            f" minus 1 (received {len(logits)}); labels are {show(labels)}, logits {show(logits)}"
        )
    shapes.merge_static(labels, None if logits is None else logits[:-1])


def _shape_checks(labels: Tensor, logits: Tensor) -> list[Any]:
    """An assertion that the shapes go together, unless that is known."""
    if nodes.is_known(labels) and logits.sizes is not None and None not in logits.sizes[:-1]:
        return []
    found = nodes.shape(labels)
    sizes: Any = nodes.shape(logits)
    return [check.assert_equal(found, sizes[:-1])]
