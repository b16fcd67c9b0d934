"""Between the flat parameters of a network and the weights and biases of its cells.

A cell of TensorFlow's has one kernel [inputs + units, gates * units] and one bias; the flat
parameters have a matrix [units, inputs] or [units, units] and two biases a gate.  On the way to the
cells both biases are added; on the way back each becomes half.

TensorFlow asks for a GPU for the nodes that know the flat form.  Here they run anywhere, and no
device is asked for, so that a program with such a network runs without a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph.build import make
from penstock.ops.array import join, reshape, split, transpose

LINEAR_INPUT = "linear_input"
UNIDIRECTIONAL, BIDIRECTIONAL = "unidirectional", "bidirectional"


class CudnnParamsFormatConverter:
    """What the converters of all kinds of cells share.

    Args:
      num_layers, num_units, input_size: numbers of layers, of units, and size of the input.
      num_proj: size that an LSTM's output is projected to.
      input_mode: "linear_input", "skip_input" or "auto_select".
      direction: "unidirectional" or "bidirectional".
    """

    _rnn_mode: str
    _gates: int

    def __init__(
        self, num_layers: int, num_units: int, input_size: int, num_proj: int | None = None,
        input_mode: str = LINEAR_INPUT, direction: str = UNIDIRECTIONAL,
    ) -> None:  # fmt: skip
        self._num_layers, self._num_units, self._input_size = num_layers, num_units, input_size
        self._num_proj = num_proj
        self._attrs = {
            "rnn_mode": self._rnn_mode, "input_mode": input_mode, "direction": direction,
        }  # fmt: skip
        self._num_dirs = 2 if direction == BIDIRECTIONAL else 1

    @property
    def _pseudo_layers(self) -> int:
        return self._num_layers * self._num_dirs

    def _sizes(self) -> tuple[int, int, int]:
        return self._num_layers, self._num_units, self._input_size

    # ---- flat to cells -------------------------------------------------------------------------

    def opaque_to_tf_canonical(self, opaque_param: Any) -> Any:
        """The weights and biases of cells.

        Args:
          opaque_param: the flat parameters.

        Returns:
          A list of kernels and a list of biases, layer by layer, in each forward then backward;
          of a projected LSTM a list of projections too.
        """
        matrices, biases = self._unpacked(opaque_param)
        weights: list[Any] = []
        tf_biases: list[Any] = []
        projections: list[Any] = []
        per, bias_per = 2 * self._gates + bool(self._num_proj), 2 * self._gates
        for k in range(self._pseudo_layers):
            mine = matrices[k * per : (k + 1) * per]
            weights += self._tf_weights(mine[:bias_per])
            if self._num_proj:
                projections.append(transpose.transpose(mine[-1], [1, 0]))
            tf_biases += self._tf_biases(biases[k * bias_per : (k + 1) * bias_per])
        return (weights, tf_biases, projections) if self._num_proj else (weights, tf_biases)

    def _unpacked(self, params: Any) -> tuple[list[Any], list[Any]]:
        count = 2 * self._gates * self._pseudo_layers
        if self._num_proj:
            found = make(
                "CudnnRNNParamsToCanonicalV2", *self._sizes(), params,
                num_params_weights=count + self._pseudo_layers, num_params_biases=count,
                num_proj=self._num_proj, **self._attrs,
            )  # fmt: skip
        else:
            found = make(
                "CudnnRNNParamsToCanonical", *self._sizes(), params, num_params=count,
                **self._attrs,
            )  # fmt: skip
        return list(found.weights), list(found.biases)

    def _tf_weights(self, matrices: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    def _tf_biases(self, biases: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    # ---- cells to flat -------------------------------------------------------------------------

    def tf_canonical_to_opaque(self, tf_canonicals: Sequence[Any], weights_proj: Any = None) -> Any:
        """The flat parameters.

        Args:
          tf_canonicals: all kernels, then all biases, as ``opaque_to_tf_canonical`` gives them.
          weights_proj: the projections of an LSTM.

        Returns:
          The flat parameters.
        """
        matrices: list[Any] = []
        biases: list[Any] = []
        weights, tf_biases = self._halves(tf_canonicals)
        count = self._pseudo_layers
        for k in range(count):
            wide = self._inputs_of(k // self._num_dirs)
            share = len(weights) // count
            matrices += self._flat_weights(weights[k * share : (k + 1) * share], wide)
            if weights_proj is not None:
                matrices.append(transpose.transpose(weights_proj[k]))
            share = len(tf_biases) // count
            biases += self._flat_biases(tf_biases[k * share : (k + 1) * share])
        flat = [reshape.reshape(matrix, [-1]) for matrix in matrices]
        return self.packed(flat, biases)

    def _halves(self, canonicals: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        half = len(canonicals) // 2
        return canonicals[:half], canonicals[half:]

    def packed(self, matrices: Sequence[Any], biases: Sequence[Any]) -> Any:
        """The flat parameters, from matrices and biases in their order."""
        version, attrs = "", dict[str, Any](self._attrs)
        if self._num_proj:
            version, attrs["num_proj"] = "V2", self._num_proj
        return make(
            f"CudnnRNNCanonicalToParams{version}", *self._sizes(), list(matrices), list(biases),
            **attrs,
        )  # fmt: skip

    def _inputs_of(self, layer: int) -> int:
        return self._input_size if layer == 0 else self._outputs * self._num_dirs

    @property
    def _outputs(self) -> int:
        return self._num_proj or self._num_units

    def _flat_weights(self, weights: Sequence[Any], wide: int) -> list[Any]:
        raise NotImplementedError

    def _flat_biases(self, biases: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    def _apart(self, kernel: Any, wide: int) -> list[Any]:
        """The columns of the inputs and those of the state."""
        return list(split.split(kernel, [wide, self._outputs], axis=1))


def _beside(one: Any, other: Any) -> Any:
    return join.concat([one, other], axis=1)


class CudnnParamsFormatConverterLSTM(CudnnParamsFormatConverter):
    """Between the parameters of ``CudnnLSTM`` and of ``CudnnCompatibleLSTMCell``.

    Args:
      num_layers, num_units, input_size, num_proj, input_mode, direction: of the network.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     converter = tf.contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM(1, 3, 2)
      ...     weights, biases = converter.opaque_to_tf_canonical(tf.range(84.0))
      ...     [value.shape for value in sess.run(weights + biases)]
      [(5, 12), (12,)]
    """

    _rnn_mode, _gates = "lstm", 4

    def _tf_weights(self, matrices: Sequence[Any]) -> list[Any]:
        i, f, c, o = (_beside(matrices[g], matrices[g + 4]) for g in range(4))
        return [transpose.transpose(join.concat([i, c, f, o], axis=0), [1, 0])]

    def _tf_biases(self, biases: Sequence[Any]) -> list[Any]:
        i, f, c, o = (biases[g] + biases[g + 4] for g in range(4))
        return [join.concat([i, c, f, o], axis=0)]

    def _flat_weights(self, weights: Sequence[Any], wide: int) -> list[Any]:
        (kernel,) = weights
        gates = split.split(transpose.transpose(kernel), 4, axis=0)
        i, c, f, o = (self._apart(gate, wide) for gate in gates)
        return [gate[part] for part in range(2) for gate in (i, f, c, o)]

    def _flat_biases(self, biases: Sequence[Any]) -> list[Any]:
        (bias,) = biases
        i, c, f, o = split.split(bias, 4, axis=0)
        return [gate * 0.5 for gate in (i, f, c, o)] * 2


class CudnnParamsFormatConverterGRU(CudnnParamsFormatConverter):
    """Between the parameters of ``CudnnGRU`` and of ``CudnnCompatibleGRUCell``.

    The two biases of a candidate stay two: its cell has both.

    Args:
      num_layers, num_units, input_size, num_proj, input_mode, direction: of the network.
    """

    _rnn_mode, _gates = "gru", 3

    def _tf_weights(self, matrices: Sequence[Any]) -> list[Any]:
        w_r, w_u, w_c, r_r, r_u, r_c = matrices
        gates = join.concat([_beside(w_r, r_r), _beside(w_u, r_u)], axis=0)
        return [transpose.transpose(part, [1, 0]) for part in (gates, w_c, r_c)]

    def _tf_biases(self, biases: Sequence[Any]) -> list[Any]:
        w_r, w_u, w_c, r_r, r_u, r_c = biases
        gates = join.concat([w_r, w_u], axis=0) + join.concat([r_r, r_u], axis=0)
        return [gates, w_c, r_c]

    def _flat_weights(self, weights: Sequence[Any], wide: int) -> list[Any]:
        gates, w_c, r_c = (transpose.transpose(part) for part in weights)
        r, u = (self._apart(gate, wide) for gate in split.split(gates, 2, axis=0))
        return [r[0], u[0], w_c, r[1], u[1], r_c]

    def _flat_biases(self, biases: Sequence[Any]) -> list[Any]:
        gates, w_c, r_c = biases
        halves = [gates * 0.5, gates * 0.5]
        (w_r, w_u), (r_r, r_u) = (split.split(half, 2, axis=0) for half in halves)
        return [w_r, w_u, w_c, r_r, r_u, r_c]


class _OfBasicCells(CudnnParamsFormatConverter):
    _gates = 1

    def _tf_weights(self, matrices: Sequence[Any]) -> list[Any]:
        return [transpose.transpose(_beside(*matrices), [1, 0])]

    def _tf_biases(self, biases: Sequence[Any]) -> list[Any]:
        return [biases[0] + biases[1]]

    def _flat_weights(self, weights: Sequence[Any], wide: int) -> list[Any]:
        return self._apart(transpose.transpose(weights[0]), wide)

    def _flat_biases(self, biases: Sequence[Any]) -> list[Any]:
        return [biases[0] * 0.5 for _ in range(2)]


class CudnnParamsFormatConverterTanh(_OfBasicCells):
    """Between the parameters of ``CudnnRNNTanh`` and of ``tf.nn.rnn_cell.BasicRNNCell``.

    Args:
      num_layers, num_units, input_size, num_proj, input_mode, direction: of the network.
    """

    _rnn_mode = "rnn_tanh"


class CudnnParamsFormatConverterRelu(_OfBasicCells):
    """Between the parameters of ``CudnnRNNRelu`` and of ``BasicRNNCell`` with ``tf.nn.relu``.

    Args:
      num_layers, num_units, input_size, num_proj, input_mode, direction: of the network.
    """

    _rnn_mode = "rnn_relu"


CONVERTERS: dict[str, Callable[..., CudnnParamsFormatConverter]] = {
    "lstm": CudnnParamsFormatConverterLSTM,
    "gru": CudnnParamsFormatConverterGRU,
    "rnn_tanh": CudnnParamsFormatConverterTanh,
    "rnn_relu": CudnnParamsFormatConverterRelu,
}
