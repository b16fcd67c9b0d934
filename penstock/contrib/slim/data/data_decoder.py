"""What every decoder of records can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class DataDecoder(ABC):
    """Makes named items of a record."""

    @abstractmethod
    def decode(self, data: Any, items: Sequence[str]) -> list[Any]:
        """The tensors of some items of a record, in their order.

        Args:
          data: the record, as its reader gives it.
          items: names out of ``list_items``.
        """

    @abstractmethod
    def list_items(self) -> list[str]:
        """The names of the items that a record has."""
