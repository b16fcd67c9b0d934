"""Messages of boosted trees, with TensorFlow's fields: what checkpoints of an ensemble hold.

Of a node only the kinds that training makes here are read: leaves and splits of buckets.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.formats.message_table import Rows, make_messages

_TABLE: dict[str, Rows] = {
    "BoostedVector": {"value": (1, "*float")},
    "BoostedLeaf": {"vector": (1, "?BoostedVector"), "scalar": (3, "float")},
    "BoostedBucketSplit": {
        "feature_id": (1, "int32"), "threshold": (2, "int32"), "dimension_id": (5, "int32"),
        "default_direction": (6, "int32"), "left_id": (3, "int32"), "right_id": (4, "int32"),
    },
    "BoostedNodeMetadata": {"gain": (1, "float"), "original_leaf": (2, "BoostedLeaf")},
    "BoostedNode": {
        "leaf": (1, "?BoostedLeaf"), "bucketized_split": (2, "?BoostedBucketSplit"),
        "metadata": (777, "BoostedNodeMetadata"),
    },
    "BoostedTree": {"nodes": (1, "*BoostedNode")},
    "BoostedPruned": {"new_node_id": (1, "int32"), "logit_change": (2, "*float")},
    "BoostedTreeMetadata": {
        "num_layers_grown": (2, "int32"), "is_finalized": (3, "bool"),
        "post_pruned_nodes_meta": (4, "*BoostedPruned"),
    },
    "BoostedGrowing": {
        "num_trees_attempted": (1, "int64"), "num_layers_attempted": (2, "int64"),
        "last_layer_node_start": (3, "int32"), "last_layer_node_end": (4, "int32"),
    },
    "BoostedEnsemble": {
        "trees": (1, "*BoostedTree"), "tree_weights": (2, "*float"),
        "tree_metadata": (3, "*BoostedTreeMetadata"), "growing_metadata": (4, "BoostedGrowing"),
    },
}  # fmt: skip

_MADE = make_messages(
    "tree_messages", _TABLE, oneofs={"BoostedLeaf": "leaf", "BoostedNode": "node"}
)
TreeEnsemble: Any = _MADE["BoostedEnsemble"]
