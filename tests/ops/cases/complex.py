"""Complex numbers."""

from tests.ops.opcase import OpCase, real

_PAIRS = (("complex64", "float32"), ("complex128", "float64"))

CASES = [
    *(OpCase(op, [real(2, 3, lo=0.5, hi=2, dtype=kind)], {"Tout": part}, (kind,))
      for op in ("Real", "Imag", "Angle", "ComplexAbs") for kind, part in _PAIRS),
    OpCase("Conj", [real(2, 3)], {}, ("complex64", "complex128")),
    *(OpCase("Complex", [real(2, 3, dtype=part), real(3, dtype=part)], {"Tout": kind}, (part,))
      for kind, part in _PAIRS),
    OpCase("Complex", [real(2), real(3)], {"Tout": "complex64"}, raises=True),
]  # fmt: skip
