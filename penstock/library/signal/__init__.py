"""``tf.signal``: frames, windows, spectra over time, cosine transforms, the mel scale.

Fourier transforms are ops and stand in ``penstock.ops``; what is written from several ops, with the
nodes that TensorFlow 1.15 makes, stands in this room.  This module only gathers the names.
"""

from penstock.library.signal.cosine import dct as dct, idct as idct
from penstock.library.signal.frames import frame as frame, overlap_and_add as overlap_and_add
from penstock.library.signal.mel import (
    linear_to_mel_weight_matrix as linear_to_mel_weight_matrix,
    mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms,
)
from penstock.library.signal.spectra import (
    inverse_stft as inverse_stft,
    inverse_stft_window_fn as inverse_stft_window_fn,
    stft as stft,
)
from penstock.library.signal.windows import (
    hamming_window as hamming_window,
    hann_window as hann_window,
)
from penstock.ops.signal.fft import (
    fft as fft,
    fft2d as fft2d,
    fft3d as fft3d,
    fftshift as fftshift,
    ifft as ifft,
    ifft2d as ifft2d,
    ifft3d as ifft3d,
    ifftshift as ifftshift,
    irfft as irfft,
    irfft2d as irfft2d,
    irfft3d as irfft3d,
    rfft as rfft,
    rfft2d as rfft2d,
    rfft3d as rfft3d,
)
