"""A word-level language model: two LSTM layers, trained by truncated backpropagation through time.

The program has the form of the language models of the TensorFlow 1.x tutorials.  A text is one long
sequence of words; it is cut into ``batch`` streams that are read side by side, ``steps`` words at a
time, and the state that a batch ends with is fed to the next one.  Words are embedded, two LSTM
layers run over them with dropout between the layers, and a softmax over the vocabulary predicts
each next word.  The embedding serves as the weights of the softmax as well.  Gradients are clipped
by their global norm, and the learning rate falls from an epoch to the next.  A text that is not
learned is read with moving averages of the weights, in which the last steps' noise cancels out.

What it is held against is a unigram model of the same text: the vocabulary is every word of the
training text and ``<unk>``, which stands for all other words of the text it is tested on, and a
word's probability is its count plus one over the sum of these.

    python -m penstock.models.language_model TRAIN.txt TEST.txt
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

import penstock as tf

Words = npt.NDArray[np.int32]
# Inputs, targets and weights of a step, all [streams, words].
Piece = tuple[Words, Words, npt.NDArray[np.float32]]

END, UNKNOWN = "<eos>", "<unk>"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Settings:
    """The network and how it is trained.

    Attributes:
      units: the width of the embedding and of each LSTM layer.
      layers: LSTM layers.
      steps: words a stream is advanced by a training step; gradients reach no further back.
      batch: streams.
      keep: the share of values that dropout keeps, before, between and after the layers.
      clip: the global norm that gradients are scaled down to.
      learning_rate: Adam's, in the first ``full_epochs`` epochs.
      full_epochs: epochs at the full rate.
      decay: what the rate is multiplied by in each epoch after these.
      epochs: how often the text is read.
      average: how much of the weights' moving averages a step keeps, 0 for nothing.  What reads a
        text, and does not learn, does so with the averages.
      unrolled: write the steps out (``static_rnn``) rather than loop (``dynamic_rnn``).
      seed: of the weights and dropout.
    """

    units: int = 200
    layers: int = 2
    steps: int = 20
    batch: int = 10
    keep: float = 0.5
    clip: float = 5.0
    learning_rate: float = 0.003
    full_epochs: int = 7
    decay: float = 0.7
    epochs: int = 14
    average: float = 0.998
    unrolled: bool = False
    seed: int = 1


@dataclass(frozen=True)
class Model:
    """The endpoints of one network; `losses` sums over the words whose weight is one."""

    inputs: Any
    targets: Any
    weights: Any
    initial_state: Any
    final_state: Any
    logits: Any
    loss: Any


def read_words(path: Path) -> list[str]:
    """The words of a text in order, a line's end as the word ``<eos>``."""
    with path.open(encoding="utf-8") as lines:
        return [word for line in lines for word in (*line.split(), END)]


def vocabulary(words: list[str]) -> dict[str, int]:
    """Numbers of the words of a text, the most frequent first, with ``<eos>`` and ``<unk>``."""
    counts = Counter(words)
    for word in (END, UNKNOWN):
        counts.setdefault(word, 0)
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: number for number, word in enumerate(ordered)}


def numbered(words: list[str], numbers: dict[str, int]) -> Words:
    """The words as numbers, those that the vocabulary has not as ``<unk>``."""
    unknown = numbers[UNKNOWN]
    return np.array([numbers.get(word, unknown) for word in words], np.int32)


def unigram_perplexity(train: Words, test: Words, size: int) -> float:
    """The perplexity of `test` where words come alone, each as often as in `train` plus one.

    >>> round(unigram_perplexity(np.array([0, 0, 1]), np.array([0, 1]), size=2), 3)
    2.041
    """
    counts = np.bincount(train, minlength=size) + 1
    return math.exp(-np.mean(np.log(counts[test] / counts.sum())))


def batches(text: Words, first: int, batch: int, steps: int) -> Iterator[Piece]:
    """Cuts a text into streams and gives them piece by piece.

    Each word of the text is a target once; the word before it is the input, `first` that of the
    first one.  The last positions of the last stream may be filled up, with weight zero.

    Args:
      text: the words, [n].
      first: the word before the text.
      batch: streams, which are n / batch words long, rounded up.
      steps: words of a piece; the last piece is shorter where it does not come out even.

    Yields:
      Inputs, targets and weights, all [batch, at most steps].
    """
    length = -(-len(text) // batch)
    padding = batch * length - len(text)
    shape = (batch, length)
    inputs = np.concatenate([[first], text[:-1], np.zeros(padding)]).astype(np.int32).reshape(shape)
    targets = np.pad(text, (0, padding)).astype(np.int32).reshape(shape)
    weights = np.pad(np.ones(len(text), np.float32), (0, padding)).reshape(shape)
    for start in range(0, length, steps):
        part = slice(start, start + steps)
        yield inputs[:, part], targets[:, part], weights[:, part]


def build_cell(settings: Settings, keep: float) -> Any:
    """The layers as one cell, with dropout after each."""

    def layer() -> Any:
        cell = tf.nn.rnn_cell.LSTMCell(settings.units)
        return tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep) if keep < 1.0 else cell

    return tf.nn.rnn_cell.MultiRNNCell([layer() for _ in range(settings.layers)])


