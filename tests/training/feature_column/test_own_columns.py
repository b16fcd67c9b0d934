"""Columns that a program writes itself, from the bases by TensorFlow's paths."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.python.feature_column import feature_column, feature_column_v2


class _Asked(feature_column._DenseColumn, collections.namedtuple("_Asked", "key")):  # type: ignore[misc]
    """A number times a weight of its own, as ``input_layer`` asks for it."""

    @property
    def name(self) -> str:
        return f"{self.key}_scaled"

    @property
    def _parse_example_spec(self) -> Any:
        return {self.key: tf.FixedLenFeature([1], tf.float32)}

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([1])

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.key) + 1.0

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        factor = tf.get_variable(
            "factor", [], initializer=tf.constant_initializer(2.0), trainable=trainable
        )
        return inputs.get(self) * factor


class _Both(_Asked, feature_column_v2.DenseColumn):  # type: ignore[misc]
    """The same with a state that is made once, as canned estimators ask for it."""

    parse_example_spec = _Asked._parse_example_spec
    variable_shape = _Asked._variable_shape

    def create_state(self, state_manager: Any) -> None:
        factor = tf.get_variable("factor", [], initializer=tf.constant_initializer(3.0))
        state_manager.add_resource(self, "factor", factor)

    def transform_feature(self, cache: Any, state_manager: Any) -> Any:
        return cache.get(self.key, state_manager) + 1.0

    def get_dense_tensor(self, cache: Any, state_manager: Any) -> Any:
        factor = state_manager.get_resource(self, "factor")
        return cache.get(self, state_manager) * factor


@pytest.mark.parametrize("column", [_Asked("a"), _Both("a")])
@pytest.mark.parametrize("trainable", [True, False])
def test_input_layer_asks_with_all_that_is_needed(column: Any, trainable: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.feature_column.input_layer({"a": [[1.0], [2.0]]}, [column], trainable=trainable)
        session.run(tf.global_variables_initializer())
        assert session.run(found).tolist() == [[4.0], [6.0]]
        assert [v.name for v in tf.global_variables()] == ["input_layer/a_scaled/factor:0"]
        assert len(tf.trainable_variables()) == trainable
    spec = tf.feature_column.make_parse_example_spec([column])
    assert spec == {"a": tf.FixedLenFeature([1], tf.float32)}


def test_an_estimator_makes_the_state_once(tmp_path: Any) -> None:
    estimator = tf.estimator.DNNRegressor([2], [_Both("a")], model_dir=str(tmp_path))
    estimator.train(tf.estimator.inputs.numpy_input_fn(
        {"a": _column([1.0, 2.0])}, _column([1.0, 2.0]), 2, 1, shuffle=False))  # fmt: skip
    names = [n for n in estimator.get_variable_names() if "factor" in n and "Adagrad" not in n]
    assert names == ["dnn/input_from_feature_columns/input_layer/a_scaled/factor"]


def test_a_state_that_was_not_kept() -> None:
    states = feature_column_v2._StateManagerImpl(layer=None, trainable=False)
    with pytest.raises(ValueError, match="keeps no resource 'factor'"):
        states.get_resource("a", "factor")


def _column(values: Any) -> Any:
    return np.asarray(values, np.float32)[:, None]
