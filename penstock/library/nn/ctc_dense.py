"""Connectionist temporal classification of dense labels: ``tf.nn.ctc_loss_v2`` and its parts.

The loss of dense labels is written in logarithms over states that alternate: a start, which no
frame can stay in, then blank, label, blank, label, ..., blank.  A frame stays in its state, goes to
the next one, or skips a blank between labels that differ.  One fold over the frames sums over all
alignments; gradients flow through it.  As in TensorFlow an alignment may end in any state, at
1e-307 of the probability: labels that no alignment fits have a large loss, not an infinite one.

Frames after the last one of a sequence get no gradient; TensorFlow 1.15 gives them the softmax of
the logits, though the loss does not depend on them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn.ctc import ctc_loss
from penstock.ops.array import (
    fill,
    gather,
    join,
    onehot,
    pad,
    ranges,
    reshape,
    scatter,
    shape,
    slicing,
    tile,
    transpose,
    unique,
)
from penstock.ops.array.cast import cast
from penstock.ops.control import control_flow
from penstock.ops.math import comparison, elementwise, reduction, reductions, select, statistics
from penstock.ops.nn import softmax

# Logarithms of the probability of what is all but impossible, and of what is impossible (finite,
# so that differences of it are numbers).
_UNLIKELY = float(np.log(1e-307))
_NEVER = -1e30


def _size(tensor: Tensor, axis: int) -> Any:
    """A size: a number where it is known, else a tensor."""
    known = None if tensor.sizes is None else tensor.sizes[axis]
    return known or shape.shape(tensor)[axis]


def ctc_loss_v2(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Negative log-probability of label sequences, summed over all their alignments with frames.

    Args:
      labels: int ``[batch, most labels]``, without the blank; or a SparseTensor of that shape.
      logits: float ``[time, batch, classes]``.
      label_length: int ``[batch]``, labels of each sequence; unused with a SparseTensor.
      logit_length: int ``[batch]``, frames of each sequence.
      logits_time_major: whether the time comes first, else the batch.
      unique: what ``ctc_unique_labels`` gives; accepted, and nothing depends on it here.
      blank_index: the class of the blank; negative: from the end.  Default 0; a SparseTensor needs
        it.

    Returns:
      A tensor ``[batch]``.

    Raises:
      ValueError: a SparseTensor without ``blank_index``.
    """
    if not isinstance(labels, SparseTensor):
        with name_scope(name, "ctc_loss_dense", [logits, labels, label_length, logit_length]):
            return _dense_loss(
                labels, logits, label_length, logit_length, logits_time_major, blank_index or 0
            )
    if blank_index is None:
        raise ValueError("blank_index must be given when using SparseTensor labels.")
    logits = convert_to_tensor(logits)
    classes = _size(logits, 2)
    if blank_index < 0:
        blank_index += classes
    if blank_index != classes - 1:
        logits = _with_class_at(logits, blank_index, last=True)
        below = comparison.less(labels.values, blank_index)
        values = select.where(below, labels.values, labels.values - 1)
        labels = SparseTensor(labels.indices, values, labels.dense_shape)
    return ctc_loss(labels, logits, logit_length, time_major=logits_time_major)


def _with_class_at(logits: Any, index: Any, last: bool) -> Tensor:
    """Logits with the class ``index`` moved to the end, or to the front."""
    one, others = logits[:, :, index : index + 1], [logits[:, :, :index], logits[:, :, index + 1 :]]
    return join.concat([*others, one] if last else [one, *others], axis=2)


def _dense_loss(
    labels: Any, logits: Any, label_length: Any, logit_length: Any, time_major: bool, blank: int
) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    labels = convert_to_tensor(labels, name="labels")
    label_length = convert_to_tensor(label_length, name="label_length")
    logit_length = convert_to_tensor(logit_length, name="logit_length")
    if logits.sizes is not None and logits.sizes[2] == 0:
        raise ValueError(
            f"Dimension size must be non-negative: logits of shape {logits.shape} have no classes,"
            " not even a blank"
        )
    if not time_major:
        logits = transpose.transpose(logits, [1, 0, 2])
    if blank != 0:
        index = blank if blank > 0 else blank + _size(logits, 2)
        logits = _with_class_at(logits, index, last=False)
        labels = select.where(comparison.less(labels, index), labels + 1, labels)
    seen = _seen(labels, softmax.log_softmax(logits))
    skips = _skips(labels)
    frames = _size(logits, 0)
    if logit_length.sizes == (1,) and logits.sizes is not None and logits.sizes[1] != 1:
        logit_length = tile.tile(logit_length, [_size(logits, 1)])  # one length for all
    runs = transpose.transpose(onehot.sequence_mask(logit_length, frames), [1, 0])

    def step(before: Any, frame: Any) -> Any:
        log_probs, running = frame
        after = log_probs + _reached(before, skips)
        return select.where(running, after, before)

    begin, end = _ends(label_length, _size(labels, 1))
    reached = control_flow.loop("foldl")(step, (seen, runs), initializer=begin)
    loss: Tensor = elementwise.negative(statistics.reduce_logsumexp(reached + end, axis=1))
    sizes = [t.sizes[at] for t, at in ((logits, 1), (labels, 0)) if t.sizes is not None]
    loss.set_shape([next((size for size in sizes if size is not None), None)])
    return loss


