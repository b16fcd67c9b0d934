"""Columns as Keras's layers: ``DenseFeatures`` and ``SequenceFeatures``.

Names of variables and nodes are those of TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.foundation.graph import scopes
from penstock.library.layer_base.layer import Layer
from penstock.library.variables.scoping import pure_variable_scope
from penstock.ops.array import join
from penstock.training.feature_column import serialization
from penstock.training.feature_column.column import (
    check_batch_sizes,
    normalized,
)
from penstock.training.feature_column.input_layer import check_dense, flattened
from penstock.training.feature_column.own_columns import (
    NamedStateManager,
    StateManager,
    TransformationCache,
)
from penstock.training.feature_column.sequence_input import (
    all_equal,
    check_sequence,
    flattened_steps,
)


class OfColumns(Layer):
    """A layer of columns, whose states it makes when it is built."""

    _managed: type[StateManager] = StateManager
    _feature_columns: list[Any]
    _state_manager: StateManager

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        columns = normalized(feature_columns)
        for column in columns:
            self._check(column)
        # Past the tracking of attributes, which takes lists and tuples apart.
        self.__dict__.update(
            _feature_columns=columns, _state_manager=self._managed(self, self.trainable)
        )

    def _check(self, column: Any) -> None:
        check_dense(column)

    def _own_scope(self) -> Any:
        return pure_variable_scope(self.name)

    def build(self, input_shape: Any) -> None:
        """Makes the columns' variables."""
        for column in self._feature_columns:
            with self._own_scope(), pure_variable_scope(column.name):
                self._make_states(column)
        super().build(None)

    def _make_states(self, column: Any) -> None:
        if hasattr(column, "create_state"):
            column.create_state(self._state_manager)

    def get_config(self) -> dict[str, Any]:
        """What makes a layer like this one."""
        described = serialization.serialize_feature_columns(self._feature_columns)
        return {**super().get_config(), "feature_columns": described}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The layer that ``get_config`` describes."""
        columns = serialization.deserialize_feature_columns(
            config["feature_columns"], custom_objects
        )
        return cls(**{**config, "feature_columns": columns})


class DenseFeatures(OfColumns):
    """All columns' values side by side, in the order of their names.

    Args:
      feature_columns: dense columns; categories are wrapped in an embedding or indicator column.
      trainable: whether variables are trained.
      name: of the layer.
      **kwargs: as of ``Layer``.

    Raises:
      ValueError: a column is not dense.

    Example:
      >>> import penstock as tf
      >>> a = tf.feature_column.numeric_column("a")
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(DenseFeatures([a])({"a": tf.constant([[1.0], [2.0]])}))
      array([[1.], [2.]], dtype=float32)
    """

    def call(self, features: Any, cols_to_output_tensors: dict[Any, Any] | None = None) -> Any:
        """The values of all columns.

        Args:
          features: tensors by key.
          cols_to_output_tensors: a dict to be filled with the tensor by column.

        Returns:
          A float32 tensor [batch, sum of the columns' sizes].

        Raises:
          ValueError: the features are no dict, or one is missing.
        """
        if not isinstance(features, Mapping):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)
        cache, outputs = TransformationCache(features), []
        for column in self._feature_columns:
            with scopes.name_scope(column.name):
                tensor = column.get_dense_tensor(cache, self._state_manager)
                outputs.append(flattened(column, tensor))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = outputs[-1]
        check_batch_sizes(outputs, self._feature_columns)
        return join.concat(outputs, -1)


class DenseFeaturesV2(DenseFeatures):
    """``DenseFeatures`` whose variables are named by name scopes, as those of other layers are."""

    _managed = NamedStateManager

    def build(self, input_shape: Any) -> None:
        """Makes the columns' variables."""
        for column in self._feature_columns:
            with scopes.name_scope(column.name):
                self._make_states(column)
        Layer.build(self, None)


class SequenceFeatures(OfColumns):
    """All columns' sequences side by side, in the order of the columns' names.

    Args:
      feature_columns: ``sequence_numeric_column``, or embedding and indicator columns of
        ``sequence_categorical_column_with_*``.
      trainable, name, **kwargs: as of ``DenseFeatures``.

    Raises:
      ValueError: a column is not one of dense sequences.
    """

    def _check(self, column: Any) -> None:
        check_sequence(column)

    def call(self, features: Any) -> Any:
        """The sequences, [batch, steps, sum of sizes], and their lengths, [batch].

        Args:
          features: tensors by key.
        """
        if not isinstance(features, Mapping):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)
        cache, outputs, lengths = TransformationCache(features), [], []
        for column in self._feature_columns:
            with scopes.name_scope(column.name):
                made = column.get_sequence_dense_tensor(cache, self._state_manager)
                outputs.append(flattened_steps(column, made.dense_tensor))
                lengths.append(made.sequence_length)
        check_batch_sizes(outputs, self._feature_columns)
        return join.concat(outputs, -1), all_equal(lengths)