def build_model(settings: Settings, size: int, batch: int, training: bool) -> Model:
    """Adds the network to the default graph, in the current variable scope.

    Args:
      settings: the network's.
      size: words in the vocabulary.
      batch: streams.
      training: drop values out.
    """
    keep = settings.keep if training else 1.0
    steps = settings.steps if settings.unrolled and training else None
    inputs = tf.placeholder(tf.int32, [batch, steps], name="inputs")
    targets = tf.placeholder(tf.int32, [batch, steps], name="targets")
    weights = tf.placeholder(tf.float32, [batch, steps], name="weights")

    embedding = tf.get_variable("embedding", [size, settings.units])
    embedded = tf.nn.embedding_lookup(embedding, inputs)
    if keep < 1.0:
        embedded = tf.nn.dropout(embedded, keep_prob=keep)

    cell = build_cell(settings, keep)
    initial = cell.zero_state(batch, tf.float32)
    if steps is not None:
        pieces, final = tf.nn.static_rnn(cell, tf.unstack(embedded, axis=1), initial, scope="rnn")
        outputs = tf.stack(pieces, axis=1)
    else:
        outputs, final = tf.nn.dynamic_rnn(cell, embedded, initial_state=initial, scope="rnn")

    bias = tf.get_variable("bias", [size], initializer=tf.zeros_initializer())
    flat = tf.reshape(outputs, [-1, settings.units])
    logits = tf.matmul(flat, embedding, transpose_b=True) + bias
    losses: Any = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(targets, [-1]), logits=logits
    )
    loss = tf.reduce_sum(losses * tf.reshape(weights, [-1]))
    return Model(inputs, targets, weights, initial, final, logits, loss)


class LanguageModel:
    """The graph and session of one run: a network that learns and, on its weights, one that reads.

    Args:
      settings: the network and its training.
      size: words in the vocabulary.
      first: the word before a text, ``<eos>``.
    """

    EVALUATION_STREAMS, EVALUATION_STEPS = 20, 50

    def __init__(self, settings: Settings, size: int, first: int) -> None:
        self.settings, self.first = settings, first
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(settings.seed)
            initializer = tf.random_uniform_initializer(-0.1, 0.1)
            with tf.variable_scope("model", initializer=initializer):
                self.model = build_model(settings, size, settings.batch, training=True)
            self.learning_rate = tf.placeholder(tf.float32, [], name="learning_rate")
            self.train_op = self._build_training()
            with (
                tf.variable_scope("model", reuse=True, custom_getter=self._average_of),
                tf.name_scope("evaluation"),
            ):
                streams = self.EVALUATION_STREAMS
                self.reader = build_model(settings, size, streams, training=False)
            self.likely = tf.nn.softmax(self.reader.logits)
            self.saver = tf.train.Saver()
            self.session = tf.Session(graph=self.graph)
            self.session.run(tf.global_variables_initializer())

    def _build_training(self) -> Any:
        step = tf.train.get_or_create_global_step()
        variables = tf.trainable_variables()
        mean = self.model.loss / tf.reduce_sum(self.model.weights)
        gradients, _ = tf.clip_by_global_norm(tf.gradients(mean, variables), self.settings.clip)
        optimizer = tf.train.AdamOptimizer(self.learning_rate)
        update = optimizer.apply_gradients(zip(gradients, variables), global_step=step)
        self._averages = tf.train.ExponentialMovingAverage(self.settings.average, step)
        with tf.control_dependencies([update]):
            return self._averages.apply(variables)

    def _average_of(self, getter: Any, name: str, *args: Any, **options: Any) -> Any:
        """A variable's average, in its place."""
        return self._averages.average(getter(name, *args, **options))

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch, from 0."""
        late = max(epoch + 1 - self.settings.full_epochs, 0)
        return self.settings.learning_rate * self.settings.decay**late

    def train_epoch(
        self, text: Words, rate: float, watch: Callable[[float, float], None] | None = None
    ) -> float:
        """Reads the text once and learns from it; returns the perplexity met on the way.

        Args:
          text: the words.
          rate: the learning rate.
          watch: called after each step with its number of words and their mean loss.
        """
        settings = self.settings
        pieces = batches(text, self.first, settings.batch, settings.steps)
        if settings.unrolled:
            pieces = (piece for piece in pieces if piece[0].shape[1] == settings.steps)
        return self._read(self.model, pieces, {self.learning_rate: rate}, self.train_op, watch)

    def perplexity(self, text: Words) -> float:
        """The perplexity of a text: exp of the mean of -log P(word | the words before)."""
        pieces = batches(text, self.first, self.EVALUATION_STREAMS, self.EVALUATION_STEPS)
        return self._read(self.reader, pieces, {}, None)

    def feeds(self, model: Model, piece: Piece, state: Any) -> dict[Any, Any]:
        """What a step is fed: a piece of the streams, and the state the last one ended with."""
        inputs, targets, weights = piece
        feeds = {model.inputs: inputs, model.targets: targets, model.weights: weights}
        for layer, values in zip(model.initial_state, state):
            feeds[layer.c], feeds[layer.h] = values.c, values.h
        return feeds

    def _read(
        self, model: Model, pieces: Iterator[Piece], more: dict[Any, Any], train_op: Any,
        watch: Callable[[float, float], None] | None = None,
    ) -> float:  # fmt: skip
        total = words = 0.0
        state = self.session.run(model.initial_state)
        fetches = {"loss": model.loss, "state": model.final_state}
        if train_op is not None:
            fetches["train"] = train_op
        for piece in pieces:
            found = self.session.run(fetches, {**self.feeds(model, piece, state), **more})
            state = found["state"]
            total += float(found["loss"])
            words += float(piece[2].sum())
            if watch is not None:
                watch(float(piece[2].sum()), float(found["loss"] / piece[2].sum()))
        return math.exp(total / words)

    def write(self, words: list[str], start: list[str], count: int) -> list[str]:
        """Goes on with a text by words drawn as likely as the model finds them.

        Args:
          words: the vocabulary, by number.
          start: words of it that the text begins with; may be none.
          count: words to write.
        """
        random = np.random.RandomState(self.settings.seed)
        numbers = {word: number for number, word in enumerate(words)}
        streams = self.EVALUATION_STREAMS
        state = self.session.run(self.reader.initial_state)
        last, written = self.first, [numbers.get(word, numbers[UNKNOWN]) for word in start]
        ahead = list(written)
        while len(written) < len(start) + count:
            column = np.full((streams, 1), last, np.int32)
            piece = column, column, np.ones((streams, 1), np.float32)
            feeds = self.feeds(self.reader, piece, state)
            state, found = self.session.run([self.reader.final_state, self.likely], feeds)
            if ahead:
                last = ahead.pop(0)
                continue
            chances = found[0].astype(np.float64)
            last = int(random.choice(len(words), p=chances / chances.sum()))
            written.append(last)
        return [words[number] for number in written]

    def save(self, path: str) -> str:
        """Writes a checkpoint; returns its prefix."""
        return str(self.saver.save(self.session, path))

    def restore(self, path: str) -> None:
        """Takes up the weights, Adam's moments and the step of a checkpoint."""
        self.saver.restore(self.session, path)


