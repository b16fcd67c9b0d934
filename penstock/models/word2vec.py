"""word2vec: word vectors that foretell a word from its neighbours, or these from the word.

The program has the form of TensorFlow 1.x's word2vec tutorials, in both directions: skip-gram
looks a word up and foretells each word around it; CBOW takes the mean of the vectors of the words
around and foretells the one in the middle.  A softmax over the vocabulary would be dear, so a few
words are drawn as noise in each step: `tf.nn.nce_loss` tells the true word from these, and
`tf.nn.sampled_softmax_loss` is a softmax over it and them.  The gradient of a step touches only the
rows of words that stand in it.

Both losses make ``weights * vector + biases`` logits of a softmax over the whole vocabulary.  With
this softmax the model is measured on passages that it has not learned, in nats a word, and held
against two models that see no words: all words alike, and each as frequent as it was in training.

    python -m penstock.models.word2vec train --vectors vectors.txt
    python -m penstock.models.word2vec nearby vectors.txt exception
    python -m penstock.models.word2vec analogy vectors.txt object objects function
    python -m penstock.models.word2vec questions vectors.txt questions-words.txt
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import penstock as tf
from penstock.models.word2vec_embeddings import Embeddings, UnknownWordError
from penstock.models.word2vec_text import (
    Examples,
    Passage,
    Sampling,
    batches,
    encode,
    hold_out,
    python_passages,
    read_passages,
    read_questions,
    unigram_cross_entropy,
    vocabulary,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)


class Flavor(StrEnum):
    """What is foretold from what."""

    SKIP_GRAM = "skip-gram"
    CBOW = "cbow"


class Loss(StrEnum):
    """How noise words stand in for the whole vocabulary."""

    NCE = "nce"
    SAMPLED_SOFTMAX = "sampled-softmax"


@dataclass(frozen=True)
class Settings:
    """The model and its training.

    Attributes:
      flavor: skip-gram or CBOW.
      loss: NCE or sampled softmax.
      width: of the vectors.
      window: words on either side, at most.
      noise: words drawn as noise in a step, for all of its examples.
      batch: examples of a step.
      learning_rate: Adagrad's.
      epochs: how often the text is read.
      rarest: words that occur less often are left out.
      threshold: share of the text above which words are thinned out; 0 for none.
      seed: of the vectors, the noise and the examples.
    """

    flavor: Flavor = Flavor.SKIP_GRAM
    loss: Loss = Loss.NCE
    width: int = 64
    window: int = 3
    noise: int = 64
    batch: int = 256
    learning_rate: float = 1.0
    epochs: int = 10
    rarest: int = 5
    threshold: float = 1e-3
    seed: int = 1

    @property
    def sampling(self) -> Sampling:
        """How examples are drawn."""
        return Sampling(self.flavor == Flavor.CBOW, self.window, self.threshold)


class Network:
    """Builds the nodes in the default graph.

    Args:
      settings: the model's.
      size: words in the vocabulary, numbered by their frequency: noise is drawn so that word n has
        probability log((n + 2) / (n + 1)) / log(size + 1).
    """

    def __init__(self, settings: Settings, size: int) -> None:
        self.settings, self.size = settings, size
        width = settings.width
        around = [2 * settings.window] if settings.flavor == Flavor.CBOW else []
        self.inputs: Any = tf.placeholder(tf.int32, [None, *around], name="inputs")
        self.labels: Any = tf.placeholder(tf.int32, [None, 1], name="labels")
        # The tutorials pin them, as the samplers and sparse updates had no kernels elsewhere.
        with tf.device("/cpu:0"):
            initial = tf.random_uniform([size, width], -0.5 / width, 0.5 / width)
            self.embeddings = tf.Variable(initial, name="embeddings")
            deviation = 1.0 / math.sqrt(width)
            self.weights = tf.Variable(
                tf.truncated_normal([size, width], stddev=deviation), name="weights"
            )
            self.biases = tf.Variable(tf.zeros([size]), name="biases")
            self.hidden = self._mean_of_window() if around else tf.nn.embedding_lookup(
                self.embeddings, self.inputs
            )  # fmt: skip
        self.loss: Any = tf.reduce_mean(self._sampled_losses())
        logits = tf.matmul(self.hidden, self.weights, transpose_b=True) + self.biases
        self.cross_entropy: Any = tf.reduce_sum(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.squeeze(self.labels, [1]), logits=logits
            )
        )

    def _mean_of_window(self) -> Any:
        present = tf.cast(self.inputs >= 0, tf.float32)
        vectors = tf.nn.embedding_lookup(self.embeddings, tf.maximum(self.inputs, 0))
        total = tf.reduce_sum(vectors * tf.expand_dims(present, 2), 1)
        return total / tf.reduce_sum(present, 1, keepdims=True)

    def _sampled_losses(self) -> Any:
        nce = self.settings.loss == Loss.NCE
        sampled_loss = tf.nn.nce_loss if nce else tf.nn.sampled_softmax_loss
        return sampled_loss(
            weights=self.weights, biases=self.biases, labels=self.labels, inputs=self.hidden,
            num_sampled=self.settings.noise, num_classes=self.size,
        )  # fmt: skip


class Word2Vec:
    """The graph and session of one run, on one text.

    Args:
      settings: the model and its training.
      passages: what is learned.
      unseen: what it is measured on, with `cross_entropy`.

    Attributes:
      numbers: the vocabulary.
      examples: of an epoch, about.
      uniform: nats a word where all words are alike.
      unigram: nats a word of `unseen`, by the words' frequency among an epoch's labels.
    """

    def __init__(self, settings: Settings, passages: list[Passage], unseen: list[Passage]) -> None:
        self.settings = settings
        self.numbers = vocabulary(passages, settings.rarest)
        self.text = encode(passages, self.numbers)
        self.random = np.random.RandomState(settings.seed)
        size = len(self.numbers)
        self.examples = 0
        self._shares = np.bincount(self.text.words, minlength=size) / max(len(self.text), 1)
        # Drawn once: what is measured stays the same from epoch to epoch.
        other = encode(unseen, self.numbers)
        self.unseen = list(batches(other, settings.sampling, self._shares, 2048, self.random))
        self.uniform = math.log(size)
        self.unigram = self._unigram(size)
        self._build(size)

    def _unigram(self, size: int) -> float:
        learned = [batch.labels for batch in self.batches()]
        self.examples = sum(map(len, learned))
        unseen = [batch.labels for batch in self.unseen]
        return unigram_cross_entropy(np.concatenate(learned), np.concatenate(unseen), size)

    def _build(self, size: int) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(self.settings.seed)
            self.network = Network(self.settings, size)
            self.step = tf.train.get_or_create_global_step()
            optimizer = tf.train.AdagradOptimizer(self.settings.learning_rate)
            self.train_op = optimizer.minimize(self.network.loss, global_step=self.step)
            tf.summary.scalar("loss", self.network.loss)
            self.summary = tf.summary.merge_all()
            self.saver = tf.train.Saver()
            self.session = tf.Session(graph=self.graph)
            self.session.run(tf.global_variables_initializer())

    def batches(self) -> Any:
        """One reading of the text, drawn anew."""
        settings = self.settings
        return batches(self.text, settings.sampling, self._shares, settings.batch, self.random)

    def feeds(self, batch: Examples) -> dict[Any, Any]:
        """What a step is fed."""
        return {self.network.inputs: batch.inputs, self.network.labels: batch.labels}

    def train_epoch(self, watch: Callable[[int, float], None] | None = None) -> float:
        """Reads the text once and learns from it; returns the mean sampled loss of an example.

        Args:
          watch: called after each step with its number of examples and its loss.
        """
        total = count = 0.0
        for batch in self.batches():
            loss, _ = self.session.run([self.network.loss, self.train_op], self.feeds(batch))
            total += float(loss) * len(batch)
            count += len(batch)
            if watch is not None:
                watch(len(batch), float(loss))
        return total / count

    def cross_entropy(self) -> float:
        """Nats a word of the unseen passages, by a softmax over the whole vocabulary."""
        total = sum(
            float(self.session.run(self.network.cross_entropy, self.feeds(batch)))
            for batch in self.unseen
        )
        return total / sum(map(len, self.unseen))

    def trained(self) -> Embeddings:
        """The vectors as they are now."""
        return Embeddings(list(self.numbers), self.session.run(self.network.embeddings))

    def save(self, path: str) -> str:
        """Writes a checkpoint; returns its prefix."""
        return str(self.saver.save(self.session, path, global_step=self.step))

    def restore(self, path: str) -> None:
        """Takes up the variables of a checkpoint."""
        self.saver.restore(self.session, path)


class Log:
    """What TensorBoard shows of a run: the loss, and the vectors with their words.

    Args:
      model: the run.
      folder: the event files', the checkpoint's and the words'.
    """

    def __init__(self, model: Word2Vec, folder: Path) -> None:
        self._model, self._folder = model, folder
        folder.mkdir(parents=True, exist_ok=True)
        self._writer = tf.summary.FileWriter(str(folder), model.graph)
        words = folder / "words.tsv"
        words.write_text("".join(f"{word}\n" for word in model.numbers), encoding="utf-8")
        projector = tf.contrib.tensorboard.plugins.projector
        config = projector.ProjectorConfig()
        shown = config.embeddings.add()
        shown.tensor_name, shown.metadata_path = model.network.embeddings.name, words.name
        projector.visualize_embeddings(self._writer, config)

    def add(self) -> None:
        """Adds the loss of some of the unseen examples, and the vectors."""
        model = self._model
        feeds = model.feeds(model.unseen[0])
        summary, step = model.session.run([model.summary, model.step], feeds)
        self._writer.add_summary(summary, step)
        self._writer.flush()
        model.save(str(self._folder / "model"))


def answered(embeddings: Embeddings, path: Path) -> list[str]:
    """A line for each heading of a file of analogies: how many are right."""
    lines = []
    right = asked = count = 0
    for heading, (questions, there) in read_questions(path, embeddings.numbers).items():
        correct = 0
        if len(questions):
            correct = int((embeddings.answers(questions[:, :3]) == questions[:, 3]).sum())
        lines.append(f"{heading:32} {correct:5} of {len(questions):5}  ({there} in the file)")
        right, asked, count = right + correct, asked + len(questions), count + there
    lines.append(f"{'all':32} {right:5} of {asked:5}  ({count} in the file)")
    return lines


def show_nearby(embeddings: Embeddings, words: list[str], count: int) -> None:
    """Prints the nearest words of some."""
    for word, found in zip(words, embeddings.nearby(words, count + 1)):
        typer.echo(f"{word}: " + ", ".join(f"{near} {cosine:.3f}" for near, cosine in found[1:]))


VectorFile = Annotated[Path, typer.Argument(help="What `train` wrote.", exists=True)]


@app.command()
def train(
    text: Annotated[
        Path | None, typer.Option(help="A text file, rather than Python's reference.", exists=True)
    ] = None,
    flavor: Annotated[Flavor, typer.Option(help="What is foretold.")] = Settings.flavor,
    loss: Annotated[Loss, typer.Option(help="How noise is used.")] = Settings.loss,
    epochs: Annotated[
        int, typer.Option(min=1, help="How often the text is read.")
    ] = Settings.epochs,
    width: Annotated[int, typer.Option(min=1, help="Width of the vectors.")] = Settings.width,
    window: Annotated[
        int, typer.Option(min=1, help="Words on either side, at most.")
    ] = Settings.window,
    noise: Annotated[int, typer.Option(min=1, help="Noise words of a step.")] = Settings.noise,
    batch: Annotated[int, typer.Option(min=1, help="Examples of a step.")] = Settings.batch,
    learning_rate: Annotated[float, typer.Option(help="Adagrad's.")] = Settings.learning_rate,
    rarest: Annotated[
        int, typer.Option(min=1, help="Leave out words rarer than this.")
    ] = Settings.rarest,
    threshold: Annotated[
        float, typer.Option(help="Share above which words are thinned out; 0: none.")
    ] = Settings.threshold,
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = Settings.seed,
    vectors: Annotated[Path | None, typer.Option(help="Write the vectors there.")] = None,
    logdir: Annotated[Path | None, typer.Option(help="Folder for TensorBoard.")] = None,
) -> None:
    """Learn vectors of a text's words; print nats a word of a tenth that is held out."""
    settings = Settings(
        flavor=flavor, loss=loss, width=width, window=window, noise=noise, batch=batch,
        learning_rate=learning_rate, epochs=epochs, rarest=rarest, threshold=threshold, seed=seed,
    )  # fmt: skip
    passages = python_passages() if text is None else read_passages(text)
    model = Word2Vec(settings, *hold_out(passages, seed))
    typer.echo(
        f"{len(model.text)} words to learn, a vocabulary of {len(model.numbers)};"
        f" nats a word: all alike {model.uniform:.3f}, by frequency {model.unigram:.3f},"
        f" untrained {model.cross_entropy():.3f}"
    )
    log = None if logdir is None else Log(model, logdir)
    began = time.perf_counter()
    for epoch in range(epochs):
        learned = model.train_epoch()
        typer.echo(
            f"epoch {epoch + 1:2}  sampled loss {learned:.4f}"
            f"  unseen {model.cross_entropy():.4f} nats  {time.perf_counter() - began:6.1f} s"
        )
        if log is not None:
            log.add()
    found = model.trained()
    show_nearby(found, found.words[20:30], 6)
    if vectors is not None:
        found.write(vectors)
        typer.echo(f"saved {vectors}")


@app.command()
def nearby(
    vectors: VectorFile,
    words: Annotated[list[str], typer.Argument(help="Words.")],
    count: Annotated[int, typer.Option(min=1, help="How many.")] = 10,
) -> None:
    """Print the words nearest to each of WORDS, with their cosines."""
    try:
        show_nearby(Embeddings.read(vectors), words, count)
    except (UnknownWordError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error


@app.command()
def analogy(vectors: VectorFile, first: str, second: str, third: str) -> None:
    """Print the word that is to THIRD what SECOND is to FIRST."""
    try:
        typer.echo(Embeddings.read(vectors).analogy(first, second, third))
    except (UnknownWordError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error


@app.command()
def questions(
    vectors: VectorFile,
    path: Annotated[Path, typer.Argument(help="Four words a line.", exists=True)],
) -> None:
    """Answer a file of analogies; print how many of those whose words are known are right."""
    for line in answered(Embeddings.read(vectors), path):
        typer.echo(line)


if __name__ == "__main__":
    app()
