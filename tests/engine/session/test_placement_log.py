"""``tf.debugging.set_log_device_placement``; lines as TensorFlow 1.15 writes them."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from penstock.engine.session import placement_log
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.library.eager import mode, operators

_ON = "in device /job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture(autouse=True)
def at_startup(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process of its own."""
    monkeypatch.setattr(placement_log, "asked", placement_log.Asked())


def _logged(capsys: Any) -> list[str]:
    return [line for line in capsys.readouterr().err.splitlines() if line]


def test_operations_are_logged_at_the_first_call_of_a_kind(capsys: Any) -> None:
    operators.install()
    with default_graph_scope(mode.Program()):
        tf.debugging.set_log_device_placement(True)  # after eager execution was enabled
        a = tf.constant([1.0])
        assert _logged(capsys) == []
        a + a
        a + tf.constant([[2.0]])
        a - a
        tf.constant(1) + 1
        assert _logged(capsys) == [f"Executing op {op} {_ON}" for op in ("AddV2", "Sub", "AddV2")]


def test_functions_are_logged_with_their_nodes(capsys: Any) -> None:
    operators.install()
    tf.debugging.set_log_device_placement(True)
    with default_graph_scope(mode.Program()):
        tripled = tf.function(lambda: tf.square(2.0) * 3.0)
        for _ in range(2):
            assert tripled().numpy() == 12.0
    lines = _logged(capsys)
    assert lines[0].startswith("Executing op __inference_") and lines[0].endswith(_ON)
    assert "mul: (Mul): /job:localhost/replica:0/task:0/device:CPU:0" in lines
    assert len(lines) == len(set(lines))


def test_only_sessions_without_a_config_log(capsys: Any) -> None:
    x = tf.constant(1.0, name="placed")
    tf.debugging.set_log_device_placement(True)
    with tf.Session(config=tf.ConfigProto()) as sess:
        sess.run(x)
    assert _logged(capsys) == []
    with tf.Session() as sess:
        sess.run(x)
    assert _logged(capsys) == ["placed: (Const): /job:localhost/replica:0/task:0/device:CPU:0"]


def test_it_is_set_before_something_runs_eagerly() -> None:
    operators.install()
    with default_graph_scope(mode.Program()):
        tf.debugging.set_log_device_placement(True)
        tf.constant(1)
        tf.debugging.set_log_device_placement(True)
        with pytest.raises(RuntimeError, match="logging must be set at program startup"):
            tf.debugging.set_log_device_placement(False)
    assert tf.debugging.get_log_device_placement() is True


def test_the_config_of_eager_execution_says_it_too(capsys: Any) -> None:
    operators.install()
    with default_graph_scope(mode.Program(tf.ConfigProto(log_device_placement=True))):
        assert tf.debugging.get_log_device_placement() is True
        tf.constant(1) * 2
        assert _logged(capsys) == [f"Executing op Mul {_ON}"]
    with default_graph_scope(mode.Program(tf.ConfigProto(log_device_placement=True))):
        tf.debugging.set_log_device_placement(False)  # which goes before
        tf.constant(1) * 2
    assert _logged(capsys) == []


def test_what_is_no_bool_is_refused_when_it_is_read() -> None:
    tf.debugging.set_log_device_placement("yes")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(None)  # type: ignore[arg-type]
    assert tf.debugging.get_log_device_placement() is False
