"""``BeamSearchDecoder``: the best few hypotheses of each example, continued together."""

from __future__ import annotations

import collections
import warnings
from typing import Any

import numpy as np

from penstock.contrib.seq2seq.basic_decoder import output_size_of
from penstock.contrib.seq2seq.beam_shapes import Beams
from penstock.contrib.seq2seq.beam_step import (
    BeamSearchDecoderOutput as BeamSearchDecoderOutput,
    BeamSearchDecoderState as BeamSearchDecoderState,
    Step,
    attention_probs,
)
from penstock.contrib.seq2seq.decoder import Decoder
from penstock.contrib.seq2seq.dense import is_layer
from penstock.contrib.seq2seq.gather_tree import gather_tree, gather_tree_from_array
from penstock.contrib.seq2seq.inference import lookup_of
from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.recurrent.cell import assert_like_rnncell
from penstock.ops.array import cast, fill, nodes, onehot, ranks, reshape, shape, tile
from penstock.ops.control import debug
from penstock.ops.math import comparison, reductions


class FinalBeamSearchDecoderOutput(
    collections.namedtuple(
        "FinalBeamSearchDecoderOutput", ("predicted_ids", "beam_search_decoder_output")
    )
):
    """What a beam search found: the ids of whole beams, best first, and what each step gave."""

    __slots__ = ()


