"""Handwritten digits: a convolutional classifier as a plain TensorFlow 1.x program on Penstock.

Run it with ``make demo``, or ``python examples/digits.py --help``. By default it learns the 1797
8x8 digits that ship inside scikit-learn; ``--data-dir`` reads MNIST's IDX files instead. The
network is the same for both: two blocks of convolution, relu and pooling, a hidden layer with
dropout, and ten logits, trained by Adam on the softmax cross-entropy.

The run's folder holds checkpoints, TensorBoard's logs, ``metrics.json``, and ``program.py.txt``,
the Python program that Penstock generated for one training step. Run again, it goes on from the
last checkpoint: batches and dropout follow from the seed and the step, so a run that was killed
ends with the very numbers of one that was not.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from digits_logs import POINTS, Logs, Summaries, build_summaries
from digits_run import Metrics, Settings
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import penstock as tf
from penstock.models.digits_data import CLASSES, Data, Images, Labels, batches, load
from penstock.models.runs import open_run, write_json, write_text

DROP_RATE = 0.4
EVAL_BATCH = 500
SCALARS_EVERY = 10
DETAILS_EVERY = 100
SAVE_EVERY = 100
TRACE_EVERY, TRACED = 500, 100  # steps 100, 600, 1100, ...

# Errors show as Python prints them: Penstock's own name the line that made the failing node.
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Model:
    """The graph's endpoints that training, evaluation and the summaries feed and fetch."""

    images: Any
    labels: Any
    drop_rate: Any
    activations: dict[str, Any]
    losses: Any
    predictions: Any
    loss: Any
    accuracy: Any
    train_op: Any
    global_step: Any


@dataclass(frozen=True)
class Scores:
    """How the model does on a set of digits; `predictions` is [n]."""

    loss: float
    accuracy: float
    predictions: Labels


def weights(name: str, shape: list[int], fan_in: int) -> Any:
    """A variable drawn from a truncated normal with He's scale."""
    initializer = tf.truncated_normal_initializer(stddev=(2.0 / fan_in) ** 0.5)
    return tf.get_variable(name, shape, tf.float32, initializer=initializer)


def conv_block(x: Any, filters: int, name: str) -> Any:
    """Convolution 3x3, bias, relu, and max-pooling 2x2."""
    channels = int(x.shape[3])
    with tf.variable_scope(name):
        kernel = weights("kernel", [3, 3, channels, filters], fan_in=9 * channels)
        bias = tf.get_variable("bias", [filters], initializer=tf.zeros_initializer())
        x = tf.nn.conv2d(x, kernel, strides=[1, 1, 1, 1], padding="SAME")
        x = tf.nn.relu(tf.nn.bias_add(x, bias))
        return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


def dense(x: Any, units: int, name: str, activation: Any = None) -> Any:
    """A matrix product, a bias, and perhaps an activation function."""
    width = int(x.shape[1])
    with tf.variable_scope(name):
        kernel = weights("kernel", [width, units], fan_in=width)
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
        x = tf.matmul(x, kernel) + bias
        return x if activation is None else activation(x)


def dropout(x: Any, rate: Any, seed: int, step: Any) -> Any:
    """Dropout whose mask follows from the step, not from how many a session has drawn before."""
    with tf.name_scope("dropout"):
        pair = tf.stack([tf.constant(seed, tf.int64), step])
        kept = tf.random.stateless_uniform(tf.shape(x), pair) >= rate
        return tf.where(kept, x / (1.0 - rate), tf.zeros_like(x))


def build_model(height: int, width: int, learning_rate: float, seed: int) -> Model:
    """Adds the classifier and its training to the default graph."""
    with tf.device("/cpu:0"):
        images = tf.placeholder(tf.float32, [None, height, width, 1], name="images")
        labels = tf.placeholder(tf.int32, [None], name="labels")
        drop_rate = tf.placeholder_with_default(0.0, [], name="drop_rate")
        global_step = tf.train.get_or_create_global_step()

    with tf.device("/gpu:0"):  # where there is one: the session places softly
        conv1 = conv_block(images, 32, "conv1")
        conv2 = conv_block(conv1, 64, "conv2")
        flat = tf.reshape(conv2, [-1, int(np.prod(conv2.shape[1:].as_list()))], name="flatten")
        hidden = dense(flat, 128, "hidden", tf.nn.relu)
        logits = dense(dropout(hidden, drop_rate, seed, global_step), CLASSES, "logits")
        with tf.name_scope("loss"):
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        with tf.name_scope("train"):
            train_op = tf.train.AdamOptimizer(learning_rate).minimize(loss, global_step)

    with tf.device("/cpu:0"), tf.name_scope("accuracy"):
        predictions = tf.argmax(logits, 1, output_type=tf.int32)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(predictions, labels), tf.float32))
    activations = {"conv1": conv1, "conv2": conv2, "hidden": hidden, "logits": logits}
    return Model(
        images, labels, drop_rate, activations, losses, predictions, loss, accuracy, train_op,
        global_step,
    )  # fmt: skip


