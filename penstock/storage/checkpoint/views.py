"""What an object reaches, as libraries ask for it that save it by a ``Saver``."""

from __future__ import annotations

from typing import Any

from penstock.storage.checkpoint.saveable import SaveableObject
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.checkpoint.trackable import Listing, saveable_of, saveables_below


class ObjectGraphView:
    """All that an object reaches, as checkpoints name it.

    Args:
      root: the object.
    """

    def __init__(self, root: Any) -> None:
        self.root = root

    def list_objects(self) -> list[Any]:
        """The objects, nearest first."""
        return list(Listing(self.root).objects)

    def frozen_saveable_objects(self) -> list[SaveableObject]:
        """What a ``Saver`` needs to write a checkpoint of what is reached now."""
        return saveables_below(self.root)


def frozen_saver(root_trackable: Any) -> Saver:
    """A ``Saver`` of the values that an object reaches now, under their names in checkpoints.

    Args:
      root_trackable: the object.
    """
    found = Listing(root_trackable).values()
    return Saver([saveable_of(key, item) for key, item in found], sharded=True, allow_empty=True)
