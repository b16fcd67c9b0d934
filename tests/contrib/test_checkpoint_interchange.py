"""Checkpoints of ``tf.contrib.checkpoint``'s objects, to TensorFlow 1.15 and back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.contrib import checkpoint_interchange as program
from tests.peers import ROOT, TF115, needed

WANTED = ["here", [1, 2, 0], [1.5, 2.5], 3.0]


def here(what: str, path: str) -> Any:
    with tf.Graph().as_default():
        return program.run(tf, what, path)


def peer(what: str, path: str) -> Any:
    command = [str(TF115), "-m", program.__name__, what, path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_objects_come_back(tmp_path: Path) -> None:
    assert here("load", here("save", str(tmp_path / "at"))) == WANTED


@pytest.mark.long
@needed(TF115)
def test_objects_go_both_ways(tmp_path: Path) -> None:
    assert here("load", peer("save", str(tmp_path / "theirs"))) == WANTED
    assert peer("load", here("save", str(tmp_path / "ours"))) == WANTED
