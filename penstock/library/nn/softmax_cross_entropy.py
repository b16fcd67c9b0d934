"""Cross entropies of a softmax with a distribution over the classes as label."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn.cross_entropy import HALVES, check_named
from penstock.ops.array import nodes, ranges
from penstock.ops.nn import softmax


def _range(start: Any, limit: Any) -> Tensor:
    if isinstance(start, Tensor) or isinstance(limit, Tensor) and limit.dtype == dtypes.int64:
        return ranges.range_(start, limit)
    return make_tensor("Range", start, limit, 1, name="range")


def _move_to_end(tensor: Tensor, axis: Any, rank: Tensor) -> Tensor:
    order = nodes.concat(
        [
            _range(0, axis),
            _range(axis + 1, rank),
            [axis],
        ],
        0,
    )
    return nodes.transpose(tensor, order)


def _flatten_outer(logits: Tensor) -> Tensor:
    """``logits`` as a matrix: all dims but the last become one."""
    rank = nodes.rank(logits)
    last = make("Slice", nodes.shape(logits), [make("Sub", rank, 1)], [1])
    output = nodes.reshape(logits, nodes.concat([[-1], last], 0))
    dims = logits.sizes
    if dims is not None and None not in dims[:-1]:
        rows = 1
        for size in dims[:-1]:
            rows *= size or 0
        output.set_shape([rows, dims[-1]])
    return output


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Tensor:
    """Cross entropy between distributions ``labels`` and ``softmax(logits)``.

    Gradients flow to both ``labels`` and ``logits``.

    Args:
      labels: probabilities that sum to 1 along ``axis``; of the shape and type of ``logits``.
      logits: unnormalized log probabilities.
      axis: the dim of the classes, a number or a scalar tensor that is not negative; by default
        the last, which -1 says, too.
      dim: former name of ``axis``.

    Returns:
      The loss of each row: ``logits`` without the dim ``axis``.

    Raises:
      ValueError: another negative axis, or one beyond the last.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     loss = tf.nn.softmax_cross_entropy_with_logits_v2([[1.0, 0.0]], [[0.0, 0.0]])
      ...     print("%.4f" % sess.run(loss)[0])
      0.6931
    """
    axis = softmax.axis_argument(axis, dim)
    where = "softmax_cross_entropy_with_logits"
    with name_scope(name, where, [logits, labels]) as scope:
        logits = convert.convert_to_tensor(logits, name="logits")
        labels = convert.convert_to_tensor(labels, name="labels")
        kind = logits.dtype.base_dtype
        half = kind in HALVES
        precise = nodes.cast(logits, dtypes.float32) if half else logits
        labels = nodes.cast(labels, precise.dtype)
        rank = nodes.rank(precise)
        dims = logits.sizes
        fed = isinstance(axis, Tensor)
        if fed or not (axis == -1 or (dims is not None and axis == len(dims) - 1)):
            precise = _move_to_end(precise, axis, rank)
            labels = _move_to_end(labels, axis, rank)
        before = nodes.shape(precise)
        flat_logits = _flatten_outer(precise)
        flat_labels = _flatten_outer(labels)
        loss, _ = make("SoftmaxCrossEntropyWithLogits", flat_logits, flat_labels, name=scope)
        outer = make("Slice", before, [0], [make("Sub", rank, 1)])
        loss = nodes.reshape(loss, outer)
        if dims is not None and not fed:
            left = list(dims)
            del left[axis]
            loss.set_shape(left)
        return nodes.cast(loss, kind) if half else loss


def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """``softmax_cross_entropy_with_logits_v2`` without gradients to the labels.

    Args:
      _sentinel: must be None: labels and logits are given by name.
      labels: probabilities along ``axis``.
      logits: unnormalized log probabilities.
      dim: former name of ``axis``.
      axis: the dim of the classes; by default the last.

    Returns:
      The loss of each row.

    Example:
      >>> import penstock as tf
      >>> logits = tf.constant([[0.0, 0.0], [0.0, 100.0]])
      >>> labels = [[0.5, 0.5], [0.0, 1.0]]
      >>> loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
      >>> with tf.Session() as session:
      ...     print(abs(session.run(loss)).round(4))
      [0.6931 0.    ]
    """
    check_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    where = "softmax_cross_entropy_with_logits_sg"
    with name_scope(name, where, [logits, labels]) as scope:
        labels = make(
            "StopGradient", convert.convert_to_tensor(labels), name="labels_stop_gradient"
        )
    return softmax_cross_entropy_with_logits_v2(
        labels, logits, axis=dim if axis is None else axis, name=scope
    )
