"""The translation model with buckets: ``tf.models.rnn.translate.seq2seq_model``.

Sentences are put into the smallest pair of lengths that they fit in (a bucket); for each pair there
is one network of that length, and all share their weights. The encoder's sentence is reversed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf
from penstock.models.tutorials import translate_data

Numbers = npt.NDArray[np.int32]
Pair = tuple[Sequence[int], Sequence[int]]


class Seq2SeqModel:
    """An encoder and a decoder with attention, their placeholders and their training.

    Attributes:
      learning_rate: a variable; ``learning_rate_decay_op`` makes it smaller.
      global_step: counts steps of training.
      losses: the loss of each bucket.
      outputs: logits of each bucket, one [batch, target_vocab_size] a place.
      saver: of all variables.

    Args:
      source_vocab_size, target_vocab_size: how many words there are.
      buckets: pairs of the lengths of source and target, from the smallest.
      size: units of each layer.
      num_layers: layers of encoder and decoder.
      max_gradient_norm: gradients with a larger norm are made this small.
      batch_size: sentences that ``get_batch`` gives; the network takes any number.
      learning_rate: at the start.
      learning_rate_decay_factor: what ``learning_rate_decay_op`` multiplies it by.
      use_lstm: whether cells are LSTMs, or GRUs.
      num_samples: how many words the sampled softmax draws; 0, or more than there are words, for a
        softmax over all.
      forward_only: whether nothing is trained, and the decoder reads what it has written.
      dtype: of the weights.
    """

    def __init__(
        self,
        source_vocab_size: int,
        target_vocab_size: int,
        buckets: Sequence[tuple[int, int]],
        size: int,
        num_layers: int,
        max_gradient_norm: float,
        batch_size: int,
        learning_rate: float,
        learning_rate_decay_factor: float,
        use_lstm: bool = False,
        num_samples: int = 512,
        forward_only: bool = False,
        dtype: tf.DType = tf.float32,
    ) -> None:
        self.source_vocab_size, self.target_vocab_size = source_vocab_size, target_vocab_size
        self.buckets, self.batch_size = buckets, batch_size
        self.learning_rate = tf.Variable(float(learning_rate), trainable=False, dtype=dtype)
        slower = tf.multiply(self.learning_rate, learning_rate_decay_factor)
        self.learning_rate_decay_op = self.learning_rate.assign(slower)
        self.global_step = tf.Variable(0, trainable=False)
        self._size, self._layers, self._lstm, self._dtype = size, num_layers, use_lstm, dtype
        self._make_placeholders()
        projection, softmax_loss = self._projection(num_samples)
        self._make_networks(projection, softmax_loss, forward_only)
        if not forward_only:
            self._make_updates(max_gradient_norm)
        self.saver = tf.train.Saver(tf.global_variables())

    # ---- the graph -------------------------------------------------------------------------------

    def _make_placeholders(self) -> None:
        source, target = self.buckets[-1]

        def inputs(name: str, count: int, dtype: tf.DType) -> list[tf.Tensor]:
            return [tf.placeholder(dtype, [None], f"{name}{place}") for place in range(count)]

        self.encoder_inputs = inputs("encoder", source, tf.int32)
        self.decoder_inputs = inputs("decoder", target + 1, tf.int32)
        self.target_weights = inputs("weight", target + 1, self._dtype)

    def _projection(self, samples: int) -> tuple[Any, Callable[..., tf.Tensor] | None]:
        """Weights and biases from units to words, and the sampled loss; None for all words."""
        if not 0 < samples < self.target_vocab_size:
            return None, None
        shape = [self.target_vocab_size, self._size]
        weights = tf.get_variable("proj_w", shape, dtype=self._dtype)
        biases = tf.get_variable("proj_b", shape[:1], dtype=self._dtype)

        def sampled_loss(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
            return tf.nn.sampled_softmax_loss(
                weights, biases, tf.reshape(labels, [-1, 1]), logits, samples, shape[0]
            )

        return (tf.transpose(weights), biases), sampled_loss

    def _cell(self) -> tf.nn.rnn_cell.RNNCell:
        kind = tf.nn.rnn_cell.BasicLSTMCell if self._lstm else tf.nn.rnn_cell.GRUCell
        cells = [kind(self._size) for _ in range(self._layers)]
        return cells[0] if len(cells) == 1 else tf.nn.rnn_cell.MultiRNNCell(cells)

    def _make_networks(self, projection: Any, softmax_loss: Any, forward_only: bool) -> None:
        cell = self._cell()

        def network(sources: Any, targets: Any) -> Any:
            return tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
                sources, targets, cell, self.source_vocab_size, self.target_vocab_size,
                embedding_size=self._size, output_projection=projection,
                feed_previous=forward_only, dtype=self._dtype,
            )  # fmt: skip

        self.outputs, self.losses = tf.contrib.legacy_seq2seq.model_with_buckets(
            self.encoder_inputs, self.decoder_inputs, self.decoder_inputs[1:],
            self.target_weights, self.buckets, network, softmax_loss_function=softmax_loss,
        )  # fmt: skip
        if forward_only and projection is not None:
            weights, biases = projection
            self.outputs = [[tf.matmul(x, weights) + biases for x in each] for each in self.outputs]

    def _make_updates(self, max_norm: float) -> None:
        variables = tf.trainable_variables()
        optimizer = tf.train.GradientDescentOptimizer(self.learning_rate)
        self.gradient_norms, self.updates = [], []
        for loss in self.losses:
            clipped, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), max_norm)
            step = optimizer.apply_gradients(zip(clipped, variables), global_step=self.global_step)
            self.gradient_norms.append(norm)
            self.updates.append(step)

    # ---- its use ---------------------------------------------------------------------------------

    def step(
        self,
        session: tf.Session,
        encoder_inputs: Sequence[Any],
        decoder_inputs: Sequence[Any],
        target_weights: Sequence[Any],
        bucket_id: int,
        forward_only: bool,
    ) -> tuple[Any, Any, Any]:
        """Runs a batch, which ``get_batch`` gives, through the network of its bucket.

        Returns:
          the norm of the gradient, the loss and None where it was trained; else None, the loss, and
          the logits of each place, [batch, target_vocab_size].

        Raises:
          ValueError: if there are more or fewer places than the bucket has.
        """
        source, target = self.buckets[bucket_id]
        feed: dict[Any, Any] = {}
        for given, tensors, size, what in (
            (encoder_inputs, self.encoder_inputs, source, "Encoder length"),
            (decoder_inputs, self.decoder_inputs, target, "Decoder length"),
            (target_weights, self.target_weights, target, "Weights length"),
        ):
            if len(given) != size:
                raise ValueError(
                    f"{what} must be equal to the one in bucket, {len(given)} != {size}."
                )
            feed.update(zip(tensors, given))
        # The targets are the decoder's inputs one place on; the last one counts for nothing.
        feed[self.decoder_inputs[target]] = np.zeros(len(decoder_inputs[0]), np.int32)
        if forward_only:
            fetched = session.run([self.losses[bucket_id], self.outputs[bucket_id][:target]], feed)
            return None, fetched[0], fetched[1]
        wanted = [self.updates[bucket_id], self.gradient_norms[bucket_id], self.losses[bucket_id]]
        _, norm, loss = session.run(wanted, feed)
        return norm, loss, None

    def get_batch(
        self, data: Sequence[Sequence[Pair]], bucket_id: int
    ) -> tuple[list[Numbers], list[Numbers], list[npt.NDArray[np.float32]]]:
        """Draws sentences of a bucket, and lays them out place by place.

        Args:
          data: of each bucket, pairs of a source and a target sentence as numbers.
          bucket_id: which of them.

        Returns:
          encoder inputs (reversed, padded at the front), decoder inputs (behind ``GO_ID``) and
          weights (0 where the next word is padding), each a list of [batch_size] arrays.
        """
        source, target = self.buckets[bucket_id]
        size, pad = self.batch_size, translate_data.PAD_ID
        sources = np.full((size, source), pad, np.int32)
        targets = np.full((size, target), pad, np.int32)
        for row in range(size):
            words, answer = random.choice(data[bucket_id])
            if len(words):
                sources[row, source - len(words) :] = words[::-1]
            targets[row, : len(answer) + 1] = [translate_data.GO_ID, *answer]
        following = np.column_stack([targets[:, 1:], np.full(size, pad, np.int32)])
        weights = (following != pad).astype(np.float32)
        return list(sources.T), list(targets.T), list(weights.T)
