"""What the sentence network reads: labelled sentences, a vocabulary, and batches of like lengths.

The movie reviews of Pang and Lee (2005) are two files, ``rt-polarity.neg`` and ``rt-polarity.pos``,
with a sentence a line.  A tenth is held out, one of ten that are the same in every run; the
vocabulary is made of the others alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int32]

PADDING, UNKNOWN = 0, 1
CLASSES = ("neg", "pos")

_TOKEN = re.compile(r"[^\W_]+?(?=n't\b)|n't\b|'(?:s|ve|re|d|ll|m)\b|[^\W_]+|[,!?()]")
FOLDS = 10


@dataclass(frozen=True)
class Sentence:
    """A sentence's tokens and its class."""

    tokens: tuple[str, ...]
    label: int


@dataclass(frozen=True)
class Batch:
    """Sentences side by side, filled up with `PADDING`.

    Attributes:
      words: [batch, time].
      labels: [batch].
    """

    words: Numbers
    labels: Numbers


def split_tokens(text: str) -> list[str]:
    """Words and marks, in lower case; short forms apart from what they hang on.

    >>> split_tokens("It doesn't work, that's all!")
    ['it', 'does', "n't", 'work', ',', 'that', "'s", 'all', '!']
    """
    return _TOKEN.findall(text.lower())


def read_reviews(folder: Path) -> list[Sentence]:
    """The sentences of a folder's two files, each once; those without a word are left out.

    Raises:
      FileNotFoundError: one of the files is not there.
    """
    found = []
    for label, name in enumerate(CLASSES):
        text = (folder / f"rt-polarity.{name}").read_text(encoding="utf-8")
        found += [Sentence(tuple(split_tokens(line)), label) for line in text.splitlines()]
    return [sentence for sentence in dict.fromkeys(found) if sentence.tokens]


def split_fold(sentences: list[Sentence], fold: int) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences that are learned, and the tenth that is held out, which is number `fold`."""
    if not 0 <= fold < FOLDS:
        raise ValueError(f"fold {fold} is not one of the tenths 0 to {FOLDS - 1}")
    order = np.random.RandomState(0).permutation(len(sentences))
    held = [sentences[index] for index in order[fold::FOLDS]]
    rest = [sentences[index] for place, index in enumerate(order) if place % FOLDS != fold]
    return rest, held


def vocabulary(sentences: list[Sentence], rarest: int) -> dict[str, int]:
    """Numbers from 2 on for tokens that occur `rarest` times or more; all others are `UNKNOWN`."""
    counts = Counter(token for sentence in sentences for token in sentence.tokens)
    words = [word for word, count in counts.items() if count >= rarest]
    words.sort(key=lambda word: (-counts[word], word))
    return {word: number for number, word in enumerate(words, UNKNOWN + 1)}


def encode(sentences: list[Sentence], numbers: dict[str, int]) -> tuple[list[Numbers], Numbers]:
    """Each sentence's words as numbers, and all labels."""
    words = [
        np.array([numbers.get(token, UNKNOWN) for token in sentence.tokens], np.int32)
        for sentence in sentences
    ]
    return words, np.array([sentence.label for sentence in sentences], np.int32)


def make_batch(words: list[Numbers], labels: Numbers, margin: int, multiple: int) -> Batch:
    """Sentences as one array.

    Args:
      words: the sentences.
      labels: their classes.
      margin: padding before the sentences, and at least as much after.
      multiple: of which the sentences' room is one, so that few shapes occur.
    """
    longest = max(len(sentence) for sentence in words)
    room = -(-longest // multiple) * multiple + 2 * margin
    filled = np.full((len(words), room), PADDING, np.int32)
    lengths = np.array([len(sentence) for sentence in words])
    places = np.arange(room) - margin
    filled[(places >= 0) & (places < lengths[:, None])] = np.concatenate(words)
    return Batch(filled, labels)


def batches(words: list[Numbers], labels: Numbers, size: int, margin: int,
            random: np.random.RandomState | None = None) -> Iterator[Batch]:  # fmt: skip
    """All sentences once, those of like lengths together.

    Args:
      words: the sentences.
      labels: their classes.
      size: sentences of a batch; the last may have fewer.
      margin: padding on either side.
      random: which sentences of like lengths meet, and the order of the batches; in the order of
        lengths where it is not given.
    """
    lengths = np.array([len(sentence) for sentence in words], np.float64)
    if random is not None:
        lengths += random.uniform(0.0, 4.0, len(lengths))
    order = np.argsort(lengths, kind="stable")
    starts = np.arange(0, len(order), size)
    if random is not None:
        random.shuffle(starts)
    for start in starts:
        chosen = order[start : start + size]
        yield make_batch([words[index] for index in chosen], labels[chosen], margin, multiple=8)
