"""``tf.contrib.signal``: the first name of what is ``tf.signal``; explicit re-exports, no logic."""

from penstock.foundation.base import public_names
from penstock.library.signal import (
    frame as frame,
    hamming_window as hamming_window,
    hann_window as hann_window,
    inverse_stft as inverse_stft,
    inverse_stft_window_fn as inverse_stft_window_fn,
    linear_to_mel_weight_matrix as linear_to_mel_weight_matrix,
    mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms,
    overlap_and_add as overlap_and_add,
    stft as stft,
)

__dir__ = public_names.listing(__name__)
