"""What every provider of items can do."""

from __future__ import annotations

from abc import ABC
from collections.abc import KeysView, Mapping
from typing import Any


class DataProvider(ABC):  # noqa: B024 - TensorFlow's has no abstract method either
    """Gives out the tensors of named items.

    Args:
      items_to_tensors: name of an item to its tensor.
      num_samples: how many samples the data set has.
    """

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: int | None) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: list[str] | tuple[str, ...]) -> list[Any]:
        """The tensors of some items, in their order.

        Args:
          items: names out of ``list_items``.

        Raises:
          ValueError: ``items`` is no list or tuple, or has a name that is not provided.
        """
        if not isinstance(items, list | tuple):
            raise ValueError(f"items must be a list or tuple; found {type(items).__name__}")
        valid = self.list_items()
        for item in items:
            if item not in valid:
                raise ValueError(
                    f"Item [{item}] is invalid. Valid entries include: {', '.join(sorted(valid))}"
                )
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> KeysView[str]:
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> int | None:
        """How many samples the data set has."""
        return self._num_samples
