"""Conversion between element types."""

from tests.ops.opcase import ALL, OpCase, feed, ints, real

_SOURCES = ("float32", "float64", "half", "bfloat16", "int32", "int64", "uint8", "bool")
_NO_GRADIENT = {
    "grad": False,
    "grad_reason": "none in TensorFlow 1.15; the public function builds Minimum and Maximum",
}

CASES = [
    *(OpCase("Cast", [real(2, 3, lo=0, hi=9, dtype=source)], {"DstT": "T"}, ALL, type_attr="DstT")
      for source in _SOURCES),
    OpCase("Cast", [feed([-1.7, 1.7, -0.2, 3.999], "float32")], {"DstT": "T"},
           ("int8", "int16", "int32", "int64"), type_attr="DstT"),
    OpCase("Cast", [feed([0.0, 0.3, -2.0], "float32")], {"DstT": "bool"}, type_attr="DstT"),
    OpCase("Cast", [real(3, dtype="complex64")], {"DstT": "T"}, ("complex64", "complex128"),
           type_attr="DstT"),
    OpCase("Cast", [feed([300, -1, 70000, 255], "int32")], {"DstT": "T"},
           ("uint8", "int8", "int16", "uint16"), type_attr="DstT"),
    OpCase("Cast", [real(4, dtype="float32")], {"DstT": "T", "Truncate": True},
           ("half", "bfloat16"), type_attr="DstT"),
    OpCase("Bitcast", [real(2, 3, dtype="float32")], {"type": "int32"}),
    OpCase("Bitcast", [real(2, 3, dtype="float64")], {"type": "float32"}),
    OpCase("Bitcast", [ints(2, 4, hi=100, dtype="uint8")], {"type": "T"}, ("float32", "int32")),
    OpCase("Bitcast", [ints(2, 3, hi=100, dtype="uint8")], {"type": "int32"}, raises=True),
    OpCase("ClipByValue", [real(3, 4), feed(-0.5), feed(0.75)], {}, ("float32", "float64"),
           **_NO_GRADIENT),
    OpCase("ClipByValue", [ints(3, lo=-5, hi=5, dtype="T"), feed(-2), feed(3)], {}, ("int32",)),
    OpCase("ClipByValue", [real(3), feed([-1.0, 0.0, 0.5]), feed([0.0, 0.1, 1.0])],
           **_NO_GRADIENT),
]  # fmt: skip
