"""Prices of cars, linear in their weight and in how far they get.

It is ``tf.examples.get_started.regression.linear_regression``.
"""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.models.tutorials import car_prices

STEPS = 1000


def _model() -> Any:
    return tf.estimator.LinearRegressor(feature_columns=car_prices.numbers())


def main(argv: Any = None) -> None:
    """Trains a linear model for ``STEPS`` steps and prints how far prices are off.

    Raises:
      FileNotFoundError: if the cars' file is not there; says where to put it.
    """
    car_prices.run(_model, STEPS)
