"""An attention sequence-to-sequence model that learns to reverse or to sort what it reads.

The program has the form of the translation models of TensorFlow 1.x: an LSTM reads the source in
both directions; a second LSTM writes the target symbol by symbol, looking at what the first one
put out (Luong's attention, or Bahdanau's).  It is trained on right beginnings (``TrainingHelper``)
and then writes by itself: the most likely symbol each time (``GreedyEmbeddingHelper``), or the best
of several sequences kept side by side (``BeamSearchDecoder``).  The three decoders share their
weights.

Sources are random sequences of symbols of different lengths.  Those that are tested on are drawn
first, and never learned.

    python -m penstock.models.sequence_to_sequence sort
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

import penstock as tf

Symbols = npt.NDArray[np.int32]
Sequence = tuple[int, ...]

PADDING, START, END, FIRST = 0, 1, 2, 3

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Task(StrEnum):
    """What the model learns to do with a sequence."""

    REVERSE = "reverse"
    SORT = "sort"


class Attention(StrEnum):
    """How the decoder scores what the encoder put out."""

    LUONG = "luong"
    BAHDANAU = "bahdanau"


@dataclass(frozen=True)
class Settings:
    """The sequences, the network and its training.

    Attributes:
      task: what is learned.
      attention: the decoder's.
      symbols: different symbols in the sequences.
      shortest: length of the shortest sequences.
      longest: length of the longest.
      units: width of the embeddings and of the decoder; the encoder has half in each direction.
      batch: sequences of a training step.
      learning_rate: Adam's at first; it falls to a tenth in the course of the steps.
      steps: training steps.
      clip: the global norm that gradients are scaled down to.
      beam: sequences that beam search keeps.
      held_out: sequences that are tested on.
      seed: of the sequences and the weights.
      devices: where the encoder stands and where the decoder, "" for anywhere.
    """

    task: Task = Task.REVERSE
    attention: Attention = Attention.LUONG
    symbols: int = 20
    shortest: int = 4
    longest: int = 12
    units: int = 128
    batch: int = 64
    learning_rate: float = 0.003
    steps: int = 800
    clip: float = 5.0
    beam: int = 4
    held_out: int = 500
    seed: int = 1
    devices: tuple[str, ...] = ("", "")


@dataclass(frozen=True)
class Batch:
    """Sequences side by side, filled up with `PADDING`.

    Attributes:
      sources: [batch, longest source].
      lengths: of the sources, [batch]; a target is one longer, by its `END`.
      targets: [batch, longest source + 1].
    """

    sources: Symbols
    lengths: Symbols
    targets: Symbols


def solve(task: Task, source: Sequence) -> Sequence:
    """What is to be answered.

    >>> solve(Task.REVERSE, (5, 3, 4)), solve(Task.SORT, (5, 3, 4))
    ((4, 3, 5), (3, 4, 5))
    """
    return tuple(source[::-1]) if task is Task.REVERSE else tuple(sorted(source))


def make_batch(task: Task, sources: list[Sequence]) -> Batch:
    """Sources with their answers as arrays."""
    lengths = np.array([len(source) for source in sources], np.int32)
    shape = (len(sources), int(lengths.max()))
    inputs = np.full(shape, PADDING, np.int32)
    targets = np.full((shape[0], shape[1] + 1), PADDING, np.int32)
    for row, source in enumerate(sources):
        inputs[row, : len(source)] = source
        targets[row, : len(source) + 1] = (*solve(task, source), END)
    return Batch(inputs, lengths, targets)


class Sequences:
    """Random sequences: those held out, and an endless supply of others."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.random = np.random.RandomState(settings.seed)
        self.held_out = [self._draw() for _ in range(settings.held_out)]
        self._kept = frozenset(self.held_out)

    def batch(self) -> Batch:
        """A training batch; none of its sequences is held out."""
        sources: list[Sequence] = []
        while len(sources) < self.settings.batch:
            source = self._draw()
            if source not in self._kept:
                sources.append(source)
        return make_batch(self.settings.task, sources)

    def skip(self, count: int) -> None:
        """Leaves out batches: those that an earlier run has learned."""
        for _ in range(count):
            self.batch()

    def _draw(self) -> Sequence:
        length = self.random.randint(self.settings.shortest, self.settings.longest + 1)
        symbols = self.random.randint(FIRST, FIRST + self.settings.symbols, length)
        return tuple(symbols.tolist())


