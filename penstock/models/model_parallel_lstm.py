"""A sequence-to-sequence model whose layers and softmax lie on different devices.

Stacked LSTM layers read a source and then write the target, as in the picture of Sutskever, Vinyals
and Le.  Each layer is on a device of its own: layer 2 works on word t while layer 1 works on word
t + 1, so the layers are a pipeline over time.  The softmax over all words is larger than anything
else (80,000 words by 1,000 dims in the talk that this follows).  Its weights, and the embedding,
are partitioned variables: every part is on a device of its own, which computes the logits of its
words and their logsumexp.  Between devices go the last layer's output and, for each word to be
written, two numbers a part; never the logits, never the weights.

Devices are names: CPU devices or GPUs of this process, or tasks of the cluster of ``--target``.

    python -m penstock.models.model_parallel_lstm --layer-device /device:CPU:0 \\
        --layer-device /device:CPU:1 --softmax-device /device:CPU:2 --softmax-device /device:CPU:3

State of a model: its graph and session.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

import penstock as tf

Words = npt.NDArray[np.int32]

# The word that ends the source and begins the target.
START = 0
_PART = re.compile(r"/part_(\d+)(/|$)")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Settings:
    """The sequences, the network, its devices and its training.

    Attributes:
      words: size of the vocabulary, `START` included; the softmax has as many rows.
      length: words of a sequence.
      units: width of embedding and layers.
      layer_devices: where each layer is; their number is that of the layers.
      softmax_devices: where each part of softmax and embedding is.
      batch: sequences of a step.
      learning_rate: Adam's.
      clip: the global norm that gradients are scaled down to.
      seed: of sequences and weights.
    """

    words: int = 40
    length: int = 4
    units: int = 64
    layer_devices: Sequence[str] = field(default_factory=lambda: cpu_devices(0, 2))
    softmax_devices: Sequence[str] = field(default_factory=lambda: cpu_devices(2, 4))
    batch: int = 64
    learning_rate: float = 0.005
    clip: float = 5.0
    seed: int = 1


def cpu_devices(first: int, count: int) -> list[str]:
    """Names of CPU devices of a task.

    >>> cpu_devices(2, 2)
    ['/device:CPU:2', '/device:CPU:3']
    """
    return [f"/device:CPU:{index}" for index in range(first, first + count)]


def make_batch(settings: Settings, random: np.random.RandomState) -> Words:
    """Random sequences of words, [batch, length]; the model is to write them backwards."""
    shape = (settings.batch, settings.length)
    return random.randint(START + 1, settings.words, shape).astype(np.int32)


class PartDevices:
    """A device function: part k of a partitioned variable goes to the k-th device.

    Args:
      devices: of the parts.
    """

    def __init__(self, devices: Sequence[str]) -> None:
        self.devices = list(devices)

    def __call__(self, op: Any) -> str:
        found = _PART.search(op.name)
        return self.devices[int(found.group(1)) if found else 0]


class SplitSoftmax:
    """A softmax over many words, its weights in parts on several devices.

    Args:
      words: size of the vocabulary.
      units: width of what it is given.
      devices: of the parts.
    """

    def __init__(self, words: int, units: int, devices: Sequence[str]) -> None:
        self.devices = list(devices)
        split = tf.fixed_size_partitioner(len(devices))
        with tf.variable_scope("softmax", partitioner=split), tf.device(PartDevices(devices)):
            weights: Any = tf.get_variable("weights", [words, units])
            biases: Any = tf.get_variable("biases", [words], initializer=tf.zeros_initializer())
        self.weights, self.biases = list(weights), list(biases)

    def losses(self, inputs: Any, targets: Any) -> Any:
        """Cross-entropies in nats, [rows], of inputs [rows, units] and words [rows]."""
        norms, wanted = [], []
        for first, logits, device in self._logits(inputs):
            with tf.device(device):
                norms.append(tf.reduce_logsumexp(logits, axis=1))
                # One part has the word's logit; the others add nothing.
                one_hot = tf.one_hot(targets - first, logits.shape[1].value)
                wanted.append(tf.reduce_sum(one_hot * logits, axis=1))
        with tf.device(self.devices[0]):
            return tf.reduce_logsumexp(tf.stack(norms), axis=0) - tf.add_n(wanted)

    def best(self, inputs: Any) -> Any:
        """The most likely words, [rows] of int32."""
        values, indices = [], []
        for first, logits, device in self._logits(inputs):
            with tf.device(device):
                values.append(tf.reduce_max(logits, axis=1))
                indices.append(first + tf.argmax(logits, axis=1, output_type=tf.int32))
        with tf.device(self.devices[0]):
            part = tf.argmax(tf.stack(values, axis=1), axis=1, output_type=tf.int32)
            chosen = tf.one_hot(part, len(values), dtype=tf.int32)
            return tf.reduce_sum(chosen * tf.stack(indices, axis=1), axis=1)

    def _logits(self, inputs: Any) -> list[tuple[int, Any, str]]:
        """Of each part its first word, its logits [rows, words of the part], and its device."""
        found, first = [], 0
        for weights, biases, device in zip(self.weights, self.biases, self.devices, strict=True):
            with tf.device(device):
                logits = tf.matmul(inputs, weights, transpose_b=True) + biases
            found.append((first, logits, device))
            first += weights.shape[0].value
        return found


class Network:
    """Builds the nodes in the default graph: the loss of a batch, and what the model would write.

    Args:
      settings: sizes and devices.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sources: Any = tf.placeholder(tf.int32, [None, settings.length], name="sources")
        self.targets: Any = tf.reverse(self.sources, [1], name="targets")
        split = tf.fixed_size_partitioner(len(settings.softmax_devices))
        with tf.device(PartDevices(settings.softmax_devices)):
            self.embedding: Any = tf.get_variable(
                "embedding", [settings.words, settings.units], partitioner=split
            )
        self.softmax = SplitSoftmax(settings.words, settings.units, settings.softmax_devices)
        self.cells: list[Any] = [tf.nn.rnn_cell.LSTMCell(settings.units, name=f"layer_{depth}")
                                 for depth in range(len(settings.layer_devices))]  # fmt: skip
        self.start = tf.zeros_like(self.sources[:, 0]) + START
        self.loss = self._training_loss()
        self.written = self._writing()

    def _read(self) -> list[Any]:
        """The layers' states after the source."""
        states = []
        for cell, device in zip(self.cells, self.settings.layer_devices, strict=True):
            with tf.device(device):
                states.append(cell.zero_state(tf.size(self.start), tf.float32))
        for time_step in range(self.settings.length):
            _, states = self._step(self.sources[:, time_step], states)
        return states

    def _step(self, words: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One time step through all layers; the last one's output and the new states."""
        with tf.device(self.settings.layer_devices[0]):
            output = tf.nn.embedding_lookup(self.embedding, words, partition_strategy="div")
        after = []
        layers = zip(self.cells, self.settings.layer_devices, states, strict=True)
        for cell, device, state in layers:
            with tf.device(device):
                output, state = cell(output, state)
            after.append(state)
        return output, after

    def _training_loss(self) -> Any:
        with tf.name_scope("training"):
            states = self._read()
            before, outputs = self.start, []
            for time_step in range(self.settings.length):
                output, states = self._step(before, states)
                outputs.append(output)
                before = self.targets[:, time_step]
            targets = tf.reshape(tf.transpose(self.targets), [-1])
            return tf.reduce_mean(self.softmax.losses(tf.concat(outputs, 0), targets))

    def _writing(self) -> Any:
        with tf.name_scope("writing"):
            states, word, words = self._read(), self.start, []
            for _ in range(self.settings.length):
                output, states = self._step(word, states)
                word = self.softmax.best(output)
                words.append(word)
            return tf.stack(words, axis=1)


class Model:
    """The graph and session of one run.

    Args:
      settings: sizes, devices, training.
      target: of the session.
    """

    def __init__(self, settings: Settings, target: str = "") -> None:
        self.settings = settings
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(settings.seed)
            self.network = Network(settings)
            self.variables = tf.trainable_variables()
            optimizer = tf.train.AdamOptimizer(settings.learning_rate)
            # Gradients are computed where the values were.
            pairs = optimizer.compute_gradients(
                self.network.loss, self.variables, colocate_gradients_with_ops=True
            )
            self.gradients = [tf.convert_to_tensor(gradient) for gradient, _ in pairs]
            clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], settings.clip)
            self.train_op = optimizer.apply_gradients(zip(clipped, self.variables))
            self.session = tf.Session(target, config=_config(settings))
            self.session.run(tf.global_variables_initializer())

    def train(self, sources: Words) -> float:
        """One training step; returns its loss, the mean cross-entropy of a word in nats."""
        feeds = {self.network.sources: sources}
        return float(self.session.run([self.network.loss, self.train_op], feeds)[0])

    def accuracy(self, sources: Words) -> float:
        """The share of words that the model, writing by itself, gets right."""
        written = self.session.run(self.network.written, {self.network.sources: sources})
        return float((written == sources[:, ::-1]).mean())

    def close(self) -> None:
        """Ends the session."""
        self.session.close()


