"""Recurrent networks of several layers and directions, as one op with flat parameters."""

from __future__ import annotations

import os
from typing import Any

from penstock.contrib.cudnn_rnn.converters import (
    BIDIRECTIONAL,
    CONVERTERS,
    LINEAR_INPUT,
    UNIDIRECTIONAL,
)
from penstock.contrib.cudnn_rnn.saveables import SAVEABLES
from penstock.foundation.base import dtypes
from penstock.foundation.base.shapes import as_shape
from penstock.foundation.graph.build import make
from penstock.foundation.graph.collecting import add_to_collection
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.seeds import get_seed
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.scoped import Layer
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import (
    constant_initializer,
    glorot_uniform_initializer,
)
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import fill, nodes, shape
from penstock.ops.array.constant import constant

_INPUT_MODES = (LINEAR_INPUT, "skip_input", "auto_select")


class _CudnnRNN(Layer):
    """What the networks of all kinds of cells share."""

    _rnn_mode: str
    _gates: int

    def __init__(
        self, num_layers: int, num_units: int, input_mode: str = LINEAR_INPUT,
        direction: str = UNIDIRECTIONAL, dropout: float = 0.0, seed: int | None = None,
        dtype: Any = dtypes.float32, kernel_initializer: Any = None,
        bias_initializer: Any = None, name: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(dtype=dtype, name=name)
        if direction not in (UNIDIRECTIONAL, BIDIRECTIONAL):
            raise ValueError(
                f"Invalid direction: {direction}, expecting {UNIDIRECTIONAL} or {BIDIRECTIONAL}"
            )
        if input_mode not in _INPUT_MODES:
            raise ValueError(
                f"Invalid input_mode: {input_mode}, expect one of ({', '.join(_INPUT_MODES)})"
            )
        self._element_type = dtypes.as_dtype(dtype)
        if self._element_type not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(
                f"Only support float16, float32, float64, provided {self._element_type!r}"
            )
        self._num_layers, self._num_units = num_layers, num_units
        self._input_mode, self._direction = input_mode, direction
        self._dropout, self._seed = dropout, seed
        self._num_dirs = 2 if direction == BIDIRECTIONAL else 1
        self._kernel_initializer = kernel_initializer or glorot_uniform_initializer(
            dtype=self._element_type
        )
        self._bias_initializer = bias_initializer or constant_initializer(
            0.0, dtype=self._element_type
        )
        self._input_size: int | None = None
        self._saveable: Any = None

    # ---- what it is made of --------------------------------------------------------------------

    @property
    def num_layers(self) -> int:
        """Number of layers."""
        return self._num_layers

    @property
    def num_units(self) -> int:
        """Number of units of a layer, in each direction."""
        return self._num_units

    @property
    def input_mode(self) -> str:
        """Whether the first layer multiplies its input: "linear_input" and so on."""
        return self._input_mode

    @property
    def input_size(self) -> int:
        """Size of the input.

        Raises:
          ValueError: the layer was not built yet.
        """
        if not self._input_size:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def rnn_mode(self) -> str:
        """The kind of cell: "lstm", "gru", "rnn_tanh" or "rnn_relu"."""
        return self._rnn_mode

    @property
    def direction(self) -> str:
        """ "unidirectional" or "bidirectional"."""
        return self._direction

    @property
    def num_dirs(self) -> int:
        """1, or 2 of a bidirectional network."""
        return self._num_dirs

    @property
    def saveable(self) -> Any:
        """What saves the parameters; None before the layer was built."""
        return self._saveable

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """Shapes of the matrices, a gate each, of inputs and then of states, layer by layer.

        Raises:
          RuntimeError: the input's size is not known yet.
        """
        if not self._input_size:
            raise RuntimeError(
                f"{type(self).__name__}.canonical_weight_shapes invoked before input shape is known"
            )
        found: list[tuple[int, int]] = []
        for layer in range(self._num_layers):
            wide = self._num_units * self._num_dirs if layer else self._input_size
            one = [(self._num_units, wide)] * self._gates
            one += [(self._num_units, self._num_units)] * self._gates
            found += one * self._num_dirs
        return found

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """Shapes of the biases, two a gate, layer by layer."""
        count = 2 * self._gates * self._num_layers * self._num_dirs
        return [[self._num_units] for _ in range(count)]

    def state_shape(self, batch_size: Any) -> Any:
        """Shapes of the states, a tuple.

        Args:
          batch_size: number of examples.
        """
        return ([self._num_layers * self._num_dirs, batch_size, self._num_units],)

    # ---- building ------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Makes the flat parameters and what saves them.

        Args:
          input_shape: [time, batch, inputs].

        Raises:
          ValueError: another rank; an input of unknown size.
        """
        found = as_shape(input_shape)
        if found.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {found.ndims}")
        self._input_size = found[-1].value
        if self._input_size is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(ndim=3, axes={-1: self._input_size})
        with variable_scope(self._scope, reuse=self.built):
            dtype = self._element_type
            matrices = [
                self._kernel_initializer(one, dtype=dtype) for one in self.canonical_weight_shapes
            ]
            biases = [
                self._bias_initializer(one, dtype=dtype) for one in self.canonical_bias_shapes
            ]
            self.kernel = get_variable(
                "opaque_kernel", dtype=dtype, validate_shape=False,
                initializer=self._converter().packed(matrices, biases),
            )  # fmt: skip
        self._trainable_weights.append(self.kernel)
        self._saveable = SAVEABLES[self._rnn_mode](
            self.kernel, self._num_layers, self._num_units, self._input_size, self._input_mode,
            self._direction, scope=self._scope,
            name=self.kernel.name.split(":")[0] + "_saveable",
        )  # fmt: skip
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)
        # TensorFlow's graph has this node, which nothing uses.
        self.kernel[0]
        self.built = True

    def _converter(self) -> Any:
        return CONVERTERS[self._rnn_mode](
            self._num_layers, self._num_units, self._input_size, input_mode=self._input_mode,
            direction=self._direction,
        )  # fmt: skip

    # ---- calls ---------------------------------------------------------------------------------

    def call(
        self, inputs: Any, initial_state: Any = None, sequence_lengths: Any = None,
        time_major: bool = True, training: bool = True,
    ) -> Any:  # fmt: skip
        """Runs over all steps.

        Args:
          inputs: [time, batch, inputs], or [batch, time, inputs] where ``time_major`` is False.
          initial_state: a tuple of states, two of an LSTM and else one, [layers * directions,
            batch, units] ([batch, layers * directions, units] where ``time_major`` is False);
            default zeros.
          sequence_lengths: int vector [batch]: outputs past an example's are zero.
          time_major: whether the first dim is time.
          training: whether dropout applies and gradients are wanted.

        Returns:
          The outputs, [time, batch, directions * units] or batch first, and the last states.

        Raises:
          TypeError: the states are no tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(
                f"Invalid initial_state type: {initial_state}, expecting tuple."
            )  # fmt: skip
        inputs = convert_to_tensor(inputs, dtype=self._element_type)
        # Also of batch-major inputs TensorFlow reads the batch from the second dim.
        batch_size = nodes.element(shape.shape(inputs), 1)
        states = initial_state
        if states is None:
            states = tuple(
                fill.zeros(one, dtype=self._element_type) for one in self.state_shape(batch_size)
            )
        h, c = self._states(states)
        found = self._run(inputs, h, c, sequence_lengths, time_major, training)
        output, output_h, output_c = found[:3]
        return output, (output_h, output_c) if self._rnn_mode == "lstm" else (output_h,)

    def _states(self, states: Any) -> tuple[Any, Any]:
        (h,) = states
        return h, constant([], dtype=self._element_type)

    def _run(
        self, inputs: Any, h: Any, c: Any, lengths: Any, time_major: bool, training: bool
    ) -> Any:
        first, second = get_seed(self._seed)
        attrs: dict[str, Any] = {
            "rnn_mode": self._rnn_mode, "input_mode": self._input_mode,
            "direction": self._direction, "dropout": self._dropout, "seed": first or 0,
            "seed2": second or 0, "is_training": training,
        }  # fmt: skip
        if lengths is None and not time_major:
            batch_size, steps = (nodes.element(shape.shape(inputs), i) for i in (0, 1))
            lengths = fill.fill([batch_size], steps)
        if lengths is not None:
            return make(
                "CudnnRNNV3", inputs, h, c, self.kernel, lengths, time_major=time_major, **attrs
            )
        version = "V2" if os.environ.get("TF_CUDNN_RNN_USE_V2", "0") == "1" else ""
        return make(f"CudnnRNN{version}", inputs, h, c, self.kernel, **attrs)


_ARGS = """

    Args:
      num_layers: number of layers.
      num_units: number of units of each.
      input_mode: "linear_input"; "skip_input" adds the input of the first layer to its gates as it
        is, which takes as many inputs as units; "auto_select" does so where the sizes allow it.
      direction: "unidirectional" or "bidirectional".
      dropout: share of what goes from layer to layer that is set to zero in training.
      seed: of the dropout.
      dtype: element type.
      kernel_initializer: of the matrices, a gate each; default ``glorot_uniform``.
      bias_initializer: of the biases; default zeros.
      name: name of the variable scope; default the class's.

    Raises:
      ValueError: no such direction, mode or type.
"""


class CudnnLSTM(_CudnnRNN):
    __doc__ = (
        "LSTMs in layers."
        + _ARGS
        + """
    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     lstm = tf.contrib.cudnn_rnn.CudnnLSTM(2, 3, direction="bidirectional")
      ...     outputs, (h, c) = lstm(tf.zeros([5, 2, 4]))
      ...     outputs.shape.as_list(), h.shape.as_list(), [v.name for v in lstm.variables]
      ([5, 2, 6], [4, 2, 3], ['cudnn_lstm/opaque_kernel:0'])
    """
    )
    _rnn_mode, _gates = "lstm", 4

    def state_shape(self, batch_size: Any) -> Any:
        """Shapes of the outputs' and of the memories' states.

        Args:
          batch_size: number of examples.
        """
        return super().state_shape(batch_size) * 2

    def _states(self, states: Any) -> tuple[Any, Any]:
        h, c = states
        return h, c


class CudnnGRU(_CudnnRNN):
    __doc__ = "GRUs in layers; see ``CudnnCompatibleGRUCell``." + _ARGS
    _rnn_mode, _gates = "gru", 3


class CudnnRNNTanh(_CudnnRNN):
    __doc__ = "Layers of ``tanh(W x + R h + b)``." + _ARGS
    _rnn_mode, _gates = "rnn_tanh", 1


class CudnnRNNRelu(_CudnnRNN):
    __doc__ = "Layers of ``relu(W x + R h + b)``." + _ARGS
    _rnn_mode, _gates = "rnn_relu", 1
