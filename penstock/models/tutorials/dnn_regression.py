"""Prices of cars, by a network of two hidden layers.

It is ``tf.examples.get_started.regression.dnn_regression``.
"""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.models.tutorials import car_prices

STEPS = 5000


def _model() -> Any:
    columns = car_prices.network_columns()
    return tf.estimator.DNNRegressor(hidden_units=[20, 20], feature_columns=columns)


def main(argv: Any = None) -> None:
    """Trains a network for ``STEPS`` steps and prints how far prices are off.

    Raises:
      FileNotFoundError: if the cars' file is not there; says where to put it.
    """
    car_prices.run(_model, STEPS)
