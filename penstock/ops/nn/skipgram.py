"""The skip-gram model's own ops: ``Skipgram`` draws pairs from a text, ``NegTrain`` trains.

Early word2vec programs are built on them.  ``Skipgram`` has no inputs: it reads the file once, when
its state is made, and gives a batch of (word, neighbour) pairs a step.  ``NegTrain`` updates two
embedding matrices in place, one example after another, with negative samples drawn by
frequency^0.75.  Both draw random numbers that no seed repeats, as in TensorFlow.

State (a node and session): of ``Skipgram`` the words of the text as numbers, the place in it and
the pairs not yet given out; of ``NegTrain`` a table to draw from.  A lock each.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.stream import Stream
from penstock.foundation.base import errors
from penstock.foundation.formats import files
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import no_outputs
from penstock.ops.state.state_scatter import check_range

# As many words are subsampled together, and windows do not reach beyond them.
_SENTENCE = 1000


class Text:
    """A text as an endless row of (word, neighbour) pairs of numbers.

    Words are numbered by frequency from 1; 0 is ``UNK``, every word rarer than ``min_count``.

    Args:
      words: the text.
      window_size: the window reaches 1 to this many words to each side, drawn anew for each word.
      min_count: words rarer than this are ``UNK``.
      subsample: frequent words are kept with probability
        ``(sqrt(f / s) + 1) * s / f`` where f is their share of the text and s this; 0 keeps all.
      stream: where the random numbers come from.

    Raises:
      InvalidArgumentError: the text has fewer than ``10 * window_size`` words.
    """

    def __init__(
        self, words: list[bytes], window_size: int, min_count: int, subsample: float, stream: Stream
    ) -> None:
        if len(words) < window_size * 10:
            raise errors.invalid(
                f"the text has too little data: {len(words)} words, with a window of"
                f" {window_size} at least {window_size * 10} are needed"
            )
        counts = Counter(words).most_common()
        kept = [(word, count) for word, count in counts if count >= min_count]
        rest = len(words) - sum(count for _, count in kept)
        self.words = np.array([b"UNK", *(word for word, _ in kept)], dtype=object)
        self.counts = np.array([rest, *(count for _, count in kept)], dtype=np.int32)
        numbers = {word: number for number, (word, _) in enumerate(kept, 1)}
        self.text = np.array([numbers.get(word, 0) for word in words], dtype=np.int32)
        self.window, self.random = window_size, stream.numpy
        self.keep = self._keep(subsample)
        self.lock = threading.Lock()
        self.place = self.epoch = self.processed = 0
        self.waiting = np.zeros((2, 0), dtype=np.int32)

    def _keep(self, subsample: float) -> np.ndarray | None:
        if subsample <= 0:
            return None
        threshold = subsample * len(self.text)
        counts = np.maximum(self.counts, 1)
        return (np.sqrt(counts / threshold) + 1) * threshold / counts

    def _sentence(self) -> np.ndarray:
        """The next words, frequent ones thinned out; at the end of the text it begins again."""
        parts: list[np.ndarray] = []
        missing = _SENTENCE
        while missing:
            if self.place >= len(self.text):
                self.place, self.epoch = 0, self.epoch + 1
            piece = self.text[self.place : self.place + missing]
            self.place += len(piece)
            if self.keep is not None:
                piece = piece[self.random.random(len(piece)) <= self.keep[piece]]
            parts.append(piece)
            missing -= len(piece)
        return np.concatenate(parts)

    def _pairs(self) -> np.ndarray:
        """Pairs [2, n] of the next sentence, in the order of its words and of their neighbours."""
        sentence = self._sentence()
        reach = self.random.integers(1, self.window + 1, len(sentence))
        offsets = np.arange(-self.window, self.window + 1)
        places = np.arange(len(sentence))[:, None] + offsets
        fits = (np.abs(offsets) <= reach[:, None]) & (offsets != 0)
        fits &= (places >= 0) & (places < len(sentence))
        words = np.repeat(sentence, fits.sum(1))
        self.processed += len(sentence)
        return np.stack([words, sentence[places[fits]]])

    def batch(self, size: int) -> tuple[np.ndarray, int, int]:
        """The next ``size`` pairs [2, size], the epoch, and how many words have been read."""
        with self.lock:
            parts, found = [self.waiting], self.waiting.shape[1]
            while found < size:
                parts.append(self._pairs())
                found += parts[-1].shape[1]
            pairs = np.concatenate(parts, axis=1)
            self.waiting = pairs[:, size:]
            return pairs[:, :size], self.epoch, self.processed


def _text(attrs: Any, name: str) -> Text:
    with files.open_file(os.fsdecode(attrs["filename"]), "rb") as file:
        words = file.read().split()
    if attrs["batch_size"] <= 0 or attrs["window_size"] <= 0:
        raise errors.invalid(
            f"{name!r}: batch_size and window_size must be positive; found"
            f" {attrs['batch_size']} and {attrs['window_size']}"
        )
    return Text(words, attrs["window_size"], attrs["min_count"], attrs["subsample"], Stream())


def _skipgram(batch_size: int, state: Text) -> Any:
    pairs, epoch, processed = state.batch(batch_size)
    examples, labels = torch.from_numpy(np.ascontiguousarray(pairs))
    return (
        state.words,
        torch.from_numpy(state.counts.copy()),
        torch.tensor(len(state.text), dtype=torch.int64),
        torch.tensor(epoch, dtype=torch.int32),
        torch.tensor(processed, dtype=torch.int64),
        examples,
        labels,
    )


define_op(
    "Skipgram",
    "-> vocab_word: string, vocab_freq: int32, words_per_epoch: int64, current_epoch: int32,"
    " total_words_processed: int64, examples: int32, labels: int32",
    attrs=[
        "filename: string", "batch_size: int", "window_size: int = 5", "min_count: int = 5",
        "subsample: float = 0.0010000000474974513",
    ],
    # TensorFlow says nothing of its shapes either.
    shape=lambda ctx: [None] * 7,
    kernel=_skipgram,
    state=_text,
    stateful=True,
    random=True,
    no_gradient="it reads a file",
)  # fmt: skip


class Noise:
    """Draws words in proportion to frequency^0.75.

    Args:
      counts: how often each word occurs.
      stream: where the random numbers come from.

    Raises:
      InvalidArgumentError: no word, or counts that are negative or all 0.
    """

    def __init__(self, counts: list[int], stream: Stream) -> None:
        weights = np.array(counts, dtype=np.float64)
        if not weights.size or weights.min() < 0 or not weights.any():
            raise errors.invalid(f"vocab_count must have positive counts; found {counts[:10]}")
        upto = np.cumsum(weights**0.75)
        self.upto, self.random = upto / upto[-1], stream.numpy
        self.lock = threading.Lock()

    def draw(self, *dims: int) -> np.ndarray:
        """Word numbers of a shape."""
        with self.lock:
            return np.searchsorted(self.upto, self.random.random(dims), side="right")


def _checked(inputs: torch.Tensor, outputs: torch.Tensor, examples: Any, labels: Any) -> None:
    if inputs.dim() != 2 or inputs.shape != outputs.shape:
        raise errors.invalid(
            "w_in and w_out must be matrices of one shape; found"
            f" {list(inputs.shape)} and {list(outputs.shape)}"
        )
    if examples.dim() != 1 or examples.shape != labels.shape:
        raise errors.invalid(
            "examples and labels must be vectors of one size; found"
            f" {list(examples.shape)} and {list(labels.shape)}"
        )
    for words in (examples, labels):
        check_range(words, inputs.shape[0])


def _turns(words: np.ndarray) -> np.ndarray:
    """How many equal words stand before each in its row; -1 for one that is the row's first again.

    >>> _turns(np.array([[7, 3, 7, 3, 5, 3]]))
    array([[ 0,  0, -1,  1,  0,  2]])
    """
    order = words.argsort(axis=1, kind="stable")
    ordered = np.take_along_axis(words, order, axis=1)
    begins = np.zeros(words.shape, dtype=np.int64)
    begins[:, 1:] = np.where(ordered[:, 1:] != ordered[:, :-1], np.arange(1, words.shape[1]), 0)
    turns = np.empty_like(begins)
    counted = np.arange(words.shape[1]) - np.maximum.accumulate(begins, axis=1)
    np.put_along_axis(turns, order, counted, axis=1)
    turns[:, 1:][words[:, 1:] == words[:, :1]] = -1
    return turns


def _trained(
    row: np.ndarray, others: np.ndarray, words: np.ndarray, turns: np.ndarray,
    targets: np.ndarray, lr: np.float32,
) -> np.ndarray:  # fmt: skip
    """Updates the rows of ``others`` that an example has drawn; gives the change of its own row.

    Different rows do not depend on each other; one that is drawn twice is updated in two turns.
    """
    if not turns.any():
        return _updated(row, others, words, targets, lr)
    change = np.zeros_like(row)
    for turn in range(turns.max() + 1):
        now = turns == turn
        change += _updated(row, others, words[now], targets[now], lr)
    return change


def _updated(
    row: np.ndarray, others: np.ndarray, words: np.ndarray, targets: np.ndarray, lr: np.float32
) -> np.ndarray:
    """``_trained`` for words that all differ."""
    drawn = others[words]
    steps = lr * (targets - 1 / (1 + np.exp(-(drawn @ row))))
    others[words] = drawn + steps[:, None] * row
    return steps @ drawn


def _neg_train(
    w_in: Any, w_out: Any, examples: Any, labels: Any, lr: float, num_negative_samples: int,
    state: Noise,
) -> None:  # fmt: skip
    inputs, outputs = w_in.value, w_out.value
    _checked(inputs, outputs, examples, labels)
    drawn = state.draw(len(examples), num_negative_samples)
    if drawn.size and drawn.max() >= inputs.shape[0]:
        raise errors.invalid(
            f"vocab_count has {len(state.upto)} words, but w_in only {inputs.shape[0]} rows"
        )
    rows, others = inputs.cpu().numpy(), outputs.cpu().numpy()
    words = np.concatenate([labels.numpy()[:, None], drawn], axis=1)
    turns = _turns(words)
    targets = np.zeros(words.shape[1], np.float32)
    targets[:1] = 1
    # An update of a row of w_out is seen by the next one that draws it: one after another.
    for word, others_of, turn in zip(examples.tolist(), words, turns, strict=True):
        rows[word] += _trained(rows[word], others, others_of, turn, targets, np.float32(lr))
    if not inputs.is_cpu:
        inputs.copy_(torch.from_numpy(rows))
        outputs.copy_(torch.from_numpy(others))


define_op(
    "NegTrain",
    "w_in: Ref(float), w_out: Ref(float), examples: int32, labels: int32, lr: float ->",
    attrs=["vocab_count: list(int)", "num_negative_samples: int"],
    shape=no_outputs,
    kernel=_neg_train,
    host=("lr",),
    writes=("w_in", "w_out"),
    state=lambda attrs, name: Noise(attrs["vocab_count"], Stream()),
    stateful=True,
    random=True,
    no_gradient="an update of state",
)