def accuracy(predicted: Symbols, targets: Symbols) -> float:
    """The share of the targets' symbols, their `END` included, that stand where they should.

    >>> accuracy(np.array([[3, 4]]), np.array([[3, 5, 2, 0]]))
    0.3333333333333333
    """
    width = targets.shape[1]
    answer = np.full(targets.shape, PADDING, np.int32)
    answer[:, : predicted.shape[1]] = predicted[:, :width]
    wanted = targets != PADDING
    return float((answer == targets)[wanted].mean())


class Network:
    """Builds the nodes in the default graph: an encoder, and decoders that share their weights.

    Args:
      settings: the sizes.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.size = FIRST + settings.symbols
        self.sources: Any = tf.placeholder(tf.int32, [None, None], name="sources")
        self.lengths: Any = tf.placeholder(tf.int32, [None], name="lengths")
        self.targets: Any = tf.placeholder(tf.int32, [None, None], name="targets")
        reading, writing = settings.devices
        with tf.device(reading):
            self.embedding = tf.get_variable("embedding", [self.size, settings.units])
            self.memory, self.state = self._encode()
        self.batch: Any = tf.size(self.lengths)
        with tf.device(writing):
            self.loss = self._training_loss()
            self.greedy = self._greedy()
            self.beam = self._beam_search()

    def feeds(self, batch: Batch) -> dict[Any, Any]:
        """What a training step is fed."""
        return {
            self.sources: batch.sources, self.lengths: batch.lengths, self.targets: batch.targets,
        }  # fmt: skip

    def _encode(self) -> tuple[Any, Any]:
        half = self.settings.units // 2
        outputs, states = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(half), tf.nn.rnn_cell.LSTMCell(half),
            tf.nn.embedding_lookup(self.embedding, self.sources),
            sequence_length=self.lengths, dtype=tf.float32, scope="encoder",
        )  # fmt: skip
        forward, backward = states
        state = tf.nn.rnn_cell.LSTMStateTuple(
            c=tf.concat([forward.c, backward.c], 1), h=tf.concat([forward.h, backward.h], 1)
        )
        return tf.concat(outputs, 2), state

    def _decoder(self, width: int = 1) -> tuple[Any, Any]:
        """The decoder's cell and first state, for `width` sequences an example."""
        memory, lengths, state = self.memory, self.lengths, self.state
        if width > 1:
            memory = tf.contrib.seq2seq.tile_batch(memory, width)
            lengths = tf.contrib.seq2seq.tile_batch(lengths, width)
            state = tf.contrib.seq2seq.tile_batch(state, width)
        units = self.settings.units
        mechanism: Any
        if self.settings.attention is Attention.LUONG:
            mechanism = tf.contrib.seq2seq.LuongAttention(units, memory, lengths, scale=True)
        else:
            mechanism = tf.contrib.seq2seq.BahdanauAttention(units, memory, lengths)
        cell = tf.contrib.seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.LSTMCell(units), mechanism, attention_layer_size=units
        )
        initial = cell.zero_state(self.batch * width, tf.float32).clone(cell_state=state)
        return tf.contrib.rnn.OutputProjectionWrapper(cell, self.size), initial

    def _training_loss(self) -> Any:
        with tf.variable_scope("answer"):
            cell, state = self._decoder()
            start = tf.fill([self.batch, 1], START)
            before = tf.concat([start, self.targets[:, :-1]], 1)
            inputs = tf.nn.embedding_lookup(self.embedding, before)
            helper = tf.contrib.seq2seq.TrainingHelper(inputs, self.lengths + 1)
            decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state)
            outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
        weights = tf.sequence_mask(self.lengths + 1, dtype=tf.float32)
        return tf.contrib.seq2seq.sequence_loss(outputs.rnn_output, self.targets, weights)

    def _greedy(self) -> Any:
        with tf.variable_scope("answer", reuse=True), tf.name_scope("greedy"):
            cell, state = self._decoder()
            helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(
                self.embedding, tf.fill([self.batch], START), END
            )
            decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state)
            outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(
                decoder, maximum_iterations=self._most()
            )
        return outputs.sample_id

    def _beam_search(self) -> Any:
        width = self.settings.beam
        with tf.variable_scope("answer", reuse=True), tf.name_scope("beam"):
            cell, state = self._decoder(width)
            decoder = tf.contrib.seq2seq.BeamSearchDecoder(
                cell, self.embedding, tf.fill([self.batch], START), END, state, width
            )
            outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(
                decoder, maximum_iterations=self._most()
            )
        return outputs.predicted_ids[:, :, 0]

    def _most(self) -> Any:
        """Symbols after which a decoder that finds no end is stopped."""
        return 2 * tf.reduce_max(self.lengths)


