"""Rows of recurrent steps as single ops."""

from tests.ops.opcase import OpCase, const, real

_FLOATS, _HALF = ("float32", "half"), ("half",)
_UNCHECKED = {
    "grad": False,
    "grad_reason": "only memory and output carry gradients; tests/library/recurrent compares these",
}
_BATCH, _IN, _UNITS, _STEPS = 3, 4, 2, 5
_WEIGHTS = [real(_IN + _UNITS, 4 * _UNITS), *[real(_UNITS)] * 3, real(4 * _UNITS)]
_STATE = [real(_BATCH, _UNITS)] * 2
_GRU = [
    real(_BATCH, _IN), real(_BATCH, _UNITS), real(_IN + _UNITS, 2 * _UNITS),
    real(_IN + _UNITS, _UNITS), real(2 * _UNITS), real(_UNITS),
]  # fmt: skip
_UNIT = {"lo": 0.05, "hi": 0.95}


def _gates(*shape):
    """i, cs, f, o, ci, co of an LSTM."""
    return [
        real(*shape, **_UNIT), real(*shape), real(*shape, **_UNIT), real(*shape, **_UNIT),
        real(*shape), real(*shape),
    ]  # fmt: skip


def _until(count):
    """Past the longest sequence TensorFlow leaves most outputs as they happen to be."""
    return lambda index, array: array if index in (1, 6) else array[:count]


def _without_peepholes(first):
    """TensorFlow leaves the gradients of peepholes that are not used as they happen to be."""
    return lambda index, array: array[:0] if first <= index < first + 3 else array


def _tolerance(dtypes):
    reason = "TensorFlow adds up products of halves in halves; ours lie nearer the exact values"
    return {"atol": 4e-3, "tol_reason": reason} if dtypes == _HALF else {}


def _lstm(attrs, dtypes=("float32",)):
    x = real(_BATCH, _IN)
    return OpCase(
        "LSTMBlockCell", [x, *_STATE, *_WEIGHTS], attrs, dtypes, **_UNCHECKED, **_tolerance(dtypes)
    )


def _lstm_grad(peephole):
    inputs = [real(_BATCH, _IN), *_STATE, *_WEIGHTS, *_gates(_BATCH, _UNITS), *_STATE]
    return OpCase(
        "LSTMBlockCellGrad", inputs, {"use_peephole": peephole}, _FLOATS,
        compare=None if peephole else _without_peepholes(2),
    )  # fmt: skip


def _block(count, attrs, dtypes=("float32",)):
    x = real(_STEPS, _BATCH, _IN)
    return OpCase(
        "BlockLSTM", [const(count, "int64"), x, *_STATE, *_WEIGHTS], attrs, dtypes,
        compare=_until(count), **_UNCHECKED, **_tolerance(dtypes),
    )  # fmt: skip


def _block_grad(count, peephole):
    shape = (_STEPS, _BATCH, _UNITS)
    outputs = [*_gates(*shape), real(*shape)]
    inputs = [
        const(count, "int64"), real(_STEPS, _BATCH, _IN), *_STATE, *_WEIGHTS, *outputs,
        real(*shape), real(*shape),
    ]  # fmt: skip
    return OpCase(
        "BlockLSTMGrad", inputs, {"use_peephole": peephole}, ("float32",),
        compare=None if peephole else _without_peepholes(4),
    )  # fmt: skip


CASES = [
    _lstm({}),
    _lstm({"forget_bias": 0.3, "cell_clip": 0.2, "use_peephole": True}),
    _lstm({"cell_clip": -1.0}),
    _lstm({"use_peephole": True}, _HALF),
    OpCase("LSTMBlockCell", [real(_BATCH, _IN, 1), *_STATE, *_WEIGHTS], raises=True),
    _lstm_grad(False),
    _lstm_grad(True),
    _block(_STEPS, {}),
    _block(2, {"forget_bias": 0.3, "cell_clip": 0.2, "use_peephole": True}),
    _block(0, {}),
    _block(3, {"use_peephole": True}, _HALF),
    _block_grad(_STEPS, True),
    _block_grad(_STEPS, False),
    OpCase("GRUBlockCell", _GRU, **_UNCHECKED),
    OpCase("GRUBlockCell", [real(_BATCH), *_GRU[1:]], raises=True),
    OpCase(
        "GRUBlockCellGrad",
        [*_GRU, *[real(_BATCH, _UNITS, **_UNIT)] * 2, *[real(_BATCH, _UNITS)] * 2],
    ),
]
