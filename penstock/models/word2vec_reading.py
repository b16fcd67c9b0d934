"""A text in the graph, read from its beginning to its end: the next words, windows and noise.

The text is a variable, thinned out anew at the beginning of each reading, with windows drawn anew;
a step takes the next words of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf
from penstock.models.word2vec_settings import Settings, kept_shares
from penstock.models.word2vec_text import Text

# Entries of the table that noise is drawn from.
_TABLE = 1 << 20


class Reading:
    """Builds the nodes in the default graph.

    Args:
      settings: the model's.
      text: what is read.
      counts: how often each word of the vocabulary occurs.

    Attributes:
      begin: an op that begins a reading; it is run before the first step and after `steps` of them.
      steps: how many steps the reading has that is begun in the same run.
      taken: how many steps of the reading came before the step that is run.
      words: of the step, and `window` more on either side, [words + 2 window].
      middle: those of the step alone, [words].
      left, right: how many words of each one's window are on either side of it, [words].
      pairs: how many are in it, [words, 1].
      noise: words drawn by frequency^0.75, [groups, shared].
    """

    def __init__(self, settings: Settings, text: Text, counts: npt.NDArray[np.int64]) -> None:
        self._settings = settings
        with tf.name_scope("text"):
            self._state(counts)
            self._begin(text, counts)
        with tf.name_scope("windows"):
            self._step()

    def _state(self, counts: npt.NDArray[np.int64]) -> None:
        noise = np.cumsum(counts**0.75)
        table = np.searchsorted(noise / noise[-1], (np.arange(_TABLE) + 0.5) / _TABLE)
        self._table = _local("noise_table", table.astype(np.int32))
        # The words, and how far each one's window reaches to the left and to the right in its
        # passage. Both ends are filled up, to whole steps, with words whose windows are empty.
        self._rows = tf.Variable(
            np.zeros((3, 0), np.int32), trainable=False, validate_shape=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES], name="reading",
        )  # fmt: skip
        self._count = tf.Variable(
            0, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="count"
        )

    def _begin(self, text: Text, counts: npt.NDArray[np.int64]) -> None:
        settings = self._settings
        words = _local("words", text.words)
        passages = _local("passages", text.passages)
        keeps = _local("keeps", kept_shares(counts, settings.threshold).astype(np.float32))
        kept = tf.random_uniform(tf.shape(words)) < tf.gather(keeps, words)
        thinned = tf.boolean_mask(tf.stack([words, passages]), kept, axis=1)
        count = tf.shape(thinned)[1]
        # A short text may be thinned out to nothing: then a step is taken of no pairs.
        self.steps = tf.maximum(-(-count // settings.words), 1)
        missing = self.steps * settings.words - count
        most = int(text.passages.max(initial=0)) + 1
        rows = tf.stack([thinned[0], *self._windows(thinned[1], most)])
        filled = tf.pad(rows, [[0, 0], [settings.window, settings.window + missing]])
        fill = tf.assign(self._rows, filled, validate_shape=False)
        with tf.control_dependencies([fill]):
            self.begin = tf.group(tf.assign(self._count, 0), name="begin")

    def _windows(self, passages: Any, most: int) -> tuple[Any, Any]:
        """How many words on its left, and on its right, are in each word's window.

        Args:
          passages: the number of each word's passage, in order, [n].
          most: above all these numbers.
        """
        together = tf.unsorted_segment_sum(tf.ones_like(passages), passages, most)
        ends = tf.cumsum(together)
        order = tf.range(tf.shape(passages)[0])
        before = order - tf.gather(ends - together, passages)
        after = tf.gather(ends, passages) - order - 1
        reach = tf.random_uniform(tf.shape(passages), 1, self._settings.window + 1, tf.int32)
        return tf.minimum(before, reach), tf.minimum(after, reach)

    def _step(self) -> None:
        settings = self._settings
        self.words, left, right = self._next()
        self.middle = self.own(self.words)
        self.left, self.right = self.own(left), self.own(right)
        self.pairs = tf.cast(tf.expand_dims(self.left + self.right, 1), tf.float32)
        draws = tf.random_uniform([settings.groups, settings.shared], 0, _TABLE, tf.int32)
        self.noise = tf.gather(self._table, draws)

    def own(self, rows: Any) -> Any:
        """What rows of the words of the step and around it have of those of the step alone."""
        window = self._settings.window
        return rows[window : window + self._settings.words]

    def _next(self) -> tuple[Any, Any, Any]:
        """The words of the step and `window` on either side, and how far their windows reach."""
        settings = self._settings
        length = settings.words + 2 * settings.window
        # What a counter gives is the step's own; what an assignment gives is the variable, and by
        # the time that it is read another thread's step may have come by.
        self.taken = tf.count_up_to(self._count, tf.int32.max)
        piece = tf.slice(self._rows, [0, self.taken * settings.words], [3, length])
        piece.set_shape([3, length])
        return piece[0], piece[1], piece[2]


def _local(name: str, value: npt.NDArray[Any]) -> Any:
    """A variable of this task with a value that is not kept in the graph."""
    kind = tf.as_dtype(value.dtype)
    read = tf.py_func(lambda: value, [], kind, name=f"read_{name}")
    read.set_shape(value.shape)
    return tf.Variable(read, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES],
                       name=name)  # fmt: skip
