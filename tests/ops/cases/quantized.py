"""Rows of quantized tensors: ranges around, above and below 0, all modes; whole ranges of codes."""

from typing import Any

import numpy as np

from tests.ops.opcase import QUANTIZED, OpCase, Spec, const, feed, numpy_dtype, real

_RANGES = ((-3.0, 5.0), (0.0, 6.0), (0.5, 4.0), (-4.0, -0.25), (0.0, 0.0), (-120.5, 3.25))
_MODES = (
    ("MIN_COMBINED", "HALF_AWAY_FROM_ZERO"), ("MIN_FIRST", "HALF_AWAY_FROM_ZERO"),
    ("SCALED", "HALF_AWAY_FROM_ZERO"), ("SCALED", "HALF_TO_EVEN"),
)  # fmt: skip
_EIGHT = ("quint8", "qint8")


def codes(*shape: int, dtype: str = "T", share: float = 1.0) -> Spec:
    """Integers from the whole range of a type, or from a share of it around its middle."""

    def draw(rng: np.random.Generator, dtype: str, _: list[np.ndarray]) -> Any:
        info = np.iinfo(numpy_dtype(dtype))
        middle, half = (info.min + info.max) // 2, (info.max - info.min) * share / 2
        low, high = max(info.min, int(middle - half)), min(info.max, int(middle + half) + 1)
        return rng.integers(low, high, shape, endpoint=True)

    return Spec(draw, dtype)


def ends(low: float, high: float) -> list[Spec]:
    """The two ends of a range."""
    return [feed(low, "float32"), feed(high, "float32")]


# Eighths in [0, 255] stretched over 255 codes: every eighth one is a tie.
_TIES = np.arange(0, 255 * 8 + 1, 4, dtype=np.float32) / 8


def _relu_x(features: np.ndarray, top: Any, low: Any, high: Any) -> Any:
    # Steps of 0.04: 0.0 is the 125th, 2.5 the 62.5th after it, rounded up.
    return features.clip(125, 125 + 63), low, high


