"""``tf.audio``: WAV files; explicit re-exports, no logic."""

from penstock.ops.audio_codec import decode_wav, encode_wav

__all__ = ["decode_wav", "encode_wav"]
