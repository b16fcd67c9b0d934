"""Gradient graphs against TF 1.15, node by node: names, types, inputs, controls, colocation.

``golden/<program>.txt`` was written by TensorFlow 1.15.5 from the same programs.
"""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

import penstock as tf
from tests.library.autodiff import programs

_GOLDEN = pathlib.Path(__file__).parent / "golden"


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_nodes_are_those_of_tensorflow(program: Any) -> None:
    expected = (_GOLDEN / f"{program.__name__}.txt").read_text().splitlines()
    assert programs.nodes(tf, program) == expected


def _names(scope: str) -> list[str]:
    operations = tf.get_default_graph().get_operations()
    return [op.name for op in operations if op.name.startswith(scope)]


def test_a_square() -> None:
    with tf.Graph().as_default():
        x = tf.constant([1.0, 2.0], name="x")
        tf.gradients(tf.square(x, name="y"), x)
        assert _names("gradients") == [
            "gradients/Shape",
            "gradients/grad_ys_0",
            "gradients/Fill",
            "gradients/y_grad/Const",
            "gradients/y_grad/Mul",
            "gradients/y_grad/Mul_1",
        ]


def test_a_second_call_gets_a_scope_of_its_own() -> None:
    with tf.Graph().as_default():
        x = tf.constant(1.0, name="x")
        y = tf.identity(x, name="y")
        tf.gradients(y, x)
        tf.gradients(y, x)
        tf.gradients(y, x, name="mine")
        assert _names("gradients_1") == [
            "gradients_1/Shape", "gradients_1/grad_ys_0", "gradients_1/Fill",
        ]  # fmt: skip
        assert _names("mine") == ["mine/Shape", "mine/grad_ys_0", "mine/Fill"]


def test_the_name_uid_is_taken_as_in_tensorflow() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        tf.gradients(tf.identity(x), x)
        with graph.name_scope("gradients/"):
            assert graph.unique_name("uid") == "gradients/uid_1"


@pytest.mark.parametrize("shape", [[2, 2], [None]])
def test_hessians_open_no_scope_and_loop_over_the_rows(shape: list[int | None]) -> None:
    x = tf.placeholder(tf.float32, shape, name="x")
    (hessian,) = tf.hessians(tf.reduce_sum(x**2), x, name="not_used")
    names = [op.name for op in tf.get_default_graph().get_operations()]
    for name in ("Reshape", "Size", "TensorArray", "while/strided_slice", "concat"):
        assert name in names
    assert hessian.name == "Reshape_1:0"
    assert not [name for name in names if name.startswith("not_used")]