CASES = [
    *(
        OpCase("QuantizeV2", [real(5, 7, lo=-8, hi=8, dtype="float32"), *ends(*pair)],
               {"T": "T", "mode": mode, "round_mode": rounding}, QUANTIZED, oracle="tf1")
        for pair in _RANGES
        for mode, rounding in _MODES
    ),
    *(
        OpCase("QuantizeV2", [feed(_TIES, "float32"), *ends(0.0, 255.0)],
               {"T": "T", "mode": mode, "round_mode": rounding}, ("quint8",), oracle="tf1")
        for mode, rounding in _MODES
    ),
    *(
        OpCase("QuantizeV2", [feed(_TIES - 128, "float32"), *ends(-128.0, 127.0)],
               {"T": "T", "mode": mode, "round_mode": rounding}, ("qint8",), oracle="tf1")
        for mode, rounding in _MODES
    ),
    OpCase("QuantizeV2", [real(0, 3, dtype="float32"), *ends(-1.0, 1.0)], {"T": "T"}, _EIGHT),
    OpCase("QuantizeV2", [real(3, dtype="float32"), *ends(2.0, 1.0)], {"T": "T"}, ("quint8",),
           raises=True),
    OpCase("QuantizeV2", [real(3, dtype="float32"), *ends(0.0, 1.0)],
           {"T": "T", "mode": "MIN_FIRST", "round_mode": "HALF_TO_EVEN"}, ("quint8",),
           raises=True),
    *(
        OpCase("Dequantize", [codes(5, 7), *ends(*pair)], {"mode": mode}, QUANTIZED)
        for pair in _RANGES
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
    ),
    *(
        OpCase(op, [codes(4, 6, share=share), *ends(*pair)], attrs, ("qint32",),
               type_attr="Tinput")
        for op, attrs in (
            ("QuantizeDownAndShrinkRange", {"out_type": "quint8"}), ("RequantizationRange", {}),
        )
        for share in (1.0, 0.001)
        for pair in ((-3.0, 5.0), (0.0, 6.0), (0.5, 4.0), (-1e6, 1e6))
    ),
    *(
        OpCase("Requantize", [codes(4, 6, share=share), *ends(*pair), *ends(*wanted)],
               {"out_type": kind}, ("qint32",), type_attr="Tinput")
        for kind in _EIGHT
        for share in (1.0, 0.01)
        for pair in ((-3.0, 5.0), (-1e3, 1e3))
        for wanted in ((-3.0, 5.0), (0.0, 4.0), (-20.0, 1.0))
    ),
    *(
        OpCase("Requantize", [codes(3), *ends(-1.0, 1.0), *ends(*wanted)], {"out_type": "quint8"},
               ("qint32",), type_attr="Tinput", raises=True)
        for wanted in ((0.5, 1.0), (-1.0, -2.0))
    ),
    *(
        OpCase("QuantizedMatMul", [codes(*a), codes(*b), *ends(*one), *ends(*other)],
               {"Toutput": "qint32", "transpose_a": flip_a, "transpose_b": flip_b,
                "Tactivation": "quint8"},
               ("quint8",), type_attr="T1")
        for a, b, flip_a, flip_b in (
            ((4, 7), (7, 5), False, False), ((7, 4), (7, 5), True, False),
            ((4, 7), (5, 7), False, True), ((3, 300), (300, 2), False, False),
        )
        for one, other in (((-3.0, 5.0), (0.0, 6.0)), ((-0.5, 4.0), (-4.0, -0.25)))
    ),
    OpCase("QuantizedMatMul", [codes(2, 3), codes(3, 2), *ends(1.0, 1.0), *ends(0.0, 1.0)],
           {"Toutput": "qint32"}, ("quint8",), type_attr="T1", raises=True),
    *(
        OpCase("QuantizedConv2D",
               [codes(2, 6, 7, 3), codes(*kernel, 3, 4), *ends(*one), *ends(*other)],
               {"out_type": "qint32", "strides": [1, stride, stride, 1], "padding": padding},
               ("quint8",), type_attr="Tinput")
        for kernel in ((1, 1), (3, 2))
        for stride in (1, 2)
        for padding in ("SAME", "VALID")
        for one, other in (((-3.0, 5.0), (0.0, 6.0)), ((0.0, 1.0), (-4.0, 0.25)))
    ),
    *(
        OpCase("QuantizedBiasAdd", [codes(*shape, 5), codes(5), *ends(*one), *ends(*other)],
               {"out_type": "qint32"}, _EIGHT, type_attr="T1")
        for shape in ((4,), (2, 3), (2, 3, 2))
        for one, other in (((-3.0, 5.0), (0.0, 6.0)), ((0.0, 1.0), (-4.0, 0.25)))
    ),
    *(
        OpCase(op, [codes(*x), codes(*y), *ends(*one), *ends(*other)], {"Toutput": "qint32"},
               ("quint8",), type_attr="T1")
        for op in ("QuantizedAdd", "QuantizedMul")
        for x, y in (((3, 4), (3, 4)), ((3, 4), ()), ((), (3, 4)), ((3, 4), (4,)), ((4,), (3, 4)),
                     ((1,), (1,)))
        for one, other in (((-3.0, 5.0), (0.0, 6.0)), ((0.0, 1.0), (-4.0, 0.25)))
    ),
    *(
        OpCase("QuantizedBatchNormWithGlobalNormalization",
               [codes(2, 3, 2, 4), *ends(-3.0, 5.0), codes(4), *ends(-1.0, 1.0), codes(4),
                *ends(0.0, 4.0), codes(4), *ends(-2.0, 2.0), codes(4), *ends(0.0, 3.0)],
               {"out_type": "qint32", "variance_epsilon": 0.001,
                "scale_after_normalization": scale},
               ("quint8",), type_attr="Tinput")
        for scale in (True, False)
    ),
    *(
        OpCase("QuantizedInstanceNorm", [codes(*shape), *ends(*pair)], attrs, ("quint8",))
        for shape, pair, attrs in (
            ((1, 4, 4, 3), (-3.0, 5.0), {}), ((2, 5, 3, 2), (0.0, 6.0), {}),
            ((2, 5, 3, 2), (-1.0, 1.0),
             {"output_range_given": True, "given_y_min": -2.0, "given_y_max": 2.0}),
            ((2, 1, 1, 3), (-1.0, 1.0), {}), ((1, 8, 8, 32), (-10.0, 10.0), {}),
        )
    ),
    OpCase("QuantizedInstanceNorm", [codes(1, 2, 2, 1), *ends(1.0, 1.0)], {}, ("quint8",),
           raises=True),
    *(
        OpCase(op, [codes(3, 5), *ends(*pair)], {"out_type": "quint8"}, ("quint8",),
               type_attr="Tinput")
        for op in ("QuantizedRelu", "QuantizedRelu6")
        for pair in ((-3.0, 5.0), (0.0, 6.0), (-10.0, 10.0), (0.5, 20.0))
    ),
    OpCase("QuantizedReluX", [codes(3, 5), feed(2.5, "float32"), *ends(-5.0, 5.2)],
           {"out_type": "quint8"}, ("quint8",), type_attr="Tinput", ref=_relu_x,
           reason="no TensorFlow for CPUs has a kernel of it; it is compared with NumPy"),
    *(
        OpCase(op, [codes(2, 6, 7, 3), *ends(-3.0, 5.0)],
               {"ksize": [1, *size, 1], "strides": [1, stride, stride, 1], "padding": padding},
               ("quint8",), oracle="tf1")
        for op in ("QuantizedMaxPool", "QuantizedAvgPool")
        for size in ((2, 2), (3, 2))
        for stride in (1, 2)
        for padding in ("SAME", "VALID")
    ),
    *(
        OpCase("QuantizedConcat",
               [const(axis), [codes(2, 3), codes(2, 3), codes(2, 3)],
                [feed(low, "float32") for low in lows], [feed(high, "float32") for high in highs]],
               {}, ("quint8", "qint32"))
        for axis in (0, 1)
        for lows, highs in (
            ((-3.0, 0.0, 0.5), (5.0, 6.0, 1.0)), ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
            ((-8.0, -8.0, -8.0), (8.0, 8.0, 8.0)),
        )
    ),
    *(
        OpCase("QuantizedResizeBilinear", [codes(*image), const(size), *ends(-1.0, 2.0)],
               {"align_corners": align, "half_pixel_centers": half}, ("quint8", "qint32"),
               oracle="tf1")
        for align, half in ((False, False), (True, False), (False, True))
        for image, size in (
            ((1, 4, 5, 1), (7, 9)), ((2, 6, 4, 3), (3, 3)), ((1, 3, 3, 16), (6, 6)),
            ((1, 5, 2, 2), (1, 2)),
        )
    ),
    *(
        OpCase("QuantizedResizeBilinear", [real(*image), const(size), *ends(-1.0, 2.0)],
               {"align_corners": align, "half_pixel_centers": half})
        for align, half in ((False, False), (True, False), (False, True))
        for image, size in (((1, 4, 5, 1), (7, 9)), ((2, 6, 4, 3), (3, 3)))
    ),
    *(
        OpCase("QuantizedReshape", [codes(2, 6), const(shape), *ends(-3.0, 5.0)], {},
               ("quint8", "qint32"))
        for shape in ([3, 4], [-1], [2, -1, 3])
    ),
]  # fmt: skip
