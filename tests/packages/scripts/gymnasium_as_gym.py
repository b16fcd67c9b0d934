"""gymnasium under the name and the calls of gym, for packages of gym's time.

Imported before such a package.  ``gym.make`` gives environments whose ``reset`` returns the
observation alone and whose ``step`` returns four values, by gymnasium's own conversion of them;
the seed that ``seed`` was told is that of the next ``reset``.  All else is gymnasium's.
"""

import importlib
import sys
import types

import gymnasium
from gymnasium.utils.step_api_compatibility import step_api_compatibility


class OldCalls(gymnasium.Wrapper):
    """An environment by gym's calls of before 0.26."""

    _seed = None

    def seed(self, seed=None):
        """Takes the seed of the next episode, and of those that follow it."""
        self._seed = seed
        return [seed]

    def reset(self, **options):
        """The first observation."""
        if self._seed is not None:
            options.setdefault("seed", int(self._seed))
            self._seed = None
        return self.env.reset(**options)[0]

    def step(self, action):
        """The observation, the reward, whether the episode is over, and what else is known."""
        return step_api_compatibility(self.env.step(action), output_truncation_bool=False)


def make(name, **options):
    """gymnasium's environment of that name, by the old calls."""
    environment = gymnasium.make(name, **options)
    space = environment.action_space
    if isinstance(space, gymnasium.spaces.Discrete):
        space.n = int(space.n)  # layers take no NumPy number as their width
    return OldCalls(environment)


class GoalEnv(gymnasium.Env):
    """What gym named environments whose observations hold a goal."""


class Logger(types.ModuleType):
    """``gym.logger``, whose level had a setter."""

    MIN_LEVEL, DISABLED = gymnasium.logger.WARN, 50

    def set_level(self, level):
        """Which messages are seen from here on."""
        self.MIN_LEVEL = gymnasium.logger.min_level = level


class _Gym(types.ModuleType):
    """The module ``gym``: gymnasium's names, but for those of this file."""

    __path__ = ()
    make = staticmethod(make)
    GoalEnv = GoalEnv
    logger = Logger("gym.logger")

    def __getattr__(self, name):
        return getattr(gymnasium, name)


def install():
    """Makes ``import gym`` find gymnasium."""
    sys.modules["gym"] = _Gym("gym")
    for part in ("core", "error", "spaces", "wrappers", "utils", "envs"):
        sys.modules[f"gym.{part}"] = importlib.import_module(f"gymnasium.{part}")
    sys.modules["gym.logger"] = sys.modules["gym"].logger
    # gymnasium records videos in another way; this one is imported whether or not one is recorded.
    recording = types.ModuleType("gym.wrappers.monitoring")
    recording.video_recorder = types.ModuleType("gym.wrappers.monitoring.video_recorder")
    sys.modules[recording.__name__] = recording


install()
