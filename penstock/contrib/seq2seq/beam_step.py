"""One step of a beam search: scores of all continuations of all beams, and the best of them.

A beam's log probability is the sum of those of its ids.  Beams are compared by their scores: log
probabilities divided by a penalty of their length (Wu et al., 2016), with a penalty for parts of
the memory that nothing looked at.  A beam that is finished can only be continued by the end token,
at no cost.
"""

from __future__ import annotations

import collections
from typing import Any

from penstock.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from penstock.contrib.seq2seq.beam_shapes import Beams
from penstock.foundation.base import dimension, dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import (
    cast,
    fill,
    join,
    nodes,
    onehot,
    reshape,
    shape,
    sorting,
    tile,
)
from penstock.ops.math import (
    binary,
    comparison,
    division,
    elementwise,
    reduction,
    remainder,
    select,
)
from penstock.ops.nn import softmax


class BeamSearchDecoderState(
    collections.namedtuple(
        "BeamSearchDecoderState",
        ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"),
    )
):
    """State of a beam search: the cell's, and for each beam [batch, beam] its log probability,
    whether it is finished, its length, and (for a coverage penalty) what it looked at so far."""

    __slots__ = ()


class BeamSearchDecoderOutput(
    collections.namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
):
    """What a step found, [batch, beam] each: scores, ids, and which beam they continue."""

    __slots__ = ()


class Step:
    """The step of one search.

    Args:
      beams: batch size and beam width.
      end_token: int32 scalar.
      length_penalty_weight, coverage_penalty_weight: floats; 0 has no effect.
    """

    def __init__(
        self,
        beams: Beams,
        end_token: Any,
        length_penalty_weight: Any,
        coverage_penalty_weight: Any,
    ) -> None:
        self._beams, self._end_token = beams, end_token
        self._length_weight = length_penalty_weight
        self._coverage_weight = coverage_penalty_weight

    def __call__(
        self, time: Any, logits: Any, next_cell_state: Any, state: BeamSearchDecoderState
    ) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
        """Output and state after the step.

        Args:
          time: index of the step.
          logits: [batch, beam, vocabulary].
          next_cell_state: the cell's state after the step.
          state: the state before.
        """
        beams, width = self._beams, self._beams.width
        open_beams = elementwise.logical_not(state.finished)
        step_log_probs = self._masked(softmax.log_softmax(logits), state.finished)
        total: Any = reshape.expand_dims(state.log_probs, 2)
        total = total + step_log_probs
        words: Any = dimension.dimension_value(logits.get_shape()[-1])
        words = words or nodes.element(shape.shape(logits), -1)
        lengths = self._lengths(words, open_beams, state.lengths)
        covered = None
        looked = attention_probs(next_cell_state, self._coverage_weight)
        if looked is not None:
            counts = reshape.expand_dims(cast.cast(open_beams, dtypes.float32), 2)
            covered = state.accumulated_attention_probs + looked * counts
        scores = self._scores(total, lengths, state.finished, covered)
        best, where = self._best(scores)
        log_probs = beams.pick(where, total, width * words, [-1], name="next_beam_probs")
        ids = cast.cast(remainder.floormod(where, words, name="next_beam_word_ids"), dtypes.int32)
        parents = cast.cast(where / words, dtypes.int32, name="next_beam_parent_ids")
        were_finished = beams.pick(parents, state.finished, width, [-1])
        finished = comparison.logical_or(
            were_finished, comparison.equal(ids, self._end_token), name="next_beam_finished"
        )
        longer = cast.cast(elementwise.logical_not(were_finished), dtypes.int64)
        next_lengths = beams.pick(parents, state.lengths, width, [-1]) + longer
        next_covered: Any = ()
        if covered is not None:
            next_covered = beams.pick(
                parents,
                covered,
                width,
                [beams.batch_size * width, -1],
                name="next_accumulated_attention_probs",
            )
        next_cell_state = nest.map_structure(
            lambda part: beams.pick_part(parents, part), next_cell_state
        )
        output = BeamSearchDecoderOutput(scores=best, predicted_ids=ids, parent_ids=parents)
        return output, BeamSearchDecoderState(
            next_cell_state, log_probs, finished, next_lengths, next_covered
        )

    def _masked(self, probs: Any, finished: Any) -> Tensor:
        """Log probabilities where finished beams can only have the end token, for sure."""
        words = nodes.element(shape.shape(probs), 2)
        row = onehot.one_hot(
            self._end_token,
            words,
            dtype=probs.dtype,
            on_value=convert_to_tensor(0.0, dtype=probs.dtype),
            off_value=probs.dtype.min,
        )
        rows = tile.tile(
            reshape.reshape(row, [1, 1, -1]), join.concat([shape.shape(finished), [1]], 0)
        )
        mask = tile.tile(reshape.expand_dims(finished, 2), [1, 1, words])
        return select.where(mask, rows, probs)

    def _lengths(self, words: Any, open_beams: Any, lengths: Any) -> Tensor:
        """Lengths of all continuations: one more, but for the end token and finished beams."""
        added: Any = onehot.one_hot(
            indices=fill.fill([self._beams.batch_size, self._beams.width], self._end_token),
            depth=words,
            on_value=cast.to_int64(0),
            off_value=cast.to_int64(1),
            dtype=dtypes.int64,
        )
        added = added * reshape.expand_dims(cast.cast(open_beams, dtypes.int64), 2)
        made: Tensor = added + reshape.expand_dims(lengths, 2)
        return made

    def _scores(self, log_probs: Any, lengths: Any, finished: Any, covered: Any) -> Tensor:
        penalty = cast.cast(_length_penalty(lengths, self._length_weight), dtype=log_probs.dtype)
        scores: Any = log_probs / penalty
        weight = convert_to_tensor(self._coverage_weight, name="coverage_penalty_weight")
        if weight.get_shape().ndims != 0:
            raise ValueError(
                f"coverage_penalty_weight should be a scalar, but saw shape: {weight.get_shape()}"
            )
        if covered is not None:
            coverage: Any = _coverage_penalty(covered, finished)
            scores = scores + reshape.expand_dims(coverage * weight, 2)
        made: Tensor = scores
        return made

    def _best(self, scores: Any) -> tuple[Tensor, Tensor]:
        beams = self._beams
        flat = reshape.reshape(scores, [beams.batch_size, -1])
        count = convert_to_tensor(beams.width, dtype=dtypes.int32, name="beam_width")
        best, where = sorting.top_k(flat, k=count)
        for one in (best, where):
            one.set_shape([beams.static_batch, beams.width])
        return best, where


