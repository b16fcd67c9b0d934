"""``tf.contrib.legacy_seq2seq``: sequence-to-sequence models that are unrolled over lists.

``decoders`` run a cell over a list of inputs, ``attention`` with attention; ``models`` join an
encoder and a decoder; ``loss`` has the losses, and models for buckets of lengths.
"""

from penstock.contrib.legacy_seq2seq.attention import (
    attention_decoder as attention_decoder,
    embedding_attention_decoder as embedding_attention_decoder,
    embedding_attention_seq2seq as embedding_attention_seq2seq,
)
from penstock.contrib.legacy_seq2seq.decoders import (
    embedding_rnn_decoder as embedding_rnn_decoder,
    rnn_decoder as rnn_decoder,
)
from penstock.contrib.legacy_seq2seq.loss import (
    model_with_buckets as model_with_buckets,
    sequence_loss as sequence_loss,
    sequence_loss_by_example as sequence_loss_by_example,
)
from penstock.contrib.legacy_seq2seq.models import (
    basic_rnn_seq2seq as basic_rnn_seq2seq,
    embedding_rnn_seq2seq as embedding_rnn_seq2seq,
    embedding_tied_rnn_seq2seq as embedding_tied_rnn_seq2seq,
    one2many_rnn_seq2seq as one2many_rnn_seq2seq,
    tied_rnn_seq2seq as tied_rnn_seq2seq,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
