"""``tf.contrib.framework.python.ops.audio_ops``: sound; explicit re-exports, no logic."""

from penstock.ops.signal.audio_codec import decode_wav as decode_wav, encode_wav as encode_wav
from penstock.ops.signal.audio_spectrum import audio_spectrogram as audio_spectrogram, mfcc as mfcc
