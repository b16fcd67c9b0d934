"""Summaries: tensors as serialized ``Summary`` messages, which TensorBoard shows.

Kernels give string scalars (object arrays of bytes).  The scalar summary is on the path of every
training step, hence its plain loop over ``value.add()``, twice as fast as nested constructors.

A histogram has the limits of TensorFlow: 0, and +-1e-12 * 1.1^k up to 1e20.  Large tensors are
sorted once and the limits looked up in them, which is ten times faster than the other way round;
with float32 values the limits are rounded up to float32, which moves no value across a limit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import tensor_proto
from penstock.foundation.formats.messages import Summary
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import scalar
from penstock.ops.image.image_codec import png_bytes
from penstock.ops.signal.audio_codec import wav_bytes
from penstock.ops.strings.string_elements import boxed

NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
)
_NO_GRADIENT = "its output is a string"


def _array(value: Any) -> np.ndarray:
    """A run-time value as a NumPy array of its own dtype."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().cpu().resolve_conj()
    if value.dtype is torch.bfloat16:
        bits = value.contiguous().view(torch.int16).numpy()
        return bits.view(dtypes.bfloat16.as_numpy_dtype)
    return value.numpy()


def tensor_message(value: Any) -> Any:
    array = _array(value)
    strings = array.dtype == object
    return tensor_proto.to_proto(array, dtypes.string if strings else dtypes.as_dtype(array.dtype))


def _text(value: bytes) -> str:
    return value.decode(errors="backslashreplace")


def _tag_of(tag: np.ndarray, what: str) -> str:
    if tag.shape != ():
        raise errors.invalid(f"{what} must be scalar; found shape {list(tag.shape)}")
    return _text(tag.item())


# ---- scalars -------------------------------------------------------------------------------


def scalar_summary(tags: Any, values: Any) -> np.ndarray:
    if tags.shape != tuple(values.shape):
        one = f" (tag '{_text(tags.item())}')" if tags.size == 1 else ""
        raise errors.invalid(
            f"tags and values not the same shape: {list(tags.shape)} != {list(values.shape)}{one}"
        )
    message = Summary()
    for tag, value in zip(tags.ravel().tolist(), values.reshape(-1).tolist()):
        entry = message.value.add()
        entry.tag = _text(tag)
        entry.simple_value = value
    return boxed(message.SerializeToString())


define_op(
    "ScalarSummary",
    "tags: string, values: T -> summary: string",
    attrs=[NUMBERS],
    shape=scalar,
    kernel=scalar_summary,
    no_gradient=_NO_GRADIENT,
)

# ---- histograms ----------------------------------------------------------------------------


def _default_limits() -> np.ndarray:
    positive = []
    limit = 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(np.finfo(np.float64).max)
    return np.array([*(-x for x in reversed(positive)), 0.0, *positive])


