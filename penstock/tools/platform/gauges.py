"""Gauges and counters by which a package notes how it is used; they are this process's own.

State: of a metric, its cells by their labels.
"""

from __future__ import annotations

import threading
from typing import Any

_MOST_LABELS = 2


class Cell:
    """The value of a metric for some labels."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._lock = threading.Lock()

    def set(self, value: Any) -> None:
        """Sets the value."""
        self._value = value

    def increase_by(self, value: int) -> None:
        """Adds to the value."""
        with self._lock:
            self._value += value

    def value(self) -> Any:
        """The value."""
        return self._value


class _Metric:
    _start: Any

    def __init__(self, name: str, description: str, *labels: str) -> None:
        if len(labels) > _MOST_LABELS:
            raise ValueError(
                f"Cannot create {type(self).__name__} metric with label >= {_MOST_LABELS + 1}"
            )
        self.name, self.description, self._labels = name, description, labels
        self._cells: dict[tuple[str, ...], Cell] = {}

    def get_cell(self, *labels: str) -> Cell:
        """The cell for values of the labels.

        Raises:
          ValueError: more or fewer than the metric has.
        """
        if len(labels) != len(self._labels):
            raise ValueError(
                f"The {type(self).__name__} expects taking {len(self._labels)} labels; found"
                f" {labels}"
            )
        return self._cells.setdefault(labels, Cell(self._start))


class Counter(_Metric):
    """A number that grows.

    Args:
      name: usually a path: "/tensorflow/api/estimator".
      description: what it counts.
      *labels: names of labels, two at most.

    Raises:
      ValueError: more labels.

    >>> uses = Counter("/uses", "how often", "method")
    >>> uses.get_cell("train").increase_by(2)
    >>> uses.get_cell("train").value(), uses.get_cell("predict").value()
    (2, 0)
    """

    _start = 0


class BoolGauge(_Metric):
    """A bool that is set; arguments as of ``Counter``."""

    _start = False


class IntGauge(_Metric):
    """An integer that is set; arguments as of ``Counter``."""

    _start = 0


class StringGauge(_Metric):
    """A text that is set; arguments as of ``Counter``."""

    _start = ""
