"""``penstock train mnist``: handwritten digits by a softmax, hidden layers or convolutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

import penstock as tf
from penstock.models.digits_data import CLASSES, Data, Images, batches, load
from penstock.models.digits_network import Network, logits
from penstock.models.mnist_network import IMAGE_SIZE
from penstock.models.workshop.cluster import here
from penstock.models.workshop.pictures import confusion
from penstock.models.workshop.training import Feeds, Fresh, Logdir, Run, Seed, Steps, command, train

app = command()

_TEST_BATCH = 500
_RATES = {Network.SOFTMAX: 0.02, Network.LAYERS: 0.001, Network.CNN: 0.001}


@dataclass(frozen=True)
class Model:
    """The graph's endpoints."""

    images: Any
    labels: Any
    training: Any
    loss: Any
    classes: Any
    train_op: Any
    global_step: Any


def build(network: Network, size: tuple[int, int], rate: float, steps: int) -> Model:
    """Adds a network and its training to the default graph.

    Args:
      network: which.
      size: of the images.
      rate: Adam's learning rate at first; it falls to a hundredth in the course of the steps.
      steps: training steps.
    """
    images = tf.placeholder(tf.float32, [None, *size, 1], name="images")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    training = tf.placeholder_with_default(False, [], name="training")
    made = logits(network, images, training)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=made)
    classes = tf.argmax(made, 1, output_type=tf.int32, name="classes")
    accuracy = tf.reduce_mean(tf.cast(tf.equal(classes, labels), tf.float32))
    global_step = tf.train.get_or_create_global_step()
    falling = tf.train.exponential_decay(rate, global_step, steps, 0.01)
    train_op = tf.train.AdamOptimizer(falling).minimize(loss, global_step)
    tf.summary.scalar("loss", loss)
    tf.summary.scalar("accuracy", accuracy)
    tf.summary.image("digits", images, max_outputs=4)
    for variable in tf.trainable_variables():
        tf.summary.histogram(f"values/{variable.op.name}", variable)
    return Model(images, labels, training, loss, classes, train_op, global_step)


def classified(run: Callable[..., Any], model: Model, images: Images) -> npt.NDArray[np.int32]:
    """The likeliest class of each image."""
    parts = [
        run(model.classes, {model.images: images[start : start + _TEST_BATCH]})
        for start in range(0, len(images), _TEST_BATCH)
    ]
    return np.concatenate(parts)


def _said(run: Run, data: Data, found: npt.NDArray[np.int32]) -> dict[str, float]:
    """Prints and draws how the held-back digits were told."""
    counts = np.zeros((CLASSES, CLASSES), np.int64)
    np.add.at(counts, (data.test_labels, found), 1)
    right = float(np.mean(found == data.test_labels))
    run.say(f"right: {right:.2%} of {len(found)} digits that were held back")
    for digit, row in enumerate(counts):
        others = [f"{row[other]} as {other}" for other in np.argsort(-row) if other != digit]
        wrong = [text for text in others if not text.startswith("0 ")]
        share = row[digit] / max(row.sum(), 1)
        run.say(f"  {digit}: {share:7.2%}  {', '.join(wrong[:3])}".rstrip())
    confusion(run, "confusion.png", counts)
    return {"accuracy": right, "images": len(found)}


@app.command()
def mnist(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of MNIST's IDX files; default: scikit-learn's 8x8 digits."),
    ] = None,
    network: Annotated[Network, typer.Option(help="What tells digits.")] = Network.SOFTMAX,
    epochs: Annotated[int, typer.Option(min=1, help="How often the images are seen.")] = 20,
    batch: Annotated[int, typer.Option(min=1, help="Images of a step.")] = 64,
    learning_rate: Annotated[
        float | None,
        typer.Option(min=0.0, help="Adam's, at first; default: 0.02 for softmax, else 0.001."),
    ] = None,
    held_back: Annotated[
        int | None,
        typer.Option(min=1, help="Where --data has no train files: hold back the last N images."),
    ] = None,
    seed: Seed = 1,
    logdir: Logdir = Path("runs/mnist"),
    fresh: Fresh = False,
) -> None:
    """Learn to tell handwritten digits, and show which are mistaken for which.

    The graph: images are fed to a placeholder; 'softmax' multiplies their pixels by one matrix,
    'layers' has two hidden layers between, 'cnn' two convolutions with pooling and a hidden layer
    with dropout. The cross-entropy of the logits with the labels is the loss; Adam's update is a
    node like all others, and running it is a step.

    \b
    Examples:
      penstock train mnist
      penstock train mnist --network cnn --data folder/of/idx/files
      penstock train mnist --ps 1 --workers 2 --logdir runs/mnist-cluster

    With workers each sees images of its own; the variables stand on the parameter servers, and
    updates are applied as they come.
    """
    place = here()
    run = Run(logdir, place)
    digits = load(data, "--data", held_back)
    count, height, width, _ = digits.train_images.shape
    if network is Network.LAYERS and (height, width) != (IMAGE_SIZE, IMAGE_SIZE):
        raise typer.BadParameter(
            f"'layers' is for images of {IMAGE_SIZE} by {IMAGE_SIZE} pixels, these have"
            f" {height} by {width}: give --data", param_hint="--network",
        )  # fmt: skip
    if batch > count:
        raise typer.BadParameter(f"{batch} is more than the {count} images", param_hint="--batch")
    steps = epochs * (count // batch)
    rate = _RATES[network] if learning_rate is None else learning_rate
    run.open({"program": "mnist", "data": digits.source, "network": network, "batch": batch,
              "learning_rate": rate, "seed": seed}, fresh)  # fmt: skip
    if place.is_chief:
        run.say(f"{digits.source}: {count} to learn, {len(digits.test_images)} held back")
    with tf.Graph().as_default(), place.device():
        tf.set_random_seed(seed)
        model = build(network, (height, width), rate, steps)

        def feeds(done: int) -> Iterator[Feeds]:
            for images, labels in batches(digits, batch, seed + place.index, done):
                yield {model.images: images, model.labels: labels, model.training: True}

        def end(asked: Callable[..., Any]) -> dict[str, float]:
            return _said(run, digits, classified(asked, model, digits.test_images))

        what = Steps(model.train_op, model.loss, model.global_step, steps, batch, "images")
        result = train(run, what, feeds, end)
    if result is not None:
        run.finish(result)
