"""Networks "with layer annotations", which TensorFlow 1.15 makes as the canned ones they are.

Their annotations served a tool that looked for how much each feature counts; in 1.15 the graphs
have none, since the layers that were to be annotated had been replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.library.nn.losses import Reduction
from penstock.ops.nn.activation import relu
from penstock.training.estimator.canned.estimators import DNNClassifier, DNNRegressor
from penstock.training.estimator.estimator import Estimator


def _plain(original: Any, warm_start_from: Any) -> Estimator:
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        return original.model_fn(features, labels, mode, config)

    return Estimator(
        model_fn, model_dir=original.model_dir, config=original.config,
        warm_start_from=warm_start_from,
    )  # fmt: skip


def DNNClassifierWithLayerAnnotations(
    hidden_units: Sequence[int], feature_columns: Iterable[Any], model_dir: Any = None,
    n_classes: int = 2, weight_column: Any = None, label_vocabulary: Any = None,
    optimizer: Any = "Adagrad", activation_fn: Callable[[Any], Any] = relu,
    dropout: float | None = None, input_layer_partitioner: Any = None, config: Any = None,
    warm_start_from: Any = None, loss_reduction: str = Reduction.SUM,
) -> Estimator:  # fmt: skip
    """``tf.estimator.DNNClassifier``'s model as an ``Estimator``; checkpoints go both ways.

    Args:
      hidden_units .. loss_reduction: those of ``tf.estimator.DNNClassifier``.
    """
    original = DNNClassifier(
        hidden_units=hidden_units, feature_columns=feature_columns, model_dir=model_dir,
        n_classes=n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary,
        optimizer=optimizer, activation_fn=activation_fn, dropout=dropout,
        input_layer_partitioner=input_layer_partitioner, config=config,
        warm_start_from=warm_start_from, loss_reduction=loss_reduction,
    )  # fmt: skip
    return _plain(original, warm_start_from)


def DNNRegressorWithLayerAnnotations(
    hidden_units: Sequence[int], feature_columns: Iterable[Any], model_dir: Any = None,
    label_dimension: int = 1, weight_column: Any = None, optimizer: Any = "Adagrad",
    activation_fn: Callable[[Any], Any] = relu, dropout: float | None = None,
    input_layer_partitioner: Any = None, config: Any = None, warm_start_from: Any = None,
    loss_reduction: str = Reduction.SUM,
) -> Estimator:  # fmt: skip
    """``tf.estimator.DNNRegressor``'s model as an ``Estimator``; checkpoints go both ways.

    Args:
      hidden_units .. loss_reduction: those of ``tf.estimator.DNNRegressor``.
    """
    original = DNNRegressor(
        hidden_units=hidden_units, feature_columns=feature_columns, model_dir=model_dir,
        label_dimension=label_dimension, weight_column=weight_column, optimizer=optimizer,
        activation_fn=activation_fn, dropout=dropout,
        input_layer_partitioner=input_layer_partitioner, config=config,
        warm_start_from=warm_start_from, loss_reduction=loss_reduction,
    )  # fmt: skip
    return _plain(original, warm_start_from)