def evaluate(session: Any, model: Model, images: Images, labels: Labels) -> Scores:
    """The mean loss, the share of images whose most likely class is the label, and the classes."""
    losses: list[npt.NDArray[np.float32]] = []
    predictions: list[Labels] = []
    for start in range(0, len(images), EVAL_BATCH):
        part = slice(start, start + EVAL_BATCH)
        feeds = {model.images: images[part], model.labels: labels[part]}
        loss, classes = session.run([model.losses, model.predictions], feed_dict=feeds)
        losses.append(loss)
        predictions.append(classes)
    classes = np.concatenate(predictions)
    loss = float(np.mean(np.concatenate(losses)))
    return Scores(loss, float(np.mean(classes == labels)), classes)


def progress_bar(console: Console) -> Progress:
    """The bar of a run: steps done, loss, steps a second, time."""
    return Progress(
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
        TextColumn("{task.fields[rate]:.0f} steps/s"),
        TimeElapsedColumn(),
        console=console,
    )


class Trainer:
    """One session of a run: trains from where the last one stopped, logs, and checkpoints."""

    def __init__(self, folder: Path, data: Data, settings: Settings) -> None:
        _, height, width, _ = data.train_images.shape
        self.folder, self.data, self.settings = folder, data, settings
        self.model = build_model(height, width, settings.learning_rate, settings.seed)
        with tf.device("/cpu:0"):
            self.summaries: Summaries = build_summaries(self.model, asdict(settings))
            self.saver = tf.train.Saver(max_to_keep=3)
        self.session = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))

    def restore(self) -> int:
        """Takes up the last checkpoint, or begins; returns the number of steps done."""
        checkpoint = tf.train.latest_checkpoint(str(self.folder))
        if checkpoint is None:
            self.session.run(tf.global_variables_initializer())
        else:
            self.saver.restore(self.session, checkpoint)
        return int(self.session.run(self.model.global_step))

    def save(self, step: int) -> str:
        """Writes a checkpoint; the oldest of those kept goes."""
        return str(self.saver.save(self.session, str(self.folder / "model.ckpt"), step))

    def feeds(self, images: Images, labels: Labels) -> dict[Any, Any]:
        """The feeds of a training step."""
        model = self.model
        return {model.images: images, model.labels: labels, model.drop_rate: DROP_RATE}

    def train(self, done: int, steps: int, logs: Logs, console: Console) -> tuple[float, float]:
        """Runs steps `done` + 1 to `steps`; returns the last loss and the seconds they took."""
        stream = batches(self.data, self.settings.batch_size, self.settings.seed, done)
        fetches = [self.model.train_op, self.model.loss]
        with progress_bar(console) as bar:
            task = bar.add_task("training", total=steps, completed=done, loss=0.0, rate=0.0)
            began = time.perf_counter()
            for step in range(done + 1, steps + 1):
                feeds = self.feeds(*next(stream))
                if step % SCALARS_EVERY and step != steps:
                    self.session.run(fetches, feeds)
                    continue
                logged = [*fetches, self.summaries.scalars]
                if step % TRACE_EVERY == TRACED:
                    _, loss, scalars = self.traced(logged, feeds, step, logs)
                else:
                    _, loss, scalars = self.session.run(logged, feeds)
                logs.scalars(scalars, step)
                if step % DETAILS_EVERY == 0 or step == steps:
                    self.log_details(feeds, step, logs)
                if step % SAVE_EVERY == 0 and step != steps:
                    logs.flush()
                    self.save(step)
                rate = (step - done) / (time.perf_counter() - began)
                bar.update(task, completed=step, loss=float(loss), rate=rate)
            return float(loss), time.perf_counter() - began

    def log_details(self, feeds: dict[Any, Any], step: int, logs: Logs) -> None:
        """What is worth knowing now and then: histograms, images, the held-back digits' scores."""
        scores = self.test()
        mistaken = self.data.test_images[scores.predictions != self.data.test_labels]
        logs.scores(scores.loss, scores.accuracy, mistaken, step)
        logs.details({self.model.images: feeds[self.model.images]}, step)

    def traced(self, fetches: list[Any], feeds: dict[Any, Any], step: int, logs: Logs) -> Any:
        """Runs a step that notes each node's time and memory."""
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        metadata = tf.RunMetadata()
        values = self.session.run(fetches, feeds, options=options, run_metadata=metadata)
        logs.trace(metadata, step)
        return values

    def test(self) -> Scores:
        """The scores on the held-back digits."""
        return evaluate(self.session, self.model, self.data.test_images, self.data.test_labels)

    def program(self) -> str:
        """The program that Penstock generated for one training step."""
        size = self.settings.batch_size
        feeds = self.feeds(self.data.train_images[:size], self.data.train_labels[:size])
        return str(self.session.explain([self.model.train_op, self.model.loss], feeds))

    def finish(self, metrics: Metrics, scores: Scores, logs: Logs) -> str:
        """Writes what a run ends with; the checkpoint last, so that what has it has all."""
        images = self.data.test_images[:POINTS]
        hidden = self.session.run(self.model.activations["hidden"], {self.model.images: images})
        logs.projector(hidden, scores.predictions, self.data)
        logs.flush()
        write_text(self.folder / "program.py.txt", self.program())
        write_json(self.folder / "metrics.json", metrics)
        return self.save(metrics.steps)