def _config(settings: Settings) -> Any:
    """As many CPU devices as the names ask for, for a session of this process."""
    names = [*settings.layer_devices, *settings.softmax_devices]
    found = [re.search(r"cpu:(\d+)$", name, re.IGNORECASE) for name in names]
    count = 1 + max((int(each.group(1)) for each in found if each), default=0)
    return tf.ConfigProto(device_count={"CPU": count})


@app.command()
def main(
    layer_device: Annotated[
        list[str] | None, typer.Option(help="Where a layer is; once for each layer.")
    ] = None,
    softmax_device: Annotated[
        list[str] | None, typer.Option(help="Where a part of the softmax is; once for each part.")
    ] = None,
    target: Annotated[str, typer.Option(help="A server of the cluster to run on.")] = "",
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 1000,
    words: Annotated[int, typer.Option(min=3, help="Size of the vocabulary.")] = Settings.words,
    length: Annotated[int, typer.Option(min=1, help="Words of a sequence.")] = Settings.length,
    units: Annotated[int, typer.Option(min=1, help="Width of the layers.")] = Settings.units,
    batch: Annotated[int, typer.Option(min=1, help="Sequences of a step.")] = Settings.batch,
    learning_rate: Annotated[float, typer.Option(help="Adam's.")] = Settings.learning_rate,
    every: Annotated[int, typer.Option(min=1, help="Steps from one report to the next.")] = 100,
    seed: Annotated[int, typer.Option(help="Of sequences and weights.")] = Settings.seed,
) -> None:
    """Learn to write sequences backwards; print how many words of fresh ones are right."""
    settings = Settings(
        words=words, length=length, units=units, batch=batch, learning_rate=learning_rate,
        seed=seed, layer_devices=layer_device or cpu_devices(0, 2),
        softmax_devices=softmax_device or cpu_devices(2, 4),
    )  # fmt: skip
    random = np.random.RandomState(seed)
    model = Model(settings, target)
    began, losses = time.perf_counter(), []
    for step in range(1, steps + 1):
        losses.append(model.train(make_batch(settings, random)))
        if step % every and step != steps:
            continue
        right = model.accuracy(make_batch(settings, random))
        seconds = time.perf_counter() - began
        typer.echo(f"step {step:5}  loss {np.mean(losses):.4f}  right {right:.4f}  {seconds:.1f} s")
        losses.clear()
    model.close()


if __name__ == "__main__":
    app()
