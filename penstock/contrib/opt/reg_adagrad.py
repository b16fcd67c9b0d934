"""Adagrad whose accumulators can be left alone, for the gradients of a regularizer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.foundation.base.decorators import contextmanager
from penstock.training.train.adagrad import AdagradOptimizer


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad; see ``avoid_updating_slots``.

    Args:
      learning_rate, initial_accumulator_value, use_locking, name: those of
        ``tf.train.AdagradOptimizer``.
    """

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1,
        use_locking: bool = False, name: str = "RegAdagrad",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Updates made in a ``with`` block use the accumulators and leave them as they are."""
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _op_attrs(self) -> dict[str, Any]:
        return {**super()._op_attrs(), "update_slots": self._should_update_slots}
