"""Rows of the summary ops: messages are compared by what they say, images by their pixels."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image
from tensorboard.compat.proto.summary_pb2 import Summary

from penstock.foundation.formats import tensor_proto
from tests.ops.opcase import OpCase, Spec, const, feed, real, strings

NUMBERS = (
    "float32", "float64", "int32", "uint8", "int16", "int8", "int64", "bfloat16", "uint16",
    "float16", "uint32", "uint64",
)  # fmt: skip


def word(text: str) -> Spec:
    """A constant string scalar."""
    return const(strings(text))


def _letters(text: str | bytes) -> list[float]:
    data = text.encode() if isinstance(text, str) else text
    return [float(len(data)), *map(float, data)]


def _histogram(histogram: Any) -> list[float]:
    # Sums depend on the order of adding.
    sums = [float(np.float32(histogram.sum)), float(np.float32(histogram.sum_squares))]
    parts = [histogram.min, histogram.max, histogram.num, *sums]
    return [*parts, *histogram.bucket_limit, *histogram.bucket]


def _pixels(image: Any) -> list[float]:
    pixels = np.asarray(Image.open(io.BytesIO(image.encoded_image_string)))
    return [image.height, image.width, image.colorspace, *pixels.ravel().tolist()]


def _tensor(tensor: Any) -> list[float]:
    array = tensor_proto.to_array(tensor).ravel()
    if array.dtype == object:
        return [number for text in array for number in _letters(text)]
    return array.astype(np.float64).tolist()


def said(index: int, array: np.ndarray) -> np.ndarray:
    """A serialized ``Summary`` as numbers."""
    found: list[float] = []
    for value in Summary.FromString(array.item()).value:
        kind = value.WhichOneof("value")
        found += _letters(value.tag) + _letters(str(kind)) + _letters(str(value.metadata))
        if kind == "simple_value":
            found.append(value.simple_value)
        elif kind == "histo":
            found += _histogram(value.histo)
        elif kind == "image":
            found += _pixels(value.image)
        elif kind == "audio":
            found += _letters(value.audio.SerializeToString(deterministic=True))
        else:
            found += _tensor(value.tensor)
    return np.array(found)


def _scalar(tag: str, value: float) -> bytes:
    data: bytes = Summary(value=[Summary.Value(tag=tag, simple_value=value)]).SerializeToString()
    return data


A, B = _scalar("a", 1.0), _scalar("b", 2.0)
CASES = [
    OpCase("ScalarSummary", [word("loss"), real()], {}, NUMBERS),
    OpCase("ScalarSummary", [strings(["a", "b/c"]), real(2)], {}, NUMBERS),
    OpCase("ScalarSummary", [strings(["a", "b"]), real(1)], raises=True),
    OpCase("ScalarSummary", [word("a"), real(1)], raises=True),
    OpCase("ScalarSummary", [word("a"), feed(np.nan)]),
    OpCase(
        "HistogramSummary", [word("h"), real(30, 40, lo=0, hi=90)], {}, NUMBERS,
        compare=said,
    ),
    OpCase("HistogramSummary", [word("h"), real(7, lo=-5, hi=5)], compare=said),
    OpCase("HistogramSummary", [word("h"), real(0)], compare=said),
    OpCase("HistogramSummary", [word("h"), real()], compare=said),
    OpCase("HistogramSummary", [word("h"), feed([1.0, np.nan])], raises=True),
    OpCase("HistogramSummary", [word("h"), feed([-np.inf, 1.0])], raises=True),
    OpCase("HistogramSummary", [strings(["h", "g"]), real(2)], raises=True),
    OpCase(
        "ImageSummary", [word("i"), real(4, 5, 6, 3)], {},
        ("float32", "float16", "float64", "uint8"), compare=said,
    ),
    OpCase(
        "ImageSummary", [word("i"), real(2, 5, 6, 1, lo=0)], {"max_images": 1},
        compare=said,
    ),
    OpCase("ImageSummary", [word("i"), real(1, 5, 6, 4, lo=0)], compare=said),
    OpCase(
        "ImageSummary",
        [word("i"), feed(np.array([1, np.nan, -3, np.inf]).reshape(1, 1, 4, 1))],
        compare=said,
    ),
    OpCase("ImageSummary", [word("i"), real(2, 5, 6, 2)], raises=True),
    OpCase("ImageSummary", [word("i"), real(5, 6, 3)], raises=True),
    OpCase("ImageSummary", [word("i"), real(1, 0, 6, 3)], raises=True),
    OpCase(
        "AudioSummary", [word("s"), real(2, 20, lo=-1, hi=1)], {"sample_rate": 8000.0},
        compare=said, reason="TensorFlow's is for graphs of version 14 and older",
    ),
    OpCase(
        "AudioSummaryV2", [word("s"), real(4, 20, lo=-1.1, hi=1.1), const(8000.7, "float32")],
        compare=said,
    ),
    OpCase(
        "AudioSummaryV2", [word("s"), real(2, 20, 2), const(44100.0, "float32")],
        {"max_outputs": 1}, compare=said,
    ),
    OpCase("AudioSummaryV2", [word("s"), real(4), const(1.0, "float32")], raises=True),
    OpCase(
        "AudioSummaryV2", [word("s"), real(1, 4), const(-1.0, "float32")], raises=True
    ),
    OpCase("TensorSummary", [real(2, 3)], {}, (*NUMBERS, "bool"), compare=said),
    OpCase("TensorSummary", [strings(["a", "b"])], {"T": "string"}, compare=said),
    OpCase(
        "TensorSummaryV2", [word("t"), real(2, 3), word("")], {},
        (*NUMBERS, "bool"), compare=said,
    ),
    OpCase(
        "TensorSummaryV2", [word("t"), strings(["a"]), word("\n\x06\n\x04text")],
        {"T": "string"}, compare=said,
    ),
    OpCase(
        "TensorSummaryV2", [strings(["t", "u"]), real(2), word("")], raises=True
    ),
    OpCase("MergeSummary", [[strings(A), strings([B, _scalar("c", 1.0)])]], compare=said),
    OpCase("MergeSummary", [[strings(A), strings(A)]], raises=True),
    OpCase("MergeSummary", [[strings(b"\xff\xff")]], raises=True),
]  # fmt: skip
