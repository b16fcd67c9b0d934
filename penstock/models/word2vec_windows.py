"""Which words of a step stand in which windows: blocks for products, or word by word for sums."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.models.word2vec_reading import Reading
from penstock.models.word2vec_settings import BLOCK, Settings


class Blocks:
    """A step's words in blocks of `BLOCK`, each with the words around it.

    Args:
      settings: the model's.
      reading: what is read.

    Attributes:
      places: of the words of blocks and around them among the step's, [blocks, BLOCK + 2 window].
      words: there.
      mask: one where a word is in another's window, [blocks, BLOCK, BLOCK + 2 window].
    """

    def __init__(self, settings: Settings, reading: Reading) -> None:
        self._settings = settings
        self.places = np.arange(settings.blocks)[:, None] * BLOCK + np.arange(settings.around)
        self.words = tf.gather(reading.words, self.places)
        self.mask = self._mask(reading.left, reading.right)

    def each(self, rows: Any) -> Any:
        """Rows of the step's words by blocks, [blocks, BLOCK, n]."""
        return tf.reshape(rows, [self._settings.blocks, BLOCK, rows.shape[-1]])

    def _mask(self, left: Any, right: Any) -> Any:
        """Each word's row of ones begins one further to the right than that of the word before it.

        So all are picked as if for the first place of a block, one column longer than they will be,
        and cut anew, which moves each by its place.
        """
        settings = self._settings
        blocks, window, around = settings.blocks, settings.window, settings.around
        off = np.arange(around + 1) - window
        far = np.arange(window + 1)[:, None]
        on_left = np.asarray((off < 0) & (off >= -far), np.float32)
        on_right = np.asarray((off > 0) & (off <= far), np.float32)
        rows = tf.gather(on_left, left) + tf.gather(on_right, right)
        moved = tf.reshape(rows, [blocks, BLOCK * (around + 1)])[:, : BLOCK * around]
        return tf.reshape(moved, [blocks, BLOCK, around])


class Windows:
    """A step's words one by one, each with the `2 window` words around it.

    Args:
      settings: the model's.
      reading: what is read.

    Attributes:
      words: around each, [words, 2 window].
      parts: of the mean of the window, one over its words; 0 outside it, [words, 2 window].
    """

    def __init__(self, settings: Settings, reading: Reading) -> None:
        window, count = settings.window, settings.words
        off = np.delete(np.arange(-window, window + 1), window)
        # Among the words of the step and around it.
        self.words = tf.gather(reading.words, np.arange(count)[:, None] + window + off)
        self.parts = tf.gather(_parts(off), reading.left * (window + 1) + reading.right)
        # In whose windows a word may be, as numbers of the step's words, [words + 2 window,
        # 2 window], and where in `parts` it says how much of them the word is; past all of them
        # where there is no such word.
        whose = np.arange(count + 2 * window)[:, None] - window - off
        there = (whose >= 0) & (whose < count)
        self._whose = np.where(there, whose, 0)
        self._where = np.where(
            there, whose * 2 * window + np.arange(2 * window), 2 * window * count
        )

    def sums(self, table: Any) -> Any:
        """The mean of each window's rows of a table, [words, width]."""
        return tf.reduce_sum(tf.gather(table, self.words) * tf.expand_dims(self.parts, 2), 1)

    def back(self, rows: Any, shares: Any) -> Any:
        """What the rows of windows ask of the words in them, [words + 2 window, width].

        Args:
          rows: one a window, [words, width].
          shares: what each word takes of it, [words + 2 window].
        """
        parts = tf.gather(tf.concat([tf.reshape(self.parts, [-1]), [0.0]], 0), self._where)
        taken = parts * tf.expand_dims(shares, 1)
        return tf.reduce_sum(tf.gather(rows, self._whose) * tf.expand_dims(taken, 2), 1)


def _parts(off: Any) -> Any:
    """Rows of parts by how far a window reaches, left times (window + 1) + right."""
    reach = np.arange(off.max() + 1)
    left, right = (each.reshape(-1, 1) for each in np.meshgrid(reach, reach, indexing="ij"))
    inside = (off >= -left) & (off <= right)
    return np.asarray(inside / np.maximum(left + right, 1), np.float32)
