"""Models of an encoder, whose last state a decoder starts from."""

from __future__ import annotations

import copy
from typing import Any

from penstock.contrib.legacy_seq2seq.decoders import (
    check_projection,
    either,
    embedding_rnn_decoder,
    fed_back,
    rnn_decoder,
)
from penstock.foundation.base import dimension, dtypes, shapes
from penstock.library.recurrent.projection import EmbeddingWrapper, OutputProjectionWrapper
from penstock.library.recurrent.static import static_rnn
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import nodes, shape
from penstock.ops.nn import embedding


def basic_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """A cell as encoder, and another one like it as decoder.

    Args:
      encoder_inputs, decoder_inputs: lists of tensors [batch, size].
      cell: a cell; it is copied for the encoder.
      dtype: element type of the first state.
      scope: variable scope; default "basic_rnn_seq2seq".

    Returns:
      The decoder's list of outputs, and its last state.
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    loop_function: Any = None,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """One cell as encoder and decoder.

    Args:
      encoder_inputs, decoder_inputs: lists of tensors [batch, size].
      cell: a cell.
      loop_function: as of ``rnn_decoder``.
      dtype: element type of the first state.
      scope: variable scope within "combined_tied_rnn_seq2seq"; default "tied_rnn_seq2seq".

    Returns:
      The decoder's list of outputs, and its last state.
    """
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Ids to ids, each side with its cell and embedding.

    Args:
      encoder_inputs, decoder_inputs: lists of int32 tensors [batch].
      cell: a cell; it is copied for the encoder.
      num_encoder_symbols, num_decoder_symbols: how many ids there are.
      embedding_size: size of their vectors.
      output_projection: (weights, biases) that make logits of outputs; None: the model has its
        own, and its outputs are logits.
      feed_previous: whether the decoder is fed its own ids; a bool, or a bool scalar tensor.
      dtype: element type of variables and states.
      scope: variable scope; default "embedding_rnn_seq2seq".

    Returns:
      The decoder's list of outputs, and its last state.
    """
    with variable_scope(scope or "embedding_rnn_seq2seq") as entered:
        if dtype is not None:
            entered.set_dtype(dtype)
        else:
            dtype = entered.dtype
        encoder = EmbeddingWrapper(
            copy.deepcopy(cell),
            embedding_classes=num_encoder_symbols,
            embedding_size=embedding_size,
        )
        _, encoded = static_rnn(encoder, encoder_inputs, dtype=dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feeds: bool, update: bool = False) -> tuple[list[Any], Any]:
            return embedding_rnn_decoder(
                decoder_inputs,
                encoded,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=update,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous, update=True)
        return either(feed_previous, decode, len(decoder_inputs), encoded)


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Ids to ids, with one cell and one embedding for both sides.

    Args:
      encoder_inputs, decoder_inputs: lists of int32 tensors [batch].
      cell: a cell.
      num_symbols: how many ids both sides have together.
      embedding_size: size of their vectors.
      num_decoder_symbols: how many ids the decoder may give; default all.
      output_projection, feed_previous, dtype: as of ``embedding_rnn_seq2seq``.
      scope: variable scope; default "embedding_tied_rnn_seq2seq".

    Returns:
      The decoder's list of outputs, and its last state.

    Raises:
      ValueError: ``output_projection`` does not fit ``num_symbols``.
    """
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as entered:
        dtype = entered.dtype
        if output_projection is not None:
            check_projection(output_projection, num_symbols)
        table = get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        encoder_rows = [embedding.embedding_lookup(table, ids) for ids in encoder_inputs]
        decoder_rows = [embedding.embedding_lookup(table, ids) for ids in decoder_inputs]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols or num_symbols)

        def decode(feeds: bool, update: bool = False) -> tuple[list[Any], Any]:
            loop = fed_back(table, output_projection, update) if feeds else None
            return tied_rnn_seq2seq(
                encoder_rows, decoder_rows, cell, loop_function=loop, dtype=dtype
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous, update=True)
        return either(
            feed_previous,
            decode,
            len(decoder_inputs),
            lambda: cell.zero_state(_batch_size(encoder_inputs), dtype),
        )


def _batch_size(inputs: Any) -> Any:
    """The batch size, an int where an input knows it."""
    known = shapes.dimension_at_index(inputs[0].get_shape(), 0)
    for one in inputs[1:]:
        known = known.merge_with(shapes.dimension_at_index(one.get_shape(), 0))
    value = dimension.dimension_value(known)
    return nodes.element(shape.shape(inputs[0]), 0) if value is None else value


def one2many_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs_dict: Any,
    enc_cell: Any,
    dec_cells_dict: Any,
    num_encoder_symbols: int,
    num_decoder_symbols_dict: Any,
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """One encoder of ids, and several decoders.

    Args:
      encoder_inputs: list of int32 tensors [batch].
      decoder_inputs_dict: for each name of a decoder its list of int32 tensors [batch].
      enc_cell: the encoder's cell.
      dec_cells_dict: the decoders' cells by name.
      num_encoder_symbols: how many ids the encoder has.
      num_decoder_symbols_dict: how many ids the decoders have, by name.
      embedding_size: size of their vectors.
      feed_previous: whether decoders are fed their own ids; a bool, or a bool scalar tensor.
      dtype: element type of variables and states.
      scope: variable scope; default "one2many_rnn_seq2seq".

    Returns:
      Lists of outputs, and last states, by name.
    """
    outputs: dict[Any, Any] = {}
    states: dict[Any, Any] = {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as entered:
        dtype = entered.dtype
        encoder = EmbeddingWrapper(
            enc_cell, embedding_classes=num_encoder_symbols, embedding_size=embedding_size
        )
        _, encoded = static_rnn(encoder, encoder_inputs, dtype=dtype)
        for name, inputs in decoder_inputs_dict.items():
            count = num_decoder_symbols_dict[name]
            with variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], count)

                def decode(
                    feeds: bool, inputs: Any = inputs, cell: Any = cell, count: int = count
                ) -> tuple[list[Any], Any]:
                    return embedding_rnn_decoder(
                        inputs, encoded, cell, count, embedding_size, feed_previous=feeds
                    )

                if isinstance(feed_previous, bool):
                    outputs[name], states[name] = decode(feed_previous)
                else:
                    outputs[name], states[name] = either(
                        feed_previous, decode, len(inputs), encoded
                    )
    return outputs, states
