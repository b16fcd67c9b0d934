"""WAV files as tensors: 16-bit PCM, in the layout that TensorFlow writes and reads.

Samples are float32 in [-1, 1), one row a frame and one column a channel.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.ops.strings.string_elements import boxed

_SCALE = 32768.0
_PCM = 1


def wav_bytes(samples: np.ndarray, sample_rate: int) -> bytes:
    """A WAV file of float samples [frames, channels]; what lies outside [-1, 1) is clipped.

    Raises:
      InvalidArgumentError: there is no frame or no channel, or the rate is negative.
    """
    frames, channels = samples.shape
    if not 0 < channels <= 0xFFFF or not frames or not 0 <= sample_rate <= 0xFFFFFFFF:
        raise errors.invalid(
            f"a WAV file needs frames, 1 to 65535 channels and a sample rate; found"
            f" {frames} frame(s), {channels} channel(s) and a rate of {sample_rate}"
        )
    # Halves are rounded away from zero.
    scaled = samples * np.float32(_SCALE)
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    data = np.clip(rounded, -_SCALE, _SCALE - 1).astype("<i2").tobytes()
    width = channels * 2
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, _PCM, channels,
        sample_rate, sample_rate * width, width, 16, b"data", len(data),
    )  # fmt: skip
    return head + data


def wav_samples(contents: bytes) -> tuple[np.ndarray, int]:
    """The samples [frames, channels] as float32 and the sample rate of a 16-bit PCM file.

    Raises:
      InvalidArgumentError: it is no such file.
    """
    if contents[:4] != b"RIFF" or contents[8:12] != b"WAVE":
        raise errors.invalid(
            "Header mismatch: expected a RIFF file of the form WAVE; found one that starts with"
            f" {contents[:12]!r}"
        )
    channels = rate = 0
    position = 12
    while position + 8 <= len(contents):
        kind, size = struct.unpack_from("<4sI", contents, position)
        position += 8
        if kind == b"fmt " and position + 16 <= len(contents):
            form, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", contents, position)
            if form != _PCM or bits != 16:
                raise errors.invalid(
                    f"Can only read 16-bit PCM WAV files, but the audio format was {form} with"
                    f" {bits} bits per sample"
                )
        elif kind == b"data":
            if not channels:
                break
            count = min(size, len(contents) - position) // (2 * channels)
            if count * 2 * channels < size:
                raise errors.invalid(
                    f"Data too short: {size} bytes announced, {count} frames present"
                )
            data = np.frombuffer(contents, "<i2", count * channels, position)
            return (data.astype(np.float32) / np.float32(_SCALE)).reshape(count, channels), rate
        position += size + (size & 1)
    raise errors.invalid("the WAV file has no format and data chunks")


def _scalar_string(value: Any, what: str) -> bytes:
    if value.shape != ():
        raise errors.invalid(f"{what} must be a scalar; found shape {list(value.shape)}")
    return value.item()


def _encode_wav_shape(ctx: Any) -> tuple[int, ...]:
    ctx.rank("audio", 2)
    ctx.rank("sample_rate", 0)
    return ()


def _encode_wav(audio: Any, sample_rate: int) -> Any:
    if sample_rate <= 0:
        raise errors.invalid(f"a WAV file needs a positive sample rate; found {sample_rate}")
    return boxed(wav_bytes(audio.cpu().numpy(), sample_rate))


define_op(
    "EncodeWav",
    "audio: float, sample_rate: int32 -> contents: string",
    shape=_encode_wav_shape,
    kernel=_encode_wav,
    host=("sample_rate",),
    no_gradient="its output is a string",
)


def _fitted(samples: np.ndarray, axis: int, wanted: int) -> np.ndarray:
    """Cut, or filled: with zeros along time, with the last channel along channels."""
    found = samples.shape[axis]
    if wanted < 0 or found == wanted:
        return samples
    if found > wanted:
        return samples[:wanted] if axis == 0 else samples[:, :wanted]
    gap = [(0, 0), (0, 0)]
    gap[axis] = (0, wanted - found)
    return np.pad(samples, gap, mode="constant" if axis == 0 else "edge")


def _decode_wav(contents: Any, desired_channels: int, desired_samples: int) -> Any:
    samples, rate = wav_samples(_scalar_string(contents, "contents"))
    samples = _fitted(_fitted(samples, 1, desired_channels), 0, desired_samples)
    audio = torch.from_numpy(np.ascontiguousarray(samples))
    return audio, torch.tensor(rate, dtype=torch.int32)


def _decode_wav_shape(ctx: Any) -> list[tuple[int | None, ...]]:
    ctx.rank("contents", 0)
    channels, samples = ctx.attr("desired_channels"), ctx.attr("desired_samples")
    return [(None if samples < 0 else samples, None if channels < 0 else channels), ()]


define_op(
    "DecodeWav",
    "contents: string -> audio: float, sample_rate: int32",
    attrs=["desired_channels: int = -1", "desired_samples: int = -1"],
    shape=_decode_wav_shape,
    kernel=_decode_wav,
    no_gradient="its input is a string",
)


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """A WAV file (a string scalar) of float32 samples [frames, channels] in [-1, 1).

    Args:
      audio: the samples; what lies outside the range is clipped.
      sample_rate: an int32 scalar, in Hz.
    """
    return make("EncodeWav", audio, sample_rate, name=name)


class DecodedWav(NamedTuple):
    """What ``decode_wav`` gives."""

    audio: Tensor
    sample_rate: Tensor


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodedWav:
    """The float32 samples [frames, channels] and the sample rate of a 16-bit WAV file.

    Args:
      contents: a string scalar.
      desired_channels: channels wanted; the last one is repeated to make as many.
      desired_samples: frames wanted; zeros are added to make as many.
    """
    audio, rate = make(
        "DecodeWav", contents, desired_channels=desired_channels,
        desired_samples=desired_samples, name=name,
    )  # fmt: skip
    return DecodedWav(audio, rate)
