"""The flat parameters of a recurrent network, as cuDNN packs them: layout and conversions.

A network is a list of pseudo-layers: one a layer, or forward and backward of each.  First come the
matrices of all pseudo-layers: those of the inputs, a gate each, then those of the states, then the
projection.  After them come the biases in the same order, two a gate.  Gates are i, f, g, o of an
LSTM and r, z, n of a GRU, so the matrices of a pseudo-layer are the rows of one matrix.

TensorFlow 1.15 has kernels of these ops for GPUs alone; here they run anywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext

GATES = {"lstm": 4, "gru": 3, "rnn_relu": 1, "rnn_tanh": 1}
FLOATS = "T: {half, float, double}"
NETWORK = [
    "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'",
    "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'",
    "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'",
    "dropout: float = 0.0",
    "seed: int = 0",
    "seed2: int = 0",
]


class Weights(NamedTuple):
    """The parameters of one pseudo-layer; views of the flat ones."""

    w: Any  # [gates * units, inputs], or None where inputs are added as they are
    r: Any  # [gates * units, outputs]
    p: Any  # [outputs, units], or None
    bw: Any  # [gates * units]
    br: Any


@dataclass(frozen=True)
class Layout:
    """Where the parameters of a network lie.

    Args:
      mode: kind of cell.
      layers, units, inputs: numbers of layers, of units, and size of the input.
      direction, input_mode: as the ops' attrs.
      num_proj: size of an LSTM's output where it is projected; 0 where not.
    """

    mode: str
    layers: int
    units: int
    inputs: int
    direction: str = "unidirectional"
    input_mode: str = "linear_input"
    num_proj: int = 0

    @property
    def gates(self) -> int:
        return GATES[self.mode]

    @property
    def directions(self) -> int:
        return 2 if self.direction == "bidirectional" else 1

    @property
    def outputs(self) -> int:
        """Size of the output of one direction."""
        return self.num_proj or self.units

    @property
    def skips(self) -> bool:
        """Whether inputs are added to the gates as they are."""
        fits = self.inputs == self.units
        return self.input_mode == "skip_input" or (self.input_mode == "auto_select" and fits)

    def check(self) -> None:
        """Refuses what no network is.

        Raises:
          InvalidArgumentError: an input that is skipped and has another size than the units; a
            projection of another cell than an LSTM, or to more than the units.
        """
        if self.skips and self.inputs != self.units:
            raise errors.InvalidArgumentError(
                None, None,
                f"skip_input needs input_size == num_units; found {self.inputs} and {self.units}",
            )  # fmt: skip
        if self.num_proj and (self.mode != "lstm" or self.num_proj > self.units):
            raise errors.InvalidArgumentError(
                None, None,
                f"num_proj {self.num_proj} is for an LSTM of at least as many units; found"
                f" {self.mode} of {self.units}",
            )  # fmt: skip

    def _of_layer(self, first: bool) -> list[tuple[int, int]]:
        """Shapes of the matrices of one direction of a layer."""
        wide = (0 if self.skips else self.inputs) if first else self.outputs * self.directions
        found = [(self.units, wide)] * self.gates + [(self.units, self.outputs)] * self.gates
        return found + ([(self.num_proj, self.units)] if self.num_proj else [])

    def matrices(self) -> list[tuple[int, int]]:
        """Shapes of the matrices, a gate each, in order."""
        later = self._of_layer(False) * self.directions * (self.layers - 1)
        return self._of_layer(True) * self.directions + later

    def matrix_count(self) -> int:
        """How many matrices there are."""
        return len(self._of_layer(True)) * self.directions * self.layers

    def biases(self) -> int:
        """How many biases there are, each of the size of the units."""
        return 2 * self.gates * self.layers * self.directions

    def size(self) -> int:
        """Number of all parameters; as soon known for 2^31 layers as for one."""
        first, later = (sum(map(math.prod, self._of_layer(f))) for f in (True, False))
        matrices = self.directions * (first + (self.layers - 1) * later)
        return matrices + self.biases() * self.units

    def weights(self, params: torch.Tensor) -> list[Weights]:
        """The parameters of each pseudo-layer.

        Raises:
          InvalidArgumentError: the flat parameters have another size.
        """
        self.check()
        if params.numel() != self.size():
            raise errors.InvalidArgumentError(
                None, None, f"Params size mismatch. Expected {self.size()}, got {params.numel()}"
            )
        found, at = [], 0
        wide = self.gates * self.units
        biases = params[params.numel() - self.biases() * self.units :].view(-1, 2, wide)
        per = 2 * self.gates + (1 if self.num_proj else 0)
        shapes = self.matrices()
        for k in range(self.layers * self.directions):
            inputs = shapes[k * per][1]
            parts = []
            for rows, columns in (
                (wide, inputs), (wide, self.outputs), (self.num_proj, self.units)
            ):  # fmt: skip
                parts.append(params[at : at + rows * columns].view(rows, columns))
                at += rows * columns
            w, r, p = parts
            found.append(
                Weights(
                    w if inputs else None, r, p if self.num_proj else None, biases[k, 0],
                    biases[k, 1],
                )
            )  # fmt: skip
        return found


def layout(
    rnn_mode: str, num_layers: Any, num_units: Any, input_size: Any, direction: str,
    input_mode: str, num_proj: int = 0,
) -> Layout:  # fmt: skip
    """The checked layout of a network given by inputs and attrs of an op."""
    sizes = {"num_layers": num_layers, "num_units": num_units, "input_size": input_size}
    for name, size in sizes.items():
        if size <= 0:
            raise errors.InvalidArgumentError(None, None, f"{name} must be positive; found {size}")
    found = Layout(rnn_mode, num_layers, num_units, input_size, direction, input_mode, num_proj)
    found.check()
    return found


# ---- kernels -------------------------------------------------------------------------------------


def _params_size(
    num_layers, num_units, input_size, S, rnn_mode, input_mode, direction, num_proj
):  # fmt: skip
    of = layout(rnn_mode, num_layers, num_units, input_size, direction, input_mode, num_proj)
    size, most = of.size(), torch.iinfo(S).max
    if size > most:
        raise errors.InvalidArgumentError(
            None, None, f"the network has {size} parameters, more than {most}"
        )
    return torch.tensor([size], dtype=S)


def _to_canonical_of(of, params):
    of.weights(params)  # checks the size
    sizes = list(map(math.prod, of.matrices()))
    pieces = params.split([*sizes, *[of.units] * of.biases()])
    count = len(sizes)
    matrices = [piece.view(shape) for piece, shape in zip(pieces, of.matrices())]
    return matrices, list(pieces[count:])


def _to_canonical(
    num_layers, num_units, input_size, params, num_params, rnn_mode, input_mode, direction
):
    of = layout(rnn_mode, num_layers, num_units, input_size, direction, input_mode)
    _check_count(num_params, of.matrix_count(), "num_params")
    return _to_canonical_of(of, params)


def _to_canonical_v2(
    num_layers, num_units, input_size, params, num_params_weights, num_params_biases, rnn_mode,
    input_mode, direction, num_proj,
):  # fmt: skip
    of = layout(rnn_mode, num_layers, num_units, input_size, direction, input_mode, num_proj)
    _check_count(num_params_weights, of.matrix_count(), "num_params_weights")
    _check_count(num_params_biases, of.biases(), "num_params_biases")
    return _to_canonical_of(of, params)


def _check_count(found, wanted, what):
    if found != wanted:
        raise errors.InvalidArgumentError(
            None, None, f"Number of params mismatch. Expected {wanted}, got {found} ({what})"
        )


def _to_params_of(of, weights, biases):
    _check_count(len(weights), of.matrix_count(), "weights")
    _check_count(len(biases), of.biases(), "biases")
    flat = []
    for one, shape in zip(weights, of.matrices()):
        if not shape[1]:
            continue  # inputs that are skipped have no matrix, whatever was given
        if one.numel() != math.prod(shape):
            raise errors.InvalidArgumentError(
                None, None, f"Expected a matrix of shape {list(shape)}, got {list(one.shape)}"
            )
        flat.append(one.reshape(-1))
    for one in biases:
        if one.numel() != of.units:
            raise errors.InvalidArgumentError(
                None, None, f"Expected a bias of size {of.units}, got {list(one.shape)}"
            )
        flat.append(one.reshape(-1))
    return torch.cat(flat)


def _to_params(num_layers, num_units, input_size, weights, biases, rnn_mode, input_mode, direction):
    of = layout(rnn_mode, num_layers, num_units, input_size, direction, input_mode)
    return _to_params_of(of, weights, biases)


def _to_params_v2(
    num_layers, num_units, input_size, weights, biases, rnn_mode, input_mode, direction, num_proj
):
    of = layout(rnn_mode, num_layers, num_units, input_size, direction, input_mode, num_proj)
    return _to_params_of(of, weights, biases)


# ---- shape rules and definitions -----------------------------------------------------------------


def _sizes(ctx: ShapeContext) -> None:
    for name in ("num_layers", "num_units", "input_size"):
        ctx.rank(name, 0)


def _size_shape(ctx: ShapeContext) -> Any:
    _sizes(ctx)
    return (1,)


def _canonical_shape(weights: str, biases: str) -> Any:
    def rule(ctx: ShapeContext) -> Any:
        _sizes(ctx)
        ctx.rank("params", 1)
        return [(None, None)] * ctx.attr(weights) + [(None,)] * ctx.attr(biases)

    return rule


def _flat_shape(ctx: ShapeContext) -> Any:
    _sizes(ctx)
    return (None,)


_SIZES = "num_layers: int32, num_units: int32, input_size: int32"
_HOST = ("num_layers", "num_units", "input_size")
_NO_GRADIENT = "TensorFlow 1.15 defines none"
_PROJECTED = [*NETWORK, "num_proj: int = 0"]

define_op(
    "CudnnRNNParamsSize",
    f"{_SIZES} -> params_size: S",
    attrs=[FLOATS, "S: {int32, int64}", *_PROJECTED],
    shape=_size_shape,
    kernel=_params_size,
    host=_HOST,
    no_gradient=_NO_GRADIENT,
)

define_op(
    "CudnnRNNParamsToCanonical",
    f"{_SIZES}, params: T -> weights: num_params * T, biases: num_params * T",
    attrs=[FLOATS, "num_params: int", *NETWORK],
    shape=_canonical_shape("num_params", "num_params"),
    kernel=_to_canonical,
    aliases=("params",),
    host=_HOST,
    no_gradient=_NO_GRADIENT,
)

define_op(
    "CudnnRNNParamsToCanonicalV2",
    f"{_SIZES}, params: T -> weights: num_params_weights * T, biases: num_params_biases * T",
    attrs=[FLOATS, "num_params_weights: int", "num_params_biases: int", *_PROJECTED],
    shape=_canonical_shape("num_params_weights", "num_params_biases"),
    kernel=_to_canonical_v2,
    aliases=("params",),
    host=_HOST,
    no_gradient=_NO_GRADIENT,
)

define_op(
    "CudnnRNNCanonicalToParams",
    f"{_SIZES}, weights: num_params * T, biases: num_params * T -> params: T",
    attrs=[FLOATS, "num_params: int", *NETWORK],
    shape=_flat_shape,
    kernel=_to_params,
    host=_HOST,
    no_gradient=_NO_GRADIENT,
)

define_op(
    "CudnnRNNCanonicalToParamsV2",
    f"{_SIZES}, weights: num_params_weights * T, biases: num_params_biases * T -> params: T",
    attrs=[FLOATS, "num_params_weights: int", "num_params_biases: int", *_PROJECTED],
    shape=_flat_shape,
    kernel=_to_params_v2,
    host=_HOST,
    no_gradient=_NO_GRADIENT,
)