@app.command()
def main(
    data_dir: Annotated[
        Path | None, typer.Option(help="A folder with MNIST's IDX files, gzipped or not.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Training steps, those done included.")] = 1000,
    batch_size: Annotated[int, typer.Option(min=1, help="Images a step.")] = 64,
    learning_rate: Annotated[float, typer.Option(min=0.0, help="Adam's learning rate.")] = 0.001,
    seed: Annotated[int, typer.Option(help="Seed of weights, dropout and batches.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The run's folder; a run that is there goes on.",
            show_default="runs/digits, or runs/digits-mnist with --data-dir",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew; the earlier run is kept, renamed.")
    ] = False,
) -> None:
    """Trains a convolutional classifier on handwritten digits and tests it on held-back ones."""
    console = Console()
    out = out or Path("runs") / ("digits" if data_dir is None else "digits-mnist")
    data = load(data_dir)
    count, held_back = len(data.train_images), len(data.test_images)
    if batch_size > count:
        message = f"{batch_size} is more than the {count} training images"
        raise typer.BadParameter(message, param_hint="--batch-size")
    settings = Settings(data.source, batch_size, learning_rate, seed)
    open_run(out, settings, fresh, said={"data": "data_dir"})
    console.print(f"data: {data.source}", soft_wrap=True, highlight=False)
    console.print(f"      {count} images to learn from, {held_back} held back")

    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        trainer = Trainer(out, data, settings)
        with trainer.session:
            done = trainer.restore()
            if done >= steps:
                say_finished(console, out, done)
            else:
                if done:
                    console.print(f"resuming {out} after step {done}", soft_wrap=True)
                run(trainer, done, steps, console)
    say_how_to_look(console, out)


def run(trainer: Trainer, done: int, steps: int, console: Console) -> None:
    """Trains to `steps`, tests, and writes the run's outputs."""
    data, settings = trainer.data, trainer.settings
    logs = Logs(trainer.folder, trainer.session, trainer.summaries, done)
    loss, seconds = trainer.train(done, steps, logs, console)
    scores = trainer.test()
    metrics = Metrics(
        train_images=len(data.train_images),
        test_images=len(data.test_images),
        steps=steps,
        resumed_from=done,
        final_loss=loss,
        test_loss=scores.loss,
        test_accuracy=scores.accuracy,
        train_seconds=seconds,
        steps_per_second=(steps - done) / seconds,
        **asdict(settings),
    )
    trainer.finish(metrics, scores, logs)
    logs.close()
    console.print(
        f"test accuracy {scores.accuracy:.2%} on {metrics.test_images} held-back digits,"
        f" {metrics.steps_per_second:.0f} steps/s",
        style="bold",
        highlight=False,
    )


def say_finished(console: Console, out: Path, done: int) -> None:
    """A run that has all its steps: what it reached, and what may be done with it."""
    console.print(f"{out} is finished: {done} steps", style="bold", soft_wrap=True, highlight=False)
    console.print(f"train on:    --steps {2 * done}   begin anew: --fresh", highlight=False)


def say_how_to_look(console: Console, out: Path) -> None:
    """The last lines: where everything is, and the commands that show it."""
    checkpoint = tf.train.latest_checkpoint(str(out))
    for label, text in {
        "outputs:": f"{out} (checkpoints, logs, metrics.json, program.py.txt)",
        "curves:": f"{tool('tensorboard')} --logdir {out}",
        "checkpoint:": f"{tool('penstock')} inspect {checkpoint}",
    }.items():
        console.print(f"{label:<12} {text}", soft_wrap=True, highlight=False)


def tool(name: str) -> str:
    """How to call a command of this Python's environment from here."""
    path = Path(sys.executable).with_name(name)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else name


if __name__ == "__main__":
    app()
