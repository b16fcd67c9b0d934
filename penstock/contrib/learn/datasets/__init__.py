"""``tf.contrib.learn.datasets``: data sets from local files, and a small one from here."""

from collections.abc import Callable
from typing import Any

from penstock.contrib.learn.datasets import base as base, mnist as mnist
from penstock.contrib.learn.datasets.iris import load_iris as load_iris

DATASETS: dict[str, Callable[..., Any]] = {"iris": load_iris, "mnist": mnist.load_mnist}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """A data set by its name.

    Args:
      name: "iris" or "mnist".
      size: accepted for TensorFlow's sake.
      test_with_fake_data: accepted for TensorFlow's sake.

    Raises:
      ValueError: there is no such data set.
    """
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}. Allowed: {sorted(DATASETS)}")
    return DATASETS[name]()
