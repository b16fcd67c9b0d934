"""Rows of the sound codecs."""

from __future__ import annotations

import numpy as np

from penstock.ops.signal.audio_codec import wav_bytes
from tests.ops.opcase import OpCase, const, real, strings

_TWO = wav_bytes(np.linspace(-1, 1, 24, dtype=np.float32).reshape(12, 2), 8000)
# A chunk that readers skip.
_MORE = _TWO[:36] + b"note\x04\x00\x00\x00abcd" + _TWO[36:]

CASES = [
    OpCase("EncodeWav", [real(20, 2, lo=-1.2, hi=1.2), const(44100)]),
    OpCase("EncodeWav", [real(20, 1, lo=-1, hi=1), const(8000)]),
    OpCase("EncodeWav", [real(20), const(8000)], raises=True),
    OpCase("EncodeWav", [real(20, 1), const(0)], raises=True),
    OpCase("DecodeWav", [strings(_TWO)]),
    OpCase("DecodeWav", [strings(_MORE)]),
    OpCase("DecodeWav", [strings(_TWO)], {"desired_channels": 1, "desired_samples": 5}),
    OpCase("DecodeWav", [strings(_TWO)], {"desired_channels": 2, "desired_samples": 20}),
    OpCase("DecodeWav", [strings(_TWO[:-3])], raises=True),
    OpCase("DecodeWav", [strings(b"no sound")], raises=True),
]
