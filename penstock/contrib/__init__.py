"""``tf.contrib``: explicit re-exports, no logic."""

from penstock.contrib import data, framework, rnn, seq2seq, staging, tensorboard

__all__ = ["data", "framework", "rnn", "seq2seq", "staging", "tensorboard"]
