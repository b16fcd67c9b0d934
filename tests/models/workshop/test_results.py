"""What the workshop's programs come to by their defaults, on real data; minutes each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.workshop.commands import result, shared, trained

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


def test_mnists_last_two_thousand_after_the_first_eight(tmp_path: Path) -> None:
    run = tmp_path / "run"
    trained("mnist", "--network", "cnn", "--data", shared("mnist"), "--held-back", 2000,
            "--epochs", 15, "--logdir", run)  # fmt: skip
    assert result(run)["images"] == 2000 and result(run)["accuracy"] > 0.985


@pytest.mark.parametrize("network", ["softmax", "cnn"])
def test_scikit_learns_digits(tmp_path: Path, network: str) -> None:
    pytest.importorskip("sklearn")
    trained("mnist", "--network", network, "--logdir", tmp_path / "run")
    assert result(tmp_path / "run")["accuracy"] > {"softmax": 0.93, "cnn": 0.96}[network]


@pytest.mark.parametrize("task", ["reverse", "sort"])
def test_translation(tmp_path: Path, task: str) -> None:
    trained("translate", "--task", task, "--logdir", tmp_path / "run")
    assert result(tmp_path / "run")["greedy"] > 0.99


@pytest.mark.parametrize("method", ["policy-gradient", "dqn"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_hundred_episodes_of_cartpole(tmp_path: Path, method: str, seed: int) -> None:
    pytest.importorskip("gymnasium")
    trained("cartpole", "--method", method, "--seed", seed, "--logdir", tmp_path / "run")
    assert result(tmp_path / "run")["mean"] >= 195
