"""``tf.make_template``: variables that the calls of a function share."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf


def scale(x: Any, name: str = "w") -> Any:
    return x * tf.get_variable(name, [], initializer=tf.ones_initializer())


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def test_calls_share_variables() -> None:
    layer = tf.make_template("layer", scale, name="v")
    assert (layer.name, layer.variable_scope, layer.variables) == ("layer", None, [])
    first, second = layer(1.0), layer(2.0)
    assert [v.name for v in tf.global_variables()] == ["layer/v:0"]
    assert [t.op.name for t in (first, second)] == ["layer/mul", "layer_1/mul"]
    assert layer.variable_scope.name == "layer" and layer.variable_scope_name == "layer/"
    assert layer.var_scope is layer.variable_scope
    assert layer.variables == layer.trainable_variables == tf.global_variables()
    assert layer.weights == layer.trainable_weights == tf.global_variables()
    assert layer.local_variables == layer.non_trainable_variables == []


def test_scopes_of_several_templates() -> None:
    layers = [tf.make_template("a", scale) for _ in range(2)]
    names = [layer(1.0).op.name for layer in (*layers, *layers)]
    assert names == ["a/mul", "a_1/mul", "a_2/mul", "a_1_1/mul"]
    assert [v.name for v in tf.global_variables()] == ["a/w:0", "a_1/w:0"]
    with tf.variable_scope("outer"):
        inner = tf.make_template("a", scale)
        inner(1.0)
    assert inner.variable_scope.name == "outer/a"


def test_a_scope_chosen_when_it_is_made() -> None:
    with tf.variable_scope("outer"):
        late = tf.make_template("x", scale)
        early = tf.make_template("x", scale, create_scope_now_=True)
    assert early.variable_scope.name == "outer/x"
    assert early(1.0).op.name == "x/mul"
    assert [v.name for v in tf.global_variables()] == ["outer/x/w:0"]
    late(1.0)
    assert late.variable_scope.name == "x"
    fixed = tf.make_template("y", scale, create_scope_now_=True, unique_name_="z")
    again = tf.make_template("y", scale, unique_name_="z")
    fixed(1.0)
    with pytest.raises(ValueError, match="exists already"):
        again(1.0)


def test_new_variables_in_a_later_call_are_refused() -> None:
    def bad(x: Any) -> Any:
        return x * tf.Variable(1.0)

    layer = tf.make_template("bad", bad)
    layer(1.0)
    with pytest.raises(ValueError, match="Trainable variable created when calling") as found:
        layer(1.0)
    assert "test_template.py" in found.value.__notes__[0]
    names = iter("ab")
    other = tf.make_template("other", lambda x: scale(x, next(names)))
    other(1.0)
    with pytest.raises(ValueError, match="other/b"):
        other(1.0)


def test_a_call_that_fails_does_not_count() -> None:
    fails = [True]

    def sometimes(x: Any) -> Any:
        if fails:
            raise KeyError(fails.pop())
        return scale(x)

    layer = tf.make_template("layer", sometimes)
    with pytest.raises(KeyError):
        layer(1.0)
    layer(1.0)
    assert [v.name for v in layer.variables] == ["layer/w:0"]


def test_a_getter_is_asked() -> None:
    asked = []

    def getter(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        asked.append(name)
        return getter(name, *args, **kwargs)

    for now in (False, True):
        layer = tf.make_template("layer", scale, now, custom_getter_=getter)
        layer(1.0), layer(1.0)
    assert asked == ["layer/w", "layer/w", "layer_1/w", "layer_1/w"]
    with pytest.raises(ValueError, match="name cannot be None"):
        tf.make_template(None, scale)  # type: ignore[arg-type]
