"""Boosted trees trained by one call, of a data set that is one batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.training.data.dataset import Dataset
from penstock.training.estimator.canned.boosted_trees import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
)


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[[], Any], feature_columns: Any, model_dir: Any = None,
    n_classes: Any = 2, weight_column: Any = None, label_vocabulary: Any = None,
    n_trees: int = 100, max_depth: int = 6, learning_rate: float = 0.1,
    l1_regularization: float = 0.0, l2_regularization: float = 0.0, tree_complexity: float = 0.0,
    min_node_weight: float = 0.0, config: Any = None, train_hooks: Any = None,
    center_bias: bool = False, pruning_mode: str = "none", quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesClassifier:  # fmt: skip
    """Boosted trees that tell two classes apart, trained on one batch.

    Args:
      train_input_fn: returns a data set of one element: all features, and all labels.
      train_hooks: hooks of the training.
      feature_columns, model_dir, n_classes, weight_column, label_vocabulary, n_trees, max_depth,
        learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
        config, center_bias, pruning_mode, quantile_sketch_epsilon: as of
        ``tf.estimator.BoostedTreesClassifier``.

    Returns:
      The estimator, trained.

    Raises:
      ValueError: an argument that is not allowed, more classes say, or no data set is returned.

    Example:
      >>> import penstock as tf
      >>> data = lambda: tf.data.Dataset.from_tensors(
      ...     ({"x": [[0.0], [1.0], [2.0], [3.0]]}, [[0], [0], [1], [1]]))
      >>> x = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [1.5])
      >>> trees = tf.contrib.estimator.boosted_trees_classifier_train_in_memory(
      ...     data, [x], n_trees=3, max_depth=1)
      >>> float(trees.evaluate(data)["accuracy"])
      1.0
    """
    if n_classes != 2:
        raise ValueError(
            f"For now only binary classification is supported.n_classes given as {n_classes}"
        )
    made = BoostedTreesClassifier(
        feature_columns, 1, model_dir, n_classes, weight_column, label_vocabulary, n_trees,
        max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity,
        min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon,
        train_in_memory=True,
    )  # fmt: skip
    made.train(_repeated(train_input_fn), train_hooks)
    return made


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[[], Any], feature_columns: Any, model_dir: Any = None,
    label_dimension: Any = 1, weight_column: Any = None, n_trees: int = 100, max_depth: int = 6,
    learning_rate: float = 0.1, l1_regularization: float = 0.0, l2_regularization: float = 0.0,
    tree_complexity: float = 0.0, min_node_weight: float = 0.0, config: Any = None,
    train_hooks: Any = None, center_bias: bool = False, pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesRegressor:  # fmt: skip
    """Boosted trees that predict a number, trained on one batch.

    Args:
      train_input_fn: returns a data set of one element: all features, and all labels.
      train_hooks: hooks of the training.
      feature_columns, model_dir, label_dimension, weight_column, n_trees, max_depth,
        learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
        config, center_bias, pruning_mode, quantile_sketch_epsilon: as of
        ``tf.estimator.BoostedTreesRegressor``.

    Returns:
      The estimator, trained.

    Raises:
      ValueError: an argument that is not allowed, or no data set is returned.
    """
    if label_dimension != 1:
        raise ValueError(
            "For now only 1 dimension regression is supported.label_dimension given as"
            f" {label_dimension}"
        )
    made = BoostedTreesRegressor(
        feature_columns, 1, model_dir, label_dimension, weight_column, n_trees, max_depth,
        learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
        config, center_bias, pruning_mode, quantile_sketch_epsilon, train_in_memory=True,
    )  # fmt: skip
    made.train(_repeated(train_input_fn), train_hooks)
    return made


def _repeated(input_fn: Callable[[], Any]) -> Callable[[], Any]:
    def repeated() -> Any:
        made = input_fn()
        if not isinstance(made, Dataset):
            raise ValueError(
                f"train_input_fn must return a tf.data.Dataset of one batch; found {made!r}"
            )
        return made.repeat()

    return repeated
