"""Rows of normalisations."""

from tests.ops.opcase import FLOATS, OpCase, const, derived, real

_SCALE, _OFFSET = real(3, lo=0.5, hi=2, dtype="float32"), real(3, dtype="float32")
_MEAN, _VARIANCE = real(3, dtype="float32"), real(3, lo=0.5, hi=2, dtype="float32")
_EMPTY = const([], "float32")
_X, _CHANNELS_FIRST = real(2, 4, 3, 3), real(2, 3, 4, 3)
_HALVES = ("float32", "half", "bfloat16")
_FEW = ("float32",)
_LRN = {"depth_radius": 2, "bias": 1.0, "alpha": 0.3}


def _batch_mean(*arrays):
    return arrays[1].mean((0, 1, 2))


def _batch_variance(*arrays):
    return arrays[1].var((0, 1, 2))


def _without(first):
    """Leaves out reserve outputs, whose shapes differ between TensorFlow's kernels."""
    return lambda index, array: array.ravel()[:0] if index >= first else array


def _version(version, sweep):
    name, grad = f"FusedBatchNorm{version}", f"FusedBatchNormGrad{version}"
    third = [const(0.0, "float32")] if version == "V3" else []
    statistics = [derived(_batch_mean, "float32"), derived(_batch_variance, "float32")]
    inference = {"is_training": False, "epsilon": 0.01}
    unchecked = {
        "grad": False,
        "grad_reason": "only y has a gradient; tests/library/nn compares it with the composed one",
    }
    return [
        OpCase(
            name, [_X, _SCALE, _OFFSET, _EMPTY, _EMPTY], {"epsilon": 0.001}, sweep,
            compare=_without(5), **unchecked,
        ),
        # In half precision TensorFlow leaves the statistics it passes through at 0.
        OpCase(name, [_X, _SCALE, _OFFSET, _MEAN, _VARIANCE], inference, _FEW, **unchecked),
        OpCase(
            name,
            [_CHANNELS_FIRST, _SCALE, _OFFSET, _EMPTY, _EMPTY],
            {"data_format": "NCHW"},
            **unchecked,
        ),
        OpCase(name, [real(2, 4, 3, 2), _SCALE, _OFFSET, _EMPTY, _EMPTY], raises=True),
        OpCase(
            grad, [real(2, 4, 3, 3), _X, _SCALE, *statistics, *third], {}, sweep,
            compare=_without(3), **unchecked,
        ),
        OpCase(
            grad, [real(2, 4, 3, 3), _X, _SCALE, _MEAN, _VARIANCE, *third], inference, _FEW,
            oracle="tf1", compare=_without(3), **unchecked,
        ),
    ]  # fmt: skip


_GLOBAL = {"variance_epsilon": 0.01, "scale_after_normalization": True}

CASES = [
    OpCase("LRN", [real(2, 3, 2, 7)], {}, _HALVES),
    OpCase("LRN", [real(2, 3, 2, 7)], {**_LRN, "beta": 0.75}, _HALVES),
    OpCase("LRN", [real(1, 2, 2, 3)], {**_LRN, "beta": 0.6, "depth_radius": 1}, _FEW),
    OpCase("LRN", [real(2, 3, 7)], raises=True),
    OpCase(
        "LRNGrad",
        [real(2, 3, 2, 7), real(2, 3, 2, 7), derived(lambda g, x: x / (1 + x * x))],
        {**_LRN, "beta": 0.75},
        _HALVES,
    ),
    *_version("", _FEW),
    *_version("V2", _HALVES),
    *_version("V3", _HALVES),
    OpCase(
        "BatchNormWithGlobalNormalization",
        [real(2, 3, 3, 4), real(4), real(4, lo=0.5), real(4), real(4)],
        _GLOBAL,
        FLOATS[:2],
    ),
    OpCase(
        "BatchNormWithGlobalNormalization",
        [real(2, 3, 3, 4), real(4), real(4, lo=0.5), real(4), real(4)],
        {**_GLOBAL, "scale_after_normalization": False},
        _FEW,
    ),
    OpCase(
        "BatchNormWithGlobalNormalizationGrad",
        [real(2, 3, 3, 4), real(4), real(4, lo=0.5), real(4), real(2, 3, 3, 4)],
        _GLOBAL,
        FLOATS[:2],
    ),
]
