"""Training sessions do what TensorFlow 1.15's do: the same scripted scenarios, call by call.

``expected.json`` is what happened there; ``scenarios.py`` makes it. A scenario records calls of
hooks, errors, essential lines of the log, files, events, and nodes with their inputs and devices.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import penstock as tf
from tests.peers import TF115, needs
from tests.training.monitored import scenarios

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text())


def test_every_scenario_is_expected() -> None:
    assert set(scenarios.SCENARIOS) == set(EXPECTED)
    assert not any("SCENARIO FAILED" in line for lines in EXPECTED.values() for line in lines)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_scenario(name: str) -> None:
    assert scenarios.run_all(tf, [name])[name] == EXPECTED[name]


@pytest.mark.long
def test_tensorflow_still_does_so(tmp_path: Path) -> None:
    needs(TF115)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    output = tmp_path / "found.json"
    command = [str(TF115), str(HERE / "scenarios.py"), str(output)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(output.read_text()) == EXPECTED
