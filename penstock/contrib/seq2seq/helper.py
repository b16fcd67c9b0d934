"""What a decoder asks in each step: which ids its outputs stand for, and what to feed next.

``Helper`` is the interface, ``CustomHelper`` one made of functions, ``TrainingHelper`` feeds what
is known.  Helpers that decode freely are in ``inference``, those that sometimes feed their own
outputs in training in ``scheduled``.

State of a helper: the tensors it was made with; a ``CustomHelper`` keeps the batch size that its
``initialize`` found.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.recurrent.step import transpose_batch_time
from penstock.ops.array import cast, nodes, ranks, shape
from penstock.ops.math import argmax, comparison, elementwise, reductions


class Helper:
    """Interface of helpers; an instance is asked by ``BasicDecoder``."""

    @property
    def batch_size(self) -> Any:
        """Batch size of what ``initialize`` returns, an int32 scalar."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    def sample_ids_shape(self) -> Any:
        """TensorShape of what ``sample`` returns, without the batch dim."""
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    def sample_ids_dtype(self) -> Any:
        """Element type of what ``sample`` returns."""
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    def initialize(self, name: str | None = None) -> Any:
        """Returns (finished, inputs of the first step)."""
        raise NotImplementedError

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns the ids that the outputs of the step ``time`` stand for."""
        raise NotImplementedError

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns (finished, next inputs, next state) after the step ``time``."""
        raise NotImplementedError


class CustomHelper(Helper):
    """A helper made of functions.

    Args:
      initialize_fn: gives (finished, inputs of the first step).
      sample_fn: from (time, outputs, state) to ids.
      next_inputs_fn: from (time, outputs, state, sample_ids) to (finished, inputs, state).
      sample_ids_shape: shape of the ids of one example; default scalars.
      sample_ids_dtype: their type; default int32.
    """

    def __init__(
        self,
        initialize_fn: Any,
        sample_fn: Any,
        next_inputs_fn: Any,
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn, self._sample_fn = initialize_fn, sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = shapes.TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self) -> Any:
        """Size of ``finished``.

        Raises:
          ValueError: ``initialize`` was not called yet.
        """
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """As given."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """As given."""
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> Any:
        """Returns what the function returns."""
        with scopes.name_scope(name, "CustomHelperInitialize"):
            finished, next_inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = ranks.size(finished)
        return finished, next_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns what the function returns."""
        with scopes.name_scope(name, "CustomHelperSample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns what the function returns."""
        with scopes.name_scope(name, "CustomHelperNextInputs", (time, outputs, state)):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


class ScalarHelper(Helper):
    """A helper whose samples are numbers of symbols."""

    @property
    def sample_ids_shape(self) -> Any:
        """Scalars."""
        return shapes.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """int32."""
        return dtypes.int32


class TrainingHelper(ScalarHelper):
    """Feeds a known sequence; the ids are the largest outputs.

    Args:
      inputs: [batch, time, ...] tensor, or [time, batch, ...] if ``time_major``.
      sequence_length: int vector [batch].
      time_major: whether the first dim is time.

    Raises:
      ValueError: ``sequence_length`` is no vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        time_major: bool = False,
        name: str | None = None,
    ) -> None:
        with scopes.name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = convert_to_tensor(inputs, name="inputs")
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._input_tas = nest.map_structure(unstacked, inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.get_shape().ndims != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape:"
                    f" {self._sequence_length.get_shape()}"
                )
            self._zero_inputs = nest.map_structure(
                lambda one: elementwise.zeros_like(one[0, :]), inputs
            )
            self._start_inputs = self._zero_inputs
            self._batch_size = ranks.size(self._sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs as given."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The lengths as given."""
        return self._sequence_length

    @property
    def batch_size(self) -> Any:
        """The number of lengths."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> Any:
        """Returns which sequences are empty, and the first inputs."""
        with scopes.name_scope(name, "TrainingHelperInitialize"):
            finished = comparison.equal(0, self._sequence_length)
            return finished, self._read_unless(reductions.reduce_all(finished), 0)

    def sample(self, time: Any, outputs: Any, name: str | None = None, **unused_kwargs: Any) -> Any:  # type: ignore[override]
        """Returns the index of the largest output of each example."""
        with scopes.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return cast.cast(argmax.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, name: str | None = None, **unused_kwargs: Any
    ) -> Any:
        """Returns which sequences are over, and the inputs of the step ``time + 1``."""
        with scopes.name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            next_inputs = self._read_unless(reductions.reduce_all(finished), next_time)
            return finished, next_inputs, state

    def _read_unless(self, all_finished: Tensor, time: Any) -> Any:
        """The inputs of a step; zeros after the last, where there is nothing to read."""
        return cond(
            all_finished,
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._input_tas),
        )


def unstacked(time_major: Tensor) -> TensorArray:
    """An array with one element a step."""
    return TensorArray(
        dtype=time_major.dtype,
        size=nodes.element(shape.shape(time_major), 0),
        element_shape=time_major.get_shape()[1:],
    ).unstack(time_major)
