"""What layers of ``tf.layers`` make when a layer of Keras holds them: as TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf


class _Holds(tf.keras.layers.Layer):  # type: ignore[misc]
    def __init__(self, how: str) -> None:
        super().__init__()
        inner = tf.layers.Dense(2)
        if how == "attribute":
            self.inner = inner
        elif how == "list":
            self.many = [inner]
        elif how == "dict":
            self.named = {"a": inner}
        elif how == "appended":
            self.grown: list[Any] = []
            self.grown.append(inner)
        elif how == "tuple":
            self.fixed = (inner,)
        self.__dict__["held"] = inner

    def call(self, inputs: Any) -> Any:
        return self.held(inputs)


@pytest.mark.parametrize("how", ["attribute", "list", "dict", "appended"])
def test_a_layer_that_is_held_makes_resource_variables(how: str) -> None:
    with tf.Graph().as_default():
        layer = _Holds(how)
        layer(tf.zeros([2, 3]))
        assert [v.op.type for v in layer.held.weights] == ["VarHandleOp"] * 2


@pytest.mark.parametrize("how", ["tuple", "not at all"])
def test_others_make_reference_variables(how: str) -> None:
    with tf.Graph().as_default():
        layer = _Holds(how)
        layer(tf.zeros([2, 3]))
        assert [v.op.type for v in layer.held.weights] == ["VariableV2"] * 2
