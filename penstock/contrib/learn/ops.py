"""``tf.contrib.learn.ops``: embeddings, and the last layers of models with their losses."""

from __future__ import annotations

from typing import Any

from penstock.contrib.learn.older_ops import (
    conv2d as conv2d,
    dnn as dnn,
    one_hot_matrix as one_hot_matrix,
    rnn_decoder as rnn_decoder,
    rnn_seq2seq as rnn_seq2seq,
    split_squeeze as split_squeeze,
)
from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.nn import losses
from penstock.library.nn.softmax_cross_entropy import softmax_cross_entropy_with_logits
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join, reshape as reshaping, squeeze
from penstock.ops.array.fill import zeros
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.split import unstack
from penstock.ops.linalg.matmul import matmul
from penstock.ops.math.addn import add_n
from penstock.ops.math.binary import multiply
from penstock.ops.math.reduction import reduce_sum
from penstock.ops.math.reductions import reduce_prod
from penstock.ops.nn import embedding
from penstock.ops.nn.bias import bias_add
from penstock.ops.nn.softmax import softmax


def _affine(x: Any, weights: Any, biases: Any) -> Any:
    with scopes.name_scope(None, "xw_plus_b", [x, weights, biases]) as name:
        return bias_add(matmul(convert_to_tensor(x), weights), biases, name=name)


def mean_squared_error_regressor(
    tensor_in: Any, labels: Any, weights: Any, biases: Any, name: str | None = None
) -> tuple[Any, Any]:
    """Numbers of a linear layer, and their mean squared error.

    Args:
      tensor_in: [batch, features].
      labels: [batch] or [batch, outputs].
      weights, biases: of the layer.
      name: name scope.

    Returns:
      The predictions, and the loss.
    """
    with scopes.name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = _affine(tensor_in, weights, biases)
        if len(labels.get_shape()) == 1 and len(predictions.get_shape()) == 2:
            predictions = squeeze.squeeze(predictions, axis=[1])
        return predictions, losses.mean_squared_error(labels, predictions)


def softmax_classifier(
    tensor_in: Any,
    labels: Any,
    weights: Any,
    biases: Any,
    class_weight: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Probabilities of a linear layer, and their cross entropy.

    Args:
      tensor_in: [batch, features].
      labels: [batch, classes], a distribution each.
      weights, biases: of the layer.
      class_weight: [classes] what logits are multiplied with, or None.
      name: name scope.

    Returns:
      The probabilities, and the loss.
    """
    with scopes.name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = _affine(tensor_in, weights, biases)
        if class_weight is not None:
            logits = multiply(logits, class_weight)
        return softmax(logits), losses.softmax_cross_entropy(labels, logits)


def embedding_lookup(params: Any, ids: Any, name: str = "embedding_lookup") -> Any:
    """The vector of each id, in the shape of the ids.

    Args:
      params: [ids, size].
      ids: integers of any shape.
      name: name scope.
    """
    with scopes.name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = convert_to_tensor(params), convert_to_tensor(ids)
        dims = shape_of(ids)
        flat = reshaping.reshape(ids, reduce_prod(dims, keepdims=True))
        found = embedding.embedding_lookup(params, flat, name="embedding_lookup")
        return reshaping.reshape(found, join.concat([dims, [-1]], 0))


def categorical_variable(tensor_in: Any, n_classes: int, embedding_size: int, name: str) -> Any:
    """Embeds ids below ``n_classes``.

    Args:
      tensor_in: integers of any shape.
      n_classes: how many ids there are.
      embedding_size: size of the vectors.
      name: variable scope; the variable is ``NAME_embeddings`` in it.

    Returns:
      The vectors.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     made = tf.contrib.learn.ops.categorical_variable(tf.constant([1, 2]), 5, 3, "word")
      ...     tf.trainable_variables()[0].name
      'word/word_embeddings:0'
    """
    with variable_scope(name):
        vectors = get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(vectors, tensor_in)


def seq2seq_inputs(
    x: Any,
    y: Any,
    input_length: int,
    output_length: int,
    sentinel: Any = None,
    name: str | None = None,
) -> tuple[list[Any], list[Any], list[Any]]:
    """Sequences as lists of steps, for ``tf.contrib.legacy_seq2seq``.

    Args:
      x: [batch, input_length, ...].
      y: [batch, output_length, ...].
      input_length, output_length: how many steps there are.
      sentinel: what begins inputs of the decoder and ends its outputs; default zeros.
      name: name scope.

    Returns:
      Inputs of the encoder, and inputs and outputs of the decoder.
    """
    with scopes.name_scope(name, "seq2seq_inputs", [x, y]):
        into = unstack(x, num=input_length, axis=1)
        steps = unstack(y, num=output_length, axis=1)
        if sentinel is None:
            sentinel = zeros(shape_of(steps[0]), dtypes.float32)
            sentinel.set_shape(steps[0].get_shape())
        return list(into), [sentinel, *steps], [*steps, sentinel]


def sequence_classifier(
    decoding: Any, labels: Any, sampling_decoding: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """Probabilities of a sequence's steps, and their cross entropy.

    Args:
      decoding: logits [batch, classes] of each step, in training.
      labels: distributions [batch, classes] of each step.
      sampling_decoding: the logits that predictions are made of; default ``decoding``.
      name: name scope.

    Returns:
      Probabilities [batch, steps, classes], and the loss, a sum.
    """
    with scopes.name_scope(name, "sequence_classifier", [*decoding, *labels]):
        found, entropies = [], []
        for number, logits in enumerate(decoding):
            entropies.append(
                softmax_cross_entropy_with_logits(
                    labels=labels[number], logits=logits, name=f"sequence_loss/xent_raw{number}"
                )
            )
            shown = logits if sampling_decoding is None else sampling_decoding[number]
            found.append(softmax(shown))
        loss = reduce_sum(add_n(entropies), name="sequence_loss")
        return join.stack(found, axis=1), loss
