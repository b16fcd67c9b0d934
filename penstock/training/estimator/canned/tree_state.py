"""What boosted trees keep between steps, saved in checkpoints: the ensemble, quantiles, a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.build import make
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
      stamp_token: its first stamp.
      is_local: whether it is a local resource, which no checkpoint has.
      serialized_proto: the message of the trees that it begins with.
    """

    def __init__(
        self, name: str, stamp_token: int = 0, is_local: bool = False, serialized_proto: Any = ""
    ) -> None:
        with scopes.name_scope(name) as scope:
            self.resource_handle: Any = make(
                "BoostedTreesEnsembleResourceHandleOp", shared_name=scope, name=scope
            )
            self.initializer = make(
                "BoostedTreesCreateEnsemble", self.resource_handle, stamp_token, serialized_proto
            )
            ready = self.is_initialized()
            if not is_local:
                stamp, text = self.serialize()
        _register(self.resource_handle, self.initializer, ready, is_local)
        if is_local:
            return
        key = self.resource_handle.name
        specs = [SaveSpec(stamp, "", f"{key}_stamp"), SaveSpec(text, "", f"{key}_serialized")]
        super().__init__(self.resource_handle, specs, key)
        collecting.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self)

    def is_initialized(self) -> Any:
        """Whether it was made."""
        return make("IsBoostedTreesEnsembleInitialized", self.resource_handle)

    def serialize(self) -> tuple[Any, Any]:
        """Its stamp, and the message of its trees."""
        stamp, text = make("BoostedTreesSerializeEnsemble", self.resource_handle)
        return stamp, text

    def deserialize(self, stamp_token: Any, serialized_proto: Any) -> Any:
        """The op that sets stamp and trees.

        Args:
          stamp_token: the stamp.
          serialized_proto: the message of the trees.
        """
        return make(
            "BoostedTreesDeserializeEnsemble", self.resource_handle, stamp_token, serialized_proto
        )

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """The op that makes the ensemble what was saved."""
        del restored_shapes
        with scopes.control_dependencies([self.initializer]):
            return self.deserialize(*restored_tensors)

    def get_states(self) -> tuple[Any, ...]:
        """Stamp, numbers of trees, of finished ones and of layers, range of the last layer."""
        found = make("BoostedTreesGetEnsembleStates", self.resource_handle)
        names = (
            "stamp_token", "num_trees", "num_finalized_trees", "num_attempted_layers",
            "last_layer_nodes_range",
        )  # fmt: skip
        return tuple(identity(one, name=name) for one, name in zip(found, names, strict=True))

    def get_stamp_token(self) -> Any:
        """The stamp."""
        return make("BoostedTreesGetEnsembleStates", self.resource_handle)[0]


class QuantileAccumulator(SaveableObject):
    """Streams of numbers and the boundaries made of them, which are saved.

    Args:
      epsilon: the bound on the error of ranks.
      num_streams: how many streams there are.
      num_quantiles: how many boundaries a stream gets.
      name: the scope and the name of its node.
      max_elements: how many numbers a stream holds at most.
    """

    def __init__(
        self, epsilon: float, num_streams: int, num_quantiles: int, name: str | None = None,
        max_elements: int | None = None,
    ) -> None:  # fmt: skip
        self._epsilon, self._count, self._quantiles = epsilon, num_streams, num_quantiles
        most: dict[str, Any] = {} if max_elements is None else {"max_elements": max_elements}
        with scopes.name_scope(name, "QuantileAccumulator") as scope:
            self.resource_handle: Any = make(
                "BoostedTreesQuantileStreamResourceHandleOp", shared_name=scope, name=scope
            )
            self.initializer = make(
                "BoostedTreesCreateQuantileStreamResource", self.resource_handle, epsilon,
                num_streams, **most,
            )  # fmt: skip
            ready = self.is_initialized()
        key = self.resource_handle.name
        specs = [
            SaveSpec(each, "", f"{key}_bucket_boundaries_{i}")
            for i, each in enumerate(self.get_bucket_boundaries())
        ]
        super().__init__(self.resource_handle, specs, key)
        _register(self.resource_handle, self.initializer, ready, is_local=False)
        collecting.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self)

    def is_initialized(self) -> Any:
        """Whether it was made."""
        return make("IsBoostedTreesQuantileStreamResourceInitialized", self.resource_handle)

    def add_summaries(self, float_columns: Sequence[Any], example_weights: Any) -> Any:
        """The op that adds a batch of numbers.

        Args:
          float_columns: a vector a stream.
          example_weights: weights of the examples.
        """
        summaries = make(
            "BoostedTreesMakeQuantileSummaries", list(float_columns), example_weights,
            self._epsilon,
        )  # fmt: skip
        added = list(summaries) if isinstance(summaries, list | tuple) else [summaries]
        return make("BoostedTreesQuantileStreamResourceAddSummaries", self.resource_handle, added)

    def flush(self) -> Any:
        """The op that makes boundaries of the numbers."""
        return make(
            "BoostedTreesQuantileStreamResourceFlush", self.resource_handle, self._quantiles
        )

    def get_bucket_boundaries(self) -> list[Any]:
        """The boundaries of each stream's buckets."""
        found = make(
            "BoostedTreesQuantileStreamResourceGetBucketBoundaries", self.resource_handle,
            num_features=self._count,
        )  # fmt: skip
        return list(found) if isinstance(found, list | tuple) else [found]

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """The op that sets the boundaries to those that were saved."""
        del restored_shapes
        with scopes.control_dependencies([self.initializer]):
            return make(
                "BoostedTreesQuantileStreamResourceDeserialize", self.resource_handle,
                list(restored_tensors),
            )  # fmt: skip


class PruningMode:
    """Which of a tree's splits are taken back."""

    NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)

    @classmethod
    def from_str(cls, mode: str) -> int:
        """The mode of a name: "none", "pre" or "post".

        Raises:
          ValueError: there is no such mode.
        """
        known = {
            "none": cls.NO_PRUNING, "pre": cls.PRE_PRUNING, "post": cls.POST_PRUNING,
        }  # fmt: skip
        if mode not in known:
            raise ValueError(f"pruning_mode mode must be one of: {', '.join(sorted(known))}")
        return known[mode]


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


def _register(handle: Any, create: Any, ready: Any, is_local: bool) -> None:
    key = GraphKeys.LOCAL_RESOURCES if is_local else GraphKeys.RESOURCES
    collecting.add_to_collection(key, Resource(handle, create, ready))
