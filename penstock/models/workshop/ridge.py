"""``penstock train ridge``: ridge regression in closed form, and by gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

import penstock as tf
from penstock.models.ridge import closed_form, loss_of, made_up
from penstock.models.workshop.cluster import here
from penstock.models.workshop.pictures import saved
from penstock.models.workshop.training import Feeds, Fresh, Logdir, Run, Seed, Steps, command, train

app = command()


def _compared(
    run: Run, exact: npt.NDArray[np.float32], found: npt.NDArray[np.float32]
) -> dict[str, float]:
    """Prints and draws the weights of both ways."""
    run.say("weight  closed form  by gradients")
    for number, (one, other) in enumerate(zip(exact.tolist(), found.tolist())):
        run.say(f"{number:6}  {one:11.5f}  {other:12.5f}")
    apart = float(np.abs(exact - found).max())
    run.say(f"largest difference: {apart:.2g}")

    def draw(figure: Any, axes: Any) -> None:
        axes.scatter(exact, found)
        axes.axline((0, 0), slope=1, linewidth=0.5)
        axes.set_xlabel("closed form")
        axes.set_ylabel("by gradients")

    saved(run, "weights.png", draw)
    return {"difference": apart}


@app.command()
def ridge(
    examples: Annotated[int, typer.Option(min=1, help="How many are made up.")] = 1000,
    features: Annotated[int, typer.Option(min=1, help="Of each example.")] = 8,
    penalty: Annotated[
        float, typer.Option(min=0, help="On the squared weights, beside the mean squared error.")
    ] = 0.1,
    steps: Annotated[int, typer.Option(min=1, help="Of gradient descent.")] = 500,
    learning_rate: Annotated[float, typer.Option(min=0, help="Of gradient descent.")] = 0.1,
    seed: Seed = 1,
    logdir: Logdir = Path("runs/ridge"),
    fresh: Fresh = False,
) -> None:
    """Fit a line to made-up examples, with a penalty on large weights, in two ways.

    The graph: the closed form is one node after another, two matrix products and a solver, and
    needs no training. The other way has the weights as a variable; a step computes the loss, its
    gradient, and the update. Both must come to the same.

    \b
    Examples:
      penstock train ridge
      penstock train ridge --features 20 --penalty 1
      penstock train ridge --ps 1 --workers 2 --logdir runs/ridge-cluster

    With workers the weights stand on a parameter server, and all workers take steps on them.
    """
    place = here()
    run = Run(logdir, place)
    run.open({"program": "ridge", "examples": examples, "features": features, "penalty": penalty,
              "learning_rate": learning_rate, "seed": seed}, fresh)  # fmt: skip
    inputs, targets = made_up(examples, features, seed)
    with tf.Graph().as_default(), place.device():
        x = tf.placeholder(tf.float32, [None, features], name="x")
        y = tf.placeholder(tf.float32, [None], name="y")
        exact = closed_form(x, y, penalty)
        weights = tf.get_variable("weights", [features], initializer=tf.zeros_initializer())
        loss = loss_of(weights, x, y, penalty)
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.GradientDescentOptimizer(learning_rate)
        train_op = optimizer.minimize(loss, step)
        tf.summary.scalar("loss", loss)
        tf.summary.histogram("values/weights", weights)
        fed = {x: inputs, y: targets}

        def feeds(done: int) -> Iterator[Feeds]:
            while True:
                yield fed

        def end(asked: Callable[..., Any]) -> dict[str, float]:
            return _compared(run, *asked([exact, weights], fed))

        result = train(run, Steps(train_op, loss, step, steps), feeds, end)
    if result is not None:
        run.finish(result)
