"""Spectrograms of waves, and the mel-frequency cepstral coefficients made of them.

Both compute in float64 whatever they are given, as TensorFlow's do.

``AudioSpectrogram``: frames of ``window_size`` samples, ``stride`` apart, under a periodic Hann
window, filled with zeros up to a power of two and transformed.

``Mfcc``: the square roots of the powers are gathered in triangular bands, whose centers lie evenly
on the mel scale ``1127 log(1 + hertz / 700)``; of the logarithms, a cosine transform keeps the
first coefficients.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext

# What a band holds at least, so that it has a logarithm.
_FLOOR = 1e-12


# ---- spectrograms --------------------------------------------------------------------------------


def _transform_size(window_size: int) -> int:
    return 1 << max(window_size - 1, 0).bit_length()


def _frame_count(samples: int, window_size: int, stride: int) -> int:
    return 0 if samples < window_size else 1 + (samples - window_size) // stride


def _spectrogram_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank("input", 2)
    window_size, stride = ctx.attr("window_size"), ctx.attr("stride")
    if window_size < 2 or stride < 1:
        raise ValueError(
            f"window_size must be at least 2 and stride at least 1; found {window_size} and"
            f" {stride}"
        )
    samples = dims[0]
    count = None if samples is None else _frame_count(samples, window_size, stride)
    return (dims[1], count, 1 + _transform_size(window_size) // 2)


def _spectrogram(input: Any, window_size: int, stride: int, magnitude_squared: bool) -> Any:
    if input.dim() != 2:
        raise ValueError(f"input must be 2-dimensional; found shape {list(input.shape)}")
    samples, channels = input.shape
    count, size = _frame_count(samples, window_size, stride), _transform_size(window_size)
    if not count or not channels:
        return input.new_zeros((channels, count, 1 + size // 2))
    window = torch.hann_window(window_size, dtype=torch.float64, device=input.device)
    frames = input.t().double().unfold(1, window_size, stride) * window
    parts = torch.view_as_real(torch.fft.rfft(frames, n=size))
    power = torch.square(parts).sum(-1).float()
    return power if magnitude_squared else torch.sqrt(power)


define_op(
    "AudioSpectrogram",
    "input: float -> spectrogram: float",
    attrs=["window_size: int", "stride: int", "magnitude_squared: bool = False"],
    shape=_spectrogram_shape,
    kernel=_spectrogram,
    no_gradient="TF defines none for AudioSpectrogram; tf.signal.stft has one",
)


# ---- mel-frequency cepstral coefficients ---------------------------------------------------------


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(hertz / 700.0)


def _check_bands(bins: int, rate: int, low: float, high: float, count: int, kept: int) -> None:
    wrong = (
        (count < 1, f"filterbank_channel_count must be positive; found {count}"),
        (rate <= 0, f"sample_rate must be positive; found {rate}"),
        (bins < 2, f"spectrogram must have 2 or more frequencies; found {bins}"),
        (low < 0, f"lower_frequency_limit must not be negative; found {low}"),
        (high <= low, f"upper_frequency_limit must be above the lower one; found {low}, {high}"),
        (not 1 <= kept <= count,
         f"dct_coefficient_count must be 1 to filterbank_channel_count ({count}); found {kept}"),
    )  # fmt: skip
    for is_wrong, text in wrong:
        if is_wrong:
            raise errors.invalid(text)


@functools.lru_cache(maxsize=16)
def _bands(
    bins: int, rate: int, low: float, high: float, count: int
) -> tuple[int, np.ndarray, np.ndarray] | None:
    """First frequency that counts; of each from there, the band on its left, and its share in it.

    Bands are numbered from 1: what lies left of the first center and right of the last one goes to
    the bands 0 and ``count + 1``, which are dropped.  None where ``high`` is beyond the spectrum.
    """
    hertz = 0.5 * rate / (bins - 1)
    start, end = int(1.5 + low / hertz), int(high / hertz)
    if end >= bins:
        return None
    mels = _mel(np.arange(start, end + 1) * hertz)
    edges = np.linspace(_mel(low), _mel(high), count + 2)
    left = np.minimum(np.searchsorted(edges[1:-1], mels), count)
    share = (edges[left + 1] - mels) / (edges[left + 1] - edges[left])
    return start, left, share


def _mfcc(
    spectrogram: Any, sample_rate: int, upper_frequency_limit: float,
    lower_frequency_limit: float, filterbank_channel_count: int, dct_coefficient_count: int,
) -> Any:  # fmt: skip
    if spectrogram.dim() != 3:
        raise ValueError(
            f"spectrogram must be 3-dimensional; found shape {list(spectrogram.shape)}"
        )
    count, kept, bins = filterbank_channel_count, dct_coefficient_count, spectrogram.shape[2]
    low, high = lower_frequency_limit, upper_frequency_limit
    _check_bands(bins, sample_rate, low, high, count, kept)
    lead, device = spectrogram.shape[:2], spectrogram.device
    found = _bands(bins, sample_rate, low, high, count)
    if found is None:
        return spectrogram.new_zeros((*lead, kept))
    start, left, share = found
    bands = torch.zeros((*lead, count + 2), dtype=torch.float64, device=device)
    amplitude = torch.sqrt(spectrogram[..., start : start + len(left)].double())
    place = torch.from_numpy(left).to(device)
    part = amplitude * torch.from_numpy(share).to(device)
    bands.index_add_(2, place, part).index_add_(2, place + 1, amplitude - part)
    logs = torch.log(torch.clamp(bands[..., 1:-1], min=_FLOOR))
    return (logs @ torch.from_numpy(_cosines(count, kept)).to(device)).float()


@functools.lru_cache(maxsize=16)
def _cosines(count: int, kept: int) -> np.ndarray:
    """[count, kept]: the cosine transform of type 2, first coefficients."""
    angles = np.outer(np.arange(count) + 0.5, np.arange(kept)) * (math.pi / count)
    return np.cos(angles) * math.sqrt(2.0 / count)


def _mfcc_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank("spectrogram", 3)
    ctx.rank("sample_rate", 0)
    return (dims[0], dims[1], ctx.attr("dct_coefficient_count"))


define_op(
    "Mfcc",
    "spectrogram: float, sample_rate: int32 -> output: float",
    attrs=[
        "upper_frequency_limit: float = 4000.0",
        "lower_frequency_limit: float = 20.0",
        "filterbank_channel_count: int = 40",
        "dct_coefficient_count: int = 13",
    ],
    shape=_mfcc_shape,
    kernel=_mfcc,
    host=("sample_rate",),
    no_gradient="TF defines none for Mfcc; tf.signal.mfccs_from_log_mel_spectrograms has one",
)


# ---- public functions ----------------------------------------------------------------------------


def audio_spectrogram(
    input: Any, window_size: int, stride: int, magnitude_squared: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Spectra of sound over time.

    Args:
      input: float32 [samples, channels].
      window_size: samples that a spectrum is made of, at least 2.
      stride: samples from one spectrum to the next.
      magnitude_squared: powers instead of magnitudes.

    Returns:
      float32 [channels, spectra, frequencies]; there are half as many frequencies as the next power
      of two has samples, and one more.

    Raises:
      ValueError: a window or stride that is too short, or not two dims.
    """
    return make(
        "AudioSpectrogram", input, window_size=window_size, stride=stride,
        magnitude_squared=magnitude_squared, name=name,
    )  # fmt: skip


def mfcc(
    spectrogram: Any, sample_rate: Any, upper_frequency_limit: float = 4000,
    lower_frequency_limit: float = 20, filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Mel-frequency cepstral coefficients, which say in few numbers how speech sounds.

    Args:
      spectrogram: float32 [channels, spectra, frequencies], of ``audio_spectrogram`` with
        ``magnitude_squared=True``.
      sample_rate: int32 scalar, in Hz.
      upper_frequency_limit, lower_frequency_limit: what is heard, in Hz.
      filterbank_channel_count: bands that frequencies are gathered in.
      dct_coefficient_count: coefficients wanted, no more than bands.

    Returns:
      float32 [channels, spectra, dct_coefficient_count].

    Raises:
      InvalidArgumentError: when it is run, limits or counts that make no bands.
    """
    return make(
        "Mfcc", spectrogram, sample_rate, upper_frequency_limit=upper_frequency_limit,
        lower_frequency_limit=lower_frequency_limit,
        filterbank_channel_count=filterbank_channel_count,
        dct_coefficient_count=dct_coefficient_count, name=name,
    )  # fmt: skip
