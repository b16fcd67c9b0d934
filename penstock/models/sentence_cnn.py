"""A convolutional network that tells what a sentence is: Kim (2014), on movie reviews.

Words are looked up in a table of vectors; filters as wide as a vector and three, four or five words
long slide over the sentence, and of each filter the largest value over time is kept.  A softmax
over these features, half of them dropped out in training, gives the class.  Adadelta trains it, and
after each step the softmax's weights of a class are scaled down to a norm of 3.  In the last epochs
the learning rate falls, where the paper stops at the best epoch on sentences set aside.

The vectors begin at random and are learned, or come from a file that
``penstock.models.word2vec`` wrote and are kept as they are, learned further, or both side by side.

    python -m penstock.models.sentence_cnn FOLDER_OF_MOVIE_REVIEWS

Source: Kim, Convolutional Neural Networks for Sentence Classification, 2014.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

import penstock as tf
from penstock.models.sentence_cnn_text import (
    CLASSES,
    PADDING,
    UNKNOWN,
    Batch,
    Numbers,
    batches,
    encode,
    make_batch,
    read_reviews,
    split_fold,
    split_tokens,
    vocabulary,
)
from penstock.models.word2vec_embeddings import Embeddings

Vectors = npt.NDArray[np.float32]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Channels(StrEnum):
    """Where word vectors come from, as the paper's variants of the model are called."""

    RANDOM = "rand"
    STATIC = "static"
    NON_STATIC = "non-static"
    MULTICHANNEL = "multichannel"


@dataclass(frozen=True)
class Settings:
    """The network and its training.

    Attributes:
      channels: where word vectors come from.
      width: of the word vectors.
      lengths: of the filters, in words.
      filters: of each length.
      keep: the share of features that dropout keeps.
      norm: the largest norm of the softmax's weights of a class.
      batch: sentences of a step.
      learning_rate: Adadelta's, in the first ``full_epochs`` epochs.
      rho: the share that Adadelta's means keep in a step.
      full_epochs: epochs at the full rate.
      decay: what the rate is multiplied by in each epoch after these.
      epochs: how often the sentences are read.
      rarest: words that occur less often are all alike.
      seed: of weights, dropout and the order of the sentences.
    """

    channels: Channels = Channels.RANDOM
    width: int = 128
    lengths: tuple[int, ...] = (3, 4, 5)
    filters: int = 100
    keep: float = 0.5
    norm: float = 3.0
    batch: int = 50
    learning_rate: float = 1.0
    rho: float = 0.95
    full_epochs: int = 5
    decay: float = 0.5
    epochs: int = 8
    rarest: int = 2
    seed: int = 1

    @property
    def margin(self) -> int:
        """Padding on either side, so that every filter meets every word in each of its places."""
        return max(self.lengths) - 1


class Network:
    """Builds the nodes in the default graph.

    Args:
      settings: the sizes.
      table: the word vectors to begin with, [words, width].
    """

    def __init__(self, settings: Settings, table: Vectors) -> None:
        self.settings = settings
        self.words: Any = tf.placeholder(tf.int32, [None, None], name="words")
        self.labels: Any = tf.placeholder(tf.int32, [None], name="labels")
        self.keep: Any = tf.placeholder_with_default(1.0, [], name="keep")
        self.table: Any = tf.placeholder(tf.float32, table.shape, name="table")
        features = tf.nn.dropout(self._features(), keep_prob=self.keep)
        with tf.variable_scope("softmax"):
            glorot = tf.glorot_uniform_initializer()
            shape = [features.shape[1].value, len(CLASSES)]
            self.weights = tf.get_variable("weights", shape, initializer=glorot)
            biases = tf.get_variable("biases", shape[1:], initializer=tf.zeros_initializer())
            logits = tf.nn.xw_plus_b(features, self.weights, biases)
        losses: Any = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=self.labels, logits=logits
        )
        self.loss = tf.reduce_mean(losses)
        self.probabilities = tf.nn.softmax(logits)

    def _embedded(self) -> Any:
        """The sentences' vectors, [batch, time, channels * width]; padding is zero."""
        channels = self.settings.channels
        tables = []
        if channels in (Channels.STATIC, Channels.MULTICHANNEL):
            tables.append(tf.Variable(self.table, trainable=False, name="static"))
        if channels != Channels.STATIC:
            tables.append(tf.Variable(self.table, name="embedding"))
        vectors = tf.concat([tf.nn.embedding_lookup(table, self.words) for table in tables], 2)
        present = tf.cast(tf.not_equal(self.words, PADDING), tf.float32)
        return vectors * tf.expand_dims(present, 2)

    def _features(self) -> Any:
        """Each filter's largest value in a sentence, [batch, filters]."""
        embedded = self._embedded()
        depth = embedded.shape[2].value
        largest = []
        for length in self.settings.lengths:
            with tf.variable_scope(f"filters_{length}"):
                shape = [length, depth, self.settings.filters]
                kernel = tf.get_variable(
                    "kernel", shape, initializer=tf.glorot_uniform_initializer()
                )
                biases = tf.get_variable("biases", shape[2:], initializer=tf.zeros_initializer())
                found = tf.nn.conv1d(embedded, kernel, stride=1, padding="VALID")
                largest.append(tf.reduce_max(tf.nn.relu(tf.nn.bias_add(found, biases)), axis=1))
        return tf.concat(largest, 1)


