"""Scheduled sampling (Bengio et al., 2015): in training, some inputs are the decoder's outputs."""

from __future__ import annotations

from typing import Any

from penstock.contrib.seq2seq import draws
from penstock.contrib.seq2seq.helper import TrainingHelper, unstacked
from penstock.contrib.seq2seq.inference import lookup_of
from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.library.recurrent.step import transpose_batch_time
from penstock.ops.array import cast, fill, gather, join, scatter, shape
from penstock.ops.math import comparison, elementwise, reductions, select as selection


def _probability(given: Any) -> Tensor:
    made = convert_to_tensor(given, name="sampling_probability")
    if made.get_shape().ndims not in (0, 1):
        raise ValueError(
            "sampling_probability must be either a scalar or a vector. saw shape:"
            f" {made.get_shape()}"
        )
    return made


def _where(mask: Any) -> Tensor:
    made: Tensor = cast.cast(selection.where(mask), dtypes.int32)
    return made


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Feeds, with some probability, the embedding of an id drawn from the outputs.

    Args:
      inputs, sequence_length, time_major: as of ``TrainingHelper``.
      embedding: function from ids to inputs, or the ``params`` of an embedding lookup.
      sampling_probability: float scalar or vector [batch]: how often to feed a drawn id.
      seed: seed of the ids.
      scheduling_seed: seed of whether to draw.

    Raises:
      ValueError: ``sampling_probability`` is neither a scalar nor a vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        with scopes.name_scope(
            name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]
        ):
            self._embedding_fn = lookup_of(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:  # type: ignore[override]
        """Returns drawn ids, or -1 for examples where none is fed."""
        with scopes.name_scope(
            name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]
        ):
            select = draws.bernoulli(
                self._sampling_probability, self._batch_size, dtypes.bool, self._scheduling_seed
            )
            drawn = draws.categorical(outputs, self._seed)
            return selection.where(select, drawn, fill.fill([self._batch_size], -1))

    def next_inputs(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns the known inputs, or the ids' embedding where there are ids."""
        with scopes.name_scope(
            name,
            "ScheduledEmbeddingTrainingHelperNextInputs",
            [time, outputs, state, sample_ids],
        ):
            finished, known, state = super().next_inputs(time, outputs, state)

            def mixed() -> Any:
                drawn = _where(sample_ids > -1)
                others = _where(sample_ids <= -1)
                ids = gather.gather_nd(sample_ids, drawn)
                rest = gather.gather_nd(known, others)
                fed = self._embedding_fn(ids)
                full = shape.shape(known)
                made: Any = scatter.scatter_nd(drawn, fed, full)
                return made + scatter.scatter_nd(others, rest, full)

            all_finished = reductions.reduce_all(finished)
            return finished, cond(all_finished, lambda: known, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Feeds, with some probability, the outputs of the step before.

    Args:
      inputs, sequence_length, time_major: as of ``TrainingHelper``.
      sampling_probability: float scalar or vector [batch]: how often to feed outputs.
      seed: seed of whether to feed them.
      next_inputs_fn: from outputs to inputs; default the outputs themselves.
      auxiliary_inputs: joined to the inputs, and to outputs that are fed; shaped as ``inputs``
        but for the last dim.

    Raises:
      ValueError: ``sampling_probability`` is neither a scalar nor a vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Any = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        with scopes.name_scope(
            name,
            "ScheduledOutputTrainingHelper",
            [inputs, auxiliary_inputs, sampling_probability],
        ):
            self._sampling_probability = _probability(sampling_probability)
            self._auxiliary_input_tas: Any = None
            joined = inputs
            if auxiliary_inputs is not None:
                joined = nest.map_structure(
                    lambda one, more: join.concat((one, more), -1), inputs, auxiliary_inputs
                )
                if not time_major:
                    auxiliary_inputs = nest.map_structure(transpose_batch_time, auxiliary_inputs)
                self._auxiliary_input_tas = nest.map_structure(unstacked, auxiliary_inputs)
            self._seed, self._next_inputs_fn = seed, next_inputs_fn
            super().__init__(joined, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:  # type: ignore[override]
        """Returns 1 for examples whose outputs are to be fed, else 0."""
        with scopes.name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return draws.bernoulli(
                self._sampling_probability, self._batch_size, dtypes.int32, self._seed
            )

    def next_inputs(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns the known inputs, or the outputs where ``sample_ids`` is 1."""
        with scopes.name_scope(
            name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]
        ):
            finished, known, state = super().next_inputs(time, outputs, state)
            select = cast.cast(sample_ids, dtypes.bool)
            all_finished = reductions.reduce_all(finished)
            none = elementwise.logical_not(reductions.reduce_any(select))
            next_inputs = cond(
                comparison.logical_or(all_finished, none),
                lambda: known,
                lambda: self._mixed(time, outputs, known, select),
            )
            return finished, next_inputs, state

    def _mixed(self, time: Any, outputs: Any, known: Any, select: Any) -> Any:
        if self._next_inputs_fn is None:
            return selection.where(select, self._with_auxiliary(time, outputs), known)
        chosen = _where(select)
        others = _where(elementwise.logical_not(select))
        rows = gather.gather_nd(outputs, chosen)
        rest = gather.gather_nd(known, others)
        fed = self._with_auxiliary(time, self._next_inputs_fn(rows), chosen)
        full = shape.shape(known)
        made: Any = scatter.scatter_nd(chosen, fed, full)
        return made + scatter.scatter_nd(others, rest, full)

    def _with_auxiliary(self, time: Any, outputs: Any, indices: Any = None) -> Any:
        """Outputs joined with the auxiliary inputs of the next step, of rows or all."""
        if self._auxiliary_input_tas is None:
            return outputs
        next_time = time + 1
        more = nest.map_structure(lambda array: array.read(next_time), self._auxiliary_input_tas)
        if indices is not None:
            more = gather.gather_nd(more, indices)
        return nest.map_structure(lambda one, two: join.concat((one, two), -1), outputs, more)
