"""Variable scopes and get_variable: names, sharing, defaults, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def ones(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
    return tf.constant(np.ones(shape, dtype.as_numpy_dtype))


def test_names_nest() -> None:
    with tf.variable_scope("a"), tf.variable_scope("b") as scope:
        assert scope.name == "a/b"
        assert scope.original_name_scope == "a/b/"
        assert tf.get_variable("x", [1]).name == "a/b/x:0"
        assert tf.identity(tf.constant(1.0)).op.name == "a/b/Identity"


def test_name_scopes_do_not_change_variable_names() -> None:
    with tf.name_scope("ns"):
        assert tf.get_variable("v", [1]).name == "v:0"
        assert tf.Variable(1.0, name="u").name == "ns/u:0"


def test_default_names_are_unique() -> None:
    names = []
    for _ in range(2):
        with tf.variable_scope("o"):
            for _ in range(2):
                with tf.variable_scope(None, "d"):
                    names.append(tf.get_variable_scope().name)
    for _ in range(2):
        with tf.variable_scope(None, "d") as scope:
            names.append(scope.name)
    assert names == ["o/d", "o/d_1", "o/d", "o/d_1", "d", "d_1"]


def test_entering_a_scope_again() -> None:
    with tf.variable_scope("a"), tf.variable_scope("b", initializer=ones) as scope:
        first = tf.get_variable("x", [2])
    with tf.variable_scope("q"), tf.variable_scope(scope, reuse=True) as again:
        assert (again.name, again.original_name_scope, again.reuse) == ("a/b", "a/b/", True)
        assert tf.get_variable("x") is first
        assert tf.identity(first).op.name == "q/b/Identity"
        with tf.variable_scope("in"):
            assert tf.get_variable_scope().reuse is True


def test_no_auxiliary_name_scope() -> None:
    with tf.variable_scope("q"), tf.variable_scope("r", auxiliary_name_scope=False):
        assert tf.identity(tf.constant(1.0)).op.name == "q/Identity"
        assert tf.get_variable("k", [1]).name == "q/r/k:0"


def test_reuse() -> None:
    with tf.variable_scope("a"):
        made = tf.get_variable("w", [2, 3])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w") is made
        assert tf.get_variable("w", [2, 3]) is made
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w", [2, 3]) is made
        assert tf.get_variable("new", [1]).name == "a/new:0"
    with tf.variable_scope("a") as scope:
        scope.reuse_variables()
        assert tf.get_variable("new") is not made


def test_making_twice_names_the_line_that_made_it() -> None:
    tf.get_variable("w", [2])  # made here
    with pytest.raises(ValueError, match="(?s)'w' exists already.*test_scopes.py.*# made here"):
        tf.get_variable("w", [2])


def test_reuse_of_what_is_not_there() -> None:
    tf.get_variable("weights", [2])
    with (
        tf.variable_scope("", reuse=True),
        pytest.raises(ValueError, match="Variable weight does not exist.*there are weights"),
    ):
        tf.get_variable("weight", [2])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [({"shape": [3]}, r"specified shape \(3,\) and found shape \(2,\)"),
     ({"shape": [2], "dtype": tf.int32}, "specified dtype int32 and found dtype float32_ref")],
)  # fmt: skip
def test_reuse_with_another_shape_or_type(kwargs: Any, message: str) -> None:
    tf.get_variable("w", [2])
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match=message):
        tf.get_variable("w", **kwargs)


def test_scope_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="name_or_scope or default_name"):
        tf.variable_scope(None)
    with pytest.raises(TypeError, match="found int"):
        tf.variable_scope(3)
    with pytest.raises(ValueError, match="reuse=True cannot be used without a name_or_scope"):
        tf.variable_scope(None, "d", reuse=True)
    with pytest.raises(ValueError, match="no shape when the initializer is a constant"):
        tf.get_variable("c", [2], initializer=tf.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match="must be fully known"):
        tf.get_variable("u", [None, 2])
    with pytest.raises(ValueError, match="Initializer type .*float32.* and explicit dtype .*int32"):
        tf.get_variable("t", dtype=tf.int32, initializer=tf.constant([1.0]))


def test_defaults_of_scopes_are_inherited() -> None:
    with tf.variable_scope("a", initializer=ones, dtype=tf.float64, use_resource=True):
        with tf.variable_scope("b"):
            v = tf.get_variable("v", [2])
        plain = tf.get_variable("p", [2], tf.float32, use_resource=False)
    assert v.dtype is tf.float64
    assert hasattr(v, "handle")
    assert isinstance(v, tf.Variable)
    assert plain.dtype.name == "float32_ref"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(v), [1.0, 1.0])


def test_regularizers_file_their_losses() -> None:
    with tf.variable_scope("p", regularizer=tf.identity):
        tf.get_variable("w", [2])
        tf.get_variable("n", [2], regularizer=tf.no_regularizer)
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [loss.name for loss in losses] == ["p/w/Regularizer/Identity:0"]
    assert losses[0].op.colocation_groups() == [b"loc:@p/w"]


def test_custom_getters_chain_from_the_inside_out() -> None:
    asked = []

    def getter_called(label: str) -> Any:
        def getter(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
            asked.append(label)
            return getter(f"{name}_{label}", *args, **kwargs)

        return getter

    with (
        tf.variable_scope("o", custom_getter=getter_called("outer")),
        tf.variable_scope("i", custom_getter=getter_called("inner")),
    ):
        v = tf.get_variable("v", [1])
    assert asked == ["inner", "outer"]
    assert v.name == "o/i/v_inner_outer:0"


def test_local_variables_and_collections() -> None:
    local = tf.get_local_variable("l", [1])
    kept = tf.get_variable("g", [1], collections=["mine"], trainable=False)
    plain = tf.get_variable("p", [1])
    assert tf.local_variables() == [local]
    assert tf.global_variables() == [plain]
    assert tf.trainable_variables() == [plain]
    assert tf.get_collection("mine") == [kept]
    assert tf.global_variables("q") == []


def test_creators_see_every_variable() -> None:
    seen = []

    def creator(next_creator: Any, **kwargs: Any) -> Any:
        seen.append(kwargs["name"])
        return next_creator(**{**kwargs, "use_resource": True})

    with tf.variable_creator_scope(creator):
        v = tf.Variable(1.0, name="v")
        tf.get_variable("w", [1])
    assert seen == ["v", "w"]
    assert hasattr(v, "handle")


def test_resource_variables_by_default() -> None:
    tf.enable_resource_variables()
    try:
        assert hasattr(tf.Variable(1.0), "handle")
        assert tf.resource_variables_enabled()
    finally:
        tf.disable_resource_variables()
    assert not hasattr(tf.Variable(1.0), "handle")