class BeamSearchDecoder(Decoder):
    """Decodes the ``beam_width`` best sequences of each example.

    Args:
      cell: an RNN cell.
      embedding: function from ids to inputs, or the ``params`` of an embedding lookup.
      start_tokens: int32 vector [batch].
      end_token: int32 scalar.
      initial_state: state of the cell for [batch * beam_width] examples, as ``tile_batch`` makes
        it; memories and their lengths must be tiled too.
      beam_width: how many sequences.
      output_layer: layer applied to the cell's outputs, or None.
      length_penalty_weight: exponent of the penalty of length; 0 has no effect.
      coverage_penalty_weight: weight of the penalty of coverage; needs an ``AttentionWrapper``.
      reorder_tensor_arrays: whether arrays in the final state (histories of alignments) are
        ordered as the final beams are.

    Raises:
      TypeError: an argument is of the wrong kind.
      ValueError: tokens of the wrong rank.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        assert_like_rnncell("cell", cell)
        if output_layer is not None and not is_layer(output_layer):
            raise TypeError(
                "output_layer must be a layer (callable, with compute_output_shape), received:"
                f" {type(output_layer)}"
            )
        self._cell, self._output_layer = cell, output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._embedding_fn = lookup_of(embedding)
        self._start_tokens = convert_to_tensor(
            start_tokens, dtype=dtypes.int32, name="start_tokens"
        )
        if self._start_tokens.get_shape().ndims != 1:
            raise ValueError(
                f"start_tokens must be a vector; found {self._start_tokens.get_shape()}"
            )
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._end_token.get_shape().ndims != 0:
            raise ValueError(f"end_token must be a scalar; found {self._end_token.get_shape()}")
        self._batch_size: Any = ranks.size(self._start_tokens)
        self._beam_width = beam_width
        self._coverage_penalty_weight = coverage_penalty_weight
        self._beams = Beams(self._batch_size, beam_width)
        self._step = Step(
            self._beams, self._end_token, length_penalty_weight, coverage_penalty_weight
        )
        self._initial_cell_state = nest.map_structure(
            self._beams.split_part, initial_state, cell.state_size
        )
        self._start_tokens = tile.tile(reshape.expand_dims(self._start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        # Only the first beam of an example is open before the first step: all are alike.
        self._finished = self._first(off_value=True, on_value=False, dtype=dtypes.bool)

    def _first(self, **options: Any) -> Tensor:
        zeros = fill.zeros([self._batch_size], dtype=dtypes.int32)
        return onehot.one_hot(zeros, depth=self._beam_width, **options)

    @property
    def batch_size(self) -> Any:
        """The number of start tokens."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change places, so a place that was finished can be open again."""
        return True

    @property
    def output_size(self) -> Any:
        """One number a beam."""
        size = shapes.TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=size, predicted_ids=size, parent_ids=size)

    @property
    def output_dtype(self) -> Any:
        """Scores are of the type of the first part of the state, ids int32."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        scores = nest.map_structure(lambda _: dtype, output_size_of(self._cell, self._output_layer))
        return BeamSearchDecoderOutput(
            scores=scores, predicted_ids=dtypes.int32, parent_ids=dtypes.int32
        )

    def initialize(self, name: str | None = None) -> Any:
        """Returns (finished, inputs, state): one open beam an example."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        zeros = fill.zeros([self._batch_size], dtype=dtypes.int32)
        log_probs = onehot.one_hot(
            zeros,
            depth=self._beam_width,
            on_value=convert_to_tensor(0.0, dtype=dtype),
            off_value=convert_to_tensor(-np.inf, dtype=dtype),
            dtype=dtype,
        )
        looked = attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=fill.zeros([self._batch_size, self._beam_width], dtype=dtypes.int64),
            accumulated_attention_probs=() if looked is None else looked,
        )
        return self._finished, self._start_inputs, state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Continues all beams, and keeps the best."""
        beams = self._beams
        with scopes.name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            inputs = nest.map_structure(lambda one: beams.merge(one, one.get_shape()[2:]), inputs)
            cell_state = nest.map_structure(
                beams.merge_part, state.cell_state, self._cell.state_size
            )
            outputs, next_cell_state = self._cell(inputs, cell_state)
            outputs = nest.map_structure(lambda one: beams.split(one, one.get_shape()[1:]), outputs)
            next_cell_state = nest.map_structure(
                beams.split_part, next_cell_state, self._cell.state_size
            )
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, next_state = self._step(time, outputs, next_cell_state, state)
            next_inputs = cond(
                reductions.reduce_all(next_state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, next_state, next_inputs, next_state.finished

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Returns the whole beams, and the final state."""
        longest = cast.cast(reductions.reduce_max(final_state.lengths, axis=1), dtypes.int32)
        predicted_ids = gather_tree(
            outputs.predicted_ids, outputs.parent_ids, longest, end_token=self._end_token
        )
        if self._reorder_tensor_arrays:
            cell_state = nest.map_structure(
                lambda part: self._ordered(part, outputs.parent_ids, final_state.lengths),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=cell_state)
        found = FinalBeamSearchDecoderOutput(
            beam_search_decoder_output=outputs, predicted_ids=predicted_ids
        )
        return found, final_state

    def _ordered(self, t: Any, parent_ids: Any, lengths: Any) -> Any:
        """An array as a tensor in the order of the final beams; left as it is if it cannot be."""
        if not isinstance(t, TensorArray):
            return t
        known = t.element_shape
        if known.ndims is None or known.ndims < 1 or not self._fits(known):
            warnings.warn(
                f"The TensorArray {t.handle.name} in the cell state is not ordered as the final"
                f" beams are: its elements have shape {known}, which must be reshapable to"
                f" [{self._beams.static_batch}, {self._beam_width}, -1].",
                stacklevel=2,
            )
            return t
        stacked = t.stack()
        with scopes.control_dependencies([self._check_beams(stacked)]):
            return gather_tree_from_array(stacked, parent_ids, lengths)

    def _fits(self, known: shapes.TensorShape) -> bool:
        # As TensorFlow 1.15: [batch * beam, depth] of known sizes is refused, too.
        dims, batch = known.as_list(), self._beams.static_batch
        if batch is None or dims[0] is None:
            return True
        if dims[0] != batch * self._beam_width:
            return False
        apart = len(dims) > 1 and dims[1] is not None
        return not (apart and (dims[0] != batch or dims[1] != self._beam_width))

    def _check_beams(self, t: Any) -> Any:
        message = (
            "TensorArray reordering expects elements to be reshapable to (batch_size, beam_width,"
            " ...), but the dynamic shape of an element is not."
        )
        dims = shape.shape(t)
        joined = comparison.equal(nodes.element(dims, 1), self._batch_size * self._beam_width)
        if t.get_shape().ndims == 2:
            return debug.Assert(joined, [message])
        apart = comparison.logical_and(
            comparison.equal(nodes.element(dims, 1), self._batch_size),
            comparison.equal(nodes.element(dims, 2), self._beam_width),
        )
        return debug.Assert(comparison.logical_or(joined, apart), [message])
