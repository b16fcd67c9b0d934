"""``tf.signal``: frames, windows, spectra over time, cosine transforms, the mel scale.

Fourier transforms are ops and stand in ``penstock.ops``; what is written from several ops, with the
nodes that TensorFlow 1.15 makes, stands in this room.  This module only gathers the names.
"""

from penstock.ops.fft import (
    fft,
    fft2d,
    fft3d,
    fftshift,
    ifft,
    ifft2d,
    ifft3d,
    ifftshift,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)
from penstock.signal.cosine import dct, idct
from penstock.signal.frames import frame, overlap_and_add
from penstock.signal.mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from penstock.signal.spectra import inverse_stft, inverse_stft_window_fn, stft
from penstock.signal.windows import hamming_window, hann_window

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftshift", "frame", "hamming_window", "hann_window", "idct",
    "ifft", "ifft2d", "ifft3d", "ifftshift", "inverse_stft", "inverse_stft_window_fn", "irfft",
    "irfft2d", "irfft3d", "linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms",
    "overlap_and_add", "rfft", "rfft2d", "rfft3d", "stft",
]  # fmt: skip