def _rounded_up(limits: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        near = limits.astype(np.float32)
    return np.where(near < limits, np.nextafter(near, np.float32(np.inf)), near)


_LIMITS = _default_limits()
_LIMITS_32 = _rounded_up(_LIMITS)
# Below so many values, looking each up among the limits is faster than sorting.
_FEW = 512


def _bucket_counts(flat: np.ndarray) -> np.ndarray:
    """How many values lie below each limit and not below the one before it."""
    last = len(_LIMITS) - 1
    if len(flat) < _FEW:
        index = np.searchsorted(_LIMITS, flat.astype(np.float64), side="right")
        return np.bincount(np.minimum(index, last), minlength=last + 1)
    limits = _LIMITS_32 if flat.dtype == np.float32 else _LIMITS
    below = np.searchsorted(np.sort(flat), limits, side="left")
    below[last] = len(flat)
    return np.diff(below, prepend=0)


def _histogram_array(values: Any) -> np.ndarray:
    """The values in float32 or float64, in which they are all exact enough for TensorFlow."""
    kind = values.dtype
    if kind in (torch.bfloat16, torch.float16):
        values = values.float()
    elif kind is not torch.float32:
        values = values.double()
    return values.detach().cpu().reshape(-1).numpy()


def histogram_summary(tag: Any, values: Any) -> np.ndarray:
    name = _tag_of(tag, "tags")
    flat = _histogram_array(values)
    message = Summary()
    entry = message.value.add()
    entry.tag = name
    histogram = entry.histo
    if not flat.size:
        histogram.min, histogram.max = _LIMITS[-1], _LIMITS[0]
        histogram.bucket_limit.append(_LIMITS[-1])
        histogram.bucket.append(0.0)
        return boxed(message.SerializeToString())
    # The 0.0 makes a negative zero positive, here and below: TF writes none.
    low, high = float(flat.min()) + 0.0, float(flat.max()) + 0.0
    # A NaN comes out of both; the first value that is not finite is the one that TF names.
    if not (math.isfinite(low) and math.isfinite(high)):
        first = flat[np.argmin(np.isfinite(flat))]
        kind = "Nan" if math.isnan(first) else "Infinity"
        raise errors.invalid(f"{kind} in summary histogram for: {name}")
    wide = flat.astype(np.float64, copy=False)
    histogram.min, histogram.max, histogram.num = low, high, flat.size
    # Not np.dot: its BLAS has threads of its own, which spin on beside torch's for 0.1 s after it.
    histogram.sum, histogram.sum_squares = float(wide.sum()) + 0.0, float(np.square(wide).sum())
    counts = _bucket_counts(flat)
    # Of empty buckets in a row only the last is kept.
    kept = counts > 0
    kept[:-1] |= kept[1:]
    kept[-1] = True
    histogram.bucket_limit.extend(_LIMITS[kept].tolist())
    histogram.bucket.extend(counts[kept].tolist())
    return boxed(message.SerializeToString())


define_op(
    "HistogramSummary",
    "tag: string, values: T -> summary: string",
    attrs=[NUMBERS + " = float"],
    shape=scalar,
    kernel=histogram_summary,
    no_gradient=_NO_GRADIENT,
)

# ---- images --------------------------------------------------------------------------------


def _as_pixels(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """A float image [height, width, channels] as uint8.

    Without negative values the largest becomes 255; with some, the largest magnitude lies 127
    away from 128.  Pixels that are not finite are left out of this and get ``bad_color``.
    """
    good = np.isfinite(image).all(axis=-1)
    all_good = good.all()
    known = image if all_good else image[good]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    reach, span, offset = (
        (max(abs(low), abs(high)), 127.0, 128.0) if low < 0 else (high, 255.0, 0.0)
    )
    kind = image.dtype.type
    scale = kind(0.0 if reach < 1e-6 else np.float32(span) / np.float32(reach))
    if all_good:
        return (image * scale + kind(offset)).astype(np.uint8)
    pixels = (np.where(good[..., None], image, kind(0)) * scale + kind(offset)).astype(np.uint8)
    pixels[~good] = bad_color[: image.shape[-1]]
    return pixels


def image_summary(tag: Any, tensor: Any, max_images: int, bad_color: Any) -> np.ndarray:
    base = _tag_of(tag, "Tag")
    dims = list(tensor.shape)
    if len(dims) != 4 or dims[3] not in (1, 3, 4):
        raise errors.invalid(f"Tensor must be 4-D with last dim 1, 3, or 4, not {dims}")
    if dims[0] and 0 in dims:
        raise errors.invalid(f"input tensor must have non-zero dims. Found: {dims}.")
    color = np.asarray(_array(bad_color))
    if color.dtype != np.uint8 or color.ndim != 1 or color.size < dims[3]:
        raise errors.invalid(
            f"bad_color must be a uint8 vector with a value for each of {dims[3]} channel(s);"
            f" found {color.dtype} {list(color.shape)}"
        )
    message = Summary()
    for index, image in enumerate(_array(tensor[:max_images])):
        entry = message.value.add()
        entry.tag = f"{base}/image/{index}" if max_images > 1 else f"{base}/image"
        pixels = image if image.dtype == np.uint8 else _as_pixels(image, color)
        entry.image.height, entry.image.width, entry.image.colorspace = image.shape
        entry.image.encoded_image_string = png_bytes(pixels)
    return boxed(message.SerializeToString())


define_op(
    "ImageSummary",
    "tag: string, tensor: T -> summary: string",
    attrs=[
        "max_images: int >= 1 = 3", "T: {uint8, float, half, double} = float",
        "bad_color: tensor = uint8[255, 0, 0, 255]",
    ],
    shape=scalar,
    kernel=image_summary,
    no_gradient=_NO_GRADIENT,
)  # fmt: skip

# ---- audio ---------------------------------------------------------------------------------


def audio_summary(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int) -> np.ndarray:
    base = _tag_of(tag, "Tag")
    if isinstance(sample_rate, torch.Tensor):
        sample_rate = sample_rate.item()
    dims = list(tensor.shape)
    if len(dims) not in (2, 3):
        raise errors.invalid(f"Tensor must be 3-D or 2-D, got: {dims}")
    if not sample_rate > 0:
        raise errors.invalid(f"sample_rate must be > 0; found {sample_rate}")
    message = Summary()
    for index, clip in enumerate(_array(tensor[:max_outputs])):
        samples = clip if clip.ndim == 2 else clip[:, None]
        entry = message.value.add()
        entry.tag = f"{base}/audio/{index}" if max_outputs > 1 else f"{base}/audio"
        audio = entry.audio
        audio.sample_rate = sample_rate
        audio.length_frames, audio.num_channels = samples.shape
        audio.content_type = "audio/wav"
        audio.encoded_audio_string = wav_bytes(samples, round(sample_rate))
    return boxed(message.SerializeToString())


define_op(
    "AudioSummary",
    "tag: string, tensor: float -> summary: string",
    attrs=["sample_rate: float", "max_outputs: int >= 1 = 3"],
    shape=scalar,
    kernel=audio_summary,
    no_gradient=_NO_GRADIENT,
)
define_op(
    "AudioSummaryV2",
    "tag: string, tensor: float, sample_rate: float -> summary: string",
    attrs=["max_outputs: int >= 1 = 3"],
    shape=scalar,
    kernel=audio_summary,
    no_gradient=_NO_GRADIENT,
)

# ---- tensors -------------------------------------------------------------------------------


def _tensor_summary(tensor: Any, state: str) -> np.ndarray:
    message = Summary()
    entry = message.value.add()
    entry.node_name = state
    entry.tensor.CopyFrom(tensor_message(tensor))
    return boxed(message.SerializeToString())


define_op(
    "TensorSummary",
    "tensor: T -> summary: string",
    attrs=[
        "T: type", 'description: string = ""', "labels: list(string) = []",
        'display_name: string = ""',
    ],
    shape=scalar,
    kernel=_tensor_summary,
    # The message says which node made it.
    state=lambda attrs, name: name,
    no_gradient=_NO_GRADIENT,
)  # fmt: skip


def _tensor_summary_v2(tag: Any, tensor: Any, serialized_summary_metadata: Any) -> np.ndarray:
    name = _tag_of(tag, "tag")
    if serialized_summary_metadata.shape != ():
        raise errors.invalid(
            "serialized_summary_metadata must be scalar; found shape"
            f" {list(serialized_summary_metadata.shape)}"
        )
    message = Summary()
    entry = message.value.add()
    entry.tag = name
    entry.tensor.CopyFrom(tensor_message(tensor))
    entry.metadata.SetInParent()
    try:
        entry.metadata.MergeFromString(serialized_summary_metadata.item())
    except Exception:  # what protobuf raises differs between its implementations
        # TensorFlow takes what it could parse and says nothing.
        entry.metadata.SetInParent()
    return boxed(message.SerializeToString())


define_op(
    "TensorSummaryV2",
    "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string",
    attrs=["T: type"],
    shape=scalar,
    kernel=_tensor_summary_v2,
    no_gradient=_NO_GRADIENT,
)

# ---- merging -------------------------------------------------------------------------------


def _merge_summary(inputs: Any) -> np.ndarray:
    seen: set[str] = set()
    parts: list[bytes] = []
    for value in inputs:
        for data in value.ravel().tolist():
            for tag in _tags(data):
                if tag in seen:
                    raise errors.invalid(f"Duplicate tag {tag} found in summary inputs")
                seen.add(tag)
            parts.append(data)
    # The union of messages that hold nothing but repeated values is their concatenation.
    return boxed(b"".join(parts))


def _tags(data: bytes) -> list[str]:
    try:
        message = Summary.FromString(data)
    except Exception:  # what protobuf raises differs between its implementations
        raise errors.invalid("Could not parse one of the summary inputs") from None
    # A TensorSummary has no tag.
    return [value.tag for value in message.value if value.tag]


define_op(
    "MergeSummary",
    "inputs: N * string -> summary: string",
    attrs=["N: int >= 1"],
    shape=scalar,
    kernel=_merge_summary,
    no_gradient=_NO_GRADIENT,
)
