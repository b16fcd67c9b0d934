"""stable-baselines 2.10.1 over Penstock: PPO2 and DQN solve CartPole, and step as over 1.15."""

from functools import cache
from typing import Any

import pytest

from tests.packages.alike import assert_alike
from tests.packages.packages import expected, package, run

STEPS = "baselines_steps.py"
pytestmark = pytest.mark.long


@cache
def _answer() -> Any:
    package("stable-baselines")
    return run("baselines_cartpole.py", "stable-baselines", seconds=2400)


@pytest.mark.parametrize("method", ["ppo2", "dqn"])
def test_cartpole_is_solved(method: str) -> None:
    """CartPole counts as solved at a mean return of 195 over 100 episodes."""
    found = _answer()[method]
    assert found["before"] < 50
    assert found["after"] >= 195


def test_a_model_is_saved_and_loaded() -> None:
    assert _answer()["the same when loaded"]


@pytest.mark.parametrize("method", ["ppo2", "dqn"])
def test_steps_are_as_under_tensorflow(method: str) -> None:
    """From equal values, over equal batches: 200 steps' losses and what they leave."""
    package("stable-baselines")
    assert_alike(_steps()[method], expected(STEPS)[method], 2e-5, method)


@cache
def _steps() -> Any:
    return run(STEPS, "stable-baselines")
