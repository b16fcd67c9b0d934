"""``penstock train cartpole``: a pole balanced by policy gradients or deep Q-learning."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import penstock as tf
from penstock.models.cartpole import Method, Settings, build, lengths
from penstock.models.workshop.training import Feeds, Fresh, Logdir, Run, Seed, Steps, command, train

app = command()

EPISODES = 100
SOLVED = 195.0
_STEPS = {Method.POLICY_GRADIENT: 100, Method.DQN: 5000}
_RATES = {Method.POLICY_GRADIENT: 0.01, Method.DQN: 0.003}


@app.command()
def cartpole(
    method: Annotated[Method, typer.Option(help="How it learns.")] = Method.POLICY_GRADIENT,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Training steps; default: 100 of policy gradients, 5000 of DQN."),
    ] = None,
    poles: Annotated[int, typer.Option(min=1, help="Balanced side by side.")] = Settings.poles,
    units: Annotated[int, typer.Option(min=1, help="Of the hidden layer.")] = Settings.units,
    seed: Seed = 1,
    logdir: Logdir = Path("runs/cartpole"),
    fresh: Fresh = False,
) -> None:
    """Learn to balance a pole on a cart that is pushed left or right (CartPole-v1 of gymnasium).

    The graph: the environment is a py_func. With policy-gradient a step plays whole episodes in a
    while_loop and makes what was done before much reward likelier; with dqn a step is one push of
    each pole, kept in variables of the graph, and an update towards the reward and what a slower
    copy of the network expects next. Python only says "one more step".

    \b
    Examples:
      penstock train cartpole
      penstock train cartpole --method dqn --logdir runs/dqn

    At the end 100 new episodes are played by the best actions; 195 steps on average are called
    solved, 500 are the most.
    """
    if importlib.util.find_spec("gymnasium") is None:
        raise typer.BadParameter("cartpole takes gymnasium: pip install 'penstock[workshop]'")
    run = Run(logdir)
    total = steps or _STEPS[method]
    settings = Settings(method=method, poles=poles, units=units, seed=seed, steps=total,
                        learning_rate=_RATES[method])  # fmt: skip
    run.open({"program": "cartpole", "method": method, "poles": poles, "units": units,
              "seed": seed}, fresh)  # fmt: skip
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        step = tf.train.get_or_create_global_step()
        agent = build(settings, step)
        played = lengths(settings, EPISODES)
        tf.summary.scalar("loss", agent.loss)
        tf.summary.scalar("episode_length", agent.length)

        def feeds(done: int) -> Iterator[Feeds]:
            while True:
                yield {}

        def end(asked: Callable[..., Any]) -> dict[str, float]:
            found = asked(played)
            solved = "solved" if found.mean() >= SOLVED else "not solved"
            run.say(f"{EPISODES} episodes: {found.mean():.1f} steps on average, {found.min()} to"
                    f" {found.max()}: {solved}")  # fmt: skip
            return {"mean": float(np.mean(found)), "least": int(found.min())}

        result = train(run, Steps(agent.train_op, agent.loss, step, total), feeds, end)
    run.finish(result or {})
