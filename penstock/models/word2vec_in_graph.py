"""word2vec whose text is in the graph: a step is fed nothing, and learns from some hundred words.

A step takes the next words of a reading of the text. Skip-gram takes them in blocks: in a block the
scores of each word with each word that may be around it are one matrix product; a mask keeps those
that stand in a window. CBOW takes the mean of each window. Noise words are drawn by frequency^0.75
for a group of words as a whole, and weighted so that each pair has ``noise`` of them: negative
sampling as in the paper, with the same noise for neighbours. What moves are the rows of words that
were looked up.

A word that stands in a step many times moves by the sum of what each place asks for, and each place
asks from where the word was before the step. One pair after the other, as the paper has it, would
ask for less and less. So the sum is bounded: pairs beyond `_REACH` share what that many would do,
and steps are smaller where words are few. Without both, training diverges where nothing is thinned
out (threshold 0), and now and then where a passage repeats a word.

The gradients are written out, not asked of `tf.gradients`: so the rate and the bound go in where
there is a number a pair, and the long rows of numbers are passed over as seldom as can be.

Source: Mikolov et al., Distributed Representations of Words and Phrases and their Compositionality,
2013; Ji et al., Parallelizing Word2Vec in Shared and Distributed Memory, 2016 (shared noise).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf
from penstock.models.word2vec_reading import Reading
from penstock.models.word2vec_settings import Settings
from penstock.models.word2vec_text import Text
from penstock.models.word2vec_windows import Blocks, Windows

# The learning rate times the pairs of a word in a step that count in full. Python's manual, 20
# readings, skip-gram: related words (as the tests measure) 0.97 with thinning, bounded or not;
# without thinning 0.96, unbounded nan.
_REACH = 1.2


class Network:
    """Builds the nodes in the default graph.

    Args:
      settings: the model's.
      text: what is learned.
      counts: how often each word of the vocabulary occurs.
      progress: how much of the training is done, from 0 to 1, a scalar of the graph.
      device: where the text and what is drawn from it stand; of a worker its own.

    Attributes:
      reading: of the text; its `begin` is run before the first step of each.
      train_op: a step.
      loss: nats a pair, noise included.
      rate: the learning rate of the step.
      embeddings: the vectors.
    """

    def __init__(
        self, settings: Settings, text: Text, counts: npt.NDArray[np.int64], progress: Any,
        device: str = "/cpu:0",
    ) -> None:  # fmt: skip
        self.settings = settings
        self._size = len(counts)
        self.rate = settings.learning_rate * tf.maximum(1.0 - progress, 0.01)
        with tf.device(device):
            self.reading = Reading(settings, text, counts)
        shape = [self._size, settings.width]
        initial = tf.random_uniform_initializer(-0.5 / settings.width, 0.5 / settings.width)
        self.embeddings = tf.get_variable("embeddings", shape, initializer=initial)
        self.weights = tf.get_variable("weights", shape, initializer=tf.zeros_initializer())
        self._others = tf.nn.embedding_lookup(self.weights, self.reading.noise)
        if settings.cbow:
            self._cbow()
        else:
            self._skip_gram()

    def _skip_gram(self) -> None:
        """Foretells those around from the middle."""
        reading = self.reading
        blocks = Blocks(self.settings, reading)
        hidden = blocks.each(tf.nn.embedding_lookup(self.embeddings, reading.middle))
        outputs = tf.nn.embedding_lookup(self.weights, blocks.words)
        alike = tf.matmul(hidden, outputs, transpose_b=True)
        pairs = blocks.each(reading.pairs)
        pull, push = self._asked(blocks.mask, alike, pairs, hidden)
        shares = self._shares(reading.pairs)
        around, middle = tf.gather(shares, blocks.places), tf.expand_dims(reading.own(shares), 1)
        told = tf.matmul(pull * tf.expand_dims(around, 1), hidden, transpose_a=True)
        of_true = tf.matmul(pull * blocks.each(middle), outputs)
        of_false = tf.matmul(push * self._grouped(middle), self._others)
        seen = of_true + tf.reshape(of_false, hidden.shape)
        self._train(reading.middle, seen, blocks.words, told, self._noise(push, hidden))

    def _cbow(self) -> None:
        """Foretells the middle from the mean of those around."""
        reading = self.reading
        windows = Windows(self.settings, reading)
        hidden = windows.sums(self.embeddings)
        outputs = tf.nn.embedding_lookup(self.weights, reading.middle)
        alike = tf.reduce_sum(hidden * outputs, 1, keepdims=True)
        once = tf.minimum(reading.pairs, 1.0)
        pull, push = self._asked(once, alike, once, hidden)
        shares = self._shares(once)
        asked = pull * outputs + tf.reshape(tf.matmul(push, self._others), hidden.shape)
        seen = windows.back(asked, shares)
        noise = self._noise(push, hidden)
        with tf.control_dependencies([noise]):  # so that nobody needs `hidden` after the product
            told = pull * tf.expand_dims(reading.own(shares), 1) * hidden
        self._train(reading.words, seen, reading.middle, told, noise)

    def _grouped(self, rows: Any) -> Any:
        """Numbers or rows of the words of a step, [groups, words of a group, 1 or width]."""
        return tf.reshape(rows, [self.settings.groups, -1, rows.shape[-1]])

    def _asked(self, true: Any, alike: Any, pairs: Any, hidden: Any) -> tuple[Any, Any]:
        """How far pairs are to be pulled together, and words and noise pushed apart.

        Args:
          true: how often each pair counts as one.
          alike: its score.
          pairs: how many each word has; a word is told from noise `noise` times for each.
          hidden: what foretells, a row a word.
        """
        settings = self.settings
        unlike = tf.matmul(self._grouped(hidden), self._others, transpose_b=True)
        false = self._grouped(pairs) * (settings.noise / settings.shared)
        total = tf.reduce_sum(true * tf.nn.softplus(-alike))
        total += tf.reduce_sum(false * tf.nn.softplus(unlike))
        self.loss = total / tf.maximum(tf.reduce_sum(pairs), 1.0)
        return self.rate * true * tf.sigmoid(-alike), -self.rate * false * tf.sigmoid(unlike)

    def _shares(self, pairs: Any) -> Any:
        """How much of its step each place of a word takes: less where the word has too many pairs.

        The pairs are those of windows of the word. About as many windows of others have it in them:
        what is counted once bounds both.

        Returns:
          Those of the step's words and around them, [words + 2 window].
        """
        reading = self.reading
        together = tf.unsorted_segment_sum(tf.reshape(pairs, [-1]), reading.middle, self._size)
        reach = self.rate * tf.gather(together, reading.words)
        return tf.minimum(_REACH / reach, 1.0)

    def _noise(self, push: Any, hidden: Any) -> Any:
        return tf.matmul(push, self._grouped(hidden), transpose_a=True)

    def _train(self, seen: Any, move_seen: Any, told: Any, move_told: Any, noise: Any) -> None:
        self.train_op = tf.group(
            self._move(self.embeddings, seen, move_seen),
            self._move(self.weights, told, move_told),
            self._move(self.weights, self.reading.noise, noise),
            name="train",
        )

    def _move(self, table: Any, words: Any, steps: Any) -> Any:
        """Adds to the rows of words; to one of a word that is there twice, both."""
        rows = tf.reshape(steps, [-1, self.settings.width])
        return tf.scatter_add(table, tf.reshape(words, [-1]), rows)
