"""What word2vec learns from: passages of words, a vocabulary, and batches of examples.

All of it is NumPy, and no step loops over words: a text is one array of word numbers and one of the
passages they stand in, and the words around every word are found by shifting these arrays against
themselves.  Windows end where a passage ends.

The text that is always at hand is the English that Python carries: the language reference, as
``help()`` shows it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int32]
Passage = list[str]

# In a window, a place where no word stands.
NOTHING = -1

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LONGEST_PASSAGE = 1000
# Words whose windows are laid out at once; what is shuffled together.
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Text:
    """Words in order.

    Attributes:
      words: numbers of the vocabulary, [n].
      passages: the number of the passage that each stands in, [n].
    """

    words: Numbers
    passages: Numbers

    def __len__(self) -> int:
        return len(self.words)

    def part(self, which: slice | npt.NDArray[np.bool_]) -> Text:
        """Some of the words."""
        return Text(self.words[which], self.passages[which])


@dataclass(frozen=True)
class Examples:
    """What is looked at, and what is to be foretold from it.

    Attributes:
      inputs: words, [n] for skip-gram, or windows filled up with `NOTHING`, [n, 2 * window] for
        CBOW.
      labels: words, [n, 1].
    """

    inputs: Numbers
    labels: Numbers

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, which: slice | npt.NDArray[np.int64]) -> Examples:
        """Some of the examples."""
        return Examples(self.inputs[which], self.labels[which])


@dataclass(frozen=True)
class Sampling:
    """How examples are drawn from a text.

    Attributes:
      cbow: foretell a word from those around it, rather than each of those from the word.
      window: the words on either side that belong to a word, at most; for each word the number is
        drawn from 1 to this, so that nearer words count more.
      threshold: of the text, above which share words are thinned out (0 for none): one of share f
        is kept with probability sqrt(t / f) + t / f.
    """

    cbow: bool = False
    window: int = 5
    threshold: float = 1e-3


def split_words(text: str) -> Passage:
    """The words of a text, in lower case.

    >>> split_words("Don't call __getitem__() 2 times.")
    ["don't", 'call', 'getitem', 'times']
    """
    return _WORD.findall(text.lower())


def python_passages() -> list[Passage]:
    """The paragraphs of Python's language reference, each of them once."""
    paragraphs = (part for topic in topics.values() for part in re.split(r"\n\s*\n", topic))
    passages = (tuple(split_words(part)) for part in paragraphs)
    return [list(passage) for passage in dict.fromkeys(passages) if passage]


def read_passages(path: Path) -> list[Passage]:
    """A file's passages: its lines, and each thousand words of a line that is longer."""
    with path.open(encoding="utf-8") as lines:
        return cut_passages(lines)


def cut_passages(lines: Iterable[str]) -> list[Passage]:
    """Passages of a text's lines: these, and each thousand words of one that is longer."""
    passages = []
    for line in lines:
        words = split_words(line)
        for start in range(0, len(words), _LONGEST_PASSAGE):
            passages.append(words[start : start + _LONGEST_PASSAGE])
    return passages


