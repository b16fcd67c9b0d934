"""TensorFlow Probability 0.8 over Penstock: its values are those that it has over TensorFlow 1.15.

Under TensorFlow 1.15 it wants NumPy below 1.20, as the recordings were made with.
"""

from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import pytest

from tests.packages.alike import assert_alike
from tests.packages.packages import expected, package, run

pytestmark = pytest.mark.long
NAME = "tensorflow-probability"
DRAWS = 2000
# Between the means of two sets of as many draws, in standard deviations: six standard errors.
APART = 6 * sqrt(2 / DRAWS)


@cache
def _answers(script: str) -> Any:
    return run(script, NAME)


def _assert_drawn_alike(found: Any, wanted: Any, name: str) -> None:
    if isinstance(wanted, str):  # under TensorFlow 1.15 it cannot draw
        return
    for one, other in zip(found, wanted, strict=True):
        assert one["shape"] == other["shape"], name
        assert len(one["moments"]) == len(other["moments"]), name
        for at in range(0, len(one["moments"]), 2):
            means = [np.array(each["moments"][at]) for each in (one, other)]
            deviations = [np.array(each["moments"][at + 1]) for each in (one, other)]
            within = APART * deviations[1] + 1e-5
            assert (abs(means[0] - means[1]) <= within).all(), (name, means, within)
            # A deviation's own error, of what is as long-tailed as an exponential distribution.
            within = APART * sqrt(2) * deviations[1] + 1e-5
            assert (abs(deviations[0] - deviations[1]) <= within).all(), (name, deviations)


@pytest.mark.parametrize("name", sorted(expected("tfp_distributions.py")))
def test_distributions(name: str) -> None:
    """Log probabilities, moments, entropies, divergences and slopes; moments of draws."""
    package(NAME)
    found = dict(_answers("tfp_distributions.py")[name])
    wanted = expected("tfp_distributions.py")[name]
    _assert_drawn_alike(found.pop("draws"), wanted.pop("draws"), name)
    assert_alike(found, wanted, 2e-5, name)


def test_sixty_distributions_are_compared() -> None:
    assert len(expected("tfp_distributions.py")) >= 60


@pytest.mark.parametrize("name", sorted(expected("tfp_bijectors.py")))
def test_bijectors(name: str) -> None:
    """Both ways, and the log determinants of both."""
    package(NAME)
    assert_alike(_answers("tfp_bijectors.py")[name], expected("tfp_bijectors.py")[name], 2e-5, name)


@pytest.mark.parametrize("name", sorted(expected("tfp_inference.py")))
def test_inference(name: str) -> None:
    """HMC, NUTS and other chains find a Gaussian; variational inference, optimizers, series."""
    package(NAME)
    found, wanted = _answers("tfp_inference.py")[name], expected("tfp_inference.py")[name]
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        assert_alike(found[key], value, 0.12 if key[0] == "~" else 1e-4, f"{name}/{key}")
