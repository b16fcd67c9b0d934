"""``tf.Module``: names, scopes, and the variables and modules among attributes."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf


class Dense2D(tf.Module):
    def __init__(self, inner: Any = None) -> None:
        super().__init__()
        self.w = tf.Variable(1.0, name="w")
        self.parts = [tf.Variable(2.0, trainable=False, name="b"), {"inner": inner}]

    @tf.Module.with_name_scope
    def call(self) -> Any:
        return tf.constant(1.0)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def test_names_come_from_the_class_or_are_given() -> None:
    assert Dense2D().name == "dense2_d"
    assert tf.Module().name == "module"
    assert tf.Module("mine").name == "mine"
    with pytest.raises(ValueError, match="identifiers"):
        tf.Module("not mine")


def test_methods_run_in_the_scope_of_their_module() -> None:
    first, second = Dense2D(), Dense2D()
    assert first.name_scope.name == "dense2_d/"
    assert [m.call().name for m in (first, first, second)] == [
        "dense2_d/Const:0", "dense2_d/Const_1:0", "dense2_d_1/Const:0",
    ]  # fmt: skip


def test_variables_are_found_once_and_a_modules_own_first() -> None:
    inner = Dense2D()
    outer = Dense2D(inner)
    outer.again = [inner, outer.w, outer]
    assert [v.name for v in outer.variables] == ["w_1:0", "b_1:0", "b:0", "w:0"]
    assert [v.name for v in outer.trainable_variables] == ["w_1:0", "w:0"]
    assert outer.submodules == (inner,)
