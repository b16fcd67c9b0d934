"""The best sequence of tags, by Viterbi's algorithm: as a graph, and in NumPy.

Forward in time, each tag's best score so far and the tag before it; then back along those.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.contrib.crf.scores import TransitionCell, by_length, less_one
from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.ragged_tensors.dispatched import (
    cast,
    concat,
    expand_dims,
    gather_nd,
    reduce_max,
    squeeze,
    stack,
)
from penstock.library.recurrent.cell import RNNCell
from penstock.library.recurrent.dynamic import dynamic_rnn
from penstock.ops.array.ranges import range_
from penstock.ops.array.shape import shape
from penstock.ops.array.slicing import slice_
from penstock.ops.array.transpose import reverse_sequence
from penstock.ops.math.argmax import argmax


def viterbi_decode(score: np.ndarray, transition_params: np.ndarray) -> tuple[list[Any], Any]:
    """The best sequence of tags of one example, outside of the graph.

    Args:
      score: [time, tags] array: unary scores.
      transition_params: [tags, tags] array.

    Returns:
      A list of tags, and their score.
    """
    best = np.array(score[0], copy=True)
    came_from = []
    for unary in score[1:]:
        scores = best[:, None] + transition_params
        came_from.append(scores.argmax(0))
        best = (unary + scores.max(0)).astype(score.dtype)
    tags = [best.argmax()]
    for previous in reversed(came_from):
        tags.append(previous[tags[-1]])
    return tags[::-1], best.max()


class CrfDecodeForwardRnnCell(TransitionCell):
    """One step forward: each tag's best score, and the tag before it.

    Args:
      transition_params: [tags, tags].
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Tags before [batch, tags] and scores [batch, tags], given unary scores and scores."""
        scores = self.scores(state)
        best = inputs + reduce_max(scores, [1])
        return cast(argmax(scores, 1), dtype=dtypes.int32), best


class CrfDecodeBackwardRnnCell(RNNCell):
    """One step back: the tag before the one that is the state.

    Args:
      num_tags: the number of tags.
    """

    def __init__(self, num_tags: int | None) -> None:
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> Any:
        """1: a tag."""
        return 1

    @property
    def output_size(self) -> Any:
        """1: a tag."""
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """The tags before [batch, 1], twice, given all tags' [batch, tags] and tags [batch, 1]."""
        current = squeeze(state, axis=[1])
        places = stack([range_(shape(inputs)[0]), current], axis=1)
        before = expand_dims(gather_nd(inputs, places), axis=-1)
        return before, before


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Any, Any]:
    """The best sequences of tags.

    Args:
      potentials: [batch, time, tags] floats: unary scores.
      transition_params: [tags, tags].
      sequence_length: [batch] ints.

    Returns:
      [batch, time] int32 tags, and [batch] scores.
    """
    sequence_length = convert_to_tensor(sequence_length)

    def one() -> tuple[Any, Any]:
        scores = squeeze(potentials, [1])
        tags = expand_dims(argmax(scores, axis=1), 1)
        return cast(tags, dtype=dtypes.int32), reduce_max(scores, axis=1)

    def several() -> tuple[Any, Any]:
        steps = less_one(sequence_length)
        came_from, last = dynamic_rnn(
            CrfDecodeForwardRnnCell(transition_params),
            inputs=slice_(potentials, [0, 1, 0], [-1, -1, -1]),
            sequence_length=steps,
            initial_state=squeeze(slice_(potentials, [0, 0, 0], [-1, 1, -1]), axis=[1]),
            dtype=dtypes.int32,
        )
        backwards = reverse_sequence(came_from, steps, seq_dim=1)
        end = expand_dims(cast(argmax(last, axis=1), dtype=dtypes.int32), axis=-1)
        before, _ = dynamic_rnn(
            CrfDecodeBackwardRnnCell(dimension_value(potentials.shape[2])),
            inputs=backwards,
            sequence_length=steps,
            initial_state=end,
            dtype=dtypes.int32,
        )
        tags = concat([end, squeeze(before, axis=[2])], axis=1)
        return reverse_sequence(tags, sequence_length, seq_dim=1), reduce_max(last, axis=1)

    tags, score = by_length(potentials, one, several)
    return tags, score
