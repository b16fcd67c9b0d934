"""Monotonic attention (Raffel et al., 2017): from step to step it only moves forward."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.contrib.seq2seq.attention import (
    BaseAttentionMechanism,
    bahdanau_score,
    dim_of,
    luong_score,
    unbiased,
)
from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.functional import scan
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import cast, fill, join, onehot, reshape, shape, transpose
from penstock.ops.math import clip, cumulative, elementwise
from penstock.ops.random import random


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Tensor:
    """The cumulative product of numbers in (0, 1], in logarithms so that none underflows.

    Args:
      x: float tensor.
      *args, **kwargs: for ``tf.cumsum``: axis, exclusive, reverse, name.
    """
    with scopes.name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        logs = elementwise.log(clip.clip_by_value(x, tiny, 1))
        made: Tensor = elementwise.exp(cumulative.cumsum(logs, *args, **kwargs))
        return made


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Tensor:
    """The distribution of a process that walks over the memory and stops somewhere.

    Args:
      p_choose_i: [batch, time], probability of stopping at an element once there.
      previous_attention: [batch, time], where it was before.
      mode: "recursive" (exact, a loop over the memory), "parallel" (exact but for tiny
        probabilities) or "hard" (for probabilities that are 0 or 1).

    Returns:
      [batch, time].

    Raises:
      ValueError: another mode.
    """
    p: Any = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return _recursive(p, previous)
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        made: Tensor = (
            p
            * passed
            * cumulative.cumsum(previous / clip.clip_by_value(passed, 1e-10, 1.0), axis=1)
        )
        return made
    if mode == "hard":
        p = p * cumulative.cumsum(previous, axis=1)
        hard: Tensor = p * cumulative.cumprod(1 - p, axis=1, exclusive=True)
        return hard
    raise ValueError(f"mode must be 'recursive', 'parallel', or 'hard'; found {mode!r}")


def _recursive(p: Any, previous: Any) -> Tensor:
    batch_size = dim_of(p, 0)
    shifted = join.concat([fill.ones((batch_size, 1)), 1 - p[:, :-1]], 1)
    arrived = scan(
        lambda x, yz: reshape.reshape(yz[0] * x + yz[1], (batch_size,)),
        [transpose.transpose(shifted), transpose.transpose(previous)],
        fill.zeros((batch_size,)),
    )
    attention: Tensor = p * transpose.transpose(arrived)
    return attention


def _probability_fn(noise: float, mode: str, seed: int | None) -> Any:
    """The function from (score, previous alignments) to alignments."""

    def alignments(score: Any, previous: Any) -> Tensor:
        if noise > 0:
            drawn: Any = random.random_normal(shape.shape(score), dtype=score.dtype, seed=seed)
            score = score + noise * drawn
        if mode == "hard":
            p = cast.cast(score > 0, score.dtype)
        else:
            p = elementwise.sigmoid(score)
        return monotonic_attention(p, previous, mode)

    return alignments


class BaseMonotonicAttentionMechanism(BaseAttentionMechanism):
    """A mechanism that begins at the first element of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """All weight on the first element."""
        zeros = fill.zeros((batch_size,), dtype=dtypes.int32)
        return onehot.one_hot(zeros, self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(BaseMonotonicAttentionMechanism):
    """Monotonic attention with Bahdanau's score.

    Args:
      num_units, memory, memory_sequence_length, normalize, score_mask_value, dtype, name: as of
        ``BahdanauAttention``.
      sigmoid_noise: standard deviation of noise added to scores, which makes them large.
      sigmoid_noise_seed: its seed.
      score_bias_init: first value of a scalar added to scores.
      mode: as of ``monotonic_attention``.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=unbiased(num_units, "query_layer", dtype),
            memory_layer=unbiased(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_probability_fn(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Returns the alignments of ``query`` [batch, size], twice: they are the next state."""
        with variable_scope(None, "bahdanau_monotonic_attention", [query]):
            score = bahdanau_score(
                query, self._query_layer, self._keys, self._num_units, self._normalize
            )
            score = score + _score_bias(query, self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongMonotonicAttention(BaseMonotonicAttentionMechanism):
    """Monotonic attention with Luong's score.

    Args:
      num_units, memory, memory_sequence_length, scale, score_mask_value, dtype, name: as of
        ``LuongAttention``.
      sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode: as of
        ``BahdanauMonotonicAttention``.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=unbiased(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_probability_fn(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Returns the alignments of ``query`` [batch, size], twice: they are the next state."""
        with variable_scope(None, "luong_monotonic_attention", [query]):
            score = luong_score(query, self._keys, self._scale)
            score = score + _score_bias(query, self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _score_bias(query: Any, first: float) -> Any:
    return get_variable("attention_score_bias", dtype=query.dtype, initializer=first)
