"""``penstock train xor``: exclusive or by two layers, every value watched by summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import penstock as tf
from penstock.models.workshop.pictures import saved
from penstock.models.workshop.training import Feeds, Fresh, Logdir, Run, Seed, Steps, command, train

app = command()

_INPUTS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
_TARGETS = np.array([0, 1, 1, 0], np.float32)
_GRID = 60


def _layer(x: Any, units: int, name: str) -> Any:
    """A linear layer, whose weights, biases and outputs are summarized."""
    with tf.variable_scope(name):
        glorot = tf.glorot_uniform_initializer()
        weights = tf.get_variable("weights", [x.shape[1].value, units], initializer=glorot)
        biases = tf.get_variable("biases", [units], initializer=tf.zeros_initializer())
        made = tf.matmul(x, weights) + biases
    for what, values in (("weights", weights), ("biases", biases), ("outputs", made)):
        tf.summary.histogram(f"values/{name}/{what}", values)
    return made


def _drawn(run: Run, chances: Any, side: Any) -> None:
    """A picture of what the network says of the whole square."""

    def draw(figure: Any, axes: Any) -> None:
        image = axes.imshow(chances, origin="lower", extent=(side[0], side[-1]) * 2, vmin=0,
                            vmax=1, cmap="RdBu")  # fmt: skip
        axes.scatter(*_INPUTS.T, c=_TARGETS, edgecolors="black", cmap="RdBu", s=120)
        figure.colorbar(image, ax=axes, label="chance of 1")

    saved(run, "square.png", draw)


@app.command()
def xor(
    hidden: Annotated[int, typer.Option(min=1, help="Hidden units; 1 cannot do it.")] = 4,
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 500,
    learning_rate: Annotated[float, typer.Option(min=0, help="Adam's.")] = 0.05,
    seed: Seed = 1,
    logdir: Logdir = Path("runs/xor"),
    fresh: Fresh = False,
) -> None:
    """Learn exclusive or, which no single layer can, and watch every value in TensorBoard.

    The graph: two inputs, a hidden layer with tanh, one logit; the four cases are one batch.
    Scalars show the loss, histograms the weights, biases and outputs of both layers.

    \b
    Examples:
      penstock train xor
      penstock train xor --hidden 2 --seed 3
      tensorboard --logdir runs/xor
    """
    run = Run(logdir)
    run.open({"program": "xor", "hidden": hidden, "learning_rate": learning_rate, "seed": seed},
             fresh)  # fmt: skip
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.placeholder(tf.float32, [None], name="y")
        logits = _layer(tf.tanh(_layer(x, hidden, "hidden")), 1, "out")[:, 0]
        chances = tf.sigmoid(logits, name="chances")
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_mean(losses)
        step = tf.train.get_or_create_global_step()
        train_op = tf.train.AdamOptimizer(learning_rate).minimize(loss, step)
        tf.summary.scalar("loss", loss)

        def feeds(done: int) -> Iterator[Feeds]:
            while True:
                yield {x: _INPUTS, y: _TARGETS}

        def end(asked: Callable[..., Any]) -> dict[str, float]:
            found = asked(chances, {x: _INPUTS})
            for (one, other), chance in zip(_INPUTS.astype(int).tolist(), found.tolist()):
                run.say(f"{one} xor {other}: {chance:.3f}")
            right = int(((found > 0.5) == (_TARGETS > 0.5)).sum())
            run.say(f"right: {right} of 4")
            side = np.linspace(-0.25, 1.25, _GRID, dtype=np.float32)
            square = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
            _drawn(run, asked(chances, {x: square}).reshape(_GRID, _GRID), side)
            return {"right": right}

        result = train(run, Steps(train_op, loss, step, steps), feeds, end)
    run.finish(result or {})
