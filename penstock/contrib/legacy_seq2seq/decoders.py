"""Decoders over a list of inputs, which may be the outputs of the step before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.control_flow.cond import cond
from penstock.library.nn.linear import xw_plus_b
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.control import control
from penstock.ops.math import argmax
from penstock.ops.nn import embedding


def rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    cell: Any,
    loop_function: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs a cell over a list.

    Args:
      decoder_inputs: list of tensors [batch, size].
      initial_state: first state of the cell.
      cell: a cell.
      loop_function: from (output of the step before, index) to the input of a step; the list then
        only gives the first one.
      scope: variable scope; default "rnn_decoder".

    Returns:
      The list of outputs, and the last state.
    """
    with variable_scope(scope or "rnn_decoder"):
        state, outputs, previous = initial_state, [], None
        for index, one in enumerate(decoder_inputs):
            if loop_function is not None and previous is not None:
                with variable_scope("loop_function", reuse=True):
                    one = loop_function(previous, index)
            if index > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(one, state)
            outputs.append(output)
            if loop_function is not None:
                previous = output
    return outputs, state


def embedding_rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """``rnn_decoder`` of ids, looked up in an embedding.

    Args:
      decoder_inputs: list of int32 tensors [batch].
      initial_state: first state of the cell.
      cell: a cell.
      num_symbols: how many ids there are.
      embedding_size: size of their vectors.
      output_projection: (weights, biases) that make logits of outputs, for ids that are fed back;
        None: the outputs are logits.
      feed_previous: whether to feed the most likely id of the step before.
      update_embedding_for_previous: whether gradients go to the embedding of ids fed back.
      scope: variable scope; default "embedding_rnn_decoder".

    Returns:
      The list of outputs, and the last state.

    Raises:
      ValueError: ``output_projection`` does not fit ``num_symbols``.
    """
    with variable_scope(scope or "embedding_rnn_decoder"):
        if output_projection is not None:
            check_projection(output_projection, num_symbols)
        table = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = fed_back(table, output_projection, update_embedding_for_previous)
        # Each lookup is made when its step is, as TensorFlow does.
        looked_up = (embedding.embedding_lookup(table, ids) for ids in decoder_inputs)
        return rnn_decoder(looked_up, initial_state, cell, loop_function=loop_function)


def check_projection(projection: Any, num_symbols: int) -> None:
    """Refuses weights and biases that do not make ``num_symbols`` logits.

    Raises:
      ValueError: they do not.
    """
    for part, wanted in zip(projection, ([None, num_symbols], [num_symbols]), strict=True):
        found = convert_to_tensor(part, dtype=dtypes.float32).get_shape()
        found.assert_is_compatible_with(wanted)


def fed_back(table: Any, projection: Any, update: bool) -> Callable[[Any, int], Any]:
    """The function from an output to the embedding of its most likely id."""

    def function(previous: Any, _: int) -> Any:
        if projection is not None:
            previous = xw_plus_b(previous, projection[0], projection[1])
        found = embedding.embedding_lookup(table, argmax.argmax(previous, 1))
        return found if update else control.stop_gradient(found)

    return function


def either(
    feed_previous: Any, decode: Callable[[bool], tuple[list[Any], Any]], count: int, state: Any
) -> tuple[list[Any], Any]:
    """A decoder that feeds back or not, as a bool tensor says in the run.

    Args:
      feed_previous: bool scalar tensor.
      decode: builds the decoder that feeds back, or the other with the same variables.
      count: how many outputs there are.
      state: something nested as the decoder's state, or a function that gives it.
    """

    def built(feeds: bool) -> list[Any]:
        with variable_scope(get_variable_scope(), reuse=None if feeds else True):
            outputs, last = decode(feeds)
        return [*outputs, *(nest.flatten(last) if nest.is_sequence(last) else [last])]

    found = cond(feed_previous, lambda: built(True), lambda: built(False))
    structure = state() if callable(state) else state
    last = found[count:]
    if nest.is_sequence(structure):
        return found[:count], nest.pack_sequence_as(structure, last)
    return found[:count], last[0]