def training(network: Network, settings: Settings) -> tuple[Any, Any]:
    """Adds a training step to the graph; returns it and what counts it."""
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(settings.learning_rate, step, settings.steps, 0.1)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(network.loss, variables), settings.clip)
    optimizer = tf.train.AdamOptimizer(rate)
    return optimizer.apply_gradients(zip(gradients, variables), global_step=step), step


class SequenceModel:
    """The graph and session of one run."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(settings.seed)
            self.network = Network(settings)
            self.train_op, _ = training(self.network, settings)
            self.saver = tf.train.Saver()
            self.session = tf.Session(graph=self.graph)
            self.session.run(tf.global_variables_initializer())

    def feeds(self, batch: Batch) -> dict[Any, Any]:
        """What a training step is fed."""
        return self.network.feeds(batch)

    def train(self, batch: Batch) -> float:
        """One training step; returns its loss, the mean cross-entropy of a symbol in nats."""
        loss, _ = self.session.run([self.network.loss, self.train_op], self.feeds(batch))
        return float(loss)

    def answer(self, batch: Batch, beam: bool) -> Symbols:
        """What the model writes by itself, [batch, time], by beam search or greedily."""
        network = self.network
        feeds = {network.sources: batch.sources, network.lengths: batch.lengths}
        answers: Symbols = self.session.run(network.beam if beam else network.greedy, feeds)
        return answers

    def accuracies(self, batch: Batch) -> tuple[float, float]:
        """The share of right symbols, greedily and by beam search."""
        greedy, beam = (
            accuracy(self.answer(batch, beam=by_beam), batch.targets) for by_beam in (False, True)
        )
        return greedy, beam

    def save(self, path: str) -> str:
        """Writes a checkpoint; returns its prefix."""
        return str(self.saver.save(self.session, path))

    def restore(self, path: str) -> None:
        """Takes up the weights, Adam's moments and the step of a checkpoint."""
        self.saver.restore(self.session, path)


@app.command()
def main(
    task: Annotated[Task, typer.Argument(help="What is learned.")],
    attention: Annotated[
        Attention, typer.Option(help="How sources are looked at.")
    ] = Settings.attention,
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = Settings.steps,
    batch: Annotated[int, typer.Option(min=1, help="Sequences of a step.")] = Settings.batch,
    units: Annotated[int, typer.Option(min=2, help="Width of the layers.")] = Settings.units,
    learning_rate: Annotated[
        float, typer.Option(help="Adam's, at first.")
    ] = Settings.learning_rate,
    longest: Annotated[
        int, typer.Option(min=4, help="Length of the longest sequences.")
    ] = Settings.longest,
    beam: Annotated[
        int, typer.Option(min=2, help="Sequences that beam search keeps.")
    ] = Settings.beam,
    every: Annotated[int, typer.Option(min=1, help="Steps from one report to the next.")] = 200,
    seed: Annotated[int, typer.Option(help="Of sequences and weights.")] = Settings.seed,
    save: Annotated[str, typer.Option(help="Prefix of a checkpoint to write.")] = "",
) -> None:
    """Learn to reverse or to sort sequences; print how many symbols of unseen ones are right."""
    settings = Settings(
        task=task, attention=attention, longest=longest, units=units, batch=batch,
        learning_rate=learning_rate, steps=steps, beam=beam, seed=seed,
    )  # fmt: skip
    sequences = Sequences(settings)
    unseen = make_batch(task, sequences.held_out)
    model = SequenceModel(settings)
    began = time.perf_counter()
    losses = []
    for step in range(1, steps + 1):
        losses.append(model.train(sequences.batch()))
        if step % every and step != steps:
            continue
        greedy, best = model.accuracies(unseen)
        typer.echo(
            f"step {step:5}  loss {np.mean(losses):.4f}  right: greedy {greedy:.4f}"
            f"  beam {best:.4f}  {time.perf_counter() - began:6.1f} s"
        )
        losses.clear()
    if save:
        typer.echo(f"saved {model.save(save)}")


if __name__ == "__main__":
    app()
