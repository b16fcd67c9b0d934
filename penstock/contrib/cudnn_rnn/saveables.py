"""How the flat parameters of a network stand in a checkpoint: as the variables of its cells.

So what ``CudnnLSTM`` has learned is restored into ``CudnnCompatibleLSTMCell`` or
``LSTMBlockFusedCell``, and the reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.contrib.cudnn_rnn.converters import (
    BIDIRECTIONAL,
    CONVERTERS,
    LINEAR_INPUT,
    UNIDIRECTIONAL,
    CudnnParamsFormatConverter,
)
from penstock.foundation.graph.build import make
from penstock.ops.control.control import identity
from penstock.storage.checkpoint.saveable import SaveableObject, SaveSpec


class CudnnOpaqueParamsSaveable(SaveableObject):
    """Flat parameters, saved as the kernels and biases of cells.

    Args:
      opaque_params: the variable.
      num_layers, num_units, input_size, input_mode, direction: of the network.
      scope: variable scope that the cells' names begin with; default none.
      name: name of the saveable.
    """

    _rnn_mode: str
    # Name of the cell, and the names of its kernels and biases below that.
    _cell: str
    _kernels: tuple[str, ...] = ("kernel",)
    _biases: tuple[str, ...] = ("bias",)

    def __init__(
        self, opaque_params: Any, num_layers: int, num_units: int, input_size: int,
        input_mode: str = LINEAR_INPUT, direction: str = UNIDIRECTIONAL, scope: Any = None,
        name: str = "cudnn_rnn_saveable",
    ) -> None:  # fmt: skip
        self._variables = opaque_params
        self._format_converter = CONVERTERS[self._rnn_mode](
            num_layers, num_units, input_size, input_mode=input_mode, direction=direction
        )
        prefix = scope.name if scope is not None else ""
        weights, biases = self._format_converter.opaque_to_tf_canonical(opaque_params)
        cells = list(_cell_scopes(prefix, num_layers, direction == BIDIRECTIONAL))
        named = [f"{cell}/{self._cell}/{part}" for cell in cells for part in self._kernels]
        named += [f"{cell}/{self._cell}/{part}" for cell in cells for part in self._biases]
        pairs = zip(named, [*weights, *biases], strict=True)
        specs = [SaveSpec(tensor, "", spec) for spec, tensor in pairs]
        super().__init__(identity(opaque_params), specs, name)

    @property
    def format_converter(self) -> CudnnParamsFormatConverter:
        """The converter between flat parameters and those of cells."""
        return self._format_converter

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Adds the ``Assign`` of the flat parameters made from what was read."""
        opaque = self._format_converter.tf_canonical_to_opaque(list(restored_tensors))
        return make("Assign", self._variables, opaque, validate_shape=False)


def _cell_scopes(prefix: str, layers: int, bidirectional: bool) -> Any:
    """Variable scopes of the cells of a stack, layer by layer, in each forward then backward."""
    start = f"{prefix}/" if prefix else ""
    for layer in range(layers):
        if not bidirectional:
            yield f"{start}rnn/multi_rnn_cell/cell_{layer}"
            continue
        for way in ("fw", "bw"):
            yield f"{start}stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{way}"


class CudnnLSTMSaveable(CudnnOpaqueParamsSaveable):
    """The parameters of ``CudnnLSTM``, saved as those of ``CudnnCompatibleLSTMCell``.

    Args:
      opaque_params, num_layers, num_units, input_size, input_mode, direction, scope, name: as of
        every saveable of this module.
    """

    _rnn_mode, _cell = "lstm", "cudnn_compatible_lstm_cell"


class CudnnGRUSaveable(CudnnOpaqueParamsSaveable):
    """The parameters of ``CudnnGRU``, saved as those of ``CudnnCompatibleGRUCell``.

    Args:
      opaque_params, num_layers, num_units, input_size, input_mode, direction, scope, name: as of
        every saveable of this module.
    """

    _rnn_mode, _cell = "gru", "cudnn_compatible_gru_cell"
    _kernels = (
        "gates/kernel", "candidate/input_projection/kernel", "candidate/hidden_projection/kernel",
    )  # fmt: skip
    _biases = (
        "gates/bias", "candidate/input_projection/bias", "candidate/hidden_projection/bias",
    )  # fmt: skip


class CudnnRNNTanhSaveable(CudnnOpaqueParamsSaveable):
    """The parameters of ``CudnnRNNTanh``, saved as those of ``BasicRNNCell``.

    Args:
      opaque_params, num_layers, num_units, input_size, input_mode, direction, scope, name: as of
        every saveable of this module.
    """

    _rnn_mode, _cell = "rnn_tanh", "basic_rnn_cell"


class CudnnRNNReluSaveable(CudnnOpaqueParamsSaveable):
    """The parameters of ``CudnnRNNRelu``, saved as those of ``BasicRNNCell``.

    Args:
      opaque_params, num_layers, num_units, input_size, input_mode, direction, scope, name: as of
        every saveable of this module.
    """

    _rnn_mode, _cell = "rnn_relu", "basic_rnn_cell"


SAVEABLES: dict[str, Callable[..., CudnnOpaqueParamsSaveable]] = {
    "lstm": CudnnLSTMSaveable,
    "gru": CudnnGRUSaveable,
    "rnn_tanh": CudnnRNNTanhSaveable,
    "rnn_relu": CudnnRNNReluSaveable,
}
