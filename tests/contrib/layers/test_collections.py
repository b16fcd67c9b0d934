"""Names and collections of contrib's layers where their arguments lead off the usual way."""

import pytest

import penstock as tf


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        (None, "BatchNorm/batchnorm_1"),
        ("a/BatchNorm", "a/BatchNorm/batchnorm_1"),
        ("a", "a/batchnorm"),
    ],
    ids=repr,
)
def test_names_of_a_batch_norm_by_the_formula(scope: str | None, name: str) -> None:
    with tf.Graph().as_default():
        y = tf.contrib.layers.batch_norm(
            tf.ones([3, 5]), batch_weights=tf.ones([3]), updates_collections=None, scope=scope
        )
        assert y.name == f"{name}/add_1:0"


@pytest.mark.parametrize("collections", [None, ("mine",), ("activations", "mine")], ids=repr)
def test_a_legacy_layers_output_is_an_activation(collections: tuple[str, ...] | None) -> None:
    with tf.Graph().as_default():
        y = tf.contrib.layers.legacy_fully_connected(
            tf.ones([2, 3]), 3, output_collections=collections
        )
        assert tf.get_collection(tf.GraphKeys.ACTIVATIONS) == [y]
        assert tf.get_collection("mine") == ([y] if collections else [])


def test_updates_of_resource_variables_are_named_by_their_ops() -> None:
    with tf.Graph().as_default(), tf.variable_scope("net", use_resource=True):
        tf.contrib.layers.batch_norm(tf.ones([3, 5]), zero_debias_moving_mean=True, fused=False)
        names = [update.name for update in tf.get_collection(tf.GraphKeys.UPDATE_OPS)]
    assert names == [
        "net/BatchNorm/AssignMovingAvg",
        "net/BatchNorm/AssignMovingAvg_1/AssignSubVariableOp",
    ]
