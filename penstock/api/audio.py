"""``tf.audio``: WAV files; explicit re-exports, no logic."""

from penstock.ops.signal.audio_codec import decode_wav as decode_wav, encode_wav as encode_wav
