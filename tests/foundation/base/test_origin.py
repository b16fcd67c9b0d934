"""The origin of a node is the user's line, not ours."""

from __future__ import annotations

import penstock as tf
from penstock.foundation.base import origin


def test_the_callers_line_is_captured() -> None:
    found = origin.capture()
    assert found is not None
    assert found.filename == __file__
    assert found.function == "test_the_callers_line_is_captured"
    assert found.line == "found = origin.capture()"
    assert str(found).startswith(f"{__file__}:{found.lineno}, in ")


def test_frames_of_the_package_are_passed_over() -> None:
    with tf.Graph().as_default():
        total = tf.reduce_sum(tf.zeros([2]) + 1.0)
    for node in (total.op, total.op.inputs[0].op):
        assert node.origin is not None
        assert node.origin.filename == __file__
        assert "tf.reduce_sum" in node.origin.line


def test_a_line_that_cannot_be_read_is_empty() -> None:
    made = origin.Origin("/no/such/file.py", 7, "f")
    assert made.line == ""
    assert str(made) == "/no/such/file.py:7, in f"
