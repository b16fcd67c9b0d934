"""Input pipelines against TensorFlow 1.15: their graphs node by node, and what they read.

``make_expected.py`` wrote what is expected.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.training.data import pipelines, reading

_HERE = Path(__file__).parent
GRAPHS: dict[str, Any] = json.loads((_HERE / "expected_graphs.json").read_text())
VALUES: dict[str, Any] = json.loads((_HERE / "expected_values.json").read_text())
# Programs that go another way than TensorFlow, and why.
OTHER: dict[str, str] = {}


@pytest.mark.parametrize("name", sorted(pipelines.GRAPHS))
def test_graph_is_tensorflows(name: str) -> None:
    assert pipelines.describe(tf, name) == GRAPHS[name]


@pytest.mark.parametrize("name", sorted(set(reading.PROGRAMS) - set(OTHER)))
def test_reads_what_tensorflow_reads(name: str, tmp_path: Path) -> None:
    found = reading.run(tf, name, str(tmp_path))
    assert json.loads(json.dumps(found)) == VALUES[name]


def test_every_program_has_an_expectation() -> None:
    assert set(GRAPHS) == set(pipelines.GRAPHS)
    assert set(VALUES) == set(reading.PROGRAMS)
    assert set(OTHER) <= set(VALUES)
