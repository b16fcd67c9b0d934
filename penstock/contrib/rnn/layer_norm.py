"""Layer normalization of gates, and ``LayerNormBasicLSTMCell``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn import normalization
from penstock.library.recurrent.cell import LSTMStateTuple, PairOfUnits, RNNCell
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join, split
from penstock.ops.linalg import matmul
from penstock.ops.math import elementwise
from penstock.ops.nn import bias, dropout


def layer_norm(inp: Tensor, scope: str, gain: float, shift: float, dtype: Any) -> Any:
    """Layer normalization (Ba et al., 2016) over the last dim, with ``gamma`` and ``beta``.

    Args:
      inp: [batch, units].
      scope: variable scope of gamma and beta.
      gain, shift: their initial values.
      dtype: their type.
    """
    shape = inp.get_shape()[-1:]
    gain_init = initializers.constant_initializer(gain)
    shift_init = initializers.constant_initializer(shift)
    with variable_scope(scope):
        get_variable("gamma", shape=shape, initializer=gain_init, dtype=dtype)
        get_variable("beta", shape=shape, initializer=shift_init, dtype=dtype)
    with variable_scope(scope, reuse=True):
        beta = get_variable("beta", shape=shape, dtype=dtype)
        gamma = get_variable("gamma", shape=shape, dtype=dtype)
        mean, variance = normalization.moments(inp, [1], keep_dims=True)
        epsilon = 1e-3 if inp.dtype.base_dtype is dtypes.float16 else 1e-12
        made = normalization.batch_normalization(
            inp, mean, variance, offset=beta, scale=gamma, variance_epsilon=epsilon
        )
        made.set_shape(inp.get_shape())
    return made


class LayerNormBasicLSTMCell(PairOfUnits, RNNCell):
    """LSTM with layer normalization of its gates and memory, and recurrent dropout.

    Ba et al., 2016, and Semeniuta et al., 2016: dropout applies to the new input of the memory, so
    that what is remembered is not lost.

    Args:
      num_units: size of the output and of both parts of the state.
      forget_bias: added to the forget gate's.
      input_size: not used any more.
      activation: of new input and memory.
      layer_norm: whether to normalize; else there is a bias.
      norm_gain, norm_shift: initial gain and shift.
      dropout_keep_prob: probability that an element of the new input is kept; a float or a tensor.
      dropout_prob_seed: seed of the draws.
      reuse: whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Any = elementwise.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift

    def _gates(self, args: Tensor) -> Tensor:
        width = 4 * self._num_units
        kernel = get_variable("kernel", [args.get_shape()[-1], width], dtype=args.dtype)
        made = matmul.matmul(args, kernel)
        if not self._layer_norm:
            made = bias.bias_add(made, get_variable("bias", [width], dtype=args.dtype))
        return made

    def _normalized(self, value: Any, scope: str) -> Any:
        if not self._layer_norm:
            return value
        return layer_norm(value, scope, self._gain, self._shift, value.dtype.base_dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        c, h = state
        gates = self._gates(join.concat([inputs, h], 1))
        i, j, f, o = (
            self._normalized(gate, scope)
            for gate, scope in zip(
                split.split(value=gates, num_or_size_splits=4, axis=1),
                ("input", "transform", "forget", "output"),
                strict=True,
            )
        )
        sigmoid, new = elementwise.sigmoid, self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = dropout.dropout(new, self._keep_prob, seed=self._seed)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * new
        new_c = self._normalized(new_c, "state")
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)
