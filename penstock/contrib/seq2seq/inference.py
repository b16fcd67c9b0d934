"""Helpers that feed a decoder its own outputs: greedily, by draws, or by functions of the user."""

from __future__ import annotations

from typing import Any

from penstock.contrib.seq2seq import draws
from penstock.contrib.seq2seq.helper import Helper, ScalarHelper
from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.ops.array import nodes, ranks, shape, tile
from penstock.ops.math import argmax, comparison, reductions
from penstock.ops.nn import embedding


def lookup_of(given: Any) -> Any:
    """The function from ids to inputs: ``given`` itself, or a lookup in it."""
    if callable(given):
        return given
    return lambda ids: embedding.embedding_lookup(given, ids)


class GreedyEmbeddingHelper(ScalarHelper):
    """Feeds the embedding of the largest output, until the end token.

    Args:
      embedding: function from ids [batch] to inputs, or the ``params`` of an embedding lookup.
      start_tokens: int32 vector [batch].
      end_token: int32 scalar.

    Raises:
      ValueError: ``start_tokens`` is no vector, ``end_token`` no scalar.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = lookup_of(embedding)
        self._start_tokens = convert_to_tensor(
            start_tokens, dtype=dtypes.int32, name="start_tokens"
        )
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._start_tokens.get_shape().ndims != 1:
            raise ValueError(
                f"start_tokens must be a vector; found {self._start_tokens.get_shape()}"
            )
        self._batch_size = ranks.size(self._start_tokens)
        if self._end_token.get_shape().ndims != 0:
            raise ValueError(f"end_token must be a scalar; found {self._end_token.get_shape()}")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Any:
        """The number of start tokens."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> Any:
        """Returns that nothing is finished, and the embedding of the start tokens."""
        return tile.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns the index of the largest output of each example.

        Raises:
          TypeError: the outputs are not one tensor.
        """
        return argmax.argmax(_one_tensor(outputs), axis=-1, output_type=dtypes.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns which ids are the end token, and the embedding of the ids."""
        finished = comparison.equal(sample_ids, self._end_token)
        next_inputs = cond(
            reductions.reduce_all(finished),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, next_inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds the embedding of an id drawn with the outputs as logits, until the end token.

    Args:
      embedding, start_tokens, end_token: as of ``GreedyEmbeddingHelper``.
      softmax_temperature: divides the logits; above 1 draws are more even.
      seed: seed of the draws.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns a drawn id for each example.

        Raises:
          TypeError: the outputs are not one tensor.
        """
        logits = _one_tensor(outputs)
        if self._softmax_temperature is not None:
            logits = logits / self._softmax_temperature
        return draws.categorical(logits, self._seed)


class InferenceHelper(Helper):
    """Feeds what a function makes of the outputs.

    Args:
      sample_fn: from outputs to samples.
      sample_shape: shape of a sample, without the batch.
      sample_dtype: type of a sample.
      start_inputs: inputs of the first step, [batch, ...].
      end_fn: from samples to bools [batch]: which sequences are over.
      next_inputs_fn: from samples to the next inputs; default the samples themselves.
    """

    def __init__(
        self,
        sample_fn: Any,
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Any,
        next_inputs_fn: Any = None,
    ) -> None:
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._sample_shape = shapes.TensorShape(sample_shape)
        self._sample_dtype, self._start_inputs = sample_dtype, start_inputs
        self._batch_size = nodes.element(shape.shape(start_inputs), 0)

    @property
    def batch_size(self) -> Any:
        """That of the first inputs."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """As given."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """As given."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> Any:
        """Returns that nothing is finished, and the first inputs."""
        return tile.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns what the function makes of the outputs."""
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns what ``end_fn`` says, and the next inputs."""
        next_inputs = sample_ids
        if self._next_inputs_fn is not None:
            next_inputs = self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), next_inputs, state


def _one_tensor(outputs: Any) -> Tensor:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return outputs
