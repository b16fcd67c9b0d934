"""Attention for the decoder of TensorFlow 1.0 (``steered``).

The output of a step is the attention vector: the cell's output beside what it saw of the encoder's,
through one linear layer. It is fed to the next step beside the input. Written from its documents.

Sources: Bahdanau et al., "Neural Machine Translation by Jointly Learning to Align and Translate";
Luong et al., "Effective Approaches to Attention-based Neural Machine Translation".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib.layers.dense import linear
from penstock.contrib.seq2seq.steered import Decider, Greedy
from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.scopes import name_scope
from penstock.library.ragged_tensors.dispatched import (
    concat,
    expand_dims,
    gather,
    reduce_sum,
    zeros_like,
)
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.linalg.matmul import matmul
from penstock.ops.math.elementwise import tanh
from penstock.ops.nn.softmax import softmax

ScoreFn = Callable[[Any, Any, Any], Any]


def prepare_attention(
    attention_states: Any, attention_option: str, num_units: int, reuse: bool | None = False
) -> tuple[Any, Any, ScoreFn, ScoreFn]:
    """Keys, values and functions for ``attention_decoder_fn_train`` and ``_inference``.

    Args:
      attention_states: floats [batch, time, size]: the encoder's outputs.
      attention_option: "bahdanau" (sum of v tanh(key + W query)) or "luong" (key times query).
      num_units: size of keys, which is that of the decoder's outputs.
      reuse: whether variables are those of an earlier call.

    Returns:
      ``(attention_keys, attention_values, attention_score_fn, attention_construct_fn)``.

    Raises:
      ValueError: another option.
    """
    with variable_scope("attention_keys", reuse=reuse) as scope:
        keys = linear(attention_states, num_units, biases_initializer=None, scope=scope)
    if attention_option not in ("bahdanau", "luong"):
        raise ValueError(
            f"Unknown attention option {attention_option!r}!: 'bahdanau' and 'luong' are known"
        )

    def score_fn(query: Any, keys: Any, values: Any) -> Any:
        with variable_scope("attention_score", reuse=reuse):
            if attention_option == "luong":
                scores = reduce_sum(keys * expand_dims(query, 1), [2])
            else:
                scores = _additive(query, keys, num_units)
            weights: Any = expand_dims(softmax(scores), 2)
            return reduce_sum(weights * values, [1])

    def construct_fn(query: Any, keys: Any, values: Any) -> Any:
        with variable_scope("attention_construct", reuse=reuse) as scope:
            context = score_fn(query, keys, values)
            both = concat([query, context], 1)
            return linear(both, num_units, biases_initializer=None, scope=scope)

    return keys, attention_states, score_fn, construct_fn


def _additive(query: Any, keys: Any, num_units: int) -> Any:
    dtype = query.dtype
    query_w = get_variable("attnW", [num_units, num_units], dtype=dtype)
    score_v = get_variable("attnV", [num_units], dtype=dtype)
    turned = expand_dims(matmul(query, query_w), 1)
    return reduce_sum(score_v * tanh(keys + turned), [2])


def _nothing_seen(encoder_state: Any) -> Any:
    """Zeros of the shape of the last layer's output, for the attention before the first step."""
    last = encoder_state
    while nest.is_sequence(last) and not hasattr(last, "h"):
        last = last[-1]
    return zeros_like(getattr(last, "h", last))


def attention_decoder_fn_train(
    encoder_state: Any,
    attention_keys: Any,
    attention_values: Any,
    attention_score_fn: ScoreFn,
    attention_construct_fn: ScoreFn,
    name: str | None = None,
) -> Decider:
    """A decoder_fn that attends and takes what is given.

    Args:
      encoder_state: the first state of the cell.
      attention_keys, attention_values, attention_score_fn, attention_construct_fn: what
        ``prepare_attention`` returned.
      name: name scope.
    """

    def decoder_fn(time: Any, state: Any, given: Any, output: Any, context: Any) -> Any:
        with name_scope(name, "attention_decoder_fn_train", [time, state, given, output]):
            if state is None:
                state, seen = encoder_state, _nothing_seen(encoder_state)
            else:
                seen = attention_construct_fn(output, attention_keys, attention_values)
                output = seen
            return None, state, concat([given, seen], 1), output, context

    return decoder_fn


def attention_decoder_fn_inference(
    output_fn: Callable[[Any], Any] | None,
    encoder_state: Any,
    attention_keys: Any,
    attention_values: Any,
    attention_score_fn: ScoreFn,
    attention_construct_fn: ScoreFn,
    embeddings: Any,
    start_of_sequence_id: int,
    end_of_sequence_id: int,
    maximum_length: int,
    num_decoder_symbols: int,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Decider:
    """A decoder_fn that attends and feeds the embedding of the likeliest symbol.

    Args:
      output_fn: from the attention vector to logits; None for as it is.
      encoder_state: the first state of the cell.
      attention_keys, attention_values, attention_score_fn, attention_construct_fn: what
        ``prepare_attention`` returned.
      embeddings: floats [symbols, depth].
      start_of_sequence_id, end_of_sequence_id, maximum_length, num_decoder_symbols, dtype: as for
        ``simple_decoder_fn_inference``.
      name: name scope.
    """
    greedy = Greedy(
        output_fn, embeddings, start_of_sequence_id, end_of_sequence_id, maximum_length,
        num_decoder_symbols, dtype,
    )  # fmt: skip

    def decoder_fn(time: Any, state: Any, given: Any, output: Any, context: Any) -> Any:
        with name_scope(name, "attention_decoder_fn_inference", [time, state, given, output]):
            greedy.refuse_inputs(given)
            if output is None:
                state, seen = encoder_state, _nothing_seen(encoder_state)
            else:
                output = seen = attention_construct_fn(output, attention_keys, attention_values)
            done, ids, emit = greedy.step(time, state, output)
            return done, state, concat([gather(embeddings, ids), seen], 1), emit, context

    return decoder_fn
