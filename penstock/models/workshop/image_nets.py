"""``penstock train image-nets``: step times of the image networks that systems are compared by."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import penstock as tf
from penstock.models.workshop.pictures import saved
from penstock.models.workshop.progress import Bar, console
from penstock.models.workshop.training import Fresh, Logdir, Run, Seed, command

app = command()


class Net(StrEnum):
    """The networks."""

    ALEXNET = "alexnet"
    OVERFEAT = "overfeat"
    VGG = "vgg"
    GOOGLENET = "googlenet"
    INCEPTION_V3 = "inception-v3"


def _function(net: Net) -> Any:
    nets = tf.contrib.slim.nets
    return {
        Net.ALEXNET: nets.alexnet.alexnet_v2,
        Net.OVERFEAT: nets.overfeat.overfeat,
        Net.VGG: nets.vgg.vgg_a,
        Net.GOOGLENET: nets.inception.inception_v1,
        Net.INCEPTION_V3: nets.inception.inception_v3,
    }[net]


def _median_ms(session: Any, fetch: Any, steps: int, more: Callable[[], None]) -> float:
    times = []
    for number in range(steps + 1):
        began = time.perf_counter()
        session.run(fetch)
        if number:  # the first one makes the program
            times.append(time.perf_counter() - began)
        more()
    return float(np.median(times)) * 1000


def measured(
    net: Net, batch: int, steps: int, seed: int, more: Callable[[], None]
) -> dict[str, float]:
    """Builds a network over random images, and times it.

    Args:
      net: which.
      batch: images of a step.
      steps: of which the median is taken, after one that is not counted.
      seed: of weights and images.
      more: called after each step.

    Returns:
      Milliseconds of a step forwards and of a training step, millions of parameters, pixels of an
      image's side.
    """
    function = _function(net)
    side = function.default_image_size
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        drawn = np.random.RandomState(seed).normal(size=(batch, side, side, 3))
        read = tf.py_func(lambda: drawn.astype(np.float32), [], tf.float32)
        read.set_shape([batch, side, side, 3])
        images = tf.Variable(read, trainable=False, name="images")
        labels = np.arange(batch) % 1000
        logits, _ = function(images, num_classes=1000, is_training=True)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        train_op = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
        parameters = sum(int(np.prod(v.shape.as_list())) for v in tf.trainable_variables())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            forward = _median_ms(session, logits.op, steps, more)
            training = _median_ms(session, train_op, steps, more)
    return {"forward_ms": forward, "training_ms": training, "parameters": parameters / 1e6,
            "side": side}  # fmt: skip


@app.command("image-nets")
def image_nets(
    net: Annotated[list[Net] | None, typer.Option(help="Only this one; may be repeated.")] = None,
    batch: Annotated[int, typer.Option(min=1, help="Images of a step.")] = 8,
    steps: Annotated[int, typer.Option(min=1, help="Of which the median is taken.")] = 5,
    seed: Seed = 1,
    logdir: Logdir = Path("runs/image-nets"),
    fresh: Fresh = False,
) -> None:
    """Time AlexNet, OverFeat, VGG (A), GoogLeNet and Inception v3 over random images.

    The graph: the networks of tf.contrib.slim, a softmax over 1000 classes, gradient descent. A
    step forwards runs the network alone; a training step its gradients and the updates, too.

    \b
    Examples:
      penstock train image-nets
      penstock train image-nets --net googlenet --net inception-v3 --batch 4
    """
    run = Run(logdir)
    chosen = net or list(Net)
    run.open({"program": "image-nets", "batch": batch, "seed": seed}, fresh)
    found: dict[str, dict[str, float]] = {}
    with Bar(console(), len(chosen) * 2 * (steps + 1), title="timing") as bar:
        for one in chosen:
            found[one.value] = measured(one, batch, steps, seed, lambda: bar.more(1, 0.0))
    run.say("network       side  parameters  forward ms  training ms  images/s trained")
    for name, values in found.items():
        run.say(
            f"{name:12}  {values['side']:4.0f}  {values['parameters']:8.1f} M"
            f"  {values['forward_ms']:10.1f}  {values['training_ms']:11.1f}"
            f"  {1000 * batch / values['training_ms']:16.1f}"
        )

    def draw(figure: Any, axes: Any) -> None:
        names = list(found)
        axes.barh(names, [found[name]["training_ms"] for name in names], label="training step")
        axes.barh(names, [found[name]["forward_ms"] for name in names], label="forward")
        axes.set_xlabel(f"milliseconds, {batch} images")
        axes.legend()

    saved(run, "times.png", draw)
    run.finish({"batch": batch, "nets": found})
