"""Handwritten digits: a convolutional classifier as a plain TensorFlow 1.x program on Penstock.

Run it with ``make demo``, or ``python examples/digits.py --help``. By default it learns the 1797
8x8 digits that ship inside scikit-learn; ``--data-dir`` reads MNIST's IDX files instead. The
network is the same for both: two blocks of convolution, relu and pooling, a hidden layer with
dropout, and ten logits, trained by Adam on the softmax cross-entropy.

A run leaves a folder with ``metrics.json`` and ``program.py.txt``, the Python program that Penstock
generated for one training step.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from idx import IdxError, find_idx, read_idx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import penstock as tf

CLASSES = 10
SPLIT_SEED = 0  # which images are held back is part of the task, not of the run
EVAL_BATCH = 500

# Errors show as Python prints them: Penstock's own name the line that made the failing node.
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

Images = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Data:
    """Images are [n, height, width, 1] in 0..1, labels are [n]; `source` says what they are."""

    source: str
    train_images: Images
    train_labels: Labels
    test_images: Images
    test_labels: Labels


@dataclass(frozen=True)
class Model:
    """The graph's endpoints that training and evaluation feed and fetch."""

    images: Any
    labels: Any
    drop_rate: Any
    loss: Any
    train_op: Any
    correct: Any


@dataclass(frozen=True)
class Metrics:
    """What a run ends with, as ``metrics.json`` holds it."""

    data: str
    train_images: int
    test_images: int
    steps: int
    batch_size: int
    learning_rate: float
    seed: int
    final_loss: float
    test_accuracy: float
    train_seconds: float
    steps_per_second: float


def load_bundled() -> Data:
    """The 8x8 digits of scikit-learn: 1437 to learn from, 360 held back."""
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as error:
        raise typer.BadParameter(
            "the bundled digits come with scikit-learn: pip install 'penstock[demo]',"
            " or give --data-dir"
        ) from error
    bundle = load_digits()
    return split("scikit-learn's 8x8 digits", bundle.images / 16.0, bundle.target, held_back=360)


def load_mnist(directory: Path) -> Data:
    """MNIST's IDX files in `directory`; where the training files are missing, t10k's are split."""
    test_images, test_labels = read_pair(directory, "t10k")
    if find_idx(directory / "train-images-idx3-ubyte") is None:
        source = f"MNIST's t10k files in {directory} (no train files there, so these are split)"
        return split(source, test_images, test_labels, held_back=len(test_images) // 10)
    train_images, train_labels = read_pair(directory, "train")
    return Data(f"MNIST in {directory}", train_images, train_labels, test_images, test_labels)


def read_pair(directory: Path, part: str) -> tuple[Images, Labels]:
    """One part (``train`` or ``t10k``) of MNIST: its images, scaled to 0..1, and its labels."""
    images = read_idx(directory / f"{part}-images-idx3-ubyte")
    labels = read_idx(directory / f"{part}-labels-idx1-ubyte")
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
        raise IdxError(
            f"{directory}: the {part} files hold images of shape {list(images.shape)} and labels of"
            f" shape {list(labels.shape)}; wanted [n, height, width] and [n]"
        )
    if len(labels) and not 0 <= labels.min() <= labels.max() < CLASSES:
        raise IdxError(
            f"{directory}: the {part} labels run from {labels.min()} to {labels.max()};"
            f" wanted 0 to {CLASSES - 1}"
        )
    return (images[..., np.newaxis] / 255.0).astype(np.float32), labels.astype(np.int32)


def split(source: str, images: Any, labels: Any, held_back: int) -> Data:
    """Shuffles in one fixed order and holds back the last `held_back` images for the test."""
    order = np.random.default_rng(SPLIT_SEED).permutation(len(images))
    shape = (*np.shape(images)[:3], 1)
    images = np.asarray(images, np.float32).reshape(shape)[order]
    labels = np.asarray(labels, np.int32)[order]
    cut = len(images) - held_back
    return Data(source, images[:cut], labels[:cut], images[cut:], labels[cut:])


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


def dense(x: Any, units: int, name: str) -> Any:
    """A matrix product and a bias."""
    width = int(x.shape[1])
    with tf.variable_scope(name):
        kernel = weights("kernel", [width, units], fan_in=width)
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
        return tf.matmul(x, kernel) + bias


def build_model(height: int, width: int, learning_rate: float) -> Model:
    """Adds the classifier and its training to the default graph."""
    images = tf.placeholder(tf.float32, [None, height, width, 1], name="images")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    drop_rate = tf.placeholder_with_default(0.0, [], name="drop_rate")

    x = conv_block(images, 32, "conv1")
    x = conv_block(x, 64, "conv2")
    x = tf.reshape(x, [-1, int(x.shape[1]) * int(x.shape[2]) * int(x.shape[3])])
    x = tf.nn.relu(dense(x, 128, "hidden"))
    x = tf.nn.dropout(x, rate=drop_rate)
    logits = dense(x, CLASSES, "logits")

    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses, name="loss")
    train_op = tf.train.AdamOptimizer(learning_rate).minimize(loss)
    hits = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels)
    correct = tf.reduce_sum(tf.cast(hits, tf.float32), name="correct")
    return Model(images, labels, drop_rate, loss, train_op, correct)