def _length_penalty(lengths: Any, weight: Any) -> Any:
    """``((5 + length) / 6) ^ weight``."""
    weight = convert_to_tensor(weight, name="penalty_factor")
    if weight.get_shape().ndims != 0:
        raise ValueError(
            f"length_penalty_weight should be a scalar, but saw shape: {weight.get_shape()}"
        )
    known = static.constant_value(weight)
    if known is not None and known == 0:
        return 1.0
    numbers = cast.cast(lengths, dtypes.float32)
    return division.div((5.0 + numbers) ** weight, (5.0 + 1.0) ** weight)


def _coverage_penalty(covered: Any, finished: Any) -> Tensor:
    """``sum(log(min(covered, 1)))`` of finished beams; what nothing looked at does not count."""
    covered = select.where(comparison.equal(covered, 0.0), elementwise.ones_like(covered), covered)
    penalty = reduction.reduce_sum(elementwise.log(binary.minimum(covered, 1.0)), 2)
    made: Tensor = penalty * cast.cast(finished, dtypes.float32)
    return made


def attention_probs(next_cell_state: Any, coverage_penalty_weight: Any) -> Any:
    """Alignments in a cell's state, or None where they do not matter.

    Raises:
      ValueError: they do, and there are none.
    """
    if coverage_penalty_weight == 0.0:
        return None
    states = [next_cell_state]
    if not isinstance(next_cell_state, AttentionWrapperState):
        states = list(next_cell_state) if isinstance(next_cell_state, tuple) else []
    found = [one.alignments for one in states if isinstance(one, AttentionWrapperState)]
    if not found:
        raise ValueError(
            "coverage_penalty_weight must be 0.0 if no cell is attentional: the cell's state has"
            " no AttentionWrapperState."
        )
    if len(found) == 1:
        return found[0]
    layers = [reshape.expand_dims(one, -1) for one in found]
    return reduction.reduce_mean(join.concat(layers, -1), -1)
