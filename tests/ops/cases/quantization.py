"""Rows of simulated quantization: ranges around, above and below 0, bits, roundings."""

import numpy as np

from tests.ops.opcase import OpCase, const, feed, real

_RANGES = ((-3.0, 5.0), (0.0, 6.0), (0.5, 4.0), (-4.0, -0.25), (0.0, 0.0))
_KINKS = "values meet the steps: straight through, which is not the slope"


def _v1(input: np.ndarray) -> np.ndarray:
    scale = 127 / 4.0
    return np.round(input.clip(-4 * 128 / 127, 4) * scale) / scale


CASES = [
    *(
        OpCase("FakeQuantWithMinMaxArgs", [real(4, 5, lo=-8, hi=8)],
               {"min": low, "max": high, "num_bits": bits, "narrow_range": narrow},
               grad=False, grad_reason=_KINKS)
        for low, high in _RANGES[:4]
        for bits, narrow in ((8, False), (3, True))
    ),
    *(
        OpCase("FakeQuantWithMinMaxArgsGradient", [real(4, 5), real(4, 5, lo=-8, hi=8)],
               {"min": low, "max": high, "num_bits": bits, "narrow_range": narrow})
        for low, high in _RANGES[:4]
        for bits, narrow in ((8, False), (3, True))
    ),
    *(
        OpCase("FakeQuantWithMinMaxVars",
               [real(4, 5, lo=-8, hi=8), feed(low, "float32"), feed(high, "float32")],
               {"num_bits": bits, "narrow_range": narrow}, grad=False, grad_reason=_KINKS)
        for low, high in _RANGES
        for bits, narrow in ((8, False), (3, True))
    ),
    *(
        OpCase("FakeQuantWithMinMaxVarsGradient",
               [real(4, 5), real(4, 5, lo=-8, hi=8), feed(low, "float32"), feed(high, "float32")],
               {"num_bits": bits, "narrow_range": narrow})
        for low, high in _RANGES
        for bits, narrow in ((8, False), (3, True))
    ),
    *(
        OpCase("FakeQuantWithMinMaxVarsPerChannel",
               [real(*shape, 5, lo=-8, hi=8), *(feed(end, "float32") for end in zip(*_RANGES))],
               {"num_bits": bits, "narrow_range": narrow}, grad=False, grad_reason=_KINKS)
        for shape in ((), (4,), (2, 3), (2, 3, 2))
        for bits, narrow in ((8, False), (3, True))
    ),
    *(
        OpCase("FakeQuantWithMinMaxVarsPerChannelGradient",
               [real(*shape, 5), real(*shape, 5, lo=-8, hi=8),
                *(feed(end, "float32") for end in zip(*_RANGES))],
               {"num_bits": bits, "narrow_range": narrow})
        for shape in ((), (4,), (2, 3, 2))
        for bits, narrow in ((8, False), (3, True))
    ),
    # Halfway between two steps, and ranges that end before they begin.
    OpCase("FakeQuantWithMinMaxVarsPerChannel",
           [feed([[1.625, -0.75, 0.375], [1.0, 0.25, -0.875]]), feed([-1.0, -2.0, 1.5], "float32"),
            feed([1.0, 0.5, 1.0], "float32")], oracle="tf1", grad=False, grad_reason=_KINKS),
    OpCase("FakeQuantWithMinMaxArgs", [real(3)], {"min": 1.0, "max": 1.0}, raises=True),
    OpCase("FakeQuantWithMinMaxArgs", [real(3)], {"num_bits": 17}, raises=True),
    OpCase("FakeQuantWithMinMaxVarsPerChannel",
           [real(3, 4), real(3, dtype="float32"), real(3, dtype="float32")], raises=True),
    OpCase("QuantizeAndDequantize", [real(4, 5, lo=-8, hi=8)],
           {"range_given": True, "input_min": -1.0, "input_max": 4.0}, ("float32", "float64"),
           ref=_v1, grad=False, grad_reason=_KINKS),
    *(
        OpCase("QuantizeAndDequantizeV2",
               [real(4, 5, lo=-8, hi=8), feed(low), feed(high)],
               {"range_given": given, "signed_input": signed, "num_bits": bits,
                "round_mode": mode, "narrow_range": narrow},
               ("float32", "float64"), grad=False, grad_reason=_KINKS)
        for low, high in ((-3.0, 5.0), (-6.0, 5.0), (0.0, 4.0))
        for given, signed in ((True, True), (False, True), (True, False))
        for bits, mode, narrow in ((8, "HALF_TO_EVEN", False), (4, "HALF_UP", signed))
    ),
    *(
        OpCase("QuantizeAndDequantizeV3",
               [real(4, 5, lo=-8, hi=8), feed(-3.0), feed(5.0), const(bits)],
               {"range_given": given, "narrow_range": narrow}, ("float32", "float64"),
               grad=False, grad_reason=_KINKS)
        for given in (True, False)
        for bits in (3, 8)
        for narrow in (True, False)
    ),
    # A range on one side of 0, where the integers are all on the other.
    *(
        OpCase("QuantizeAndDequantizeV2", [feed(values), feed(-2.0), feed(-1.0)],
               {"range_given": given, "signed_input": False}, ("float32", "float64"),
               oracle="tf1", grad=False, grad_reason=_KINKS)
        for values in ([-0.5, -1.625, -0.25], [-1.0, 0.0, -0.125], [0.0, 0.0])
        for given in (False, True)
    ),
    OpCase("QuantizeAndDequantizeV2", [real(3), feed(2.0), feed(1.0)], {"range_given": True},
           raises=True),
]  # fmt: skip
