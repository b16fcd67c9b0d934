"""What boosted trees keep between steps, saved in checkpoints: the ensemble, quantiles, a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.control_flow.cond import cond
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.ops.control.control import group, identity
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


class BatchCache:
    """The batch of trees that grow in memory: its features, and where its examples are.

    Args:
      ids: the features as buckets, a vector a feature.

    Raises:
      ValueError: the number of examples is not known as the graph is built.
    """

    def __init__(self, ids: Sequence[Any]) -> None:
        count = dimension_value(ids[0].shape[0])
        if count is None:
            raise ValueError(
                "train_in_memory keeps the batch in variables: its size must be known as the graph"
                " is built; found None examples. Batch with drop_remainder=True"
            )

        def kept(name: str, value: Any) -> Any:
            return ResourceVariable(value, trainable=False, name=name)

        nothing = np.zeros([count], np.int32)
        self._features = [kept(f"cached_feature_{i}", nothing) for i in range(len(ids))]
        self._full = kept("are_features_cached", False)
        self._places = (
            kept("tree_ids_cache", nothing), kept("node_ids_cache", nothing - 1),
            kept("logits_cache", np.zeros([count, 1], np.float32)),
        )  # fmt: skip

    def features(self, ids: Sequence[Any]) -> list[Any]:
        """The features of the first batch whose buckets were known; until then the batch's."""
        found: Any = cond(
            self._full.read_value(),
            lambda: [each.read_value() for each in self._features],
            lambda: [identity(each) for each in ids],
            strict=True,
        )
        return list(found)

    def start(self) -> tuple[Any, ...]:
        """Trees, nodes and logits at which the examples were in the last step."""
        return tuple(each.read_value() for each in self._places)

    def keep(self, ids: Sequence[Any], trees: Any, nodes: Any, logits: Any) -> Any:
        """The op that keeps the features and where the examples are now."""
        places = zip(self._places, (trees, nodes, logits), strict=True)
        features = zip(self._features, ids, strict=True)
        return group(
            *(each.assign(value).op for each, value in (*features, *places)),
            self._full.assign(True).op,
        )


def _register(handle: Any, create: Any, ready: Any, saveable: SaveableObject) -> None:
    scopes.add_to_collection(GraphKeys.RESOURCES, Resource(handle, create, ready))
    scopes.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)