def hold_out(passages: list[Passage], seed: int) -> tuple[list[Passage], list[Passage]]:
    """Nine tenths of the passages and the other tenth, by lot."""
    held = set(np.random.RandomState(seed).permutation(len(passages))[: len(passages) // 10])
    kept = [passage for index, passage in enumerate(passages) if index not in held]
    return kept, [passages[index] for index in sorted(held)]


def vocabulary(passages: list[Passage], rarest: int) -> dict[str, int]:
    """Numbers of the words that occur `rarest` times or more, the most frequent first.

    >>> vocabulary([["b", "a"], ["b", "c"], ["c"]], rarest=2)
    {'b': 0, 'c': 1}
    """
    counts = Counter(word for passage in passages for word in passage)
    words = [word for word, count in counts.items() if count >= rarest]
    words.sort(key=lambda word: (-counts[word], word))
    return {word: number for number, word in enumerate(words)}


def encode(passages: list[Passage], numbers: dict[str, int]) -> Text:
    """Passages as numbers; words outside the vocabulary drop out, and their neighbours close up."""
    known = [[numbers[word] for word in passage if word in numbers] for passage in passages]
    words = np.array([word for passage in known for word in passage], np.int32)
    lengths = [len(passage) for passage in known]
    return Text(words, np.repeat(np.arange(len(known), dtype=np.int32), lengths))


def thin_out(text: Text, shares: npt.NDArray[np.float64], threshold: float,
             random: np.random.RandomState) -> Text:  # fmt: skip
    """Leaves frequent words out at random; see `Sampling`.

    Args:
      text: all words.
      shares: of each word of the vocabulary in the text that is learned, [size].
      threshold: the share above which words are left out.
      random: draws.
    """
    if threshold <= 0:
        return text
    excess = threshold / np.maximum(shares, 1e-12)
    keep = np.sqrt(excess) + excess
    return text.part(random.uniform(size=len(text)) < keep[text.words])


def windows(text: Text, radius: Numbers, most: int) -> Numbers:
    """The words around each word.

    Args:
      text: n words.
      radius: how many words on either side are taken, [n].
      most: the largest that a radius may be.

    Returns:
      [n, 2 * most], from left to right; `NOTHING` beyond the radius and the passage.

    >>> text = Text(np.array([7, 8, 9], np.int32), np.array([0, 0, 1], np.int32))
    >>> windows(text, np.array([1, 1, 1], np.int32), most=1).tolist()
    [[-1, 8], [7, -1], [-1, -1]]
    """
    count = len(text)
    found = np.full((count, 2 * most), NOTHING, np.int32)
    for offset in range(1, min(most, count - 1) + 1):
        together = text.passages[offset:] == text.passages[:-offset]
        right = together & (radius[:-offset] >= offset)
        found[:-offset, most + offset - 1][right] = text.words[offset:][right]
        left = together & (radius[offset:] >= offset)
        found[offset:, most - offset][left] = text.words[:-offset][left]
    return found


def examples(text: Text, sampling: Sampling, random: np.random.RandomState) -> Examples:
    """All examples of a text, in order; thinning out has been done."""
    radius = random.randint(1, sampling.window + 1, len(text)).astype(np.int32)
    around = windows(text, radius, sampling.window)
    if sampling.cbow:
        some = (around != NOTHING).any(axis=1)
        return Examples(around[some], text.words[some, None])
    rows, columns = np.nonzero(around != NOTHING)
    return Examples(text.words[rows], around[rows, columns][:, None])


def batches(text: Text, sampling: Sampling, shares: npt.NDArray[np.float64], size: int,
            random: np.random.RandomState) -> Iterator[Examples]:  # fmt: skip
    """One reading of a text: its examples, drawn and shuffled anew; all batches but the last full.

    Args:
      text: the words.
      sampling: how examples are drawn.
      shares: as `thin_out` takes them.
      size: of a batch.
      random: draws and shuffles.
    """
    text = thin_out(text, shares, sampling.threshold, random)
    rest: Examples | None = None
    for start in range(0, len(text), _BLOCK):
        block = examples(text.part(slice(start, start + _BLOCK)), sampling, random)
        if rest is not None:
            block = Examples(np.concatenate([rest.inputs, block.inputs]),
                             np.concatenate([rest.labels, block.labels]))  # fmt: skip
        block = block.part(random.permutation(len(block)))
        full = len(block) - len(block) % size
        for first in range(0, full, size):
            yield block.part(slice(first, first + size))
        rest = block.part(slice(full, None))
    if rest is not None and len(rest):
        yield rest


def unigram_cross_entropy(learned: Numbers, unseen: Numbers, size: int) -> float:
    """Nats a label when each word is as likely as it was among the learned labels, plus one.

    >>> round(unigram_cross_entropy(np.array([0, 0, 1]), np.array([0, 1]), size=2), 3)
    0.714
    """
    counts = np.bincount(learned.ravel(), minlength=size) + 1
    return float(-np.mean(np.log(counts[unseen.ravel()] / counts.sum())))


def read_questions(path: Path, numbers: dict[str, int]) -> dict[str, tuple[Numbers, int]]:
    """Analogies, four words a line, under headings that begin with a colon.

    Args:
      path: the file.
      numbers: the vocabulary; words are looked up in lower case.

    Returns:
      For each heading the questions whose four words are all known, [n, 4], and how many
      there are in the file.
    """
    found: dict[str, tuple[list[list[int]], int]] = {}
    heading = ""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            words = line.lower().split()
            if words[:1] == [":"]:
                heading = " ".join(words[1:])
            elif len(words) == 4:
                known, count = found.get(heading, ([], 0))
                if all(word in numbers for word in words):
                    known.append([numbers[word] for word in words])
                found[heading] = known, count + 1
    return {
        heading: (np.array(known, np.int32).reshape(-1, 4), count)
        for heading, (known, count) in found.items()
    }
