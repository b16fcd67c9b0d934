"""What shape rules know of values that a loop's rounds are given is what TensorFlow 1.15's know."""

from __future__ import annotations

import penstock as tf


def test_a_known_value_that_enters_a_loop_gives_shapes() -> None:
    found: dict[str, object] = {}

    def note(**tensors: tf.Tensor) -> None:
        found.update({name: tensor.shape.as_list() for name, tensor in tensors.items()})

    with tf.Graph().as_default():
        size = tf.constant(1) + tf.constant(1)
        sizes = tf.constant([2, 3]) + 0
        axis = tf.constant(0) + tf.constant(1)

        def body(i: tf.Tensor, carried: tf.Tensor) -> list[tf.Tensor]:
            note(
                packed=tf.fill([size, 6], 1.0),
                vector=tf.fill(sizes, 1.0),
                head=tf.fill(tf.concat([sizes[:1], [7]], 0), 1.0),
                ranged=tf.range(size),
                summed=tf.reduce_sum(tf.zeros([2, 3, 4]), axis),
                # What is computed in the loop, or changes in it, is not known.
                computed=tf.fill([size + 1, 6], 1.0),
                carried=tf.fill([carried, 6], 1.0),
            )

            def inner(j: tf.Tensor) -> tf.Tensor:
                note(inner=tf.fill([size, 6], 1.0))
                return j + 1

            tf.while_loop(lambda j: j < 2, inner, [0])
            return [i + 1, carried]

        tf.while_loop(lambda i, _: i < 3, body, [0, size])
    assert found == {
        "packed": [2, 6],
        "vector": [2, 3],
        "head": [2, 7],
        "ranged": [2],
        "summed": [2, 4],
        "computed": [None, 6],
        "carried": [None, 6],
        "inner": [None, 6],
    }


def test_a_value_that_enters_a_loop_is_no_constant_of_it() -> None:
    from penstock.python.framework import tensor_util

    with tf.Graph().as_default():
        size = tf.constant(1) + tf.constant(1)
        seen = []

        def body(i: tf.Tensor) -> tf.Tensor:
            entered = tf.identity(size).op.inputs[0]
            seen.append((entered.op.type, tensor_util.constant_value(entered)))
            return i + 1

        tf.while_loop(lambda i: i < 3, body, [0])
    assert seen == [("Enter", None)]