@app.command()
def main(
    train: Annotated[Path, typer.Argument(help="The text that is learned.", exists=True)],
    test: Annotated[Path, typer.Argument(help="The text that it is tested on.", exists=True)],
    epochs: Annotated[
        int, typer.Option(min=1, help="How often the text is read.")
    ] = Settings.epochs,
    units: Annotated[int, typer.Option(min=1, help="Width of the layers.")] = Settings.units,
    keep: Annotated[float, typer.Option(help="What dropout keeps.")] = Settings.keep,
    learning_rate: Annotated[
        float, typer.Option(help="Adam's, at first.")
    ] = Settings.learning_rate,
    full_epochs: Annotated[
        int, typer.Option(help="Epochs at the full learning rate.")
    ] = Settings.full_epochs,
    decay: Annotated[
        float, typer.Option(help="Its factor an epoch, after these.")
    ] = Settings.decay,
    batch: Annotated[
        int, typer.Option(min=1, help="Streams that are read side by side.")
    ] = Settings.batch,
    steps: Annotated[
        int, typer.Option(min=1, help="Words of a stream in a step.")
    ] = Settings.steps,
    unrolled: Annotated[
        bool, typer.Option(help="Write the steps out, no loop.")
    ] = Settings.unrolled,
    seed: Annotated[int, typer.Option(help="Of weights and dropout.")] = Settings.seed,
    save: Annotated[str, typer.Option(help="Prefix of a checkpoint to write.")] = "",
) -> None:
    """Learn to predict the words of TRAIN; print perplexities, TEST's after each epoch."""
    settings = Settings(
        units=units, batch=batch, steps=steps, keep=keep, learning_rate=learning_rate,
        full_epochs=full_epochs, decay=decay, epochs=epochs, unrolled=unrolled, seed=seed,
    )  # fmt: skip
    words = read_words(train)
    numbers = vocabulary(words)
    text, unseen = numbered(words, numbers), numbered(read_words(test), numbers)
    unigram = unigram_perplexity(text, unseen, len(numbers))
    typer.echo(
        f"{len(text)} words to learn, {len(unseen)} to test, a vocabulary of {len(numbers)};"
        f" a unigram model's perplexity {unigram:.1f}"
    )
    model = LanguageModel(settings, len(numbers), numbers[END])
    began = time.perf_counter()
    for epoch in range(epochs):
        learned = model.train_epoch(text, model.rate(epoch))
        found = model.perplexity(unseen)
        typer.echo(
            f"epoch {epoch + 1:2}  rate {model.rate(epoch):.5f}  train {learned:7.1f}"
            f"  test {found:7.1f}  of unigram {found / unigram:.3f}"
            f"  {time.perf_counter() - began:6.1f} s"
        )
    if save:
        typer.echo(f"saved {model.save(save)}")


if __name__ == "__main__":
    app()
