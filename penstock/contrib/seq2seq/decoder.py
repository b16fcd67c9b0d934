"""``Decoder``, what is decoded step by step, and ``dynamic_decode``, the loop over its steps."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.library.recurrent.cell import zeros_of
from penstock.library.recurrent.step import cache_reads, transpose_batch_time
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import fill, shape
from penstock.ops.math import comparison, elementwise, reductions, select


class Decoder:
    """Interface of decoders."""

    @property
    def batch_size(self) -> Any:
        """Batch size of the inputs."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """A nesting of the sizes of what a step puts out, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """A nesting of the types of what a step puts out."""
        raise NotImplementedError

    def initialize(self, name: str | None = None) -> Any:
        """Returns (finished, inputs, state) before the first step."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns (outputs, next state, next inputs, finished) of a step."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Returns (outputs, final state) after the last step, made of the time-major ones."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether ``step`` says of all examples whether they are finished, also of those that
        were; else an example that was finished once stays so."""
        return False


def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """Runs a decoder until all examples are finished.

    Args:
      decoder: a ``Decoder``.
      output_time_major: whether time is the first dim of outputs.
      impute_finished: whether finished examples keep their state and put out zeros.
      maximum_iterations: bound of the number of steps, a scalar.
      parallel_iterations, swap_memory: as of ``tf.while_loop``.
      scope: variable scope; default "decoder".
      **kwargs: none is known.

    Returns:
      (outputs, final state, sequence lengths [batch]).

    Raises:
      TypeError: ``decoder`` is no Decoder.
      ValueError: ``maximum_iterations`` is no scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder") as entered:
        cache_reads(entered)
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(
                maximum_iterations, dtype=dtypes.int32, name="maximum_iterations"
            )
            if maximum_iterations.get_shape().ndims != 0:
                raise ValueError(
                    "maximum_iterations must be a scalar; found shape"
                    f" {maximum_iterations.get_shape()}"
                )
        loop = _Loop(decoder, impute_finished)
        loop_vars = loop.start(maximum_iterations)
        result = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: elementwise.logical_not(
                reductions.reduce_all(finished)
            ),
            loop.step,
            loop_vars=loop_vars,
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = nest.map_structure(lambda array: array.stack(), result[1])
        state, lengths = result[2], result[5]
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass  # outputs and state are as they are
        if not output_time_major:
            outputs = nest.map_structure(_batch_major, outputs)
    return outputs, state, lengths


class _Loop:
    """The variables of one ``dynamic_decode`` and its step."""

    def __init__(self, decoder: Decoder, impute_finished: bool) -> None:
        self._decoder, self._impute = decoder, impute_finished
        self._zeros: Any = None

    def start(self, maximum_iterations: Any) -> tuple[Any, ...]:
        """The loop variables before the first step."""
        decoder = self._decoder
        finished, inputs, state = decoder.initialize()
        self._zeros = nest.map_structure(
            lambda size, dtype: zeros_of(size, decoder.batch_size, dtype),
            decoder.output_size,
            decoder.output_dtype,
        )
        if maximum_iterations is not None:
            finished = comparison.logical_or(finished, maximum_iterations <= 0)
        lengths = elementwise.zeros_like(finished, dtype=dtypes.int32)
        time = constant(0, dtypes.int32)
        arrays = nest.map_structure(self._array, decoder.output_size, decoder.output_dtype)
        return time, arrays, state, inputs, finished, lengths

    def _array(self, size: Any, dtype: Any) -> TensorArray:
        return TensorArray(
            dtype=dtype,
            size=0,
            dynamic_size=True,
            element_shape=_batched(self._decoder.batch_size, size),
        )

    def step(
        self, time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any
    ) -> tuple[Any, ...]:
        """The loop variables after a step."""
        outputs, next_state, next_inputs, now_finished = self._decoder.step(time, inputs, state)
        if self._decoder.tracks_own_finished:
            next_finished = now_finished
        else:
            next_finished = comparison.logical_or(now_finished, finished)
        lengths = select.where(
            elementwise.logical_not(finished),
            fill.fill(shape.shape(lengths), time + 1),
            lengths,
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, next_inputs)
        if self._impute:
            outputs = nest.map_structure(
                lambda one, zero: select.where(finished, zero, one), outputs, self._zeros
            )
            next_state = nest.map_structure(
                lambda new, old: _kept(finished, new, old), next_state, state
            )
        arrays = nest.map_structure(lambda array, one: array.write(time, one), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, next_finished, lengths


def _kept(finished: Tensor, new: Any, old: Any) -> Any:
    """``old`` where examples are finished; scalars and arrays are always the new ones."""
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.get_shape())
    if new.get_shape().ndims == 0:
        return new
    return select.where(finished, old, new)


def _batched(batch_size: Any, size: Any) -> shapes.TensorShape:
    """Static shape of a step's output."""
    if not isinstance(size, shapes.TensorShape) or size.ndims == 0:
        return shapes.TensorShape(None)
    known = static.constant_value(convert_to_tensor(batch_size, name="batch_size"))
    return shapes.TensorShape([None if known is None else int(known)]).concatenate(size)


def _batch_major(x: Any) -> Any:
    ndims = x.get_shape().ndims
    return x if ndims is not None and ndims < 2 else transpose_batch_time(x)