def _seen(labels: Any, log_probs: Tensor) -> Tensor:
    """Log-probability of what each frame shows in each state, ``[time, batch, states]``."""
    batch, count = _size(labels, 0), _size(labels, 1)
    labels = cast(labels, dtypes.int32)
    pairs = join.stack([elementwise.zeros_like(labels), labels], axis=2)
    classes = reshape.reshape(pairs, [batch, 2 * count])  # blank, label, blank, label, ...
    classes = join.concat([classes, fill.zeros([batch, 1], dtypes.int32)], axis=1)
    # Rows are those of the logits: they cannot be stacked with classes for another batch.
    rows = tile.tile(reshape.expand_dims(ranges.range_(_size(log_probs, 1)), 1), [1, 2 * count + 1])
    by_class = transpose.transpose(log_probs, [1, 2, 0])
    found = gather.gather_nd(by_class, join.stack([rows, classes], axis=2))
    found = transpose.transpose(found, [2, 0, 1])
    return pad.pad(found, [[0, 0], [0, 0], [1, 0]], constant_values=_NEVER)


def _skips(labels: Any) -> Tensor:
    """0 for states that can be reached from two before, ``_NEVER`` for others: [batch, states]."""
    batch, count = _size(labels, 0), _size(labels, 1)
    differ = comparison.not_equal(labels[:, 1:], labels[:, :-1])
    free = join.concat([elementwise.ones_like(labels[:, :1], dtypes.bool), differ], axis=1)
    of_labels = (1.0 - cast(free, dtypes.float32)) * _NEVER
    pairs = join.stack([fill.fill([batch, count], _NEVER), of_labels], axis=2)
    states = reshape.reshape(pairs, [batch, 2 * count])
    # The start and the last blank cannot be skipped to either.
    return pad.pad(states, [[0, 0], [1, 1]], constant_values=_NEVER)


def _reached(before: Tensor, skips: Tensor) -> Tensor:
    """Log-probability of being in each state after a step, before the frame is looked at."""
    ways = [
        before,
        pad.pad(before[:, :-1], [[0, 0], [1, 0]], constant_values=_NEVER),
        pad.pad(before[:, :-2], [[0, 0], [2, 0]], constant_values=_NEVER) + skips,
    ]
    return statistics.reduce_logsumexp(join.stack(ways), axis=0)


def _ends(label_length: Any, count: Any) -> tuple[Tensor, Tensor]:
    """Log-probability of each state before the first frame, and after the last one."""
    states = 2 * count + 2
    batch = _size(label_length, 0)
    zeros = fill.zeros([batch], dtypes.int32)
    begin = onehot.one_hot(zeros, states, on_value=0.0, off_value=_NEVER)
    # The last label, or the blank after it; before any label that is the start or the first blank.
    last = cast(label_length, dtypes.int32) * 2
    ends = onehot.one_hot(last, states) + onehot.one_hot(last + 1, states)
    return begin, (1.0 - ends) * _UNLIKELY


def collapse_repeated(
    labels: Any, seq_length: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Sequences with runs of a label made one label.

    Args:
      labels: ``[batch, most labels]``.
      seq_length: int ``[batch]``, labels of each sequence.

    Returns:
      The sequences ``[batch, most labels left]``, with zeros after them, and their lengths.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     made = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]], [5, 2])
      ...     labels, lengths = sess.run(made)
      ...     labels.tolist(), lengths.tolist()
      ([[1, 2, 1], [3, 0, 0]], [3, 1])
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = elementwise.ones_like(labels[:, :1], dtypes.bool)
        differ = comparison.not_equal(labels[:, 1:], labels[:, :-1])
        kept = join.concat([first, differ], axis=1)
        kept = comparison.logical_and(
            kept, onehot.sequence_mask(seq_length, maxlen=_size(labels, 1))
        )
        lengths = reduction.reduce_sum(cast(kept, dtypes.int32), axis=1)
        longest = reductions.reduce_max(lengths)
        places = onehot.sequence_mask(lengths, maxlen=longest)
        flat, flat_kept = reshape.reshape(labels, [-1]), reshape.reshape(kept, [-1])
        flat_places = reshape.reshape(places, [-1])
        numbers = ranges.range_(_size(flat_places, 0))
        made = scatter.scatter_nd(
            reshape.expand_dims(slicing.boolean_mask(numbers, flat_places), axis=1),
            slicing.boolean_mask(flat, flat_kept),
            shape.shape(flat_places),
        )
        rows = reshape.reshape(made, [_size(labels, 0), longest])
        return rows, cast(lengths, seq_length.dtype)


def ctc_unique_labels(labels: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The different labels of each sequence.

    Args:
      labels: ``[batch, most labels]``.

    Returns:
      Two tensors of that shape: int64 labels in the order in which they occur, with zeros after
      them; and int32, where in those each label stands.
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def of_row(row: Tensor) -> list[Tensor]:
            values, places = unique.unique(row)
            more = _size(places, 0) - _size(values, 0)
            return [cast(pad.pad(values, [[0, more]]), dtypes.int64), places]

        made: tuple[Tensor, Tensor] = control_flow.loop("map_fn")(
            of_row, labels, dtype=[dtypes.int64, dtypes.int32]
        )
        return made
