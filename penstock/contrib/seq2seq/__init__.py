"""``tf.contrib.seq2seq``: decoding step by step, attention, beam search.

``decoder`` is the loop and its interface; a ``basic_decoder`` runs a cell and asks a helper
(``helper``, ``inference``, ``scheduled``) what to feed; ``beam_search`` keeps several hypotheses
of each example (a step in ``beam_step``, the shapes of beams in ``beam_shapes``).  ``attention``
and ``monotonic`` score memories, ``attention_wrapper`` makes a cell of a cell and mechanisms.
``loss`` is the cross entropy of sequences, ``dense`` and ``draws`` are what several need.
"""

from penstock.contrib.seq2seq.attention import (
    AttentionMechanism,
    BahdanauAttention,
    LuongAttention,
)
from penstock.contrib.seq2seq.attention_wrapper import (
    AttentionWrapper,
    AttentionWrapperState,
    hardmax,
)
from penstock.contrib.seq2seq.basic_decoder import BasicDecoder, BasicDecoderOutput
from penstock.contrib.seq2seq.beam_search import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
)
from penstock.contrib.seq2seq.beam_shapes import tile_batch
from penstock.contrib.seq2seq.decoder import Decoder, dynamic_decode
from penstock.contrib.seq2seq.gather_tree import gather_tree
from penstock.contrib.seq2seq.helper import CustomHelper, Helper, TrainingHelper
from penstock.contrib.seq2seq.inference import (
    GreedyEmbeddingHelper,
    InferenceHelper,
    SampleEmbeddingHelper,
)
from penstock.contrib.seq2seq.loss import sequence_loss
from penstock.contrib.seq2seq.monotonic import (
    BahdanauMonotonicAttention,
    LuongMonotonicAttention,
    monotonic_attention,
    safe_cumprod,
)
from penstock.contrib.seq2seq.scheduled import (
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
)

__all__ = [
    "AttentionMechanism",
    "AttentionWrapper",
    "AttentionWrapperState",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "BasicDecoder",
    "BasicDecoderOutput",
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "CustomHelper",
    "Decoder",
    "FinalBeamSearchDecoderOutput",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "LuongAttention",
    "LuongMonotonicAttention",
    "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
    "dynamic_decode",
    "gather_tree",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
    "sequence_loss",
    "tile_batch",
]
