"""``tf.contrib.crf``: linear-chain conditional random fields.

``scores`` sums the scores of sequences of tags, ``decoding`` finds the best one.
"""

from penstock.contrib.crf.decoding import (
    CrfDecodeBackwardRnnCell as CrfDecodeBackwardRnnCell,
    CrfDecodeForwardRnnCell as CrfDecodeForwardRnnCell,
    crf_decode as crf_decode,
    viterbi_decode as viterbi_decode,
)
from penstock.contrib.crf.scores import (
    CrfForwardRnnCell as CrfForwardRnnCell,
    crf_binary_score as crf_binary_score,
    crf_log_likelihood as crf_log_likelihood,
    crf_log_norm as crf_log_norm,
    crf_multitag_sequence_score as crf_multitag_sequence_score,
    crf_sequence_score as crf_sequence_score,
    crf_unary_score as crf_unary_score,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
