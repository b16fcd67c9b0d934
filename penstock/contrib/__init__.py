"""``tf.contrib``: explicit re-exports, no logic."""

from penstock.contrib import (
    data,
    distribute,
    framework,
    learn,
    legacy_seq2seq,
    lookup,
    penstock,
    rnn,
    seq2seq,
    signal,
    staging,
    tensorboard,
    training,
)

__all__ = [
    "data", "distribute", "framework", "learn", "legacy_seq2seq", "lookup", "penstock", "rnn",
    "seq2seq", "signal", "staging", "tensorboard", "training",
]  # fmt: skip
