"""Penstock's columns asked by either protocol, and the layers made of them: as TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.python.feature_column import (
    dense_features,
    dense_features_v2,
    feature_column as older,
    feature_column_lib as newer,
)


def _features() -> dict[str, Any]:
    return {"a": tf.constant([[1.0], [2.0]]), "w": tf.constant([["x"], ["y"]])}


def _names() -> list[str]:
    return [v.name for v in tf.global_variables()]


def test_a_column_answers_both_protocols() -> None:
    column = tf.feature_column.numeric_column("a", normalizer_fn=lambda x: x * 2.0)
    with tf.Graph().as_default(), tf.Session() as sess:
        old = column._get_dense_tensor(older._LazyBuilder(_features()))
        new = column.get_dense_tensor(newer.FeatureTransformationCache(_features()), None)
        np.testing.assert_array_equal(sess.run([old, new]), [[[2.0], [4.0]]] * 2)
    assert isinstance(column, newer.DenseColumn) and isinstance(column, older._DenseColumn)
    assert column._variable_shape.as_list() == [1]
    assert column._parse_example_spec == column.parse_example_spec


def test_categories_answer_both_protocols() -> None:
    column = tf.feature_column.categorical_column_with_identity("i", 4)
    with tf.Graph().as_default(), tf.Session() as sess:
        cache = newer.FeatureTransformationCache({"i": tf.constant([[1], [3]])})
        pair = column.get_sparse_tensors(cache, None)
        assert sess.run(pair.id_tensor).values.tolist() == [1, 3]
    assert column._num_buckets == 4


def test_which_protocol_a_column_is_of() -> None:
    new = tf.feature_column.numeric_column("a")
    old = older._numeric_column("a")
    assert newer.is_feature_column_v2([new]) and not newer.is_feature_column_v2([new, old])
    assert isinstance(old, older._NumericColumn) and not isinstance(new, older._NumericColumn)
    words = older._categorical_column_with_hash_bucket("w", 5)
    assert not newer.is_feature_column_v2([tf.feature_column.embedding_column(words, 2)])


def test_linear_models_are_named_as_in_tensorflow() -> None:
    words = tf.feature_column.categorical_column_with_hash_bucket("w", 5)
    columns = [tf.feature_column.numeric_column("a"), words]
    with tf.Graph().as_default():
        model = newer.LinearModel(columns, units=2, name="linear_model")
        out = model(_features())
        assert out.name == "linear_model/linear_model/linear_model/weighted_sum:0"
        assert _names() == [
            "linear_model/a/weights:0", "linear_model/w/weights:0", "linear_model/bias_weights:0",
        ]  # fmt: skip
        assert model.bias.name == "linear_model/bias_weights:0"
    with tf.Graph().as_default():
        old = [older._numeric_column("a"), older._categorical_column_with_hash_bucket("w", 5)]
        made = older._LinearModel(old, name="linear_model")
        assert made(_features()).name == "linear_model/linear_model/weighted_sum:0"
        owned = {getattr(k, "name", k): [v.name for v in vs]
                 for k, vs in made.cols_to_vars().items()}  # fmt: skip
        assert owned == {
            "a": ["linear_model/a/weights:0"], "w": ["linear_model/w/weights:0"],
            "bias": ["linear_model/bias_weights:0"],
        }  # fmt: skip


@pytest.mark.parametrize(
    ("layer", "scope", "variable", "out"),
    [
        (dense_features.DenseFeatures, tf.variable_scope, "s/input_layer/", "s/input_layer/"),
        (dense_features_v2.DenseFeatures, tf.name_scope, "s/input_layer/", "s/input_layer/"),
    ],
)
def test_dense_features_are_named_as_in_tensorflow(
    layer: Any, scope: Any, variable: str, out: str
) -> None:
    words = tf.feature_column.categorical_column_with_hash_bucket("w", 5)
    columns = [
        tf.feature_column.numeric_column("a"), tf.feature_column.embedding_column(words, 2)
    ]  # fmt: skip
    with tf.Graph().as_default():
        made = layer(columns, name="input_layer")
        with scope("s"):
            assert made(_features()).name == out + "concat:0"
        assert _names() == [variable + "w_embedding/embedding_weights:0"]
        assert [v.name for v in made.variables] == _names()


def test_columns_as_configurations() -> None:
    words = tf.feature_column.categorical_column_with_hash_bucket("w", 5)
    column = tf.feature_column.embedding_column(words, 2)
    described = newer.serialize_feature_columns([column])
    inner = {"key": "w", "hash_bucket_size": 5, "dtype": "string"}
    assert described[0]["config"]["categorical_column"] == {
        "class_name": "HashedCategoricalColumn", "config": inner,
    }  # fmt: skip
    (made,) = newer.deserialize_feature_columns(described)
    assert made.categorical_column == words and made.dimension == 2
