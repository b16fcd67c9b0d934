"""Agents that balance a pole: the environment is stepped inside the graph, by `tf.py_func`.

Two ways to learn. Policy gradients (Williams, 1992): a network gives the chances of pushing left or
right; whole episodes are played in a loop of the graph, and what was done before much reward is
made likelier. Deep Q-learning (Mnih et al., 2015): a network tells how much reward is to come after
each push; what was met is kept in variables of the graph, and a step draws some of it, and moves
the network towards the reward plus what a slower copy of it expects next.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf

Observations = npt.NDArray[np.float32]
SIZE, ACTIONS = 4, 2


class Method(StrEnum):
    """How the agent learns."""

    POLICY_GRADIENT = "policy-gradient"
    DQN = "dqn"


@dataclass(frozen=True)
class Settings:
    """The agent and its training.

    Attributes:
      method: how it learns.
      poles: balanced side by side.
      units: of the hidden layer.
      learning_rate: Adam's at first; it falls to a tenth in the course of the steps.
      steps: training steps.
      discount: what reward is worth a step later.
      longest: steps after which an episode is over.
      memory: transitions that Q-learning keeps.
      batch: transitions that it learns from in a step.
      exploring: steps in which chance pushes fall from all to one of fifty.
      renewed: steps from one renewal of its slower copy to the next.
      seed: of weights, episodes and draws.
    """

    method: Method = Method.POLICY_GRADIENT
    poles: int = 16
    units: int = 64
    learning_rate: float = 0.01
    steps: int = 100
    discount: float = 0.99
    longest: int = 500
    memory: int = 20000
    batch: int = 128
    exploring: int = 1500
    renewed: int = 50
    seed: int = 1


class Poles:
    """Some environments side by side, as the graph calls them.

    Args:
      count: how many.
      seed: of the first episodes.

    Raises:
      ModuleNotFoundError: gymnasium is not installed.
    """

    def __init__(self, count: int, seed: int) -> None:
        import gymnasium

        self._all = [gymnasium.make("CartPole-v1") for _ in range(count)]
        self._seed: int | None = seed
        self._running = np.zeros(count, bool)
        self._now = np.zeros((count, SIZE), np.float32)

    def begin(self) -> Observations:
        """Begins an episode everywhere; returns what is seen, [count, SIZE]."""
        for index, pole in enumerate(self._all):
            seed = None if self._seed is None else self._seed + index
            self._now[index], _ = pole.reset(seed=seed)
        self._seed = None
        self._running[:] = True
        return self._now.copy()

    def push(self, actions: npt.NDArray[np.int64]) -> tuple[Observations, npt.NDArray[np.bool_]]:
        """Pushes where an episode still goes on.

        Args:
          actions: 0 for left, 1 for right, [count].

        Returns:
          What is seen now, and where the episode still goes on.
        """
        for index in np.flatnonzero(self._running):
            self._now[index], _, fell, over, _ = self._all[index].step(int(actions[index]))
            self._running[index] = not (fell or over)
        return self._now.copy(), self._running.copy()

    def go_on(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Observations, npt.NDArray[np.bool_], Observations]:
        """Pushes everywhere, and begins anew where an episode ended.

        Args:
          actions: as `push` takes them.

        Returns:
          What is seen after the push, where the pole fell, and what to act on next.
        """
        after, fallen = self._now.copy(), np.zeros(len(self._all), bool)
        for index, pole in enumerate(self._all):
            seen, _, fell, over, _ = pole.step(int(actions[index]))
            after[index], fallen[index] = seen, fell
            self._now[index] = pole.reset()[0] if fell or over else seen
        return after, fallen, self._now.copy()


def _network(seen: Any, settings: Settings, scope: str) -> Any:
    """A number for each action, [..., ACTIONS]."""
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        hidden = tf.layers.dense(seen, settings.units, activation=tf.nn.tanh, name="hidden")
        return tf.layers.dense(hidden, ACTIONS, name="out")


def play(poles: Poles, count: int, settings: Settings, greedy: bool) -> tuple[Any, Any, Any]:
    """Plays an episode of each pole, in a loop of the graph.

    Args:
      poles: the environments.
      count: how many these are.
      settings: the agent's.
      greedy: take the likeliest action, rather than draw by the chances.

    Returns:
      What was seen, [time, count, SIZE]; the actions, and where the episode went on, [time, count].
    """

    def body(time: Any, seen: Any, running: Any, *kept: Any) -> Any:
        logits = _network(seen, settings, "agent")
        drawn = tf.multinomial(logits, 1)[:, 0]
        actions = tf.argmax(logits, 1) if greedy else drawn
        after, goes_on = tf.py_func(poles.push, [actions], [tf.float32, tf.bool], name="push")
        after.set_shape([count, SIZE])
        goes_on.set_shape([count])
        written = [array.write(time, value) for array, value in zip(kept, (seen, actions, running))]
        return (time + 1, after, goes_on, *written)

    def not_over(time: Any, seen: Any, running: Any, *kept: Any) -> Any:
        return tf.logical_and(tf.reduce_any(running), time < settings.longest)

    first = tf.py_func(poles.begin, [], tf.float32, name="begin")
    first.set_shape([count, SIZE])
    arrays = [
        tf.TensorArray(kind, 0, dynamic_size=True) for kind in (tf.float32, tf.int64, tf.bool)
    ]
    end = tf.while_loop(
        not_over, body, (tf.constant(0), first, tf.fill([count], True), *arrays),
        back_prop=False, parallel_iterations=1,
    )  # fmt: skip
    seen, actions, running = (array.stack() for array in end[3:])
    seen.set_shape([None, count, SIZE])
    return seen, actions, running


def _falling(settings: Settings, step: Any) -> Any:
    return tf.train.exponential_decay(settings.learning_rate, step, settings.steps, 0.1)


class PolicyGradient:
    """Builds the agent that makes rewarded actions likelier, in the default graph.

    Attributes:
      train_op: plays an episode of each pole and learns from it.
      loss: what it makes small.
      length: mean length of these episodes.
    """

    def __init__(self, settings: Settings, step: Any) -> None:
        poles = Poles(settings.poles, settings.seed)
        seen, actions, running = play(poles, settings.poles, settings, greedy=False)
        alive = tf.cast(running, tf.float32)
        self.length = tf.reduce_mean(tf.reduce_sum(alive, 0))
        coming = tf.scan(lambda later, now: now + settings.discount * later, tf.reverse(alive, [0]))
        coming = tf.reverse(coming, [0])
        count = tf.reduce_sum(alive)
        mean = tf.reduce_sum(coming * alive) / count
        spread = tf.sqrt(tf.reduce_sum(alive * tf.square(coming - mean)) / count)
        advantage = tf.stop_gradient((coming - mean) / (spread + 1e-6) * alive)
        unlikely = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=actions, logits=_network(seen, settings, "agent")
        )
        self.loss = tf.reduce_sum(unlikely * advantage) / count
        self.train_op = tf.train.AdamOptimizer(_falling(settings, step)).minimize(self.loss, step)


class DeepQ:
    """Builds the agent that learns how much reward is to come, in the default graph.

    Attributes:
      train_op: pushes each pole once, keeps what came of it, and learns from what is kept.
      loss: what it makes small.
      length: mean length of recent episodes, from how often poles fall.
    """

    def __init__(self, settings: Settings, step: Any) -> None:
        self._settings, self._step = settings, step
        poles = Poles(settings.poles, settings.seed)
        self._memory: dict[str, Any] = {}
        for name, kind, shape in (
            ("seen", tf.float32, [SIZE]), ("action", tf.int64, []), ("after", tf.float32, [SIZE]),
            ("fallen", tf.float32, []),
        ):  # fmt: skip
            self._memory[name] = self._local(name, tf.zeros([settings.memory, *shape], kind))
        self._kept = self._local("kept", tf.constant(0, tf.int64))
        first = tf.py_func(poles.begin, [], tf.float32, name="begin")
        first.set_shape([settings.poles, SIZE])
        self._now = self._local("now", first)
        self._falls = self._local("falls", tf.constant(0.05))
        self.length = 1.0 / tf.maximum(self._falls, 1e-3)
        kept = self._push(poles)
        with tf.control_dependencies([kept]):
            self.loss = self._loss()
        optimizer = tf.train.AdamOptimizer(_falling(settings, step))
        learned = optimizer.minimize(self.loss, step, var_list=tf.trainable_variables("agent"))
        with tf.control_dependencies([learned]):
            self.train_op = self._renew()

    def _local(self, name: str, value: Any) -> Any:
        return tf.Variable(
            value, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name=name
        )

    def _push(self, poles: Poles) -> Any:
        """One push of each pole; what came of it is kept."""
        settings = self._settings
        count = settings.poles
        best = tf.argmax(_network(self._now, settings, "agent"), 1)
        chance = tf.random_uniform([count], 0, ACTIONS, tf.int64)
        share = tf.maximum(1.0 - tf.cast(self._step, tf.float32) / settings.exploring, 0.02)
        action = tf.where(tf.random_uniform([count]) < share, chance, best)
        seen = tf.identity(self._now)
        with tf.control_dependencies([seen]):
            after, fallen, then = tf.py_func(
                poles.go_on, [action], [tf.float32, tf.bool, tf.float32], name="go_on"
            )
        for tensor in (after, then):
            tensor.set_shape([count, SIZE])
        fallen.set_shape([count])
        fell = tf.cast(fallen, tf.float32)
        met = {"seen": seen, "action": action, "after": after, "fallen": fell}
        rows = tf.floormod(self._kept + tf.range(count, dtype=tf.int64), settings.memory)
        writes = [tf.scatter_update(self._memory[name], rows, value) for name, value in met.items()]
        falls = 0.99 * self._falls + 0.01 * tf.reduce_mean(fell)
        with tf.control_dependencies(writes):
            return tf.group(
                tf.assign_add(self._kept, count), tf.assign(self._now, then),
                tf.assign(self._falls, falls),
            )  # fmt: skip

    def _loss(self) -> Any:
        """How far the network is from the reward and what its slower copy expects next."""
        settings = self._settings
        there = tf.minimum(self._kept, settings.memory)
        rows = tf.random_uniform([settings.batch], 0, there, tf.int64)
        drawn = {name: tf.gather(table, rows) for name, table in self._memory.items()}
        # Which action is best the network says, what it is worth its copy (van Hasselt, 2016).
        best = tf.argmax(_network(drawn["after"], settings, "agent"), 1)
        worth = _network(drawn["after"], settings, "copy")
        next_worth = tf.reduce_sum(worth * tf.one_hot(best, ACTIONS), 1)
        # A fall costs one, and nothing else counts: the values stay between -1 and 0.
        wanted = tf.where(drawn["fallen"] > 0, -tf.ones_like(next_worth),
                          settings.discount * next_worth)  # fmt: skip
        expected = tf.reduce_sum(
            _network(drawn["seen"], settings, "agent") * tf.one_hot(drawn["action"], ACTIONS), 1
        )
        return tf.losses.huber_loss(tf.stop_gradient(wanted), expected)

    def _renew(self) -> Any:
        """Makes the copy equal to the network, now and then."""
        agent, copy = (tf.trainable_variables(scope) for scope in ("agent/", "copy/"))
        due = tf.equal(tf.floormod(self._step, self._settings.renewed), 0)
        return tf.cond(
            due,
            lambda: tf.group(*(tf.assign(c, a.read_value()) for a, c in zip(agent, copy))),
            lambda: tf.no_op(),
        )


def build(settings: Settings, step: Any) -> PolicyGradient | DeepQ:
    """Builds an agent in the default graph; `step` counts its training steps."""
    if settings.method is Method.POLICY_GRADIENT:
        return PolicyGradient(settings, step)
    return DeepQ(settings, step)


def lengths(settings: Settings, episodes: int) -> Any:
    """Lengths of episodes that the agent plays by its best actions, [episodes]."""
    poles = Poles(episodes, settings.seed + 1000)
    with tf.name_scope("test"):
        _, _, running = play(poles, episodes, settings, greedy=True)
        return tf.reduce_sum(tf.cast(running, tf.int32), 0)
