"""`penstock summarize`, `freeze` and `explain`."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import penstock as tf
from tests.suite import warm


def run_frozen(path: Path) -> np.ndarray:
    message = GraphDef.FromString(path.read_bytes())
    assert not any(node.op.startswith("Var") for node in message.node)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(message, name="")
        value: np.ndarray = session.run("logits:0", {"x:0": np.ones((1, 4), np.float32)})
        return value


def test_summarize(model: Any, penstock: Any) -> None:
    facts = json.loads(penstock("summarize", f"{model.prefix}.meta", "--json", "--depth", "1"))
    assert facts["parameters"] == 4 * 3 + 3 + 6 * 3
    scopes = {row["path"]: row["parameters"] for row in facts["scopes"]}
    assert scopes["layer"] == 15 and scopes["parts"] == 18 and scopes[""] == 33
    assert facts["float_operations"] >= 2 * 4 * 3
    said = penstock("summarize", model.directory / "graph.pbtxt")
    assert "parameters        33 (and 68 of optimizer slots)" in said


# Logits are sums of terms of up to 2, which cancel, by whichever kernel of a product was faster.
_ROUNDED = {"rtol": 1e-6, "atol": 1e-6}


@pytest.mark.parametrize("graph", ["", "graph.pb", "graph.pbtxt"])
def test_freeze(model: Any, penstock: Any, tmp_path: Path, graph: str) -> None:
    out = tmp_path / "frozen.pb"
    words = ("--meta", model.directory / graph) if graph else ()
    penstock("freeze", model.prefix, out, "--outputs", "logits", *words)
    np.testing.assert_allclose(run_frozen(out), model.logits, **_ROUNDED)


def test_freeze_from_a_directory_and_another_format(
    model: Any, penstock: Any, tmp_path: Path
) -> None:
    penstock("freeze", model.directory, tmp_path / "a.pb", "--outputs", "logits:0")
    np.testing.assert_allclose(run_frozen(tmp_path / "a.pb"), model.logits, **_ROUNDED)


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ["freeze", "model.ckpt-7", "frozen.pb", "--outputs", "logits"],
        ["explain", "model.ckpt-7.meta", "logits", "--feed", "x=2,4/float32"],
        ["summarize", "model.ckpt-7.meta"],
        ["export", "graph.pb", "labels.py", "--input", "labels", "--output", "labels"],
    ],
    ids=lambda words: words[0],
)
def test_a_process_of_its_own_has_what_a_command_needs(
    model: Any, tmp_path: Path, words: list[str]
) -> None:
    """This process has imported everything; what is typed in a shell has not."""
    shutil.copytree(model.directory, tmp_path, dirs_exist_ok=True)
    command = [sys.executable, "-m", "penstock", *words]
    done = warm.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout, done.stderr


def test_freeze_mistakes(model: Any, penstock: Any, tmp_path: Path) -> None:
    out = tmp_path / "o.pb"
    assert "no node 'q'" in penstock("freeze", model.prefix, out, "--outputs", "q", code=1)
    assert "names no node" in penstock("freeze", model.prefix, out, "--outputs", ",", code=2)
    assert "--outputs" in penstock("freeze", model.prefix, out, code=2)
    penstock("convert", model.prefix, tmp_path / "bare")
    said = penstock("freeze", tmp_path / "bare", out, "--outputs", "logits", code=1)
    assert "--meta FILE names one" in said and not out.exists()


def test_explain_prints_the_program(model: Any, penstock: Any) -> None:
    said = penstock("explain", model.directory / "graph.pb", "logits")
    assert said.startswith("def step(") and "# add_1" in said and "x:0 float32(?, 4)" in said
    said = penstock("explain", model.directory / "graph.pb", "logits", "--feed", "x=2,4/float32")
    assert "x:0 float32(2, 4)" in said


@pytest.mark.parametrize("values", ["checkpoint", "initializers"])
@pytest.mark.parametrize("graph", ["graph.pb", "model.ckpt-7.meta"])
def test_explain_takes_times(model: Any, penstock: Any, graph: str, values: str) -> None:
    words = ["--checkpoint", model.prefix] if values == "checkpoint" else []
    feeds = ["--feed", "x=2,4/float32", "--feed", "labels=[0, 2]"]
    said = penstock("explain", model.directory / graph, "loss", *feeds, "--runs", "3", *words)
    assert " us " in said and "# loss" in said


def test_explain_feeds(model: Any, penstock: Any, tmp_path: Path) -> None:
    graph = model.directory / "graph.pb"
    np.save(tmp_path / "x.npy", np.ones([5, 4], np.float32))
    said = penstock("explain", graph, "logits", "--feed", f"x={tmp_path / 'x.npy'}")
    assert "float32(5, 4)" in said
    mistakes = [
        ("x", "NAME=VALUE"), ("x=2,4/float64", "x:0 is float32"), ("x=2,4/flot", "no dtype"),
        ("x=what", "no SHAPE/DTYPE"),
    ]  # fmt: skip
    for feed, expected in mistakes:
        assert expected in penstock("explain", graph, "logits", "--feed", feed, code=2)
    assert "'q'" in penstock("explain", graph, "logits", "--feed", "q=1", code=1)
    assert "--feed x=1,4/float32" in penstock("explain", graph, "loss", "--runs", "1", code=2)
    unknown = penstock("explain", graph, "q", code=1)
    assert "The name 'q' refers to an Operation not in the graph" in unknown
