"""Columns that a program defines on the bases that TensorFlow's source tree has."""

from __future__ import annotations

from typing import Any, NamedTuple

import penstock as tf
from penstock.python.feature_column import feature_column, feature_column_v2


class _Key(NamedTuple):
    key: str


class _Scaled(NamedTuple):
    key: str
    first: float


class _Doubled(feature_column._DenseColumn, _Key):
    """By the methods of the first columns."""

    @property
    def name(self) -> str:
        return f"{self.key}_doubled"

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return {self.key: tf.FixedLenFeature([2], tf.float32)}

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.key) * 2.0

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([2])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return inputs.get(self)


class _Weighted(feature_column_v2.DenseColumn, _Scaled):
    """By those of the second, with a variable."""

    @property
    def name(self) -> str:
        return f"{self.key}_weighted"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: tf.FixedLenFeature([2], tf.float32)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self.key, state_manager)

    @property
    def variable_shape(self) -> Any:
        return tf.TensorShape([2])

    def create_state(self, state_manager: Any) -> None:
        state_manager.create_variable(
            self, "weight", [2], initializer=tf.constant_initializer(self.first)
        )

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        weight = state_manager.get_variable(self, "weight")
        return transformation_cache.get(self, state_manager) * weight


class _Both(_Doubled, feature_column_v2.DenseColumn):
    """What a package derives from both."""

    parse_example_spec = _Doubled.parse_example_spec
    variable_shape = _Doubled.variable_shape


def test_columns_of_both_kinds_make_an_input_layer() -> None:
    columns = [_Doubled("x"), _Weighted("x", 3.0), tf.feature_column.numeric_column("y")]
    with tf.Graph().as_default(), tf.Session() as sess:
        layer = tf.feature_column.input_layer({"x": [[1.0, 2.0]], "y": [[7.0]]}, columns)
        sess.run(tf.global_variables_initializer())
        assert sess.run(layer).tolist() == [[2.0, 4.0, 3.0, 6.0, 7.0]]
        assert [v.op.name for v in tf.trainable_variables()] == ["input_layer/x_weighted/weight"]
        both = tf.feature_column.input_layer({"x": [[1.0, 2.0]]}, [_Both("x")])
        assert sess.run(both).tolist() == [[2.0, 4.0]]
    assert list(tf.feature_column.make_parse_example_spec(columns[:2])) == ["x"]
