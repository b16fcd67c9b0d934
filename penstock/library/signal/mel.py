"""The mel scale, on which pitches are as far apart as they sound, and what is made on it."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.signal.cosine import dct
from penstock.library.signal.frames import frame
from penstock.ops.array import cast, pad, ranges, reshape, shape as shapes, split

# mel = 1127 log(1 + hertz / 700), as HTK has it.
_BREAK_HERTZ = 700.0
_SCALE = 1127.0


def _mel(hertz: Any) -> Any:
    with name_scope(None, "hertz_to_mel", [hertz]):
        hertz = convert_to_tensor(hertz)
        return _SCALE * make("Log", 1.0 + hertz / _BREAK_HERTZ)


def _check(bins: Any, rate: Any, low: float, high: float, dtype: Any) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if low < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {low}")
    if low >= high:
        raise ValueError(f"lower_edge_hertz {low:.1f} >= upper_edge_hertz {high:.1f}")
    if rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if high > rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2)."
            f" Got {high} for sample_rate: {rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype!r}")


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20, num_spectrogram_bins: Any = 129, sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0, upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A matrix that gathers the frequencies of spectra in bands of the mel scale.

    Bands are triangles of height 1, evenly spread on the scale, each reaching to the centers of its
    neighbours; the frequency 0 belongs to none.

    Args:
      num_mel_bins: bands.
      num_spectrogram_bins: frequencies of a spectrum, from 0 to half the sample rate.
      sample_rate: samples a second.
      lower_edge_hertz, upper_edge_hertz: what the bands cover.
      dtype: a floating type.

    Returns:
      [num_spectrogram_bins, num_mel_bins], to be multiplied with from the right.

    Raises:
      ValueError: counts or frequencies that are not positive, or out of order.
    """
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor):
            known = static.constant_value(sample_rate)
            if known is None:
                raise ValueError(
                    "`sample_rate` was a non-constant Tensor. Must be a Python float or a constant"
                    " Tensor."
                )
            sample_rate = known
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        rate: Any = convert_to_tensor(sample_rate, dtype, name="sample_rate")
        low = convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        high = convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = convert_to_tensor(0.0, dtype)
        every: Any = ranges.linspace(zero, rate / 2.0, num_spectrogram_bins)
        mels = reshape.expand_dims(_mel(every[1:]), 1)
        edges = ranges.linspace(_mel(low), _mel(high), num_mel_bins + 2)
        parts = split.split(frame(edges, frame_length=3, frame_step=1), 3, axis=1)
        left, center, right = (reshape.reshape(p, [1, num_mel_bins]) for p in parts)
        rising = (mels - left) / (center - left)
        falling = (right - mels) / (right - center)
        weights = make("Maximum", zero, make("Minimum", rising, falling))
        return pad.pad(weights, [[1, 0], [0, 0]], name=scope)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Mel-frequency cepstral coefficients, which say in few numbers how speech sounds.

    Args:
      log_mel_spectrograms: float32 [..., bands]: logarithms of what bands of the mel scale hold.

    Returns:
      float32 of the same shape; the first 13 or so are what is used.

    Raises:
      ValueError: there are no bands.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        logs: Any = convert_to_tensor(log_mel_spectrograms, dtypes.float32)
        if logs.sizes == ():
            raise ValueError("slice index -1 of dimension 0 out of bounds: there are no bands")
        count = None if logs.sizes is None else logs.sizes[-1]
        if count == 0:
            raise ValueError(f"num_mel_bins must be positive; the shape is {logs.shape}")
        if count is None:
            count = shapes.shape(logs)[-1]
        transformed: Any = dct(logs)
        made: Tensor = transformed * make("Rsqrt", cast.cast(count, dtypes.float32) * 2.0)
        return made
