"""What ``tf.contrib.learn.ops`` had until TensorFlow 0.9: layers of small networks, and sequences.

TensorFlow 1.15 has only the sequences still; for new programs there are ``tf.layers``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.contrib.layers import batch_normalization
from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.nn import conv
from penstock.library.recurrent.static import static_rnn
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import onehot, split
from penstock.ops.array.cast import cast
from penstock.ops.linalg.matmul import matmul
from penstock.ops.math.sums import add
from penstock.ops.nn.activation import relu
from penstock.ops.nn.bias import bias_add
from penstock.ops.nn.dropout import dropout as drop

# Whether the graph trains: what estimators of that time left for layers.
IS_TRAINING = "IS_TRAINING"


def _is_training() -> bool:
    said = collecting.get_collection(IS_TRAINING)
    return bool(said[-1]) if said else True


def one_hot_matrix(
    tensor_in: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0
) -> Any:
    """One-hot vectors of class numbers.

    Args:
      tensor_in: numbers of any shape.
      num_classes: size of the vectors.
      on_value, off_value: what they are made of.
    """
    return onehot.one_hot(cast(tensor_in, dtypes.int64), num_classes, on_value, off_value)


def split_squeeze(dim: int, num_split: int, tensor_in: Any) -> list[Any]:
    """The slices of a tensor along a dim, without that dim.

    Args:
      dim: which dim.
      num_split: its size.
      tensor_in: the tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.contrib.learn.ops.split_squeeze(1, 2, [[1, 2], [3, 4]]))
      [array([1, 3], dtype=int32), array([2, 4], dtype=int32)]
    """
    return list(split.unstack(tensor_in, num_split, axis=dim))


def dnn(
    tensor_in: Any,
    hidden_units: Sequence[int],
    activation: Callable[[Any], Any] = relu,
    dropout: float | None = None,
) -> Any:
    """Fully connected layers on each other; their variables are ``dnn/layer0/Linear/Matrix``....

    Args:
      tensor_in: [batch, features].
      hidden_units: size of each layer.
      activation: what follows each.
      dropout: share of each layer's outputs that is dropped while training.
    """
    with variable_scope("dnn"):
        tensor_in = convert_to_tensor(tensor_in)
        for number, size in enumerate(hidden_units):
            with variable_scope(f"layer{number}"):
                tensor_in = activation(_linear(tensor_in, size))
                if dropout is not None and _is_training():
                    tensor_in = drop(tensor_in, keep_prob=1.0 - dropout)
    return tensor_in


def _linear(tensor_in: Any, size: int) -> Any:
    with variable_scope("Linear"):
        shape = [dimension_value(tensor_in.shape[-1]), size]
        weights = get_variable("Matrix", shape, tensor_in.dtype)
        return bias_add(matmul(tensor_in, weights), get_variable("Bias", [size], tensor_in.dtype))


def conv2d(
    tensor_in: Any,
    n_filters: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: str = "SAME",
    bias: bool = True,
    activation: Callable[[Any], Any] | None = None,
    batch_norm: bool = False,
) -> Any:
    """A convolution of images.

    Args:
      tensor_in: [batch, height, width, channels].
      n_filters: how many channels come out.
      filter_shape: height and width of the filters.
      strides: of the four dims; default ones.
      padding: "SAME" or "VALID".
      bias: whether a number is added to each channel.
      activation: what follows, or None.
      batch_norm: whether channels are normalized before that.
    """
    with variable_scope("convolution"):
        tensor_in = convert_to_tensor(tensor_in)
        shape = [*filter_shape, dimension_value(tensor_in.shape[3]), n_filters]
        filters = get_variable("filters", shape, dtypes.float32)
        found = conv.conv2d(tensor_in, filters, strides or [1, 1, 1, 1], padding)
        if bias:
            found = add(found, get_variable("bias", [1, 1, 1, n_filters], dtypes.float32))
        if batch_norm:
            found = _normalized(found)
        return found if activation is None else activation(found)


def _normalized(tensor: Any) -> Any:
    return batch_normalization.batch_norm(
        tensor, is_training=_is_training(), updates_collections=None
    )


def rnn_decoder(
    decoder_inputs: Sequence[Any], initial_state: Any, cell: Any, scope: Any = None
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """A decoder, once fed with what it should say, and once with what it says.

    Args:
      decoder_inputs: [batch, size] of each step.
      initial_state: the state that it begins with.
      cell: a cell whose outputs are as large as its inputs.
      scope: variable scope; default "dnn_decoder".

    Returns:
      Outputs and states in training, then outputs and states in sampling.
    """
    with variable_scope(scope or "dnn_decoder"):
        with scopes.name_scope("training", values=[*decoder_inputs, initial_state]):
            outputs, states = _decoded(cell, list(decoder_inputs), [initial_state])
        # As in TensorFlow the second step that is sampled begins with the first state again.
        sampled, sampled_states = outputs[:1], [initial_state, initial_state]
        get_variable_scope().reuse_variables()
        with scopes.name_scope("sampling", values=[initial_state]):
            for _ in decoder_inputs[1:]:
                said, sampled_states = _decoded(cell, sampled[-1:], sampled_states)
                sampled += said
    return outputs, states, sampled, sampled_states


def _decoded(cell: Any, inputs: list[Any], states: list[Any]) -> tuple[list[Any], list[Any]]:
    outputs = []
    for each in inputs:
        output, state = cell(each, states[-1])
        outputs.append(output)
        states = [*states, state]
    return outputs, states


def rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    encoder_cell: Any,
    decoder_cell: Any = None,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """A recurrent network whose last state begins a decoder.

    Args:
      encoder_inputs, decoder_inputs: [batch, size] of each step.
      encoder_cell: the cell of the network.
      decoder_cell: of the decoder; default ``encoder_cell``.
      dtype: element type of the first state.
      scope: variable scope; default "rnn_seq2seq".

    Returns:
      As ``rnn_decoder``.
    """
    with variable_scope(scope or "rnn_seq2seq"):
        _, state = static_rnn(encoder_cell, list(encoder_inputs), dtype=dtype)
        return rnn_decoder(decoder_inputs, state, decoder_cell or encoder_cell)
