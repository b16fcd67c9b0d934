"""``tf.raw_ops``: each op type as a function; answers and errors are TensorFlow 1.15's."""

from __future__ import annotations

import inspect

import pytest

import penstock as tf

raw = tf.raw_ops


def test_functions_add_nodes() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        product = raw.MatMul(a=[[1.0, 2.0]], b=[[3.0], [4.0]], name="q")
        assert product.name == "q:0" and product.op.type == "MatMul"
        found = raw.Unique(x=tf.constant([5, 7, 5]))
        assert type(found).__name__ == "Unique" and found._fields == ("y", "idx")
        halves = raw.Split(axis=0, value=tf.constant([1.0, 2.0]), num_split=2)
        assert isinstance(halves, list)
        assert raw.NoOp().type == "NoOp"
        values = session.run([product, found, halves])
        assert values[0].tolist() == [[11.0]]
        assert [part.tolist() for part in values[1]] == [[5, 7], [0, 1, 0]]
        assert [part.tolist() for part in values[2]] == [[1.0], [2.0]]


def test_names_and_arguments_are_those_of_the_op() -> None:
    assert raw.MatMul.__name__ == "MatMul" and raw.MatMul is raw.MatMul
    parameters = inspect.signature(raw.MatMul).parameters
    assert list(parameters) == ["a", "b", "transpose_a", "transpose_b", "name"]
    assert {"MatMul", "Conv2DBackpropInput", "TensorListStack"} <= set(dir(raw))
    assert not [name for name in dir(raw) if name.startswith("_")]


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("Any", "input axis keep_dims"), ("ExpandDims", "input axis"), ("Select", "condition x y"),
        ("SplitV", "value size_splits axis num_split"), ("Squeeze", "input axis"),
        ("Where", "condition"),
    ],
)  # fmt: skip
def test_some_arguments_have_another_name_than_the_ops(name: str, arguments: str) -> None:
    parameters = inspect.signature(getattr(raw, name)).parameters
    assert list(parameters) == [*arguments.split(), "name"]


def test_they_are_the_ops_arguments() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        either = raw.Select(condition=[True, False], x=[1, 2], y=[3, 4])
        row = raw.Squeeze(input=tf.zeros([1, 2, 1]), axis=[0])
        assert session.run(either).tolist() == [1, 4]
        assert row.shape == [2, 1]
        assert session.run(raw.Any(input=[[True], [False]], axis=1)).tolist() == [True, False]


def test_only_keywords_are_taken() -> None:
    message = (
        r"MatMul only takes keyword args \(possible keys: \['a', 'b', 'transpose_a', 'transpose_b',"
        r" 'name'\]\). Please pass these args as kwargs instead."
    )
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match=message):
            raw.MatMul(tf.ones([1, 1]), tf.ones([1, 1]))
        with pytest.raises(TypeError, match="missing a required argument: 'b'"):
            raw.MatMul(a=tf.ones([1, 1]))
        with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
            raw.MatMul(a=tf.ones([1, 1]), b=tf.ones([1, 1]), c=1)


def test_what_is_no_op_type_says_what_is_near() -> None:
    with pytest.raises(
        AttributeError, match="no op type 'MatMull'; the nearest names are .*MatMul"
    ):
        raw.MatMull
    assert not hasattr(raw, "_Send")
