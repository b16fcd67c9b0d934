"""Settings of the word2vec whose text is in the graph: how large steps are, what is thinned out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

# Words of a block.
BLOCK = 32
# Of a reading, so that what is looked up in a step is not long out of date.
_STEPS = 100
# How often a word of a step stands in it, on average, at most. Of eleven words all alike, none
# thinned out, steps of 256 diverged (23 times), steps of 128 did not (12 times).
_TIMES = 8


@dataclass(frozen=True)
class Settings:
    """The model and its training.

    Attributes:
      cbow: foretell a word from the mean of those around it, not each of those from the word.
      width: of the vectors.
      window: words on either side, at most; for each word the number is drawn from 1 to this.
      noise: words a pair is told from.
      shared: noise words drawn for a group of blocks.
      groups: of the blocks of a step; they divide `blocks`. In large groups the noise of skip-gram,
        with its six pairs a word or so, goes too far.
      blocks: of a step.
      learning_rate: of gradient descent at first; it falls to a hundredth.
      threshold: of the text, above which share words are thinned out.
      seed: of the vectors and all that is drawn.
    """

    cbow: bool = False
    width: int = 100
    window: int = 5
    noise: int = 5
    shared: int = 16
    groups: int = 16
    blocks: int = 16
    learning_rate: float = 0.025
    threshold: float = 1e-3
    seed: int = 1

    @property
    def words(self) -> int:
        """Words that a step learns from, of the thinned text."""
        return self.blocks * BLOCK

    @property
    def around(self) -> int:
        """Words of a block and of those around it."""
        return BLOCK + 2 * self.window


def kept_shares(counts: npt.NDArray[np.int64], threshold: float) -> npt.NDArray[np.float64]:
    """How much of each word is left when frequent ones are thinned out.

    >>> kept_shares(np.array([90, 10]), 0.1).round(2).tolist()
    [0.44, 1.0]
    """
    if threshold <= 0:
        return np.ones(len(counts))
    excess = threshold / np.maximum(counts / max(counts.sum(), 1), 1e-12)
    kept: npt.NDArray[np.float64] = np.minimum(np.sqrt(excess) + excess, 1.0)
    return kept


def steps_of_a_reading(settings: Settings, counts: npt.NDArray[np.int64]) -> int:
    """How many steps a reading of the text has, on average."""
    left = float((counts * kept_shares(counts, settings.threshold)).sum())
    return max(round(left / settings.words), 1)


def times_in_a_step(settings: Settings, counts: npt.NDArray[np.int64]) -> float:
    """How often a word of a step stands in it, on average.

    >>> times_in_a_step(Settings(blocks=1, threshold=0), np.array([50, 25, 25]))
    12.0
    """
    left = counts * kept_shares(counts, settings.threshold)
    return float(settings.words * (left**2).sum() / left.sum() ** 2)


def fitted(settings: Settings, counts: npt.NDArray[np.int64]) -> Settings:
    """Settings with steps as large as the text allows.

    Up to four times as large where a reading still has a hundred of them; of CBOW alone: with the
    pairs of skip-gram, what a larger step sums up for a frequent word goes too far. Smaller where
    words are so few that each stands in a step many times.
    """
    for times in (4, 2) if settings.cbow else ():
        larger = replace(settings, blocks=times * settings.blocks)
        enough = steps_of_a_reading(larger, counts) >= _STEPS
        if enough and times_in_a_step(larger, counts) <= _TIMES:
            return larger
    while settings.blocks > 1 and times_in_a_step(settings, counts) > _TIMES:
        blocks = settings.blocks // 2
        settings = replace(settings, blocks=blocks, groups=min(settings.groups, blocks))
    return settings
