"""Runs a module of cases in TensorFlow 1.15, once, and holds Penstock's against them."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

import penstock as tf
from tests.peers import TF115, needs

PEER = Path(__file__).with_name("tf1_peer.py")
TOLERANCE = 2e-5


def observed(module: Any, folder: Path) -> dict[str, Any]:
    """What TensorFlow 1.15 gives for each case of ``module``."""
    needs(TF115)
    name, out = module.__name__.rpartition(".")[2], folder / "observed.pickle"
    subprocess.run([TF115, PEER, out, name, *module.CASES], check=True, capture_output=True)
    return pickle.loads(out.read_bytes())


def check(module: Any, name: str, theirs: dict[str, Any]) -> None:
    """Nodes in their order, variables, shapes, values and gradients are TensorFlow's."""
    assert "error" not in theirs, theirs["error"]
    ours = module.observe(tf, name)
    for node, wanted in zip(ours["nodes"], theirs["nodes"], strict=False):
        assert node == wanted
    for key in ("nodes", "variables", "trainable", "shapes"):
        assert ours[key] == theirs[key], key
    if name in module.RANDOM:
        return
    assert ours["connected"] == theirs["connected"]
    for key in ("values", "gradients"):
        assert len(ours[key]) == len(theirs[key]), key
        for one, other in zip(ours[key], theirs[key], strict=True):
            np.testing.assert_allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE, err_msg=key)
