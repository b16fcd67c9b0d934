"""Attention mechanisms: how much a query looks at each element of a memory.

A mechanism keeps the memory (``values``) and what it makes of it once (``keys``); called with a
query and its own state, it gives alignments [batch, memory time] and its next state, which is the
alignments themselves.  Variables that scoring needs are made where the mechanism is called.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.contrib.seq2seq.dense import Dense, is_layer
from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.recurrent.cell import zeros_of
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import fill, join, nodes, onehot, ranks, reshape, shape, squeeze
from penstock.ops.control import check
from penstock.ops.linalg import matmul
from penstock.ops.math import elementwise, reduction, select
from penstock.ops.nn import softmax


class AttentionMechanism:
    """Interface of attention mechanisms."""

    @property
    def alignments_size(self) -> Any:
        """Length of the memory."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """Size of the mechanism's state."""
        raise NotImplementedError


class BaseAttentionMechanism(AttentionMechanism):
    """What the mechanisms share: memory, keys, masks.

    Args:
      query_layer: layer that the subclass applies to queries, or None.
      memory: [batch, time, ...] tensor.
      probability_fn: from (score, state) to alignments.
      memory_sequence_length: int vector [batch]: elements after it are zero, and not looked at.
      memory_layer: layer that makes the keys of the memory, or None.
      check_inner_dims_defined: whether all dims of the memory but the first two must be known.
      score_mask_value: score of elements not to be looked at; default -inf.
      custom_key_value_fn: from (keys, values) to (keys, values).

    Raises:
      TypeError: a layer is none.
      ValueError: dims of the memory are unknown.
    """

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Any,
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Any = None,
        name: str | None = None,
    ) -> None:
        for which, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not is_layer(layer):
                raise TypeError(f"{which} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn)}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self.dtype = dtypes.as_dtype(memory_layer.dtype if memory_layer else dtypes.float32)
        if score_mask_value is None:
            score_mask_value = self.dtype.as_numpy_dtype(-np.inf)
        with scopes.name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._lengths = None
            if memory_sequence_length is not None:
                self._lengths = convert_to_tensor(
                    memory_sequence_length, name="memory_sequence_length"
                )
            self._values = _prepared(memory, self._lengths, check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = dim_of(self._keys, 0)
            self._alignments_size = dim_of(self._keys, 1)
        self._unmasked_fn, self._score_mask_value = probability_fn, score_mask_value

    def _probability_fn(self, score: Any, previous: Any) -> Any:
        if self._lengths is not None:
            score = _masked(score, self._lengths, self._score_mask_value)
        return self._unmasked_fn(score, previous)

    @property
    def memory_layer(self) -> Any:
        """The layer that makes the keys."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer applied to queries."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory, zero after the end of each sequence."""
        return self._values

    @property
    def keys(self) -> Any:
        """What queries are compared with."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """Batch size of the memory, an int if it is known."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """Length of the memory, an int if it is known."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """Size of the mechanism's state: that of the alignments."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Alignments before the first step: zeros."""
        return zeros_of(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """State before the first step: the initial alignments."""
        return self.initial_alignments(batch_size, dtype)


class LuongAttention(BaseAttentionMechanism):
    """Scores by the product of query and key (Luong et al., 2015).

    Args:
      num_units: size of keys, which must be that of queries.
      memory: [batch, time, size] tensor.
      memory_sequence_length: int vector [batch].
      scale: whether scores are multiplied with a trained scalar.
      probability_fn: from scores to alignments; default softmax.
      score_mask_value: score of elements after the end; default -inf.
      dtype: type of the memory layer; default float32.
      custom_key_value_fn: from (keys, values) to (keys, values).

    Raises:
      ValueError: query and keys differ in size (when called).
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=unbiased(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=stateless(probability_fn or softmax.softmax),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Returns the alignments of ``query`` [batch, size], twice: they are the next state."""
        with variable_scope(None, "luong_attention", [query]):
            score = luong_score(query, self._keys, self._scale)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class BahdanauAttention(BaseAttentionMechanism):
    """Scores by ``v tanh(W query + key)`` (Bahdanau et al., 2015).

    Args:
      num_units: size of keys and of the projected query.
      memory: [batch, time, size] tensor.
      memory_sequence_length: int vector [batch].
      normalize: whether ``v`` is normalized (Salimans and Kingma, 2016) and a bias added.
      probability_fn: from scores to alignments; default softmax.
      score_mask_value: score of elements after the end; default -inf.
      dtype: type of the layers; default float32.
      custom_key_value_fn: from (keys, values) to (keys, values).
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str = "BahdanauAttention",
    ) -> None:
        super().__init__(
            query_layer=unbiased(num_units, "query_layer", dtype),
            memory_layer=unbiased(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=stateless(probability_fn or softmax.softmax),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Returns the alignments of ``query`` [batch, size], twice: they are the next state."""
        with variable_scope(None, "bahdanau_attention", [query]):
            score = bahdanau_score(
                query, self._query_layer, self._keys, self._num_units, self._normalize
            )
        alignments = self._probability_fn(score, state)
        return alignments, alignments


# ---- scores --------------------------------------------------------------------------------------


def luong_score(query: Any, keys: Any, scale: bool) -> Tensor:
    """Products of a query [batch, size] with keys [batch, time, size].

    Raises:
      ValueError: their sizes differ.
    """
    gain = None
    if scale:
        ones = initializers.ones_initializer()
        gain = get_variable("attention_g", shape=(), dtype=query.dtype, initializer=ones)
    size = dimension.dimension_value(query.get_shape()[-1])
    units = dimension.dimension_value(keys.get_shape()[-1])
    if size is None or size != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  Query"
            f" ({query}) has units: {size}.  Keys ({keys}) have units: {units}.  Perhaps you need"
            f" to set num_units to the keys' dimension ({units})?"
        )
    score = matmul.matmul(reshape.expand_dims(query, 1), keys, transpose_b=True)
    score = squeeze.squeeze(score, [1])
    return score if gain is None else gain * score


def bahdanau_score(
    query: Any, query_layer: Any, keys: Any, num_units: int, normalize: bool
) -> Tensor:
    """``sum(v tanh(keys + projected query + b))`` over the last dim."""
    projected = query_layer(query) if query_layer else query
    dtype = query.dtype
    v = get_variable("attention_v", [num_units], dtype=dtype)
    if normalize:
        size = initializers.constant_initializer(math.sqrt(1.0 / num_units))
        gain = get_variable("attention_g", shape=(), dtype=dtype, initializer=size)
        zeros = initializers.zeros_initializer()
        b = get_variable("attention_b", [num_units], dtype=dtype, initializer=zeros)
    projected = reshape.expand_dims(projected, 1)
    if normalize:
        v = gain * v * elementwise.rsqrt(reduction.reduce_sum(elementwise.square(v)))
        inner = elementwise.tanh(keys + projected + b)
    else:
        inner = elementwise.tanh(keys + projected)
    score: Tensor = reduction.reduce_sum(v * inner, [2])
    return score


# ---- what all share ------------------------------------------------------------------------------


def unbiased(num_units: int, name: str, dtype: Any) -> Dense:
    """A layer without bias, of floats if no type is given."""
    return Dense(num_units, name=name, use_bias=False, dtype=dtype or dtypes.float32)


def stateless(probability_fn: Any) -> Any:
    """A function of scores as one of scores and state."""
    return lambda score, _: probability_fn(score)


def dim_of(tensor: Any, axis: int) -> Any:
    """A dim: an int if it is known, else a tensor."""
    known = dimension.dimension_value(shapes.dimension_at_index(tensor.get_shape(), axis))
    return known or nodes.element(shape.shape(tensor), axis)


def _prepared(memory: Any, lengths: Any, check_inner_dims: bool) -> Any:
    """The memory as tensors, zero after the end of each sequence."""
    memory = nest.map_structure(lambda one: convert_to_tensor(one, name="memory"), memory)
    if check_inner_dims:
        for one in nest.flatten(memory):
            if not one.get_shape()[2:].is_fully_defined():
                raise ValueError(
                    f"Expected memory {one.name} to have fully defined inner dims, but saw shape:"
                    f" {one.get_shape()}"
                )
    if lengths is None:
        return memory
    first = nest.flatten(memory)[0]
    longest = nodes.element(shape.shape(first), 1)
    mask = onehot.sequence_mask(lengths, maxlen=longest, dtype=first.dtype)
    return nest.map_structure(lambda one: _zeroed(one, mask), memory)


def _zeroed(memory: Any, mask: Any) -> Tensor:
    ndims = memory.get_shape().ndims
    rank: Any = ranks.rank(memory) if ndims is None else ndims
    ones = fill.ones(rank - 2, dtype=dtypes.int32)
    mask = reshape.reshape(mask, join.concat((shape.shape(mask), ones), 0))
    made: Tensor = memory * mask
    return made


def _masked(score: Any, lengths: Any, value: Any) -> Tensor:
    """``score`` with ``value`` after the end of each sequence."""
    message = "All values in memory_sequence_length must greater than zero."
    with scopes.control_dependencies([check.assert_positive(lengths, message=message)]):
        longest = nodes.element(shape.shape(score), 1)
        mask = onehot.sequence_mask(lengths, maxlen=longest)
    return select.where(mask, score, value * elementwise.ones_like(score))
