"""Words of TensorFlow 1.15 that programs and people search errors for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf


def _again(**arguments: Any) -> Any:
    reuse = arguments.pop("reuse", None)
    tf.get_variable("b", [2])
    with tf.variable_scope("", reuse=reuse):
        return tf.get_variable(**{"name": "b", "shape": [2], **arguments})


def _of_another_graph() -> Any:
    with tf.Graph().as_default():
        other = tf.constant(1)
    return other + tf.constant(2)


def _ones(*dims: int) -> Any:
    return tf.ones(dims)


WORDS: list[tuple[Callable[[], Any], str]] = [
    (
        _again,
        r"Variable b already exists, disallowed\. Did you mean to set reuse=True or"
        r" reuse=tf\.AUTO_REUSE in VarScope\? Originally defined at:",
    ),
    (
        lambda: _again(name="zz", reuse=True),
        r"Variable zz does not exist, or was not created with tf\.get_variable\(\)\. Did you mean"
        r" to set reuse=tf\.AUTO_REUSE in VarScope\?",
    ),
    (
        lambda: _again(shape=[3], reuse=True),
        r"Trying to share variable b, but specified shape \(3,\) and found shape \(2,\)",
    ),
    (
        lambda: _again(dtype=tf.int32, reuse=True),
        r"Trying to share variable b, but specified dtype int32 and found dtype float32_ref",
    ),
    (_of_another_graph, r"Tensor\(\"Const:0\", .* must be from the same graph as Tensor\("),
    (lambda: tf.matmul(_ones(2, 3), _ones(2, 3)), "Dimensions must be equal, but are 3 and 2"),
    (lambda: tf.nn.bias_add(_ones(2, 3), _ones(2)), "Dimensions must be equal, but are 3 and 2"),
    (lambda: tf.broadcast_to(_ones(2, 3), [3, 3]), "Dimensions must be equal, but are 2 and 3"),
    (lambda: tf.matrix_inverse(_ones(2, 3)), "Dimensions must be equal, but are 2 and 3"),
    (
        lambda: tf.reshape(_ones(2, 3), [4]),
        r"Cannot reshape a tensor with 6 elements to shape \[4\] \(4 elements\)",
    ),
    (
        lambda: tf.squeeze(_ones(2, 3), [0]),
        r"Can not squeeze dim\[0\], expected a dimension of 1, got 2",
    ),
    (
        lambda: tf.nn.max_pool(_ones(1, 4, 4, 1), [1, 5, 5, 1], [1] * 4, "VALID"),
        "Negative dimension size caused by subtracting 5 from 4",
    ),
    (
        lambda: tf.nn.conv2d(_ones(1, 4, 4, 1), _ones(1, 1, 1, 1), [1] * 4, "bad"),
        "^Attr 'padding' of 'Conv2D' Op passed string 'bad' not in: ",
    ),
    (
        lambda: tf.strings.substr(["ab"], [0, 1], [1, 2, 3]),
        r"pos and len shapes must match: \[2\] vs\. \[3\]",
    ),
    (
        lambda: tf.decode_csv(["1"], [[1, 2]]),
        "Shape of a default must be a length-0 or length-1 vector, or a scalar",
    ),
    (lambda: tf.unstack(tf.placeholder(tf.float32)), "Cannot infer num from shape <unknown>"),
    (lambda: tf.convert_to_tensor(None), r"None values not supported\."),
    (
        lambda: tf.nn.relu(None),
        r"^Tried to convert 'features' to a tensor and failed\. Error: None values not supported\.",
    ),
    (lambda: tf.add(_ones(2), [[1, 2], [3]]), "^Tried to convert 'y' to a tensor and failed"),
    (
        lambda: tf.zeros([2]) + tf.convert_to_tensor(tf.TensorShape([None, 2])),
        r"^Cannot convert a partially known TensorShape to a Tensor: \(\?, 2\)",
    ),
    (lambda: tf.Variable(None), r"initial_value must be specified\."),
    (
        lambda: tf.nn.softmax_cross_entropy_with_logits(labels=_ones(1, 2), logits=None),
        r"^Both labels and logits must be provided\.",
    ),
    (lambda: tf.nn.dropout(_ones(2), None), r"^You must provide a rate to dropout\."),
    (
        lambda: tf.nn.conv2d(_ones(1, 4, 4, 1), _ones(1, 1, 1, 1), [1, 0, 0, 1], "SAME"),
        "Stride must be > 0, but got 0",
    ),
    (lambda: tf.train.Saver([tf.Variable(1.0, name="v")] * 2), "two variables have the same name"),
    (
        lambda: tf.train.Saver([tf.Variable(1.0)]).restore(tf.Session(), None),
        r"Can't load save_path when it is None\.",
    ),
]


@pytest.mark.parametrize("number", range(len(WORDS)))
def test_words(number: int) -> None:
    wrong, words = WORDS[number]
    with pytest.raises(ValueError, match=words):
        wrong()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda: tf.add(_ones(2), "a"),
            "^Expected float32 passed to parameter 'y' of op 'Add', got 'a' of type 'str' instead",
        ),
        (
            lambda: tf.strings.length(3.0),
            "^Expected string passed to parameter 'input' of op 'StringLength', got 3.0 of type"
            " 'float' instead",
        ),
        (
            lambda: tf.reshape(_ones(4), [None, 2]),
            "^Failed to convert object of type <class 'list'>",
        ),
    ],
    ids=["another type", "number for text", "list"],
)
def test_words_of_values_that_are_no_tensors(wrong: Callable[[], Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        wrong()


def test_a_tensor_has_no_length() -> None:
    with pytest.raises(TypeError, match=r"len is not well defined for symbolic Tensors\. \(Const"):
        len(tf.constant([1]))
