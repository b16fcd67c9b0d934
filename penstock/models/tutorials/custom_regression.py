"""Prices of cars, by a network that the program writes itself.

It is ``tf.examples.get_started.regression.custom_regression``.
"""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.models.tutorials import car_prices

STEPS = 1000


def my_dnn_regression_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
    """The model function of a network of dense layers.

    Args:
      features: what ``params["feature_columns"]`` read.
      labels: float32 of [batch]; None to predict.
      mode: of ``tf.estimator.ModeKeys``.
      params: also ``hidden_units``, ``optimizer`` (a class) and ``learning_rate``.

    Returns:
      an EstimatorSpec whose predictions have ``price``, and whose evaluation has ``rmse``.
    """
    x = tf.feature_column.input_layer(features, params["feature_columns"])
    for units in params.get("hidden_units", [20]):
        x = tf.layers.dense(x, units, activation=tf.nn.relu)
    price = tf.squeeze(tf.layers.dense(x, 1), 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"price": price})
    loss = tf.losses.mean_squared_error(labels, price)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"rmse": tf.metrics.root_mean_squared_error(labels, price)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = params.get("optimizer", tf.train.AdamOptimizer)(params.get("learning_rate"))
    step = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def _model() -> Any:
    params = {
        "feature_columns": car_prices.network_columns(),
        "learning_rate": 0.001,
        "optimizer": tf.train.AdamOptimizer,
        "hidden_units": [20, 20],
    }
    return tf.estimator.Estimator(my_dnn_regression_fn, params=params)


def main(argv: Any = None) -> None:
    """Trains a network of one's own for ``STEPS`` steps and prints how far prices are off.

    Raises:
      FileNotFoundError: if the cars' file is not there; says where to put it.
    """
    car_prices.run(_model, STEPS)
