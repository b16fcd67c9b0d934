"""What the programs have in common that foretell cars' prices; see ``imports85``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.models.tutorials import imports85

BODY_STYLES = ["hardtop", "wagon", "sedan", "hatchback", "convertible"]
PRICE_NORM_FACTOR = 1000
_BATCH = 128

Columns = list[Any]


def categories() -> tuple[Any, Any]:
    """The columns of the body style, by its names, and of the make, by a hash."""
    column = tf.feature_column
    return (
        column.categorical_column_with_vocabulary_list("body-style", BODY_STYLES),
        column.categorical_column_with_hash_bucket("make", 50),
    )


def numbers() -> Columns:
    """The columns of weight and of how far a car gets."""
    return [tf.feature_column.numeric_column(key) for key in ("curb-weight", "highway-mpg")]


def network_columns() -> Columns:
    """What a network reads: numbers, a one at the body style, and a vector of the make."""
    body, make = categories()
    column = tf.feature_column
    return [*numbers(), column.indicator_column(body), column.embedding_column(make, 3)]


def _thousands(features: Any, price: Any) -> tuple[Any, Any]:
    return features, price / PRICE_NORM_FACTOR


def _report(found: dict[str, Any]) -> float:
    off = float(found["rmse"] if "rmse" in found else math.sqrt(found["average_loss"]))
    print(f"\nRMS error for the test set: ${PRICE_NORM_FACTOR * off:.0f}\n")
    return off


def run(make_estimator: Callable[[], Any], steps: int) -> float:
    """Trains, prints how far prices are off on average, and returns that, in thousands.

    Args:
      make_estimator: makes a ``tf.estimator.Estimator`` of prices in thousands, whose evaluation
        has ``average_loss``, the mean squared error, or ``rmse``.
      steps: batches of 128 to train on.
    """

    def to_train() -> Any:
        cars = imports85.dataset()[0].map(_thousands).shuffle(1000)
        return cars.batch(_BATCH).repeat().make_one_shot_iterator().get_next()

    def to_test() -> Any:
        cars = imports85.dataset()[1].map(_thousands)
        return cars.batch(_BATCH).make_one_shot_iterator().get_next()

    model = make_estimator()
    model.train(input_fn=to_train, steps=steps)
    return _report(model.evaluate(input_fn=to_test))
