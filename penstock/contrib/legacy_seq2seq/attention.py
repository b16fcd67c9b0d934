"""Decoders that look at the encoder's outputs (Vinyals et al., 2014), and a model with one."""

from __future__ import annotations

import copy
from typing import Any

from penstock.contrib.legacy_seq2seq.decoders import either, fed_back
from penstock.foundation.base import dimension, dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn.conv import conv2d
from penstock.library.recurrent.linear import Linear
from penstock.library.recurrent.projection import EmbeddingWrapper, OutputProjectionWrapper
from penstock.library.recurrent.static import static_rnn
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import cast, fill, join, nodes, reshape, shape
from penstock.ops.math import elementwise, reduction
from penstock.ops.nn import embedding, softmax


class _Heads:
    """Attention to [batch, time, size] states with variables of the current scope."""

    def __init__(self, states: Any, count: int, dtype: Any) -> None:
        self._length: Any = dimension.dimension_value(states.get_shape()[1])
        if self._length is None:
            self._length = nodes.element(shape.shape(states), 1)
        self.size = int(states.get_shape().as_list()[2])
        self._dtype = dtype
        self._hidden = reshape.reshape(states, [-1, self._length, 1, self.size])
        self._features, self._v = [], []
        for index in range(count):
            kernel = get_variable(f"AttnW_{index}", [1, 1, self.size, self.size], dtype=dtype)
            self._features.append(conv2d(self._hidden, kernel, [1, 1, 1, 1], "SAME"))
            self._v.append(get_variable(f"AttnV_{index}", [self.size], dtype=dtype))

    def __call__(self, query: Any) -> list[Tensor]:
        """What each head sees of the states, for a query that may be nested."""
        if nest.is_sequence(query):
            query = join.concat(nest.flatten(query), 1)
        return [self._seen(index, query) for index in range(len(self._v))]

    def _seen(self, index: int, query: Any) -> Tensor:
        with variable_scope(f"Attention_{index}"):
            y = Linear(query, self.size, True)(query)
            y = cast.cast(reshape.reshape(y, [-1, 1, 1, self.size]), self._dtype)
            inner = elementwise.tanh(self._features[index] + y)
            score = reduction.reduce_sum(self._v[index] * inner, [2, 3])
            weights: Any = softmax.softmax(cast.cast(score, dtypes.float32))
            weights = reshape.reshape(cast.cast(weights, self._dtype), [-1, self._length, 1, 1])
            seen = reduction.reduce_sum(weights * self._hidden, [1, 2])
            return reshape.reshape(seen, [-1, self.size])

    def nothing(self, batch_size: Any) -> list[Tensor]:
        """What is seen before the first step."""
        dims = join.stack([batch_size, self.size])
        zeros = [fill.zeros(dims, dtype=self._dtype) for _ in self._v]
        for one in zeros:
            one.set_shape([None, self.size])
        return zeros


def attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Any = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Runs a cell over a list, with attention to states of an encoder.

    Args:
      decoder_inputs: list of tensors [batch, size].
      initial_state: first state of the cell.
      attention_states: [batch, time, size].
      cell: a cell.
      output_size: size of outputs; default the cell's.
      num_heads: how many times to look in a step.
      loop_function: from (output of the step before, index) to the input of a step.
      dtype: element type of variables.
      scope: variable scope; default "attention_decoder".
      initial_state_attention: whether to look with the first state before the first step, or see
        nothing.

    Returns:
      The list of outputs, and the last state.

    Raises:
      ValueError: no inputs, no heads, or sizes that are not known.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.get_shape().as_list()[2] is None:
        raise ValueError(
            f"Shape[2] of attention_states must be known: {attention_states.get_shape()}"
        )
    if output_size is None:
        output_size = cell.output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as entered:
        dtype = entered.dtype
        batch_size = nodes.element(shape.shape(decoder_inputs[0]), 0)
        heads = _Heads(attention_states, num_heads, dtype)
        state, outputs, previous = initial_state, [], None
        seen = heads.nothing(batch_size)
        if initial_state_attention:
            seen = heads(initial_state)
        for index, one in enumerate(decoder_inputs):
            if index > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and previous is not None:
                with variable_scope("loop_function", reuse=True):
                    one = loop_function(previous, index)
            inputs = [cast.cast(part, dtype) for part in [one, *seen]]
            cell_output, state = cell(Linear(inputs, _width(one), True)(inputs), state)
            if index == 0 and initial_state_attention:
                with variable_scope(get_variable_scope(), reuse=True):
                    seen = heads(state)
            else:
                seen = heads(state)
            with variable_scope("AttnOutputProjection"):
                inputs = [cast.cast(cell_output, dtype), *seen]
                output = Linear(inputs, output_size, True)(inputs)
            if loop_function is not None:
                previous = output
            outputs.append(output)
    return outputs, state


def _width(one: Any) -> int:
    width = dimension.dimension_value(one.get_shape().with_rank(2)[1])
    if width is None:
        raise ValueError(f"Could not infer input size from input: {one.name}")
    return int(width)


def embedding_attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """``attention_decoder`` of ids, looked up in an embedding.

    Args:
      decoder_inputs: list of int32 tensors [batch].
      initial_state, attention_states, cell, num_heads, output_size, dtype,
        initial_state_attention: as of ``attention_decoder``.
      num_symbols, embedding_size, output_projection, feed_previous,
        update_embedding_for_previous: as of ``embedding_rnn_decoder``.
      scope: variable scope; default "embedding_attention_decoder".

    Returns:
      The list of outputs, and the last state.

    Raises:
      ValueError: biases that do not fit ``num_symbols``; see ``attention_decoder``.
    """
    if output_size is None:
        output_size = cell.output_size
    if output_projection is not None:
        biases = convert_to_tensor(output_projection[1], dtype=dtypes.float32)
        biases.get_shape().assert_is_compatible_with([num_symbols])
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        table = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = fed_back(table, output_projection, update_embedding_for_previous)
        rows = [embedding.embedding_lookup(table, ids) for ids in decoder_inputs]
        return attention_decoder(
            rows,
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=loop_function,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Ids to ids, with attention to the encoder's outputs.

    Args:
      encoder_inputs, decoder_inputs: lists of int32 tensors [batch].
      cell: a cell; it is copied for the encoder.
      num_encoder_symbols, num_decoder_symbols: how many ids there are.
      embedding_size: size of their vectors.
      num_heads, initial_state_attention: as of ``attention_decoder``.
      output_projection, feed_previous, dtype: as of ``embedding_rnn_seq2seq``.
      scope: variable scope; default "embedding_attention_seq2seq".

    Returns:
      The decoder's list of outputs, and its last state.
    """
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as entered:
        dtype = entered.dtype
        encoder = EmbeddingWrapper(
            copy.deepcopy(cell),
            embedding_classes=num_encoder_symbols,
            embedding_size=embedding_size,
        )
        outputs, encoded = static_rnn(encoder, encoder_inputs, dtype=dtype)
        top = [reshape.reshape(one, [-1, 1, cell.output_size]) for one in outputs]
        attention_states = join.concat(top, 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(feeds: bool, update: bool = False) -> tuple[list[Any], Any]:
            return embedding_attention_decoder(
                decoder_inputs,
                encoded,
                attention_states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=update,
                initial_state_attention=initial_state_attention,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous, update=True)
        return either(feed_previous, decode, len(decoder_inputs), encoded)