def batches(data: Data, size: int, seed: int) -> Iterator[tuple[Images, Labels]]:
    """Endless training batches, shuffled anew each epoch; a last partial batch is left out."""
    rng = np.random.default_rng(seed)
    count = len(data.train_images)
    while True:
        order = rng.permutation(count)
        for start in range(0, count - size + 1, size):
            chosen = order[start : start + size]
            yield data.train_images[chosen], data.train_labels[chosen]


def evaluate(session: Any, model: Model, images: Images, labels: Labels) -> float:
    """The share of `images` whose most likely class is the label."""
    correct = 0.0
    for start in range(0, len(images), EVAL_BATCH):
        part = slice(start, start + EVAL_BATCH)
        feeds = {model.images: images[part], model.labels: labels[part]}
        correct += float(session.run(model.correct, feed_dict=feeds))
    return correct / len(images)


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


def train(
    session: Any, model: Model, data: Data, steps: int, batch_size: int, seed: int, console: Console
) -> tuple[float, float]:
    """Runs `steps` training steps; returns the last loss and the seconds they took."""
    stream = batches(data, batch_size, seed)
    loss = float("nan")
    with progress_bar(console) as bar:
        task = bar.add_task("training", total=steps, loss=loss, rate=0.0)
        began = time.perf_counter()
        for step in range(1, steps + 1):
            images, labels = next(stream)
            feeds = {model.images: images, model.labels: labels, model.drop_rate: 0.4}
            _, loss = session.run([model.train_op, model.loss], feed_dict=feeds)
            if step % 10 == 0 or step == steps:
                rate = step / (time.perf_counter() - began)
                bar.update(task, completed=step, loss=float(loss), rate=rate)
        return float(loss), time.perf_counter() - began


def program_text(session: Any, model: Model, data: Data, batch_size: int) -> str:
    """The program that Penstock generated for one training step."""
    feeds = {
        model.images: data.train_images[:batch_size],
        model.labels: data.train_labels[:batch_size],
        model.drop_rate: 0.4,
    }
    return str(session.explain([model.train_op, model.loss], feeds))


@app.command()
def main(
    data_dir: Annotated[
        Path | None, typer.Option(help="A folder with MNIST's IDX files, gzipped or not.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 1000,
    batch_size: Annotated[int, typer.Option(min=1, help="Images a step.")] = 64,
    learning_rate: Annotated[float, typer.Option(min=0.0, help="Adam's learning rate.")] = 0.001,
    seed: Annotated[int, typer.Option(help="Seed of weights, dropout and batches.")] = 1,
    out: Annotated[Path, typer.Option(help="Where the run's folder is made.")] = Path("runs"),
) -> None:
    """Trains a convolutional classifier on handwritten digits and tests it on held-back ones."""
    console = Console()
    try:
        data = load_bundled() if data_dir is None else load_mnist(data_dir)
    except IdxError as error:
        raise typer.BadParameter(str(error), param_hint="--data-dir") from error
    count, height, width, _ = data.train_images.shape
    if batch_size > count:
        message = f"{batch_size} is more than the {count} training images"
        raise typer.BadParameter(message, param_hint="--batch-size")
    console.print(f"data: {data.source}", soft_wrap=True, highlight=False)
    console.print(f"      {count} images to learn from, {len(data.test_images)} held back")

    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(seed)
        model = build_model(height, width, learning_rate)
        session.run(tf.global_variables_initializer())
        loss, seconds = train(session, model, data, steps, batch_size, seed, console)
        accuracy = evaluate(session, model, data.test_images, data.test_labels)
        program = program_text(session, model, data, batch_size)

    metrics = Metrics(
        data=data.source,
        train_images=count,
        test_images=len(data.test_images),
        steps=steps,
        batch_size=batch_size,
        learning_rate=learning_rate,
        seed=seed,
        final_loss=loss,
        test_accuracy=accuracy,
        train_seconds=seconds,
        steps_per_second=steps / seconds,
    )
    folder = write_run(out, metrics, program)
    console.print(
        f"test accuracy {accuracy:.2%} on {len(data.test_images)} held-back digits,"
        f" {metrics.steps_per_second:.0f} steps/s",
        style="bold",
        highlight=False,
    )
    console.print(f"outputs: {folder} (metrics.json, program.py.txt)", soft_wrap=True)


def write_run(out: Path, metrics: Metrics, program: str) -> Path:
    """Makes the run's own folder under `out` and writes its two files; returns the folder."""
    stem = out / time.strftime("digits-%Y%m%d-%H%M%S")
    folder, again = stem, 1
    while folder.exists():
        again += 1
        folder = stem.with_name(f"{stem.name}-{again}")
    folder.mkdir(parents=True)
    (folder / "metrics.json").write_text(json.dumps(asdict(metrics), indent=2) + "\n")
    (folder / "program.py.txt").write_text(program.rstrip("\n") + "\n")
    return folder


if __name__ == "__main__":
    app()
