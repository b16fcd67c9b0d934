"""SavedModels: what `inspect` tells, and freezing one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.storage.saved_model.simple_save import simple_save
from tests.cli.conftest import build
from tests.cli.test_graph_commands import run_frozen


@pytest.fixture
def exported(tmp_path: Path) -> tuple[str, np.ndarray]:
    """The folder, and the logits of ones."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, _, _, logits = build()
        session.run(tf.global_variables_initializer())
        simple_save(session, str(tmp_path / "export"), {"image": x}, {"scores": logits})
        return str(tmp_path / "export"), session.run(logits, {x: np.ones((1, 4))})


def test_inspect(penstock: Any, exported: tuple[str, np.ndarray]) -> None:
    model, variables = json.loads(penstock("inspect", exported[0], "--json"))["contents"]
    (graph,) = model["graphs"]
    assert graph["tags"] == ["serve"]
    signature = graph["signatures"]["serving_default"]
    assert signature["inputs"] == {"image": {"tensor": "x:0", "dtype": "float32", "shape": [-1, 4]}}
    assert signature["outputs"]["scores"]["tensor"] == "logits:0"
    assert "layer/w" in [row["name"] for row in variables["tensors"]]
    said = penstock("inspect", exported[0], "--verify")
    assert "serving_default" in said and "tensors are whole" in said


def test_freeze(penstock: Any, exported: tuple[str, np.ndarray], tmp_path: Path) -> None:
    penstock("freeze", exported[0], tmp_path / "o.pb", "--outputs", "logits")
    # Terms of about 1 may all but cancel.
    np.testing.assert_allclose(run_frozen(tmp_path / "o.pb"), exported[1], rtol=1e-6, atol=1e-6)
    said = penstock("freeze", exported[0], tmp_path / "q", "--outputs", "x", "--tags", "a", code=1)
    assert "no graph with the tags a; there are: serve" in said


def test_summarize_and_explain(penstock: Any, exported: tuple[str, np.ndarray]) -> None:
    assert "likely outputs" in penstock("summarize", exported[0])
    words = ("--feed", "x=2,4/float32", "--runs", "2")
    prefix = f"{exported[0]}/variables/variables"
    assert " us " in penstock("explain", exported[0], "logits", *words, "--checkpoint", prefix)
