"""What Python prints where an error ends a program: the user's lines first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.base import tracebacks
from tests.suite import warm

HIDDEN = "frames of Penstock are hidden: PENSTOCK_TRACEBACK=full shows them)"


def _model(a: Any, b: Any) -> Any:
    return tf.matmul(a, b)


def built() -> None:
    _model(tf.zeros([2, 3]), tf.zeros([2, 3]))


def looped() -> None:
    tf.map_fn(lambda row: _model(row, row), tf.zeros([2, 3, 4]))


def stepped() -> None:
    x = tf.placeholder(tf.int32, [None])
    picked = tf.nn.embedding_lookup(tf.zeros([4, 2]), x)
    with tf.Session() as sess:
        sess.run(picked, {x: np.arange(5)})


def _error(function: Callable[[], None]) -> Exception:
    with pytest.raises(Exception) as caught:
        function()
    caught.value.with_traceback(caught.tb.tb_next)  # from the function on
    return caught.value


@pytest.mark.parametrize(
    "function, frames, message",
    [
        (built, ["built", "_model"], "ValueError: MatMul 'MatMul': Dimensions must be equal"),
        (looped, ["looped", "<lambda>", "_model"], "ValueError: MatMul 'map/while/MatMul': Dim"),
        (stepped, ["stepped"], "penstock.foundation.base.errors.InvalidArgumentError: GatherV2"),
    ],
)
def test_only_the_users_lines_are_shown(
    function: Callable[[], None], frames: list[str], message: str
) -> None:
    lines = "".join(tracebacks.lines(_error(function))).splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    shown = [line for line in lines if line.startswith('  File "')]
    assert all("test_tracebacks.py" in line for line in shown)
    assert [line.rpartition(" in ")[2] for line in shown] == frames
    assert any(line.startswith(message) for line in lines) and lines[-1].endswith(HIDDEN)


def test_all_frames_where_they_are_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    error = _error(built)
    monkeypatch.setenv("PENSTOCK_TRACEBACK", "full")
    tracebacks.show(type(error), error, error.__traceback__)
    said = capsys.readouterr().err
    assert "operation.py" in said and "hidden" not in said


def test_errors_that_are_not_penstocks_are_shown_as_python_does() -> None:
    error = _error(lambda: int("x"))
    assert "hidden" not in "".join(tracebacks.lines(error))


def test_the_hook_of_another_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(*error: Any) -> None:
        raise NotImplementedError

    monkeypatch.setattr(sys, "excepthook", mine)
    tracebacks.install()
    assert sys.excepthook is mine


@pytest.mark.long
def test_a_program(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import penstock as tf\ntf.zeros([2]) + tf.zeros([3])\n")
    done = warm.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.endswith(f"{HIDDEN}\n")
    assert done.stderr.count("  File ") == 1
