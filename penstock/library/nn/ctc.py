"""Public functions of connectionist temporal classification, as layers over ``ops.ctc``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.transpose import transpose
from penstock.ops.math import reduction


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """Negative log-probability of label sequences, summed over all their alignments with frames.

    Args:
      labels: int32 SparseTensor ``[batch, most labels]``; labels are below ``classes - 1``.
      inputs: float logits ``[time, batch, classes]``; the last class is the blank.
      sequence_length: int32 ``[batch]``, frames of each sequence.
      preprocess_collapse_repeated: whether repeated labels count as one.
      ctc_merge_repeated: whether repeated frames of a label count as one label.
      ignore_longer_outputs_than_inputs: whether sequences with more labels than frames get a loss
        of 0 and no gradient, else they are an error.
      time_major: whether the time comes first, else the batch.
      logits: synonym of ``inputs``.

    Returns:
      A tensor ``[batch]``.

    Raises:
      TypeError: ``labels`` is not a SparseTensor.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError(f"labels must be a SparseTensor; found {type(labels).__name__}")
    inputs = reduction.renamed("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = transpose(inputs, [1, 0, 2])
    made = make(
        "CTCLoss", inputs, labels.indices, labels.values, sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )  # fmt: skip
    loss: Tensor = made[0]
    return loss


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """The likeliest class of each frame, without blanks and (if so) repetitions.

    Args:
      inputs: float logits ``[time, batch, classes]``; the last class is the blank.
      sequence_length: int32 ``[batch]``.
      merge_repeated: whether repeated frames of a label count as one label.

    Returns:
      A list of one SparseTensor of labels ``[batch, most labels]``, and ``[batch, 1]``: the
      negative sum of the logits.
    """
    indices, values, shape, score = make(
        "CTCGreedyDecoder", inputs, sequence_length, merge_repeated=merge_repeated
    )
    return [SparseTensor(indices, values, shape)], score


def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """The likeliest label sequences that a beam search finds.

    Args:
      inputs: float logits ``[time, batch, classes]``; the last class is the blank.
      sequence_length: int32 ``[batch]``.
      beam_width: how many prefixes are kept after each frame.
      top_paths: how many sequences are returned.
      merge_repeated: whether repeated labels of the result count as one.

    Returns:
      A list of ``top_paths`` SparseTensors ``[batch, most labels]``, and their log-probabilities
      ``[batch, top_paths]``.
    """
    indices, values, shapes, score = make(
        "CTCBeamSearchDecoder", inputs, sequence_length, beam_width=beam_width,
        top_paths=top_paths, merge_repeated=merge_repeated,
    )  # fmt: skip
    parts = zip(indices, values, shapes, strict=True)
    return [SparseTensor(*each) for each in parts], score


def ctc_beam_search_decoder_v2(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """``ctc_beam_search_decoder`` that keeps repeated labels."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)
