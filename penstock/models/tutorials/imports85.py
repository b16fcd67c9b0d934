"""Cars of 1985 and their prices: ``tf.examples.get_started.regression.imports85``.

They are the UCI repository's "Automobile Data Set": a car a line, 26 columns, ``?`` where nothing
is known.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import penstock as tf

URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/autos/imports-85.data"

# What a column has where nothing stands, which also says its type.
defaults: OrderedDict[str, list[Any]] = OrderedDict(
    {
        "symboling": [0],
        "normalized-losses": [0.0],
        "make": [""],
        "fuel-type": [""],
        "aspiration": [""],
        "num-of-doors": [""],
        "body-style": [""],
        "drive-wheels": [""],
        "engine-location": [""],
        "wheel-base": [0.0],
        "length": [0.0],
        "width": [0.0],
        "height": [0.0],
        "curb-weight": [0.0],
        "engine-type": [""],
        "num-of-cylinders": [""],
        "engine-size": [0.0],
        "fuel-system": [""],
        "bore": [0.0],
        "stroke": [0.0],
        "compression-ratio": [0.0],
        "horsepower": [0.0],
        "peak-rpm": [0.0],
        "city-mpg": [0.0],
        "highway-mpg": [0.0],
        "price": [0.0],
    }
)
types: OrderedDict[str, type] = OrderedDict(
    (name, type(value)) for name, (value,) in defaults.items()
)

_BUCKETS = 1_000_000


def _get_imports85() -> str:
    """The path of the file, in the cache of ``tf.keras.utils.get_file``, or downloaded there."""
    return str(tf.keras.utils.get_file(URL.rpartition("/")[2], URL))


def _columns(line: tf.Tensor, y_name: str) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    found = dict(zip(defaults, tf.decode_csv(line, list(defaults.values()))))
    label = found.pop(y_name)
    return found, label


def dataset(y_name: str = "price", train_fraction: float = 0.7) -> tuple[Any, Any]:
    """Cars of which all is known, to train on and to test on; a hash of the line decides which.

    Args:
      y_name: the column that is to be foretold.
      train_fraction: share of cars to train on.

    Returns:
      two ``tf.data.Dataset`` of a dict of the other columns, each a scalar, and the label.
    """
    lines = tf.data.TextLineDataset(_get_imports85())

    def is_whole(line: tf.Tensor) -> Any:
        return tf.logical_not(tf.strings.regex_full_match(line, r"(.*\?.*|\s*)"))

    def is_to_train(line: tf.Tensor) -> Any:
        return tf.string_to_hash_bucket_fast(line, _BUCKETS) < int(train_fraction * _BUCKETS)

    def is_to_test(line: tf.Tensor) -> Any:
        return tf.logical_not(is_to_train(line))

    def columns(line: tf.Tensor) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        return _columns(line, y_name)

    whole = lines.filter(is_whole)
    train, test = (whole.filter(part).map(columns).cache() for part in (is_to_train, is_to_test))
    return train, test
