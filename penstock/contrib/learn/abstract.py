"""What can be trained and evaluated: the abstract classes of ``tf.contrib.learn``'s estimators."""

from __future__ import annotations

import abc
from typing import Any


class Evaluable(abc.ABC):
    """What can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> str:
        """The directory of its checkpoints."""

    @abc.abstractmethod
    def evaluate(
        self, x: Any = None, y: Any = None, input_fn: Any = None, feed_fn: Any = None,
        batch_size: int | None = None, steps: int | None = None, metrics: Any = None,
        name: str | None = None, checkpoint_path: str | None = None, hooks: Any = None,
    ) -> Any:  # fmt: skip
        """Measures it; arguments as of ``Estimator.evaluate``."""


class Trainable(abc.ABC):
    """What can be trained."""

    @abc.abstractmethod
    def fit(
        self, x: Any = None, y: Any = None, input_fn: Any = None, steps: int | None = None,
        batch_size: int | None = None, monitors: Any = None, max_steps: int | None = None,
    ) -> Any:  # fmt: skip
        """Trains it; arguments as of ``Estimator.fit``."""
