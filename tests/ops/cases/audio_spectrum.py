"""Rows of spectrograms and cepstral coefficients."""

from __future__ import annotations

import numpy as np

from tests.ops.opcase import OpCase, const, feed, real

_POWERS = real(2, 5, 65, lo=0, hi=50)
_FEW = {"filterbank_channel_count": 12, "dct_coefficient_count": 5}
_SILENT = np.zeros((1, 2, 33), np.float32)

CASES = [
    OpCase("AudioSpectrogram", [real(200, 1)], {"window_size": 64, "stride": 32}),
    OpCase("AudioSpectrogram", [real(200, 2)], {"window_size": 50, "stride": 70}),
    OpCase("AudioSpectrogram", [real(90, 2)],
           {"window_size": 33, "stride": 1, "magnitude_squared": True}),
    OpCase("AudioSpectrogram", [real(20, 2)], {"window_size": 64, "stride": 32}),
    OpCase("AudioSpectrogram", [real(64, 1)], {"window_size": 64, "stride": 32}),
    OpCase("AudioSpectrogram", [real(64, 1)], {"window_size": 1, "stride": 32}, raises=True),
    OpCase("AudioSpectrogram", [real(64, 1)], {"window_size": 16, "stride": 0}, raises=True),
    OpCase("AudioSpectrogram", [real(64)], {"window_size": 16, "stride": 8}, raises=True),
    OpCase("Mfcc", [_POWERS, const(16000)]),
    OpCase("Mfcc", [_POWERS, feed(8000, "int32")], _FEW),
    OpCase("Mfcc", [_POWERS, const(22050)],
           {"lower_frequency_limit": 300.0, "upper_frequency_limit": 9000.0, **_FEW}),
    OpCase("Mfcc", [feed(_SILENT), const(16000)], _FEW),
    OpCase("Mfcc", [_POWERS, const(4000)], _FEW),
    OpCase("Mfcc", [_POWERS, const(0)], raises=True),
    OpCase("Mfcc", [_POWERS, const(16000)], {"dct_coefficient_count": 41}, raises=True),
    OpCase("Mfcc", [_POWERS, const(16000)], {"lower_frequency_limit": 4000.0}, raises=True),
    OpCase("Mfcc", [_POWERS, const(16000)], {"lower_frequency_limit": -1.0}, raises=True),
    OpCase("Mfcc", [real(2, 5, 1), const(16000)], raises=True),
    OpCase("Mfcc", [real(5, 65), const(16000)], raises=True),
]  # fmt: skip