class SentenceModel:
    """The graph and session of one run.

    Args:
      settings: the network and its training.
      numbers: the vocabulary.
      pretrained: vectors to begin with, for the channels that take any.

    Raises:
      ValueError: the channels need vectors and there are none, or they are of another width.
    """

    def __init__(
        self, settings: Settings, numbers: dict[str, int], pretrained: Embeddings | None = None
    ) -> None:
        self.settings, self.numbers = settings, numbers
        self.random = np.random.RandomState(settings.seed)
        table = self._first_table(pretrained)
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(settings.seed)
            self.network = Network(settings, table)
            self.learning_rate = tf.placeholder(tf.float32, [], name="learning_rate")
            self.train_op = self._build_training()
            self.saver = tf.train.Saver()
            self.session = tf.Session(graph=self.graph)
            self.session.run(tf.global_variables_initializer(), {self.network.table: table})

    def _first_table(self, pretrained: Embeddings | None) -> Vectors:
        """Random vectors, of the variance of those given; and those given where there are any."""
        settings = self.settings
        shape = (UNKNOWN + 1 + len(self.numbers), settings.width)
        if (settings.channels == Channels.RANDOM) != (pretrained is None):
            needs = "vectors to begin with" if pretrained is None else "no vectors"
            raise ValueError(f"the channels {settings.channels.value!r} need {needs}")
        if pretrained is None:
            return self.random.uniform(-0.25, 0.25, shape).astype(np.float32)
        if pretrained.vectors.shape[1] != settings.width:
            raise ValueError(
                f"vectors of width {pretrained.vectors.shape[1]} are given;"
                f" the network's are {settings.width} wide"
            )
        bound = float(np.sqrt(3.0 * pretrained.vectors.var()))
        table = self.random.uniform(-bound, bound, shape).astype(np.float32)
        for word, number in self.numbers.items():
            if word in pretrained.numbers:
                table[number] = pretrained.vectors[pretrained.numbers[word]]
        return table

    def _build_training(self) -> Any:
        settings = self.settings
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdadeltaOptimizer(self.learning_rate, rho=settings.rho, epsilon=1e-6)
        update = optimizer.minimize(self.network.loss, global_step=step)
        with tf.control_dependencies([update]):
            weights = self.network.weights
            scaled = tf.clip_by_norm(weights.read_value(), settings.norm, axes=[0])
            return tf.assign(weights, scaled).op

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch, from 0."""
        late = max(epoch + 1 - self.settings.full_epochs, 0)
        return self.settings.learning_rate * self.settings.decay**late

    def train_epoch(
        self,
        words: list[Numbers],
        labels: Numbers,
        rate: float,
        watch: Callable[[float, float], None] | None = None,
    ) -> float:
        """Reads the sentences once and learns from them; returns the mean loss met on the way.

        Args:
          words: the sentences.
          labels: their classes.
          rate: the learning rate.
          watch: called after each step with its number of sentences and its loss.
        """
        network, settings = self.network, self.settings
        more = {network.keep: settings.keep, self.learning_rate: rate}
        losses = []
        for batch in batches(words, labels, settings.batch, settings.margin, self.random):
            loss, _ = self.session.run([network.loss, self.train_op], {**self.feeds(batch), **more})
            losses.append(float(loss))
            if watch is not None:
                watch(len(batch.labels), float(loss))
        return float(np.mean(losses))

    def feeds(self, batch: Batch) -> dict[Any, Any]:
        """What a batch feeds."""
        return {self.network.words: batch.words, self.network.labels: batch.labels}

    def _read(self, words: list[Numbers], labels: Numbers) -> Iterator[tuple[Vectors, Numbers]]:
        for batch in batches(words, labels, 200, self.settings.margin):
            yield self.session.run(self.network.probabilities, self.feeds(batch)), batch.labels

    def accuracy(self, words: list[Numbers], labels: Numbers) -> float:
        """The share of sentences whose class is the likelier one."""
        right = sum(
            int((found.argmax(1) == wanted).sum()) for found, wanted in self._read(words, labels)
        )
        return right / len(labels)

    def classify(self, text: str) -> dict[str, float]:
        """The probability of each class for a sentence."""
        words = [self.numbers.get(token, UNKNOWN) for token in split_tokens(text)] or [UNKNOWN]
        batch = make_batch([np.array(words, np.int32)], np.zeros(1, np.int32),
                           self.settings.margin, multiple=8)  # fmt: skip
        found = self.session.run(self.network.probabilities, self.feeds(batch))
        return dict(zip(CLASSES, map(float, found[0])))

    def save(self, path: str) -> str:
        """Writes a checkpoint; returns its prefix."""
        return str(self.saver.save(self.session, path))

    def restore(self, path: str) -> None:
        """Takes up the variables of a checkpoint."""
        self.saver.restore(self.session, path)


@app.command()
def main(
    reviews: Annotated[
        Path, typer.Argument(help="Folder of rt-polarity.neg and .pos.", exists=True)
    ],
    epochs: Annotated[
        int, typer.Option(min=1, help="How often the sentences are read.")
    ] = Settings.epochs,
    fold: Annotated[int, typer.Option(min=0, max=9, help="The tenth that is held out.")] = 0,
    channels: Annotated[
        Channels, typer.Option(help="Where word vectors come from.")
    ] = Settings.channels,
    vectors: Annotated[
        Path | None, typer.Option(help="Vectors that word2vec wrote.", exists=True)
    ] = None,
    width: Annotated[int, typer.Option(min=1, help="Of random word vectors.")] = Settings.width,
    filters: Annotated[int, typer.Option(min=1, help="Of each length.")] = Settings.filters,
    keep: Annotated[float, typer.Option(help="What dropout keeps.")] = Settings.keep,
    batch: Annotated[int, typer.Option(min=1, help="Sentences of a step.")] = Settings.batch,
    seed: Annotated[int, typer.Option(help="Of weights and the order.")] = Settings.seed,
    save: Annotated[str, typer.Option(help="Prefix of a checkpoint to write.")] = "",
) -> None:
    """Learn whether a review is for or against a film; print the accuracy on a held-out tenth."""
    pretrained = None if vectors is None else Embeddings.read(vectors)
    settings = Settings(
        channels=channels, filters=filters, keep=keep, batch=batch, epochs=epochs, seed=seed,
        width=width if pretrained is None else pretrained.vectors.shape[1],
    )  # fmt: skip
    learned, held = split_fold(read_reviews(reviews), fold)
    numbers = vocabulary(learned, settings.rarest)
    (words, labels), (unseen, answers) = encode(learned, numbers), encode(held, numbers)
    try:
        model = SentenceModel(settings, numbers, pretrained)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    most = max(answers.mean(), 1 - answers.mean())
    typer.echo(f"{len(words)} sentences to learn, {len(unseen)} held out, a vocabulary of"
               f" {len(numbers)}; the more frequent class has {most:.4f}")  # fmt: skip
    began = time.perf_counter()
    for epoch in range(epochs):
        loss = model.train_epoch(words, labels, model.rate(epoch))
        typer.echo(
            f"epoch {epoch + 1:2}  loss {loss:.4f}  right {model.accuracy(unseen, answers):.4f}"
            f"  {time.perf_counter() - began:6.1f} s"
        )
    if save:
        typer.echo(f"saved {model.save(save)}")


if __name__ == "__main__":
    app()
