"""Random nested conditionals and loops, against TensorFlow 1.15: nodes, and what they compute."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.library.control_flow import random_programs
from tests.library.control_flow.programs import dump
from tests.peers import TF115, needs

GRAPHS, VALUES = 150, 500
# Conditions that are constants: TensorFlow's optimizer leaves a result dead.
TENSORFLOW_FAILS = {6, 243}
# A loop under two control inputs: TensorFlow takes them from a set, in an order that changes from
# one installation to the next.
UNORDERED = {129}

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def theirs(kind: str, count: int, folder: Path) -> list[Any]:
    needs(TF115)
    path = folder / f"{kind}.json"
    script = Path(__file__).with_name("random_programs.py")
    command = [str(TF115), str(script), kind, str(count), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    found: list[Any] = json.loads(path.read_text())
    return found


def test_random_graphs_are_tensorflows(tmp_path: Path) -> None:
    differ = []
    for seed, wanted in enumerate(theirs("graphs", GRAPHS, tmp_path)):
        ours = dump(tf, lambda tf, seed=seed: random_programs.build(tf, seed))
        if json.loads(json.dumps(ours)) != wanted:
            differ.append(seed)
    assert set(differ) <= UNORDERED, f"seeds whose graphs differ: {differ}"


def test_random_programs_compute_what_tensorflow_does(tmp_path: Path) -> None:
    differ = []
    failed = set()
    for seed, wanted in enumerate(theirs("values", VALUES, tmp_path)):
        if isinstance(wanted, str):
            failed.add(seed)
            continue
        ours = random_programs.run(tf, seed)
        for one, other in zip(ours, wanted, strict=True):
            if not all(np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(one, other)):
                differ.append(seed)
    assert not differ, f"seeds whose values differ: {differ}"
    assert failed <= TENSORFLOW_FAILS
