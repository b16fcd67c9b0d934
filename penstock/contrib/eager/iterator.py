"""An iterator over the elements of a dataset, where operations run as they are called."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.graph.behavior import executing_eagerly
from penstock.training.data.specs import Structured


class Iterator(Structured):
    """Goes through a dataset.

    Args:
      dataset: a ``tf.data.Dataset``.

    Raises:
      RuntimeError: nodes are being built.

    Example:
      >>> import penstock as tf
      >>> def squares():  # [0, 1, 4] after tf.enable_eager_execution()
      ...     dataset = tf.data.Dataset.range(3).map(lambda n: n * n)
      ...     return [int(number.numpy()) for number in tf.contrib.eager.Iterator(dataset)]
      >>> squares()  # without it there are nodes, and no values
      Traceback (most recent call last):
      RuntimeError: ...
    """

    def __init__(self, dataset: Any) -> None:
        if not executing_eagerly():
            raise RuntimeError(
                "tfe.Iterator() is only supported when eager execution is enabled: use"
                " make_one_shot_iterator() in a graph"
            )
        self.structure = dataset.structure
        self._elements = iter(dataset)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    def next(self) -> Any:
        """The next element; raises StopIteration after the last."""
        return next(self._elements)

    def get_next(self, name: str | None = None) -> Any:
        """The next element.

        Raises:
          tf.errors.OutOfRangeError: after the last.
        """
        try:
            return next(self._elements)
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence") from None
