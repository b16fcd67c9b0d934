"""Cells that compute what one layer of ``CudnnLSTM`` or ``CudnnGRU`` computes, a step a call."""

from __future__ import annotations

from typing import Any

from penstock.contrib.rnn.block import LSTMBlockCell
from penstock.library.recurrent.basic import GRUCell
from penstock.library.recurrent.cell import check_floating, input_depth
from penstock.library.variables import initializers
from penstock.ops.array import join, split
from penstock.ops.linalg import matmul
from penstock.ops.math import elementwise
from penstock.ops.nn import bias


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An ``LSTMBlockCell`` that adds nothing to the forget gate and has no peepholes.

    Args:
      num_units: size of the output and of both parts of the state.
      reuse: whether the variables exist already.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     cell = tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(3)
      ...     outputs, _ = cell(tf.zeros([2, 4]), cell.zero_state(2, tf.float32))
      ...     outputs.shape.as_list(), [v.name for v in cell.trainable_variables]
      ([2, 3], ['cudnn_compatible_lstm_cell/kernel:0', 'cudnn_compatible_lstm_cell/bias:0'])
    """

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(
            num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse,
            name="cudnn_compatible_lstm_cell",
        )  # fmt: skip


class CudnnCompatibleGRUCell(GRUCell):
    """A GRU whose reset gate multiplies the state's product instead of the state.

    The candidate is ``tanh(x W + b_w + r (h R + b_r))``, where ``GRUCell`` has
    ``tanh([x, r h] W + b)``.

    Args:
      num_units: size of output and state.
      reuse: whether the variables exist already.
      kernel_initializer: of all kernels.
    """

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None) -> None:
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape: Any) -> None:
        """Makes the kernels and biases of the gates and of both parts of the candidate."""
        depth, units = input_depth(inputs_shape), self._num_units
        ones = initializers.constant_initializer(1.0, dtype=self.dtype)
        zeros = initializers.zeros_initializer(dtype=self.dtype)
        self._gate_kernel = self._kernel("gates", [depth + units, 2 * units])
        self._gate_bias = self.add_variable("gates/bias", [2 * units], initializer=ones)
        self._input_kernel = self._kernel("candidate/input_projection", [depth, units])
        self._hidden_kernel = self._kernel("candidate/hidden_projection", [units, units])
        self._input_bias, self._hidden_bias = (
            self.add_variable(f"candidate/{part}_projection/bias", [units], initializer=zeros)
            for part in ("input", "hidden")
        )
        self.built = True

    def _kernel(self, name: str, shape: list[int]) -> Any:
        return self.add_variable(f"{name}/kernel", shape, initializer=self._kernel_initializer)

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        check_floating([inputs, state])
        gates = matmul.matmul(join.concat([inputs, state], 1), self._gate_kernel)
        gates = elementwise.sigmoid(bias.bias_add(gates, self._gate_bias))
        r, u = split.split(value=gates, num_or_size_splits=2, axis=1)
        of_inputs = bias.bias_add(matmul.matmul(inputs, self._input_kernel), self._input_bias)
        of_state = bias.bias_add(matmul.matmul(state, self._hidden_kernel), self._hidden_bias)
        new = (1 - u) * self._activation(of_inputs + r * of_state) + u * state
        return new, new
