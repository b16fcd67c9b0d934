"""word2vec whose text is in the graph: a step is fed nothing, and learns from some hundred words.

The text is a variable, thinned out anew at the beginning of each reading, with windows drawn anew;
a step takes the next words of it. It cuts them into blocks of `BLOCK` words. In a block the scores of each word with each
word that may be around it are one matrix product; a mask keeps those that stand in a window.
Noise words are drawn by frequency^0.75 for a group of blocks as a whole, and weighted so that each
pair has ``noise`` of them: negative sampling as in the paper, with the same noise for neighbours.
The gradients touch the rows of words that were looked up.

A word that stands in a step many times moves by the sum of what each place asks for, and each place
asks from where the word was before the step. One pair after the other, as the paper has it, would
ask for less and less. So the sum is bounded: pairs beyond `_REACH` share what that many would do,
and steps are smaller where words are few. Without both, training diverges where nothing is thinned
out (threshold 0), and now and then where a passage repeats a word.

Source: Mikolov et al., Distributed Representations of Words and Phrases and their Compositionality,
2013; Ji et al., Parallelizing Word2Vec in Shared and Distributed Memory, 2016 (shared noise).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf
from penstock.models.word2vec_text import Text

BLOCK = 32
# Entries of the table that noise is drawn from.
_TABLE = 1 << 20
# Of a reading, so that what is looked up in a step is not long out of date.
_STEPS = 100
# The learning rate times the pairs of a word in a step that count in full. Python's manual, 20
# readings, skip-gram: related words (as the tests measure) 0.97 with thinning, bounded or not;
# without thinning 0.96, unbounded nan.
_REACH = 1.2
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


class Network:
    """Builds the nodes in the default graph.

    Args:
      settings: the model's.
      text: what is learned.
      counts: how often each word of the vocabulary occurs.
      progress: how much of the training is done, from 0 to 1, a scalar of the graph.
      device: where the text and what is drawn from it stand; of a worker its own.

    Attributes:
      begin: an op that begins a reading; it is run before the first step and after `steps` of them.
      steps: how many steps the reading has that is begun in the same run.
      taken: how many steps of the reading came before the step that is run.
      train_op: a step.
      loss: nats a pair, noise included.
      embeddings: the vectors.
    """

    def __init__(
        self, settings: Settings, text: Text, counts: npt.NDArray[np.int64], progress: Any,
        device: str = "/cpu:0",
    ) -> None:  # fmt: skip
        self.settings, self._device = settings, device
        self._size = len(counts)
        self._inputs(text, counts)
        shape = [self._size, settings.width]
        initial = tf.random_uniform_initializer(-0.5 / settings.width, 0.5 / settings.width)
        self.embeddings = tf.get_variable("embeddings", shape, initializer=initial)
        self.weights = tf.get_variable("weights", shape, initializer=tf.zeros_initializer())
        self._train(progress)

    def _local(self, name: str, value: npt.NDArray[Any]) -> Any:
        """A variable of this task with a value that is not kept in the graph."""
        kind = tf.as_dtype(value.dtype)
        read = tf.py_func(lambda: value, [], kind, name=f"read_{name}")
        read.set_shape(value.shape)
        return tf.Variable(read, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES],
                           name=name)  # fmt: skip

    def _inputs(self, text: Text, counts: npt.NDArray[np.int64]) -> None:
        """The text, the reading of it that goes on, and what noise is drawn from."""
        settings = self.settings
        keep = kept_shares(counts, settings.threshold)
        noise = np.cumsum(counts**0.75)
        table = np.searchsorted(noise / noise[-1], (np.arange(_TABLE) + 0.5) / _TABLE)
        with tf.name_scope("text"), tf.device(self._device):
            words = self._local("words", text.words)
            passages = self._local("passages", text.passages)
            keeps = self._local("keeps", keep.astype(np.float32))
            self._table = self._local("noise_table", table.astype(np.int32))
            # The reading: the words, and how far each one's window reaches to the left and to the
            # right in its passage. Both ends are filled up, to whole steps, with words whose windows
            # are empty.
            self._reading = tf.Variable(
                np.zeros((3, 0), np.int32), trainable=False, validate_shape=False,
                collections=[tf.GraphKeys.LOCAL_VARIABLES], name="reading",
            )  # fmt: skip
            self._count = tf.Variable(
                0, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="count"
            )
            kept = tf.random_uniform(tf.shape(words)) < tf.gather(keeps, words)
            thinned = tf.boolean_mask(tf.stack([words, passages]), kept, axis=1)
            count = tf.shape(thinned)[1]
            steps = -(-count // settings.words)
            missing = steps * settings.words - count
            window = settings.window
            rows = tf.stack([thinned[0], *self._windows(thinned[1], len(text))])
            filled = tf.pad(rows, [[0, 0], [window, window + missing]])
            fill = tf.assign(self._reading, filled, validate_shape=False)
            with tf.control_dependencies([fill]):
                self.begin = tf.group(tf.assign(self._count, 0), name="begin")
            self.steps = steps

    def _windows(self, passages: Any, most: int) -> tuple[Any, Any]:
        """How many words on its left, and on its right, each word is paired with.

        Args:
          passages: the number of each word's passage, in order, [n].
          most: above all these numbers.
        """
        together = tf.unsorted_segment_sum(tf.ones_like(passages), passages, most)
        ends = tf.cumsum(together)
        order = tf.range(tf.shape(passages)[0])
        before = order - tf.gather(ends - together, passages)
        after = tf.gather(ends, passages) - order - 1
        reach = tf.random_uniform(tf.shape(passages), 1, self.settings.window + 1, tf.int32)
        return tf.minimum(before, reach), tf.minimum(after, reach)

    def _next(self) -> Any:
        """The next words of the reading, [3, words + 2 window]: they, and how far windows reach."""
        settings = self.settings
        length = settings.words + 2 * settings.window
        # What a counter gives is the step's own; what an assignment gives is the variable, and by
        # the time that it is read another thread's step may have come by.
        self.taken = tf.count_up_to(self._count, tf.int32.max)
        piece = tf.slice(self._reading, [0, self.taken * settings.words], [3, length])
        piece.set_shape([3, length])
        return piece

    def _mask(self, left: Any, right: Any) -> Any:
        """One where a word is in another's window, [blocks, BLOCK, BLOCK + 2 window].

        A word's row of ones begins one further to the right than that of the word before it: all
        are picked as if for the first place of a block, one column longer than they will be, and
        cut anew, which turns each by its place.
        """
        settings = self.settings
        window, around = settings.window, BLOCK + 2 * settings.window
        off = np.arange(around + 1) - window
        far = np.arange(window + 1)[:, None]
        on_left = np.asarray((off < 0) & (off >= -far), np.float32)
        on_right = np.asarray((off > 0) & (off <= far), np.float32)
        rows = tf.gather(on_left, left) + tf.gather(on_right, right)
        turned = tf.reshape(rows, [settings.blocks, BLOCK * (around + 1)])[:, : BLOCK * around]
        return tf.reshape(turned, [settings.blocks, BLOCK, around])

    def _train(self, progress: Any) -> None:
        settings = self.settings
        blocks, window, groups = settings.blocks, settings.window, settings.groups
        with tf.name_scope("windows"), tf.device(self._device):
            piece = self._next()
            around = np.arange(blocks)[:, None] * BLOCK + np.arange(BLOCK + 2 * window)
            words = tf.gather(piece[0], around)
            left, right = (piece[row, window : window + settings.words] for row in (1, 2))
            mask = self._mask(left, right)
            pairs = tf.reshape(tf.cast(left + right, tf.float32), [blocks, BLOCK, 1])
            middle = words[:, window : window + BLOCK]
            draws = tf.random_uniform([groups, settings.shared], 0, _TABLE, tf.int32)
            noise = tf.gather(self._table, draws)
        self.rate = settings.learning_rate * tf.maximum(1.0 - progress, 0.01)
        # Skip-gram foretells those around from the middle, CBOW the middle from those around.
        seen, told = (words, middle) if settings.cbow else (middle, words)
        inputs = tf.nn.embedding_lookup(self.embeddings, seen)
        outputs = tf.nn.embedding_lookup(self.weights, told)
        others = tf.nn.embedding_lookup(self.weights, noise)
        if settings.cbow:
            parts = mask / tf.maximum(pairs, 1.0)
            hidden = tf.matmul(parts, inputs)
            true = pairs = tf.minimum(pairs, 1.0)
            alike = tf.reduce_sum(hidden * outputs, 2, keepdims=True)
            of_seen, of_told = tf.reduce_sum(parts, 1), pairs
        else:
            hidden, true = inputs, mask
            alike = tf.matmul(hidden, outputs, transpose_b=True)
            of_seen, of_told = pairs, tf.reduce_sum(mask, 1)
        grouped = tf.reshape(hidden, [groups, -1, settings.width])
        unlike = tf.matmul(grouped, others, transpose_b=True)
        # Each pair counts once as a true one, and `noise` times, in all, as none.
        false = tf.reshape(pairs, [groups, -1, 1]) * (settings.noise / settings.shared)
        total = tf.reduce_sum(true * tf.nn.softplus(-alike))
        total += tf.reduce_sum(false * tf.nn.softplus(unlike))
        self.loss = total / tf.maximum(tf.reduce_sum(pairs), 1.0)
        # What `tf.gradients` would give, but for where factors go in: rate and bounds where a
        # gradient is a number a pair, not where it is rows.
        pull = self.rate * true * tf.sigmoid(-alike)
        push = -self.rate * false * tf.sigmoid(unlike)
        seen_share, told_share = self._share(seen, of_seen), self._share(told, of_told)
        if settings.cbow:
            asked = tf.reshape(tf.matmul(push, others), outputs.shape) + pull * outputs
            shared = parts * tf.reshape(seen_share, [blocks, 1, -1])
            move_seen = tf.matmul(shared, asked, transpose_a=True)
            move_told = hidden * (pull * tf.reshape(told_share, [blocks, BLOCK, 1]))
        else:
            of_true = pull * tf.reshape(seen_share, [blocks, BLOCK, 1])
            of_false = push * tf.reshape(seen_share, [groups, -1, 1])
            move_seen = tf.reshape(tf.matmul(of_false, others), inputs.shape)
            move_seen += tf.matmul(of_true, outputs)
            shared = pull * tf.reshape(told_share, [blocks, 1, -1])
            move_told = tf.matmul(shared, hidden, transpose_a=True)
        self.train_op = tf.group(
            self._move(self.embeddings, seen, move_seen),
            self._move(self.weights, told, move_told),
            self._move(self.weights, noise, tf.matmul(push, grouped, transpose_a=True)),
            name="train",
        )

    def _share(self, words: Any, pairs: Any) -> Any:
        """How much of its step each place of a word takes: less where it has too many pairs."""
        flat = tf.reshape(words, [-1])
        together = tf.unsorted_segment_sum(tf.reshape(pairs, [-1]), flat, self._size)
        return tf.minimum(_REACH / (self.rate * tf.gather(together, flat)), 1.0)

    def _move(self, table: Any, words: Any, steps: Any) -> Any:
        """Adds to the rows of words; to one of a word that is there twice, both."""
        rows = tf.reshape(steps, [-1, self.settings.width])
        return tf.scatter_add(table, tf.reshape(words, [-1]), rows)
