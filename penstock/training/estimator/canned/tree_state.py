"""What boosted trees keep between steps: the ensemble and the quantiles, saved in checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.storage.checkpoint.saveable import SaveableObject, SaveSpec
from penstock.training.monitored.shared_resources import Resource


class TreeEnsemble(SaveableObject):
    """An ensemble of trees, saved as a stamp and a message.

    Args:
      name: the scope and the name of its node.
    """

    def __init__(self, name: str) -> None:
        with scopes.name_scope(name) as scope:
            self.handle: Any = make(
                "BoostedTreesEnsembleResourceHandleOp", shared_name=scope, name=scope
            )
            self._create = make(
                "BoostedTreesCreateEnsemble", self.handle, convert_to_tensor(0, dtypes.int64), ""
            )
            ready = make("IsBoostedTreesEnsembleInitialized", self.handle)
            stamp, text = make("BoostedTreesSerializeEnsemble", self.handle)
        key = self.handle.name
        specs = [SaveSpec(stamp, "", f"{key}_stamp"), SaveSpec(text, "", f"{key}_serialized")]
        super().__init__(self.handle, specs, key)
        _register(self.handle, self._create, ready, self)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """The op that makes the ensemble what was saved."""
        del restored_shapes
        stamp, text = restored_tensors
        with scopes.control_dependencies([self._create]):
            return make("BoostedTreesDeserializeEnsemble", self.handle, stamp, text)

    def states(self) -> tuple[Any, ...]:
        """Stamp, numbers of trees, of finished ones and of layers, range of the last layer."""
        found: tuple[Any, ...] = make("BoostedTreesGetEnsembleStates", self.handle)
        return found


class Quantiles(SaveableObject):
    """Streams of numbers and the boundaries made of them, which are saved.

    Args:
      name: the scope and the name of its node.
      epsilon: the bound on the error of ranks.
      count: how many streams there are.
    """

    def __init__(self, name: str, epsilon: float, count: int) -> None:
        self._count = count
        with scopes.name_scope(name) as scope:
            self.handle: Any = make(
                "BoostedTreesQuantileStreamResourceHandleOp", shared_name=scope, name=scope
            )
            self._create = make(
                "BoostedTreesCreateQuantileStreamResource", self.handle, epsilon,
                convert_to_tensor(count, dtypes.int64),
            )  # fmt: skip
            ready = make("IsBoostedTreesQuantileStreamResourceInitialized", self.handle)
        key = self.handle.name
        specs = [
            SaveSpec(each, "", f"{key}_bucket_boundaries_{i}")
            for i, each in enumerate(self.boundaries())
        ]
        super().__init__(self.handle, specs, key)
        _register(self.handle, self._create, ready, self)

    def boundaries(self) -> list[Any]:
        """The boundaries of each stream's buckets."""
        found = make(
            "BoostedTreesQuantileStreamResourceGetBucketBoundaries", self.handle,
            num_features=self._count,
        )  # fmt: skip
        return [found] if self._count == 1 and not isinstance(found, list | tuple) else list(found)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """The op that sets the boundaries to those that were saved."""
        del restored_shapes
        with scopes.control_dependencies([self._create]):
            return make(
                "BoostedTreesQuantileStreamResourceDeserialize", self.handle, list(restored_tensors)
            )


def _register(handle: Any, create: Any, ready: Any, saveable: SaveableObject) -> None:
    scopes.add_to_collection(GraphKeys.RESOURCES, Resource(handle, create, ready))
    scopes.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)
