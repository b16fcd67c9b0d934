"""``tf.contrib.seq2seq``: decoding step by step, attention, beam search.

``decoder`` is the loop and its interface; a ``basic_decoder`` runs a cell and asks a helper
(``helper``, ``inference``, ``scheduled``) what to feed; ``beam_search`` keeps several hypotheses
of each example (a step in ``beam_step``, the shapes of beams in ``beam_shapes``).  ``attention``
and ``monotonic`` score memories, ``attention_wrapper`` makes a cell of a cell and mechanisms.
``steered`` and ``attention_decoder_fn`` are the decoder of TensorFlow 1.0.
``loss`` is the cross entropy of sequences, ``dense`` and ``draws`` are what several need.
"""

from penstock.contrib.seq2seq.attention import (
    AttentionMechanism as AttentionMechanism,
    BahdanauAttention as BahdanauAttention,
    LuongAttention as LuongAttention,
)
from penstock.contrib.seq2seq.attention_decoder_fn import (
    attention_decoder_fn_inference as attention_decoder_fn_inference,
    attention_decoder_fn_train as attention_decoder_fn_train,
    prepare_attention as prepare_attention,
)
from penstock.contrib.seq2seq.attention_wrapper import (
    AttentionWrapper as AttentionWrapper,
    AttentionWrapperState as AttentionWrapperState,
    hardmax as hardmax,
)
from penstock.contrib.seq2seq.basic_decoder import (
    BasicDecoder as BasicDecoder,
    BasicDecoderOutput as BasicDecoderOutput,
)
from penstock.contrib.seq2seq.beam_search import (
    BeamSearchDecoder as BeamSearchDecoder,
    BeamSearchDecoderOutput as BeamSearchDecoderOutput,
    BeamSearchDecoderState as BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput as FinalBeamSearchDecoderOutput,
)
from penstock.contrib.seq2seq.beam_shapes import tile_batch as tile_batch
from penstock.contrib.seq2seq.decoder import Decoder as Decoder, dynamic_decode as dynamic_decode
from penstock.contrib.seq2seq.gather_tree import gather_tree as gather_tree
from penstock.contrib.seq2seq.helper import (
    CustomHelper as CustomHelper,
    Helper as Helper,
    TrainingHelper as TrainingHelper,
)
from penstock.contrib.seq2seq.inference import (
    GreedyEmbeddingHelper as GreedyEmbeddingHelper,
    InferenceHelper as InferenceHelper,
    SampleEmbeddingHelper as SampleEmbeddingHelper,
)
from penstock.contrib.seq2seq.loss import sequence_loss as sequence_loss
from penstock.contrib.seq2seq.monotonic import (
    BahdanauMonotonicAttention as BahdanauMonotonicAttention,
    LuongMonotonicAttention as LuongMonotonicAttention,
    monotonic_attention as monotonic_attention,
    safe_cumprod as safe_cumprod,
)
from penstock.contrib.seq2seq.scheduled import (
    ScheduledEmbeddingTrainingHelper as ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper as ScheduledOutputTrainingHelper,
)
from penstock.contrib.seq2seq.steered import (
    dynamic_rnn_decoder as dynamic_rnn_decoder,
    simple_decoder_fn_inference as simple_decoder_fn_inference,
    simple_decoder_fn_train as simple_decoder_fn_train,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
