"""Rows of recurrent networks as one op; ``tests/ops/test_cudnn_rnn.py`` compares the values."""

from penstock.ops.nn.cudnn_params import Layout
from tests.ops.opcase import OpCase, const, real

_NO_KERNEL = "TensorFlow has kernels of cuDNN's networks for GPUs alone"
_UNCHECKED = {
    "grad": False,
    "grad_reason": "what is kept for backward has no gradient; tests/ops/test_cudnn_rnn.py",
    "reason": _NO_KERNEL,
}
_FLOATS = ("float32", "float64")
_LSTM = Layout("lstm", 2, 3, 4, "bidirectional")
_GRU = Layout("gru", 1, 3, 4)
_PROJECTED = Layout("lstm", 1, 3, 4, num_proj=2)
_BOTH = {"direction": "bidirectional"}


def _sizes(of):
    return [const(of.layers), const(of.units), const(of.inputs)]


def _inputs(of):
    pseudo = of.layers * of.directions
    memory = real(pseudo, 2, of.units) if of.mode == "lstm" else real()
    return [real(5, 2, of.inputs), real(pseudo, 2, of.outputs), memory, real(of.size())]


def _grads(of, reserve):
    pseudo = of.layers * of.directions
    wide = real(5, 2, of.outputs * of.directions)
    memory = real(pseudo, 2, of.units) if of.mode == "lstm" else real()
    one = [wide, real(pseudo, 2, of.outputs), memory]
    return [*one, *one, real(reserve, lo=0.1, hi=0.9)]


def _matrices(of):
    return [[real(*shape) for shape in of.matrices()], [real(of.units)] * of.biases()]


_LENGTHS, _NOTHING = const([5, 3]), const([], "int8")
_ONE_LSTM, _ONE_GRU = Layout("lstm", 1, 3, 4), _GRU

CASES = [
    OpCase("CudnnRNN", _inputs(_LSTM), _BOTH, _FLOATS, **_UNCHECKED),
    OpCase("CudnnRNN", _inputs(_GRU), {"rnn_mode": "gru", "is_training": False}, **_UNCHECKED),
    OpCase("CudnnRNN", [real(5, 4), *_inputs(_LSTM)[1:]], _BOTH, raises=True),
    OpCase("CudnnRNNV2", _inputs(_LSTM), _BOTH, _FLOATS, **_UNCHECKED),
    OpCase("CudnnRNNV3", [*_inputs(_LSTM), _LENGTHS], _BOTH, _FLOATS, **_UNCHECKED),
    OpCase(
        "CudnnRNNV3", [*_inputs(_PROJECTED), _LENGTHS], {"num_proj": 2}, **_UNCHECKED
    ),
    OpCase(
        "CudnnRNNBackprop", [*_inputs(_ONE_LSTM), *_grads(_ONE_LSTM, 5 * 2 * 18)],
        reason=_NO_KERNEL,
    ),
    OpCase(
        "CudnnRNNBackpropV2", [*_inputs(_ONE_GRU), *_grads(_ONE_GRU, 5 * 2 * 15), _NOTHING],
        {"rnn_mode": "gru"}, reason=_NO_KERNEL,
    ),
    OpCase(
        "CudnnRNNBackpropV3",
        [*_inputs(_ONE_LSTM), _LENGTHS, *_grads(_ONE_LSTM, 5 * 2 * 18), _NOTHING],
        reason=_NO_KERNEL,
    ),
    OpCase("CudnnRNNParamsSize", _sizes(_LSTM), {"T": "float32", "S": "int32", **_BOTH},
           reason=_NO_KERNEL),
    OpCase("CudnnRNNParamsSize", _sizes(_GRU), {"T": "half", "S": "int64", "rnn_mode": "gru"},
           reason=_NO_KERNEL),
    OpCase(
        "CudnnRNNParamsToCanonical", [*_sizes(_LSTM), real(_LSTM.size())],
        {"num_params": 32, **_BOTH}, ("float32", "half"), reason=_NO_KERNEL,
    ),
    OpCase(
        "CudnnRNNParamsToCanonicalV2", [*_sizes(_PROJECTED), real(_PROJECTED.size())],
        {"num_params_weights": 9, "num_params_biases": 8, "num_proj": 2}, reason=_NO_KERNEL,
    ),
    OpCase(
        "CudnnRNNCanonicalToParams", [*_sizes(_LSTM), *_matrices(_LSTM)], _BOTH, _FLOATS,
        reason=_NO_KERNEL,
    ),
    OpCase(
        "CudnnRNNCanonicalToParamsV2", [*_sizes(_PROJECTED), *_matrices(_PROJECTED)],
        {"num_proj": 2}, reason=_NO_KERNEL,
    ),
]  # fmt: skip
