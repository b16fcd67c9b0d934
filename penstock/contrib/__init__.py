"""``tf.contrib``: explicit re-exports, no logic."""

from penstock.contrib import (
    data,
    framework,
    legacy_seq2seq,
    lookup,
    rnn,
    seq2seq,
    staging,
    tensorboard,
)

__all__ = [
    "data", "framework", "legacy_seq2seq", "lookup", "rnn", "seq2seq", "staging", "tensorboard",
]  # fmt: skip
