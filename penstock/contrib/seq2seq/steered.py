"""The decoder of TensorFlow 1.0, gone in 1.2: a loop over a cell that a function steers.

``dynamic_rnn_decoder`` runs a cell; its ``decoder_fn`` says each step which examples are done, what
is fed next, and what is put out. ``simple_decoder_fn_*`` feed what is given (training) or the
embedding of the likeliest class (inference); ``attention_decoder_fn`` has those that attend.

A decoder_fn is a function of (time, cell_state, cell_input, cell_output, context_state), called
with None for what is not known before the first step, that returns (done, cell_state, cell_input,
emit_output, context_state). No TensorFlow 1.15 has any of this: it is written from its documents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import nest
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.ragged_tensors.dispatched import cast, gather, reduce_all
from penstock.library.recurrent.raw import raw_rnn
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.fill import ones, zeros
from penstock.ops.array.shape import shape
from penstock.ops.array.transpose import transpose
from penstock.ops.math.argmax import argmax
from penstock.ops.math.comparison import equal, greater, greater_equal

Decider = Callable[[Any, Any, Any, Any, Any], tuple[Any, Any, Any, Any, Any]]


def dynamic_rnn_decoder(
    cell: Any,
    decoder_fn: Decider,
    inputs: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """Runs a cell as ``decoder_fn`` says, until all examples are done.

    Args:
      cell: a cell.
      decoder_fn: see the module's text.
      inputs: floats [batch, time, depth] to train on; None where ``decoder_fn`` feeds itself.
      sequence_length: int32 [batch]: how many of them count; default all.
      parallel_iterations: how many iterations may overlap; default 32.
      swap_memory: whether what the gradient needs may leave the device.
      time_major: whether inputs and outputs are [time, batch, ...].
      scope: variable scope; default "dynamic_rnn_decoder".
      name: name scope.

    Returns:
      ``(outputs, final_state, final_context_state)``: floats [batch, time, ...], zeros after the
      end of an example; the cell's last state; what ``decoder_fn`` handed on last.

    Raises:
      ValueError: ``decoder_fn`` says what is done although there are ``inputs``, or does not
        although there are none.
    """
    with name_scope(name, "dynamic_rnn_decoder", [cell, decoder_fn, inputs, sequence_length]):
        fed = None if inputs is None else _Fed(inputs, sequence_length, time_major)
        steer = _Steered(decoder_fn, fed)
        with variable_scope(scope, "dynamic_rnn_decoder") as entered:
            emitted, state, context = raw_rnn(
                cell, steer, parallel_iterations, swap_memory, scope=entered
            )
        outputs = emitted.stack()
        if not time_major:
            outputs = transpose(outputs, [1, 0, *range(2, outputs.get_shape().ndims)])
        return outputs, state, context if steer.has_context else None


class _Fed:
    """Inputs that are read one step at a time."""

    def __init__(self, inputs: Any, lengths: Any, time_major: bool) -> None:
        inputs = convert_to_tensor(inputs)
        if not time_major:
            inputs = transpose(inputs, [1, 0, 2])
        dims: Any = shape(inputs)
        self._steps, self._batch = dims[0], dimension_value(inputs.get_shape()[1]) or dims[1]
        self._depth, self._dtype = dimension_value(inputs.get_shape()[2]), inputs.dtype
        self._read = TensorArray(inputs.dtype, size=self._steps).unstack(inputs)
        if lengths is None:
            lengths = self._steps * ones([self._batch], dtypes.int32)
        self._lengths = cast(lengths, dtypes.int32)

    def done(self, time: Any) -> Any:
        return greater_equal(time, self._lengths)

    def at(self, time: Any, done: Any) -> Any:
        """The inputs of this step; zeros after the last one."""

        def nothing() -> Any:
            return zeros([self._batch, self._depth], self._dtype)

        row = cond(reduce_all(done), nothing, lambda: self._read.read(time))
        row.set_shape([self._batch if isinstance(self._batch, int) else None, self._depth])
        return row


class _Steered:
    """What ``raw_rnn`` asks each step, answered by a decoder_fn."""

    def __init__(self, decoder_fn: Decider, fed: _Fed | None) -> None:
        self._decoder_fn, self._fed = decoder_fn, fed
        self.has_context = False

    def __call__(self, time: Any, output: Any, state: Any, context: Any) -> tuple[Any, ...]:
        if self._fed is None:
            given, done = None, None
        else:
            done = self._fed.done(time)
            given = self._fed.at(time, done)
        context = context if self.has_context else None
        said, state, given, emit, context = self._decoder_fn(time, state, given, output, context)
        if done is not None and said is not None:
            raise ValueError(
                "decoder_fn must return None for done where inputs are given: their"
                f" sequence_length says it; found {said}"
            )
        if done is None and said is None:
            raise ValueError(
                "decoder_fn must say which examples are done (bool [batch]) where no inputs are"
                " given; found None"
            )
        if output is None:
            self.has_context = context is not None
        return (said if done is None else done), given, state, emit, context


def simple_decoder_fn_train(encoder_state: Any, name: str | None = None) -> Decider:
    """A decoder_fn that begins with the encoder's state and takes what is given.

    Args:
      encoder_state: the first state of the cell.
      name: name scope.
    """

    def decoder_fn(time: Any, state: Any, given: Any, output: Any, context: Any) -> Any:
        with name_scope(name, "simple_decoder_fn_train", [time, state, given, output]):
            return None, encoder_state if state is None else state, given, output, context

    return decoder_fn


def simple_decoder_fn_inference(
    output_fn: Callable[[Any], Any] | None,
    encoder_state: Any,
    embeddings: Any,
    start_of_sequence_id: int,
    end_of_sequence_id: int,
    maximum_length: int,
    num_decoder_symbols: int,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Decider:
    """A decoder_fn that feeds the embedding of the likeliest symbol of the step before.

    Args:
      output_fn: from the cell's output to logits [batch, num_decoder_symbols]; None for as it is.
      encoder_state: the first state of the cell.
      embeddings: floats [symbols, depth].
      start_of_sequence_id: the symbol that is fed first.
      end_of_sequence_id: the symbol after which an example is done.
      maximum_length: all examples are done after so many steps.
      num_decoder_symbols: how many logits.
      dtype: of ids.
      name: name scope.
    """
    greedy = Greedy(
        output_fn, embeddings, start_of_sequence_id, end_of_sequence_id, maximum_length,
        num_decoder_symbols, dtype,
    )  # fmt: skip

    def decoder_fn(time: Any, state: Any, given: Any, output: Any, context: Any) -> Any:
        with name_scope(name, "simple_decoder_fn_inference", [time, state, given, output]):
            greedy.refuse_inputs(given)
            if output is None:
                state = encoder_state
            done, ids, emit = greedy.step(time, state, output)
            return done, state, gather(embeddings, ids), emit, context

    return decoder_fn


class Greedy:
    """The likeliest symbol of each step, fed back, until the one that ends an example."""

    def __init__(
        self, output_fn: Any, embeddings: Any, first: int, last: int, longest: int, count: int,
        dtype: Any,
    ) -> None:  # fmt: skip
        self._output_fn = output_fn or (lambda x: x)
        self._first, self._last, self._longest = first, last, longest
        self._count, self._dtype = count, dtypes.as_dtype(dtype)
        self._out_dtype = convert_to_tensor(embeddings).dtype.base_dtype

    @staticmethod
    def refuse_inputs(given: Any) -> None:
        """Raises ValueError where inputs were given to a decoder that feeds itself."""
        if given is not None:
            raise ValueError(f"Expected cell_input to be None, but saw: {given}")

    def step(self, time: Any, state: Any, output: Any) -> tuple[Any, Any, Any]:
        """Which examples are done, the ids that are fed next, and what is put out."""
        if output is None:
            batch = _batch_of(state)
            done = zeros([batch], dtypes.bool_)
            ids = ones([batch], self._dtype) * self._first
            return done, ids, zeros([self._count], self._out_dtype)
        emit = self._output_fn(output)
        ids = cast(argmax(emit, 1), self._dtype)
        over = greater(time, self._longest)
        done = cond(over, lambda: ones(shape(ids), dtypes.bool_), lambda: equal(ids, self._last))
        return done, ids, emit


def _batch_of(state: Any) -> Any:
    first = nest.flatten(state)[0]
    known = dimension_value(first.get_shape()[0])
    return shape(first)[0] if known is None else known
