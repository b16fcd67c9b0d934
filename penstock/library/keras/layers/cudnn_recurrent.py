"""``CuDNNLSTM`` and ``CuDNNGRU``: recurrent layers whose steps are one node.

TensorFlow has the kernel of that node for GPUs alone; here it runs anywhere. Each gate has two
biases, one of the input and one of the state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import constant, make
from penstock.library.keras.layers.cells import WEIGHTS, WithGates, with_ones
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.keras.layers.recurrent import RNN
from penstock.library.layer_base import regularizers
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import join, reshape, transpose


class _Sizes(NamedTuple):
    """What a recurrent layer asks of a cell."""

    state_size: Any
    output_size: int


class _CuDNN(WithGates, RNN):
    """What both layers share.

    Args:
      units: size of the output.
      kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: of the weights.
      activity_regularizer: function of the output whose result is a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: of the weights.
      return_sequences, return_state, go_backwards, stateful: as of ``RNN``.
      **kwargs: ``time_major``, whether time comes before the batch; as of a layer.
    """

    _mode = "lstm"
    # The order in which the node wants the gates that stand beside each other in a weight.
    _order: tuple[int, ...] = (0, 1, 2, 3)

    def __init__(
        self,
        units: int,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        given = locals()
        time_major = kwargs.pop("time_major", False)
        # There is no cell that ``RNN`` could take.
        Layer.__init__(self, activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.units = units
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.time_major = go_backwards, time_major
        self.stateful, self.supports_masking = stateful, False
        self.input_spec = [InputSpec(ndim=3)]
        set_weight_arguments(self, WEIGHTS, given)

    @property
    def cell(self) -> Any:
        """The sizes of states and output."""
        size = (self.units, self.units) if self._mode == "lstm" else self.units
        return _Sizes(size, self.units)

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel``, ``recurrent_kernel`` and ``bias`` [2 * gates * units]."""
        dims = shapes.as_shape(input_shape).as_list()
        self.input_spec = [InputSpec(shape=(None, None, dims[-1]))]
        wide = len(self._order) * self.units
        self.kernel = self._weight("kernel", "kernel", (dims[-1], wide))
        self.recurrent_kernel = self._weight("recurrent_kernel", "recurrent", (self.units, wide))
        self.bias = self._weight("bias", "bias", (2 * wide,))
        self.built = True

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None,
        constants: Any = None,
    ) -> Any:  # fmt: skip
        """The last output or all; with the states, if they are asked for.

        Raises:
          ValueError: a mask; constants; another number of states than the layer has.
        """
        if constants is not None:
            raise ValueError("RNN cell does not support constants")
        if (mask[0] if isinstance(mask, list) else mask) is not None:
            raise ValueError("Masking is not supported for CuDNN RNNs.")
        kept, states = self._first_states(inputs, initial_state)
        if self.go_backwards:
            inputs = transpose.reverse(inputs, [1])
        if not self.time_major:
            inputs = transpose.transpose(inputs, [1, 0, 2])
        outputs, new = self._stepped(inputs, states)
        if kept:
            changes = zip(kept, new, strict=True)
            self.add_update([one.assign(state) for one, state in changes], inputs)
        if not self.return_sequences:
            output = outputs[-1]
        else:
            output = outputs if self.time_major else transpose.transpose(outputs, [1, 0, 2])
        return [output, *new] if self.return_state else output

    def _stepped(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """All outputs, time first, and the last states."""
        first = [reshape.expand_dims(state, 0) for state in states]
        memory = first[1] if self._mode == "lstm" else constant(0.0, inputs.dtype)
        outputs, h, c, *_ = make(
            "CudnnRNNV2", inputs, first[0], memory, self._parameters(), rnn_mode=self._mode,
            is_training=True,
        )  # fmt: skip
        return outputs, [one[0] for one in ((h, c) if self._mode == "lstm" else (h,))]

    def _parameters(self) -> Any:
        """The weights as the node wants them: matrices gate by gate, then the biases."""
        units, gates = self.units, len(self._order)
        parts = []
        for kernel in (self.kernel, self.recurrent_kernel):
            for gate in self._order:
                matrix = kernel[:, gate * units : (gate + 1) * units]
                parts.append(reshape.reshape(transpose.transpose(matrix, [1, 0]), [-1]))
        for start in (0, gates):
            for gate in self._order:
                at = (start + gate) * units
                parts.append(self.bias[at : at + units])
        return join.concat(parts, 0)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return Layer.get_config(self) | {
            "return_sequences": self.return_sequences, "return_state": self.return_state,
            "go_backwards": self.go_backwards, "stateful": self.stateful,
            "time_major": self.time_major, "units": self.units, **weight_config(self, WEIGHTS),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
        }  # fmt: skip


class CuDNNLSTM(_CuDNN):
    """``LSTM`` with logistic gates as one node.

    Its numbers are those of ``LSTM(units, recurrent_activation="sigmoid")`` with the same kernels
    and the sum of both halves of the bias.

    Args:
      units: size of the output.
      kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
      unit_forget_bias: whether the forget gate's bias is 1 at first.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: of the weights.
      activity_regularizer: function of the output whose result is a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: of the weights.
      return_sequences, return_state, go_backwards, stateful: as of ``RNN``.
      **kwargs: ``time_major``, whether time comes before the batch; as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.CuDNNLSTM(4)
      ...     layer(tf.zeros([2, 5, 3])).shape.as_list(), layer.bias.shape.as_list()
      ([2, 4], [32])

    Source: Hochreiter and Schmidhuber 1997.
    """

    def __init__(
        self,
        units: int,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units, kernel_initializer, recurrent_initializer, bias_initializer, kernel_regularizer,
            recurrent_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
            recurrent_constraint, bias_constraint, return_sequences, return_state, go_backwards,
            stateful, **kwargs,
        )  # fmt: skip
        self.unit_forget_bias = unit_forget_bias

    def _initializer_of(self, weight: str) -> Any:
        found = super()._initializer_of(weight)
        if weight != "bias" or not self.unit_forget_bias:
            return found

        return with_ones(found, 5, 2, self.units)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"unit_forget_bias": self.unit_forget_bias}


class CuDNNGRU(_CuDNN):
    """``GRU`` with logistic gates, the reset gate after the product, as one node.

    Its numbers are those of ``GRU(units, recurrent_activation="sigmoid", reset_after=True)`` with
    the same kernels and the bias as two rows. Arguments as of ``CuDNNLSTM``, without
    ``unit_forget_bias``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.CuDNNGRU(4, return_sequences=True)
      ...     layer(tf.zeros([2, 5, 3])).shape.as_list(), layer.bias.shape.as_list()
      ([2, 5, 4], [24])

    Source: Cho et al. 2014.
    """

    _mode = "gru"
    _order = (1, 0, 2)
