"""What Python prints where an error ends a program: the user's lines first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import penstock as tf

def model(a, b):
    return tf.matmul(a, b)

def failing(value):
    raise KeyError("mine")

x = tf.placeholder(tf.int32, [None])
picked = tf.nn.embedding_lookup(tf.zeros([4, 2]), x)
looped = tf.map_fn(lambda row: model(row, row), tf.zeros([2, 3, 4]))if WHICH == "loop" else None
with tf.Session() as sess:
    if WHICH == "build":
        model(tf.zeros([2, 3]), tf.zeros([2, 3]))
    if WHICH == "own":
        tf.no_such_name
    sess.run(picked, {x: np.arange(5)})
"""


def _said(tmp_path: Path, which: str, **env: str) -> list[str]:
    """The lines that a failing program ends with."""
    path = tmp_path / "program.py"
    path.write_text(f"WHICH = {which!r}\n{PROGRAM}")
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=False,
        env={**os.environ, **env},
    )  # fmt: skip
    assert done.returncode == 1
    return [line for line in done.stderr.splitlines() if "~" not in line and "^^" not in line]


@pytest.mark.parametrize(
    "which, frames, message",
    [
        ("build", ["<module>", "model"], "ValueError: MatMul 'MatMul': Dimensions must be equal"),
        ("loop", ["<module>", "<lambda>", "model"], "ValueError: MatMul 'map/while/MatMul': Dim"),
        ("step", ["<module>"], "penstock.foundation.base.errors.InvalidArgumentError: GatherV2"),
    ],
)
def test_only_the_users_lines_are_shown(
    tmp_path: Path, which: str, frames: list[str], message: str
) -> None:
    lines = _said(tmp_path, which)
    assert lines[0] == "Traceback (most recent call last):"
    shown = [line for line in lines if line.startswith('  File "')]
    assert all("program.py" in line for line in shown)
    assert [line.rpartition(" in ")[2] for line in shown] == frames
    assert lines[1 + 2 * len(frames)].startswith(message)
    assert lines[-1].endswith("frames of Penstock are hidden: PENSTOCK_TRACEBACK=full shows them)")


def test_all_frames_where_they_are_asked_for(tmp_path: Path) -> None:
    lines = _said(tmp_path, "build", PENSTOCK_TRACEBACK="full")
    assert any("infer.py" in line for line in lines) and "hidden" not in lines[-1]


def test_the_hook_of_another_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import sys\nsys.excepthook = lambda *error: print('mine', file=sys.stderr)\n"
        "import penstock as tf\ntf.zeros([2]) + tf.zeros([3])\n"
    )
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.stderr.strip() == "mine"
