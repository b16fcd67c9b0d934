"""``tf.contrib``: explicit re-exports, no logic."""

from penstock.contrib import (
    data as data,
    distribute as distribute,
    framework as framework,
    learn as learn,
    legacy_seq2seq as legacy_seq2seq,
    lookup as lookup,
    penstock as penstock,
    rnn as rnn,
    seq2seq as seq2seq,
    signal as signal,
    staging as staging,
    tensorboard as tensorboard,
    training as training,
)
