"""Lists of numbers: of different lengths as one array, pairs of neighbours, windows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.training.keras_models.enqueuers import Sequence as Batches


def pad_sequences(
    sequences: Sequence[Any], maxlen: int | None = None, dtype: Any = "int32",
    padding: str = "pre", truncating: str = "pre", value: Any = 0.0,
) -> Any:  # fmt: skip
    """Sequences as rows of one array, filled or cut to one length.

    Args:
      sequences: lists of numbers or of equally shaped arrays.
      maxlen: the length; default the longest's.
      dtype: of the result.
      padding, truncating: ``"pre"`` or ``"post"``: where to fill, where to cut.
      value: what to fill with.

    Returns:
      [sequences, maxlen, ...].

    Raises:
      ValueError: an element has no length, or a place is unknown.

    Example:
      >>> import penstock as tf
      >>> tf.keras.preprocessing.sequence.pad_sequences([[1], [2, 3]]).tolist()
      [[0, 1], [2, 3]]
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for one in sequences:
        if not hasattr(one, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {one}")
    for what, found in (("Truncating", truncating), ("Padding", padding)):
        if found not in ("pre", "post"):
            raise ValueError(f'{what} type "{found}" not understood; it is "pre" or "post"')
    length = max(map(len, sequences), default=0) if maxlen is None else maxlen
    inner = next((np.shape(one)[1:] for one in sequences if len(one)), ())
    made = np.full((len(sequences), length, *inner), value, dtype)
    for row, one in zip(made, sequences, strict=True):
        kept = np.asarray(one[-length:] if truncating == "pre" else one[:length], dtype)
        if not len(kept) or not length:
            continue
        if padding == "post":
            row[: len(kept)] = kept
        else:
            row[-len(kept) :] = kept
    return made


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Any:
    """How likely the word of each rank is kept for skip-grams, if frequencies fall as 1 / rank.

    Args:
      size: how many words there are.
      sampling_factor: frequencies above it are thinned out.

    Returns:
      [size].
    """
    gamma = 0.577  # of Euler, in the sum of 1 / rank
    rank = np.arange(size)
    rank[0] = 1
    expected = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    share = sampling_factor * expected
    return np.minimum(1.0, share / np.sqrt(share))


def skipgrams(
    sequence: Sequence[int], vocabulary_size: int, window_size: int = 4,
    negative_samples: float = 1.0, shuffle: bool = True, categorical: bool = False,
    sampling_table: Any = None, seed: int | None = None,
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """Pairs of words, near each other or drawn.

    Args:
      sequence: numbers of words; 0 is none.
      vocabulary_size: past the largest number.
      window_size: how far apart neighbours are at most.
      negative_samples: how many drawn pairs there are to one of neighbours.
      shuffle: whether pairs are in another order.
      categorical: whether labels are ``[0, 1]`` and ``[1, 0]`` in the place of 1 and 0.
      sampling_table: how likely each word is taken; see ``make_sampling_table``.
      seed: of the order.

    Returns:
      Pairs, and their labels.
    """
    yes, no = ([0, 1], [1, 0]) if categorical else (1, 0)
    pairs: list[Any] = []
    labels: list[Any] = []
    for place, word in enumerate(sequence):
        if not word:
            continue
        if sampling_table is not None and sampling_table[word] < random.random():
            continue
        first, last = max(0, place - window_size), min(len(sequence), place + window_size + 1)
        near = [sequence[at] for at in range(first, last) if at != place and sequence[at]]
        pairs += [[word, other] for other in near]
        labels += [yes] * len(near)
    if negative_samples > 0:
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        for number in range(int(len(labels) * negative_samples)):
            pairs.append([words[number % len(words)], random.randint(1, vocabulary_size - 1)])
            labels.append(no)
    if shuffle:
        number = random.randint(0, int(10e6)) if seed is None else seed
        for listed in (pairs, labels):
            random.seed(number)
            random.shuffle(listed)
    return pairs, labels


class TimeseriesGenerator(Batches):
    """Batches of windows over a series, each with what follows it.

    Args:
      data: [steps, ...].
      targets: [steps, ...], what belongs to each step.
      length: how many steps a window spans.
      sampling_rate: steps from one that is in the window to the next.
      stride: steps from one window to the next.
      start_index, end_index: the part of the series that is used.
      shuffle: whether windows are drawn.
      reverse: whether windows run backwards.
      batch_size: windows of a batch.

    Raises:
      ValueError: data and targets differ in length, or no window fits.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> series = np.arange(6)
      >>> made = tf.keras.preprocessing.sequence.TimeseriesGenerator(series, series, 3)
      >>> [part.tolist() for part in made[0]]
      [[[0, 1, 2], [1, 2, 3], [2, 3, 4]], [3, 4, 5]]
    """

    def __init__(
        self, data: Any, targets: Any, length: int, sampling_rate: int = 1, stride: int = 1,
        start_index: int = 0, end_index: int | None = None, shuffle: bool = False,
        reverse: bool = False, batch_size: int = 128,
    ) -> None:  # fmt: skip
        if len(data) != len(targets):
            raise ValueError(
                "Data and targets have to be of same length. Data length is"
                f" {len(data)} while target length is {len(targets)}"
            )
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride, self.reverse = sampling_rate, stride, reverse
        self.shuffle, self.batch_size = shuffle, batch_size
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is"
                " disallowed, as no part of the sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        per_batch = self.batch_size * self.stride
        return (self.end_index - self.start_index + per_batch) // per_batch

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            at = self.start_index + self.batch_size * self.stride * index
            last = min(at + self.batch_size * self.stride, self.end_index + 1)
            rows = np.arange(at, last, self.stride)
        windows = np.array([self.data[r - self.length : r : self.sampling_rate] for r in rows])
        targets = np.array([self.targets[r] for r in rows])
        return (windows[:, ::-1, ...] if self.reverse else windows), targets
