"""Scores of sequences of tags, and the log of their sum over all sequences.

A sequence's score is the sum of the unary scores ``inputs[t, tag_t]`` and of the binary scores
``transition_params[tag_t, tag_t+1]``.  The sum over all sequences is found forward in time: alpha
of a tag is the log of the summed scores of what ends with it.

Source: Lafferty, McCallum and Pereira, "Conditional Random Fields", section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import (
    cast,
    concat,
    equal,
    expand_dims,
    gather,
    gather_nd,
    less_equal,
    maximum,
    reduce_sum,
    squeeze,
    where,
    zeros_like,
)
from penstock.library.recurrent.cell import RNNCell
from penstock.library.recurrent.dynamic import dynamic_rnn
from penstock.library.variables.getting import get_variable
from penstock.ops.array.constant import constant
from penstock.ops.array.fill import fill
from penstock.ops.array.onehot import sequence_mask
from penstock.ops.array.ranges import range_
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape
from penstock.ops.array.slicing import slice_
from penstock.ops.math.statistics import reduce_logsumexp


def by_length(inputs: Any, one: Callable[[], Any], several: Callable[[], Any]) -> Any:
    """``one()`` where ``inputs`` [batch, time, tags] has one step, else ``several()``."""
    steps = dimension_value(inputs.shape[1])
    if steps is not None:
        return one() if steps == 1 else several()
    return cond(equal(shape(inputs)[1], 1), one, several)


def _zero_where_empty(scores: Any, lengths: Any) -> Any:
    return where(less_equal(lengths, 0), zeros_like(scores), scores)


def less_one(lengths: Any) -> Any:
    """The number of transitions in sequences of these lengths."""
    return maximum(constant(0, dtype=lengths.dtype), lengths - 1)


def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The score of sequences of tags.

    Args:
      inputs: [batch, time, tags] floats: unary scores.
      tag_indices: [batch, time] ints.
      sequence_lengths: [batch] ints.
      transition_params: [tags, tags]: the score of each tag after each.

    Returns:
      [batch] floats.
    """

    def one() -> Any:
        batch = shape(inputs, out_type=tag_indices.dtype)[0]
        rows = reshape(range_(batch, dtype=tag_indices.dtype), [-1, 1])
        places = concat([rows, tag_indices], axis=1)
        return _zero_where_empty(gather_nd(squeeze(inputs, [1]), places), sequence_lengths)

    def several() -> Any:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return by_length(inputs, one, several)


def crf_multitag_sequence_score(
    inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The log of the summed scores of all sequences whose tags are allowed.

    Args:
      inputs: [batch, time, tags] floats: unary scores.
      tag_bitmap: [batch, time, tags] bools: which tags are allowed.
      sequence_lengths: [batch] ints.
      transition_params: [tags, tags].

    Returns:
      [batch] floats.
    """

    def allowed() -> Any:
        return where(tag_bitmap, inputs, fill(shape(inputs), float("-inf")))

    def one() -> Any:
        return reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False)

    def several() -> Any:
        return crf_log_norm(allowed(), sequence_lengths, transition_params)

    return by_length(inputs, one, several)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The log of the summed scores of all sequences; arguments as ``crf_sequence_score``."""
    first = squeeze(slice_(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def one() -> Any:
        return _zero_where_empty(reduce_logsumexp(first, [1]), sequence_lengths)

    def several() -> Any:
        _, alphas = dynamic_rnn(
            cell=CrfForwardRnnCell(transition_params),
            inputs=slice_(inputs, [0, 1, 0], [-1, -1, -1]),
            sequence_length=less_one(sequence_lengths),
            initial_state=first,
            dtype=dtypes.float32,
        )
        return _zero_where_empty(reduce_logsumexp(alphas, [1]), sequence_lengths)

    return by_length(inputs, one, several)


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Any, Any]:
    """The log likelihood of sequences of tags; arguments as ``crf_sequence_score``.

    Args:
      transition_params: default a new variable ``transitions``.

    Returns:
      [batch] floats, and ``transition_params``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     scores, tags = tf.zeros([1, 3, 2]), tf.constant([[0, 1, 1]])
      ...     one, _ = tf.contrib.crf.crf_log_likelihood(scores, tags, [3], tf.zeros([2, 2]))
      ...     sess.run(tf.exp(one)).round(3)
      array([0.125], dtype=float32)
    """
    sequence_lengths = convert_to_tensor(sequence_lengths)
    if transition_params is None:
        tags = dimension_value(inputs.shape[2])
        transition_params = get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return score - norm, transition_params


def _mask(lengths: Any, tag_indices: Any) -> Any:
    return sequence_mask(lengths, maxlen=shape(tag_indices)[1], dtype=dtypes.float32)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """The sums of the unary scores of tags; arguments as ``crf_sequence_score``."""
    dims = shape(inputs)
    batch, steps, tags = dims[0], dims[1], dims[2]
    rows = expand_dims(range_(batch) * steps * tags, 1)
    offsets = rows + expand_dims(range_(steps) * tags, 0)
    if tag_indices.dtype == dtypes.int64:
        offsets = cast(offsets, dtypes.int64)
    places = reshape(offsets + tag_indices, [-1])
    scores = gather(reshape(inputs, [-1]), places)
    scores = reshape(scores, [batch, steps])
    return reduce_sum(scores * _mask(sequence_lengths, tag_indices), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The sums of the scores of transitions; arguments as ``crf_sequence_score``."""
    tags = transition_params.get_shape()[0]
    count = shape(tag_indices)[1] - 1
    before = slice_(tag_indices, [0, 0], [-1, count])
    after = slice_(tag_indices, [0, 1], [-1, count])
    scores = gather(reshape(transition_params, [-1]), before * tags + after)
    mask = slice_(_mask(sequence_lengths, tag_indices), [0, 1], [-1, -1])
    return reduce_sum(scores * mask, 1)


class TransitionCell(RNNCell):
    """A cell that knows the scores of transitions.

    Args:
      transition_params: [tags, tags].
    """

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transition_params = expand_dims(transition_params, 0)
        self._num_tags = dimension_value(transition_params.shape[0])

    @property
    def state_size(self) -> Any:
        """The number of tags."""
        return self._num_tags

    @property
    def output_size(self) -> Any:
        """The number of tags."""
        return self._num_tags

    def scores(self, state: Any) -> Any:
        """[batch, before, after]: the score of each tag after each."""
        return expand_dims(state, 2) + self._transition_params


class CrfForwardRnnCell(TransitionCell):
    """One step of ``crf_log_norm``: from the alphas of one time to those of the next.

    Args:
      transition_params: [tags, tags].
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """The new alphas [batch, tags], twice, given unary scores and alphas."""
        alphas = inputs + reduce_logsumexp(self.scores(state), [1])
        return alphas, alphas
