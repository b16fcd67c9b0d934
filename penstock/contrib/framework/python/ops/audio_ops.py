"""``tf.contrib.framework.python.ops.audio_ops``: sound; explicit re-exports, no logic."""

from penstock.ops.audio_codec import decode_wav, encode_wav
from penstock.ops.audio_spectrum import audio_spectrogram, mfcc

__all__ = ["audio_spectrogram", "decode_wav", "encode_wav", "mfcc"]
