"""What boosted trees are grown by: gradients summed a node and bucket, and the splits of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.trees.ensemble import weight_and_gain

_NO_GRADIENT = "sums for growing trees, which are not differentiable"


def _summary(
    node_ids: Any, gradients: Any, hessians: Any, bucketized_features_list: Any, max_splits: int,
    num_buckets: int, num_features: int,
) -> torch.Tensor:  # fmt: skip
    """Sums of gradients and hessians, [features, nodes, buckets, 2]."""
    nodes = node_ids.numpy()
    both = np.concatenate([gradients.reshape(-1, 1).numpy(), hessians.reshape(-1, 1).numpy()], 1)
    found = np.zeros([num_features, max_splits, num_buckets, 2], np.float32)
    for i, buckets in enumerate(bucketized_features_list):
        np.add.at(found[i], (nodes, buckets.reshape(-1).numpy()), both)
    return torch.from_numpy(found)


def _best_of(
    stats: Any, start: int, end: int, l1: Any, l2: Any, complexity: Any, least: Any
) -> Any:
    """The best split of each node by one feature.

    Args:
      stats: [nodes, buckets, 2].
      start, end: range of the nodes that may be split.
      l1, l2: the regularization.
      complexity: what a split costs.
      least: hessians that a node and each leaf must have.

    Returns:
      Nodes, gains, thresholds, and the values left [n, 1] and right [n, 1].
    """
    stats = stats[start:end]
    left = np.cumsum(stats, axis=1, dtype=np.float32)
    total = left[:, -1:]
    right = total - left
    weights, gains = zip(
        *(weight_and_gain(each[..., 0], each[..., 1], l1, l2) for each in (left, right)),
        strict=True,
    )
    _, parent = weight_and_gain(total[:, 0, 0], total[:, 0, 1], l1, l2)
    both = gains[0] + gains[1]
    at = np.argmax(both, axis=1) if both.size else np.zeros(0, np.int64)
    rows = np.arange(len(stats))
    some = (both[rows, at] > -np.inf) & (total[:, 0, 1] >= least)
    rows, at = rows[some], at[some]
    gain = both[rows, at] - parent[rows] - np.float32(complexity)
    values = (each[rows, at][:, None] for each in weights)
    return (rows + start).astype(np.int32), gain, at.astype(np.int32), *values


def _best_gains(
    node_id_range: Any, stats_summary_list: Any, l1: Any, l2: Any, tree_complexity: Any,
    min_node_weight: Any, max_splits: int, num_features: int,
) -> Any:  # fmt: skip
    start, end = node_id_range.tolist()
    numbers = [float(each) for each in (l1, l2, tree_complexity, min_node_weight)]
    found = [_best_of(each.numpy(), start, end, *numbers) for each in stats_summary_list]
    return tuple([torch.from_numpy(one) for one in each] for each in zip(*found, strict=True))


def _summary_shape(ctx: ShapeContext) -> Dims:
    return tuple(ctx.attr(key) for key in ("num_features", "max_splits", "num_buckets")) + (2,)


def _gains_shape(ctx: ShapeContext) -> Any:
    count = ctx.attr("num_features")
    return [*[(None,)] * (3 * count), *[(None, 1)] * (2 * count)]


define_op(
    "BoostedTreesMakeStatsSummary",
    "node_ids: int32, gradients: float, hessians: float,"
    " bucketized_features_list: num_features * int32 -> stats_summary: float",
    attrs=["max_splits: int >= 1", "num_buckets: int >= 1", "num_features: int >= 1"],
    shape=_summary_shape,
    kernel=_summary,
    on_host=True,
    no_gradient=_NO_GRADIENT,
)
define_op(
    "BoostedTreesCalculateBestGainsPerFeature",
    "node_id_range: int32, stats_summary_list: num_features * float, l1: float, l2: float,"
    " tree_complexity: float, min_node_weight: float -> node_ids_list: num_features * int32,"
    " gains_list: num_features * float, thresholds_list: num_features * int32,"
    " left_node_contribs_list: num_features * float,"
    " right_node_contribs_list: num_features * float",
    attrs=["max_splits: int >= 1", "num_features: int >= 1"],
    shape=_gains_shape,
    kernel=_best_gains,
    on_host=True,
    no_gradient=_NO_GRADIENT,
)
